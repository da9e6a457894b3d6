//! Content hashes, which identify stored texts.
//!
//! Invariant: the first 128 bits of SHA-256 as 32 lower-case hexadecimal digits. This never changes, because
//! receipts contain them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

/// Digits of a hash.
const DIGITS: usize = 32;

/// The hash of a text. Held as its digits: a request names hundreds, and none costs an allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; DIGITS]);

impl ContentHash {
    pub fn of(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    pub fn of_bytes(bytes: &[u8]) -> Self {
        let digest = Sha256::digest(bytes);
        let mut digits = [0; DIGITS];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(digest.iter()) {
            pair[0] = digit(byte >> 4);
            pair[1] = digit(byte & 0xf);
        }
        Self(digits)
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("hexadecimal digits are text")
    }
}

fn digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;

        impl de::Visitor<'_> for Digits {
            type Value = ContentHash;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{DIGITS} lower-case hexadecimal digits")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ContentHash, E> {
                let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                let digits = <[u8; DIGITS]>::try_from(text.as_bytes()).ok();
                digits
                    .filter(|digits| digits.iter().all(is_digit))
                    .map(ContentHash)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_str(Digits)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_its_digits() {
        let hash = ContentHash::of("abc");
        assert_eq!(hash.as_str(), "ba7816bf8f01cfea414140de5dae2223");
        let json = serde_json::to_string(&hash).unwrap();
        assert_eq!(serde_json::from_str::<ContentHash>(&json).unwrap(), hash);
        for wrong in ["\"\"", "\"ba78\"", "\"BA7816BF8F01CFEA414140DE5DAE2223\"", "7"] {
            assert!(serde_json::from_str::<ContentHash>(wrong).is_err(), "{wrong}");
        }
    }
}
