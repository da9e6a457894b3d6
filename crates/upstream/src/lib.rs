//! What a turn calls: model providers, embedders, MCP servers.
//!
//! Each implements a trait of `throughline-engine` and nothing more; what a turn does with an answer is
//! decided there.

pub mod embed;
