//! Copies of the store, and bringing one back without what was erased since.
//!
//! A backup is one SQLite file, whatever the store: one moment of an SQLite store, and for the others a
//! thread-by-thread copy through the contract. It is opened and read whole before it gets its name.
//! Every erasure is also written to a log beside the backups, as hashes only, so that restoring an older
//! copy can erase again what the copy still has.
//!
//! # Layout
//!
//! - [`make`]: a backup. [`restore`]: bringing one back. [`daily`]: at its interval.
//! - [`erasures`]: the log. [`watched`]: the store that writes it. [`again`]: erasing again.

pub mod again;
pub mod daily;
pub mod erasures;
pub mod make;
pub mod restore;
pub mod watched;
