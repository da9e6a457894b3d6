//! Who may come in: API keys, and access tokens of a configured issuer.
//!
//! A key is `tl_ID_SECRET`. The secret is shown once and kept only as a hash; tenant, user and scope
//! are part of what is kept, never of what a request says. A token is signed by its issuer, who says who its user is.
//!
//! - [`key`]: the key as text. [`keys`]: keys in the store.
//! - [`token`]: tokens, checked. [`issuer`]: the keys that they are signed with.
//! - [`gate`]: who may come in.

pub mod gate;
pub mod issuer;
pub mod key;
pub mod keys;
pub mod token;

pub use gate::{Gate, Refusal};
pub use key::{ApiKey, random};
pub use keys::{KeyRecord, Keys, NewKey};
pub use token::{TokenError, Tokens};
