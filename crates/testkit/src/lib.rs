//! Doubles, builders and drivers for Throughline's tests; never part of the product.
//!
//! A double is stricter than the real thing: what a provider or a server would merely tolerate fails
//! here.
//!
//! # Layout
//!
//! - [`fixed_clock`]: a clock that stands still until told.
//! - [`scripted_mcp`]: an MCP server that behaves as a test says, over stdio and HTTP.

pub mod fixed_clock;
pub mod scripted_mcp;
