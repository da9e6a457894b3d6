//! API keys: making, keeping, checking and revoking them.
//!
//! A key is `tl_ID_SECRET`. The secret is shown once and kept only as a hash; tenant, user and scope
//! are part of what is kept, never of what a request says.
//!
//! - [`key`]: the key as text. [`keys`]: keys in the store. [`gate`]: who may come in.

pub mod gate;
pub mod key;
pub mod keys;

pub use gate::{Gate, Refusal};
pub use key::ApiKey;
pub use keys::{KeyRecord, Keys, NewKey};
