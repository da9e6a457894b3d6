//! Content hashes: the name under which a text is kept and recognised.
//!
//! Invariant: the first 128 bits of SHA-256, as 32 lower-case hexadecimal digits; stable for ever, since
//! receipts hold them.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The hash of a text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContentHash(String);

impl ContentHash {
    /// The hash of `text`.
    pub fn of(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    /// The hash of `bytes`.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        use fmt::Write;
        let digest = Sha256::digest(bytes);
        let mut text = String::with_capacity(32);
        for byte in &digest[..16] {
            write!(text, "{byte:02x}").expect("writing to a string does not fail");
        }
        Self(text)
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
