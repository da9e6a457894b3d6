//! Storage backends: implementations of the contract in [`throughline_engine::store`].
//!
//! Every backend passes [`conformance`] unchanged. This crate does not interpret heads or entries, and
//! reads neither configuration nor the environment. The one exception is [`copy`], which asks the engine
//! for the expiry stored in a head.
//!
//! # Layout
//!
//! - [`url`]: the store URL and options. [`mod@open`]: opens a store by its URL.
//! - [`memory`], [`sqlite`], [`files`]: local backends, for one machine.
//! - [`redis`], [`s3`]: remote backends, for many machines.
//! - [`index`]: full-text search; derived data that can be rebuilt at any time.
//! - [`copy`]: copies one store into another. [`replace`]: swaps in a restored store. [`reserve`]: room for erasures
//!   on a full disk.
//! - [`conformance`]: the shared test suite, one function per guarantee of the contract.
//! - [`limit`]: size limits. [`disk`]: durable file operations. [`mod@redact`]: URLs without secrets.

mod compress;
pub mod conformance;
pub mod copy;
mod damage;
pub mod disk;
pub mod files;
pub mod index;
pub mod limit;
mod listing;
pub mod memory;
pub mod open;
mod open_lock;
pub mod redact;
pub mod redis;
pub mod replace;
pub mod reserve;
pub mod s3;
#[cfg(feature = "sabotage")]
pub mod sabotage;
pub mod sqlite;
pub mod url;

pub use open::{exists, lock_exclusively, open, open_shared};
pub use url::{OpenOptions, StoreUrl};
