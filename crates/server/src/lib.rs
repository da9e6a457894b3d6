//! The binary `throughline`: REST, the command line, configuration and access.
//!
//! A transport parses a request, calls the engine and formats the response. Only this crate reads
//! configuration, environment and terminal.
//!
//! # Layout
//!
//! - [`cli`]: one file per command.
//! - [`config`]: settings and their sources, one file per topic.
//! - [`assemble`]: builds an engine from the configuration.
//! - [`backup`]: backups and restores. [`background`], [`expiry`]: background tasks.
//! - [`access`]: API keys and tokens. [`agents`]: agents from files.
//! - [`http`]: the REST API, `noun/verb.rs`.
//! - [`telemetry`]: log, metrics, statistics.
//! - [`mcp`]: the MCP server.
//! - [`demo`]: the demo inventory, a separate MCP server.

pub mod access;
pub mod agents;
pub mod assemble;
pub mod background;
pub mod backup;
pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub mod expiry;
pub mod failure;
pub mod http;
pub mod json_limits;
pub mod mcp;
pub mod memory_view;
pub mod names;
pub mod persona_view;
pub mod request_key;
#[cfg(feature = "sabotage")]
pub mod sabotage;
pub mod telemetry;
pub mod user_view;
