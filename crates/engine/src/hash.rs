//! Content hashes, which identify stored texts.
//!
//! Invariant: the first 128 bits of SHA-256 as 32 lower-case hexadecimal digits. This never changes, because
//! receipts contain them.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContentHash(String);

impl ContentHash {
    pub fn of(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    pub fn of_bytes(bytes: &[u8]) -> Self {
        use fmt::Write;
        let digest = Sha256::digest(bytes);
        let mut text = String::with_capacity(32);
        for byte in &digest[..16] {
            write!(text, "{byte:02x}").expect("writing to a string does not fail");
        }
        Self(text)
    }

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
