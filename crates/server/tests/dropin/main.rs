//! Model providers' own clients, pointed at this server: memory is added, nothing else is changed.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

#[path = "../http/app.rs"]
#[expect(dead_code, reason = "shared with the tests of the REST API, which use more of it")]
mod app;
mod bench;
mod cases;
mod faults;
mod keys;
mod memory;
mod programs;
mod provider;
mod responses;
mod sdk;
mod tools;
mod user;
