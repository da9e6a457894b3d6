//! What a turn calls: model providers, embedders, MCP servers.
//!
//! Each implements a trait of `throughline-engine` and nothing more; what a turn does with an answer is
//! decided there. This crate knows wire formats and nothing of sessions, prompts or approvals. It reads
//! no configuration: callers hand it structs.
//!
//! Invariant: a secret (a key, a header's value, a variable given to a child) appears in no error, no
//! log line and no `Debug` output.
//!
//! # Layout
//!
//! - [`embed`]: text into vectors.
//! - [`mcp`]: the proxy to MCP servers; the only place that knows `rmcp`.
//! - [`model`]: language models.
//! - [`redact`]: taking secrets out of text that comes from outside.

pub mod embed;
pub mod mcp;
pub mod model;
pub mod redact;
