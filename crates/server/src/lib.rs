//! The binary `throughline`: REST, the command line, configuration and access.
//!
//! A request goes one way: a transport here takes it apart, calls the engine once and dresses the
//! answer. Only this crate reads configuration, environment and terminal.
//!
//! # Layout
//!
//! - [`cli`]: one file a command.
//! - [`config`]: what is in force and from where, a file a topic.
//! - [`assemble`]: configuration becomes an engine.
//! - [`backup`]: copies of the store, and bringing one back. [`background`], [`expiry`]: what runs beside a server.
//! - [`access`]: API keys. [`agents`]: agents from files.
//! - [`http`]: the REST API, `noun/verb.rs`.
//! - [`telemetry`]: log, metrics, figures.
//! - [`mcp`]: the MCP server.
//! - [`demo`]: the demo inventory, an MCP server of its own.

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
