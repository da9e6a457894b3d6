//! Tool calls with an idempotency key outside a session: repeating the key returns the stored result.
//!
//! A key is a small thread in the caller's scope. It is written before the call, so that no other server makes
//! the same call, and again with the result. It is deleted after a day.
//!
//! Invariant: a call is made at most once per key, even if the process ended before the result was stored.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Caller;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::id::ThreadId;
use crate::session::apply::RequestKey;
use crate::session::record::CallRecord;
use crate::store::{Change, Expected, Found, Key, Kind, ListedThread, StoreError, Version};

use super::Engine;

/// Prefix of the ids of these threads.
const PREFIX: &str = "call-";
/// How long a result is remembered.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(24);

/// The head of such a thread; the result is the only log entry.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    /// Hash of the request.
    body: ContentHash,
    /// The server that makes the call.
    #[serde(default)]
    owner: Uuid,
    /// How long it may be in progress.
    until: Timestamp,
}

/// A call that may now be made, and where to store its result.
pub(super) struct Reserved {
    key: Key,
    version: Version,
    remembered: Remembered,
}

/// Whether a keyed call has expired.
pub(super) fn is_forgotten(listed: &ListedThread, now: Timestamp) -> bool {
    let ours = listed.key.kind == Kind::Job && listed.key.id.as_str().starts_with(PREFIX);
    ours && listed.changed_at + REMEMBERED < now
}

impl Engine {
    /// The stored result of the same request, if any.
    pub(super) async fn called_before(
        &self,
        caller: &Caller,
        key: &RequestKey,
    ) -> Result<Option<CallRecord>> {
        let at = place(caller, key)?;
        let Found::Head(head) = self.store().head(&at, None).await? else { return Ok(None) };
        let unreadable = |error: serde_json::Error| Error::Unreadable {
            what: at.to_string(),
            reason: error.to_string(),
        };
        let known: Remembered = serde_json::from_slice(&head.bytes).map_err(unreadable)?;
        if known.body != key.body {
            return Err(Error::KeyReused { key: key.shown.clone() });
        }
        let Some(answer) = self.store().entries(&at, 0..1).await?.pop() else {
            let key = key.shown.clone();
            return Err(match self.turns.has_ended(known.owner, known.until) {
                true => Error::OutcomeUnknown { key },
                false => Error::UnderWay { key },
            });
        };
        serde_json::from_slice(&answer).map(Some).map_err(unreadable)
    }

    /// Writes the key before the call. `None` if another server was faster.
    pub(super) async fn reserve_call(
        &self,
        caller: &Caller,
        key: &RequestKey,
    ) -> Result<Option<Reserved>> {
        let at = place(caller, key)?;
        let (owner, until) = (self.turns.instance, self.turns.turn_ends());
        let remembered = Remembered { body: key.body, owner, until };
        match self.store().commit(&at, Expected::Absent, self.noted(&at, &remembered, None)?).await
        {
            Ok(version) => Ok(Some(Reserved { key: at, version, remembered })),
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Stores the result.
    pub(super) async fn remember_call(&self, call: Reserved, record: &CallRecord) -> Result<()> {
        let change = self.noted(&call.key, &call.remembered, Some(record))?;
        self.store().commit(&call.key, Expected::At(call.version), change).await?;
        Ok(())
    }

    fn noted(
        &self,
        key: &Key,
        remembered: &Remembered,
        record: Option<&CallRecord>,
    ) -> Result<Change> {
        let unreadable = |error: serde_json::Error| Error::Unreadable {
            what: format!("the call {key}"),
            reason: error.to_string(),
        };
        let now = self.now();
        let answer = record.map(serde_json::to_vec).transpose().map_err(unreadable)?;
        Ok(Change {
            at: now,
            head: serde_json::to_vec(remembered).map_err(unreadable)?.into(),
            append: answer.into_iter().map(Into::into).collect(),
            overwrite: Vec::new(),
            expires_at: Some(now + REMEMBERED),
            write_id: self.new_id(),
        })
    }
}

fn place(caller: &Caller, key: &RequestKey) -> Result<Key> {
    let id = ThreadId::new(format!("{PREFIX}{}", key.key.as_str()))?;
    Ok(Key { scope: caller.scope.clone(), kind: Kind::Job, id })
}
