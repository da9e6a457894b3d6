//! Agents from files: rules and references in Markdown with a small header, and a definition beside
//! them.
//!
//! A folder an agent: `agent.toml`, `rules/*.md`, `references/*.md`. Files may change while the server
//! runs. A file that is broken is named in the log, and its last good state stays in force.
//!
//! - [`header`]: one Markdown file. [`definition`]: `agent.toml`. [`folder`]: all of them.
//! - [`watch`]: looking for changes. [`demo`]: the agent that ships.

pub mod definition;
pub mod demo;
pub mod folder;
pub mod header;
pub mod watch;

pub use folder::AgentFolder;
