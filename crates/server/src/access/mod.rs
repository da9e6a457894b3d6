//! Authentication: API keys, and access tokens of a configured issuer.
//!
//! A key is `tl_ID_SECRET`. The secret is shown once and stored as a hash; tenant, user and grants are stored
//! with it, never taken from a request. A token is signed by its issuer, who names the user.
//!
//! - [`key`]: a key as text. [`keys`]: keys in the store.
//! - [`token`]: tokens. [`issuer`]: their signing keys.
//! - [`first_key`]: the key of an installation that nobody can enter.
//! - [`gate`]: authenticates a credential.

pub mod first_key;
pub mod gate;
pub mod issuer;
pub mod key;
pub mod keys;
pub mod token;

pub use gate::{Gate, Refusal};
pub use key::{ApiKey, random};
pub use keys::{KeyRecord, Keys, NewKey};
pub use token::{TokenError, Tokens};
