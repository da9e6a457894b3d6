//! The binary, from outside.

#![expect(clippy::unwrap_used, reason = "the whole crate is a test")]

mod demo_inventory;
