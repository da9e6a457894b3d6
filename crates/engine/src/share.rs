//! Maps the token of a read-only link to its session.
//!
//! A link's id is the hash of its token, and the owner of the session is stored under that id. So the token
//! itself is not stored, and finding the scope is one read on every backend. The session's head lists its links
//! and what they show ([`crate::session::share`]).
//!
//! Invariant: a record alone opens nothing; the session's head must list the link too.

use std::fmt;
use std::fmt::Write as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::access::system_scope;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::id::{SessionId, ThreadId};
use crate::store::{Change, Erased, Expected, Found, Key, Kind, Scope, Store};
use crate::tombstone;

/// Prefix of a token, by which log redaction recognises it.
pub const TOKEN_PREFIX: &str = "share_";
/// Random bytes of a token.
pub const TOKEN_BYTES: usize = 32;

/// The secret of a link. It is shown once and never stored.
#[derive(Clone, PartialEq, Eq)]
pub struct ShareToken(String);

impl ShareToken {
    pub fn new(random: [u8; TOKEN_BYTES]) -> Self {
        let mut text = String::with_capacity(TOKEN_PREFIX.len() + TOKEN_BYTES * 2);
        text.push_str(TOKEN_PREFIX);
        for byte in random {
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(TOKEN_PREFIX)?;
        let valid = digits.len() == TOKEN_BYTES * 2
            && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        valid.then(|| Self(text.to_owned()))
    }

    /// The token as text, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The id of its link. The token has 256 random bits, so the hash cannot be reversed.
    pub fn id(&self) -> ContentHash {
        ContentHash::of(&self.0)
    }
}

impl fmt::Debug for ShareToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{TOKEN_PREFIX}***")
    }
}

/// The session a link opens, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareRecord {
    pub scope: Scope,
    pub session: SessionId,
    pub expires_at: Timestamp,
}

impl ShareRecord {
    pub fn session_key(&self) -> Key {
        let (scope, id) = (self.scope.clone(), self.session.clone().into());
        Key { scope, kind: Kind::Session, id }
    }
}

/// The key of a link's record.
pub fn place(id: &ContentHash) -> Result<Key> {
    Ok(Key { scope: system_scope(), kind: Kind::Share, id: ThreadId::new(id.as_str())? })
}

pub async fn find(store: &dyn Store, id: &ContentHash) -> Result<Option<ShareRecord>> {
    read(store, &place(id)?).await
}

pub async fn read(store: &dyn Store, key: &Key) -> Result<Option<ShareRecord>> {
    let Found::Head(head) = store.head(key, None).await? else { return Ok(None) };
    serde_json::from_slice(&head.bytes).map(Some).map_err(|error| unreadable(key, &error))
}

pub async fn create(
    store: &dyn Store,
    clock: &dyn Clock,
    id: &ContentHash,
    record: &ShareRecord,
) -> Result<()> {
    let key = place(id)?;
    let head = serde_json::to_vec(record).map_err(|error| unreadable(&key, &error))?;
    let mut change = Change::of_head(head, clock.now(), clock.id());
    change.expires_at = Some(record.expires_at);
    store.commit(&key, Expected::Absent, change).await?;
    Ok(())
}

/// Erases a link's record permanently; it is erased again from a restored copy.
pub async fn erase(
    store: &dyn Store,
    clock: &dyn Clock,
    id: &ContentHash,
    created_at: Timestamp,
) -> Result<Erased> {
    let key = place(id)?;
    tombstone::write(store, clock, &key, created_at).await?;
    Ok(store.erase(&key).await?)
}

fn unreadable(key: &Key, error: &serde_json::Error) -> Error {
    Error::Unreadable { what: key.to_string(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_appears_in_no_debug_output() {
        let token = ShareToken::new([0xa7; TOKEN_BYTES]);
        assert_eq!(ShareToken::parse(token.reveal()), Some(token.clone()));
        assert_ne!(ShareToken::new([0xa8; TOKEN_BYTES]).id(), token.id());
        assert_eq!(format!("{token:?}"), "share_***");
        let upper = format!("share_{}", "A7".repeat(TOKEN_BYTES));
        for text in ["", "share_", "share_a7", &"a7".repeat(TOKEN_BYTES), &upper, "share_é"] {
            assert_eq!(ShareToken::parse(text), None, "{text}");
        }
    }
}
