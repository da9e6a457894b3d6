//! Doubles, builders and drivers for Throughline's tests; never part of the product.
//!
//! A double is stricter than the real thing: what a provider or a server would merely tolerate fails
//! here.
//!
//! # Layout
//!
//! - [`collector`]: an OpenTelemetry collector that keeps what it is sent.
//! - [`fixed_clock`]: a clock that stands still until told.
//! - [`scripted_mcp`]: an MCP server that behaves as a test says, over stdio and HTTP.
//! - [`scripted_model`]: a language model that says what a test tells it to, over both wire formats.
//! - [`served`]: our own binary as a process. [`crash`]: load on it, kills, and a count.
//! - [`peer`], [`redis_server`], [`s3_server`]: real servers, started and ended by a test.
//! - [`fault_proxy`]: a proxy that fails on purpose. [`fault_run`]: writers behind it, and a count.
//! - [`file_faults`]: our binary killed at, or refused, any single call that changes a file.
//! - [`power_cut`]: what our binary did to files, and the disk after a cut at any moment.
//! - [`fuzz`]: mutated inputs from a kept corpus. [`trust`]: counts for the trust report.
//! - [`seeded`]: choices that a seed repeats. [`twins`]: one plan on several stores at once.

pub mod collector;
pub mod crash;
pub mod fault_proxy;
pub mod fault_run;
pub mod file_faults;
pub mod fixed_clock;
pub mod fuzz;
pub mod peer;
pub mod power_cut;
pub mod redis_server;
pub mod s3_server;
pub mod scripted_mcp;
pub mod scripted_model;
pub mod seeded;
pub mod served;
pub mod trust;
pub mod twins;
