//! Agents from files: Markdown rules and references with a small header, and a definition.
//!
//! An agent is a folder with `agent.toml`, `rules/*.md` and `references/*.md`. Files may change while the
//! server runs. A broken file is logged, and its last valid version stays in use.
//!
//! - [`header`]: a Markdown file. [`definition`]: `agent.toml`. [`folder`]: all agents.
//! - [`watch`]: detects changes. [`demo`]: the built-in agent.

pub mod definition;
pub mod demo;
pub mod folder;
pub mod header;
pub mod watch;

pub use folder::AgentFolder;
