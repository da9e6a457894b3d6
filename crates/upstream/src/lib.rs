//! Clients for what a turn calls: model providers, embedders, MCP servers.
//!
//! Each implements a trait of `throughline-engine` and nothing more; the engine decides what to do with a reply.
//! This crate knows wire formats, but no sessions, prompts or approvals. It reads no configuration: callers
//! pass structs.
//!
//! Invariant: a secret (a key, a header's value, a child's environment variable) appears in no error, log line or
//! `Debug` output.
//!
//! # Layout
//!
//! - [`embed`]: text embeddings.
//! - [`mcp`]: the proxy to MCP servers; the only module that uses `rmcp`.
//! - [`model`]: language models.
//! - [`redact`]: removes secrets from text that comes from outside.

pub mod embed;
pub mod mcp;
pub mod model;
pub mod redact;
