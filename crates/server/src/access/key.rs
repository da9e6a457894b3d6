//! A key as text: `tl_ID_SECRET`, with a 64-bit id and a 256-bit secret in hexadecimal.
//!
//! Invariant: the secret appears in no `Debug`, error or log; only [`ApiKey::reveal`] shows it.

use std::fmt::{self, Write};

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use throughline_engine::error::{Error, Result};

/// Length of the id.
const ID_BYTES: usize = 8;
/// Length of the secret.
const SECRET_BYTES: usize = 32;

/// A key with its secret.
pub struct ApiKey {
    id: String,
    secret: SecretString,
}

impl ApiKey {
    /// A new random key.
    pub fn generate() -> Result<Self> {
        let (id, secret) = (random::<ID_BYTES>()?, random::<SECRET_BYTES>()?);
        Ok(Self { id: hexadecimal(&id), secret: hexadecimal(&secret).into() })
    }

    /// Parses a key.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix("tl_")?.split_once('_')?;
        let fits = |text: &str, bytes: usize| {
            text.len() == bytes * 2 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        };
        let valid = fits(id, ID_BYTES) && fits(secret, SECRET_BYTES);
        valid.then(|| Self { id: id.into(), secret: secret.to_owned().into() })
    }

    /// The public part of the key.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The whole key, to be shown once.
    pub fn reveal(&self) -> String {
        format!("tl_{}_{}", self.id, self.secret.expose_secret())
    }

    /// Stored hash of the secret. The secret has 256 random bits, so a plain hash is safe.
    pub fn hash(&self) -> String {
        hexadecimal(&Sha256::digest(self.secret.expose_secret().as_bytes()))
    }

    /// Whether `hash` is that of this secret, compared in constant time.
    pub fn matches(&self, hash: &str) -> bool {
        self.hash().as_bytes().ct_eq(hash.as_bytes()).into()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tl_{}_***", self.id)
    }
}

/// Random bytes from the operating system.
pub fn random<const BYTES: usize>() -> Result<[u8; BYTES]> {
    let mut drawn = [0; BYTES];
    getrandom::fill(&mut drawn).map_err(|error| Error::Unreadable {
        what: "the operating system's randomness".into(),
        reason: error.to_string(),
    })?;
    Ok(drawn)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_and_matches_only_its_own_hash() {
        let (one, other) = (ApiKey::generate().unwrap(), ApiKey::generate().unwrap());
        let read = ApiKey::parse(&one.reveal()).unwrap();
        assert_eq!(read.id(), one.id());
        assert!(read.matches(&one.hash()));
        assert!(!other.matches(&one.hash()));
        assert!(!one.matches(""));
        assert!(!format!("{one:?}").contains(one.secret.expose_secret()));
    }

    #[test]
    fn what_is_no_key_is_not_read() {
        for text in ["", "tl_", "tl_a_b", "sk-123", &"f".repeat(90), "tl_é_é"] {
            assert!(ApiKey::parse(text).is_none(), "{text}");
        }
    }
}
