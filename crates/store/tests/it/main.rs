//! The store crate's tests, in one binary: one module a subject.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod conformance;
mod crash;
mod files;
mod index;
mod sabotage;
mod sample;
mod sqlite;
