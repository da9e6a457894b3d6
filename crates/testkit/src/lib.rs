//! Test doubles, builders and drivers for Throughline's tests; never part of the product.
//!
//! A double is stricter than the real thing: what a provider or server merely tolerates fails here.
//!
//! # Layout
//!
//! - [`collector`]: an OpenTelemetry collector that records what it receives.
//! - [`fixed_clock`]: a clock that a test moves.
//! - [`offline_engine`]: an engine without a model, whose tools a test brings.
//! - [`scripted_mcp`]: a scripted MCP server, over stdio and HTTP.
//! - [`scripted_model`]: a scripted language model, in all three wire formats.
//! - [`served`]: our own binary as a process. [`crash`]: kills it under load, and counts.
//! - [`peer`], [`redis_server`], [`s3_server`]: real servers, started and stopped by a test.
//! - [`fault_proxy`]: a proxy that injects faults. [`fault_run`]: writers behind it, and a count.
//! - [`file_faults`]: kills our binary at, or fails, any single call that changes a file.
//! - [`power_cut`]: records file operations and simulates a power cut at any moment.
//! - [`fuzz`]: fuzzing with a stored corpus. [`trust`]: counts for the trust report.
//! - [`frames`]: reads compressed text out of raw bytes.
//! - [`seeded`]: reproducible random choices. [`twins`]: one plan on several stores in parallel.

pub mod collector;
pub mod crash;
pub mod fault_proxy;
pub mod fault_run;
pub mod file_faults;
pub mod fixed_clock;
pub mod frames;
pub mod fuzz;
pub mod offline_engine;
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
