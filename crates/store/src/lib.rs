//! Where threads live: the backends of the contract in [`throughline_engine::store`].
//!
//! Every backend passes [`conformance`] unchanged. Nothing here knows what is inside a head or an
//! entry, and nothing here reads configuration or the environment.
//!
//! # Layout
//!
//! - [`url`]: which store and where. [`mod@open`]: a store from its URL.
//! - [`memory`], [`sqlite`], [`files`]: the backends that live on this machine.
//! - [`redis`], [`s3`]: the backends of many machines.
//! - [`index`]: full-text search, derived and rebuilt at will.
//! - [`copy`]: everything from one store into another. [`replace`]: one store in the place of another.
//! - [`conformance`]: one function a promise of the contract.
//! - [`limit`]: what a store takes at most. [`disk`], [`mod@redact`]: files that last, addresses without secrets.

mod compress;
pub mod conformance;
pub mod copy;
pub mod disk;
pub mod files;
pub mod index;
pub mod limit;
mod listing;
pub mod memory;
pub mod open;
pub mod redact;
pub mod redis;
pub mod replace;
pub mod s3;
#[cfg(feature = "sabotage")]
pub mod sabotage;
pub mod sqlite;
pub mod url;

pub use open::{exists, hold, open, open_shared};
pub use url::{OpenOptions, StoreUrl};
