//! The stored recall index of a session: the units of its turns, and the entities it knows.
//!
//! It is a separate thread. Its log has one sealed segment per [`SEGMENT_TURNS`] turns; its head says what it was
//! made from and has the units of the later turns. So a turn rewrites less than one segment, and a short session
//! is read in one step. It is written in the background and is never the authority on whether something exists.
//!
//! Invariant: an index is returned only if it was made from exactly the session's turns up to [`MadeOf::turns`],
//! none of them erased since; anything else counts as missing.

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::segment;
use crate::entity::{Entity, KnownEntities};
use crate::error::{Error, Result};
use crate::id::{AgentName, SessionId};
use crate::search::{TurnUnit, UNIT_VERSION};
use crate::session::LoadedSession;
use crate::session::head::SessionHead;
use crate::store::{Change, Expected, Found, Key, Store, StoreError, Version};

pub(super) const SEGMENT_TURNS: u64 = 64;
/// Minimum turns at which the known entities are stored; for shorter sessions they are read from the log.
pub(super) const KNOWN_TURNS_MIN: u64 = 256;
/// Larger known entities are not stored.
const KNOWN_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Size of the length before a part of the head.
const LENGTH_BYTES: usize = 4;

/// The inputs of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MadeOf {
    /// Version of the algorithm that makes units.
    units: u32,
    /// The embedder's name and revision.
    embedder: String,
    pub version: Version,
    /// Number of turns indexed.
    pub turns: u64,
    /// Number of turns erased at that time.
    pub erased: u64,
    /// A checksum of the entities the user wanted forgotten at that time.
    forgotten: u64,
    /// Whether the known entities are included.
    known: Known,
    pub agent: Option<AgentName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<SessionId>,
    /// Whether the user's other sessions may see it.
    pub is_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Known {
    /// The session is short.
    Not,
    Stored,
    TooMany,
}

impl MadeOf {
    pub(super) fn new(loaded: &LoadedSession, embedder: &str, is_open: bool) -> Self {
        let head = &loaded.head;
        Self {
            units: UNIT_VERSION,
            embedder: embedder.to_owned(),
            version: loaded.version,
            turns: head.turns,
            erased: head.unused_turns(),
            forgotten: forgotten(head),
            known: Known::Not,
            agent: head.agent.clone(),
            forked_from: head.forked_from.as_ref().map(|from| from.session.clone()),
            is_open,
        }
    }

    /// Whether its turns are the first ones of the current session.
    pub(super) fn fits(&self, version: Version, head: &SessionHead) -> bool {
        self.version.incarnation == version.incarnation
            && self.version.number <= version.number
            && self.erased == head.unused_turns()
            && self.forgotten == forgotten(head)
            && self.turns <= head.turns
    }
}

fn forgotten(head: &SessionHead) -> u64 {
    head.entities.forgotten.iter().map(|gone| gone.turn + 1).sum()
}

#[derive(Debug)]
pub(super) struct StoredIndex {
    pub made_of: MadeOf,
    thread: Version,
    known: Bytes,
    sealed: u64,
    last: Bytes,
}

impl StoredIndex {
    /// The index of a session; `None` if missing, damaged, or of another embedder or version.
    pub(super) async fn find(
        store: &dyn Store,
        session: &Key,
        embedder: &str,
    ) -> Result<Option<Self>> {
        let found = match store.head(&session.derived(), None).await {
            Ok(Found::Head(head)) => head,
            Ok(Found::Missing | Found::Unchanged) | Err(StoreError::Damaged { .. }) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let read = parts(&found.bytes).and_then(|[made_of, known, last]| {
            let made_of: MadeOf = serde_json::from_slice(&made_of).ok()?;
            let sealed = made_of.turns / SEGMENT_TURNS;
            Some(Self { made_of, thread: found.version, known, sealed, last })
        });
        Ok(read.filter(|read| {
            let made_of = &read.made_of;
            made_of.units == UNIT_VERSION
                && made_of.embedder == embedder
                && read.sealed == found.entries
        }))
    }

    /// All units. If some are damaged, `None`, and the stored index is erased to be rebuilt.
    pub(super) async fn units(
        &self,
        store: &dyn Store,
        session: &Key,
    ) -> Result<Option<Vec<TurnUnit>>> {
        let mut units = Vec::new();
        let is_whole = self.read(store, session, |mut read| units.append(&mut read)).await?;
        Ok(is_whole.then_some(units))
    }

    /// Passes all units to `take`, some turns at a time, so that a long session is never held twice. If some are
    /// damaged, `false`, and the stored index is erased to be rebuilt.
    pub(super) async fn read(
        &self,
        store: &dyn Store,
        session: &Key,
        mut take: impl FnMut(Vec<TurnUnit>),
    ) -> Result<bool> {
        let sealed = match self.sealed {
            0 => Vec::new(),
            sealed => match store.entries(&session.derived(), 0..sealed).await {
                Ok(sealed) => sealed,
                Err(StoreError::Damaged { .. }) => Vec::new(),
                Err(error) => return Err(error.into()),
            },
        };
        let mut is_whole = sealed.len() as u64 == self.sealed;
        for segment in sealed.iter().chain([&self.last]) {
            match segment::decode(segment) {
                Some(units) if is_whole => take(units),
                _ => is_whole = false,
            }
        }
        if !is_whole {
            store.erase(&session.derived()).await?;
        }
        Ok(is_whole)
    }

    /// The known entities, if stored.
    pub(super) fn known(&self) -> Option<Vec<Entity>> {
        serde_json::from_slice(&self.known).ok()
    }

    /// Where the next write continues: the units after the sealed ones, and the known entities. `None` if the
    /// index must be rebuilt because the session is now long enough to store its entities.
    pub(super) fn rest(&self, head: &SessionHead) -> Option<(Vec<TurnUnit>, Vec<Entity>)> {
        let is_long = head.turns >= KNOWN_TURNS_MIN;
        if self.made_of.known == Known::Not && is_long {
            return None;
        }
        Some((segment::decode(&self.last)?, self.known().unwrap_or_default()))
    }

    pub(super) fn expected(&self) -> Expected {
        Expected::At(self.thread)
    }
}

/// The change that writes an index. `units` are those after the `sealed` segments already stored.
pub(super) fn change(
    mut made_of: MadeOf,
    known: Option<&KnownEntities>,
    (sealed, units): (u64, &[TurnUnit]),
    (at, write_id): (Timestamp, Uuid),
) -> Result<Change> {
    let unwritable = |error: serde_json::Error| Error::Unreadable {
        what: "a stored index".into(),
        reason: error.to_string(),
    };
    let mut things = Vec::new();
    if let Some(known) = known {
        things = serde_json::to_vec(&known.iter().collect::<Vec<_>>()).map_err(unwritable)?;
        made_of.known = Known::Stored;
    }
    if things.len() > KNOWN_BYTES_MAX {
        (things, made_of.known) = (Vec::new(), Known::TooMany);
    }
    let mut append = Vec::new();
    let mut left = units;
    // A segment whose turns were all erased is empty but present.
    for number in sealed..made_of.turns / SEGMENT_TURNS {
        let last_turn = (number + 1) * SEGMENT_TURNS;
        let (full, rest) = left.split_at(left.partition_point(|unit| unit.turn <= last_turn));
        append.push(Bytes::from(segment::encode(full)));
        left = rest;
    }
    let made_of = serde_json::to_vec(&made_of).map_err(unwritable)?;
    let mut head = Vec::new();
    for part in [made_of, things, segment::encode(left)] {
        head.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
        head.extend(part);
    }
    Ok(Change { append, ..Change::of_head(head, at, write_id) })
}

fn parts(head: &Bytes) -> Option<[Bytes; 3]> {
    let mut left = head.clone();
    let mut part = || {
        let length = u32::from_le_bytes(*left.first_chunk::<LENGTH_BYTES>()?) as usize;
        let end = LENGTH_BYTES.checked_add(length).filter(|end| *end <= left.len())?;
        let part = left.slice(LENGTH_BYTES..end);
        left = left.slice(end..);
        Some(part)
    };
    Some([part()?, part()?, part()?])
}
