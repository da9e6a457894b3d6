//! Tests of the local backends and the index, in one binary.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod conformance;
mod crash;
mod files;
mod index;
mod residue;
mod sabotage;
mod sample;
mod sqlite;
