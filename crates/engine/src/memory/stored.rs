//! What recall has derived of a session, in the store: the units of its turns, and the things it knows.
//!
//! It is a thread of its own beside the session's. Its log holds one sealed segment for every [`SEGMENT_TURNS`]
//! turns; its head says what it was made of and holds the units of the turns after those. So a turn rewrites
//! less than one segment, and a short session is read in one step. It is written in the background, and never
//! asked whether something exists.
//!
//! Invariant: what is answered was made of exactly the turns that the session has up to [`MadeOf::turns`], none of
//! them erased since; anything else counts as missing.

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::segment;
use crate::entity::{Entity, KnownEntities};
use crate::error::{Error, Result};
use crate::id::AgentName;
use crate::search::{TurnUnit, UNIT_VERSION};
use crate::session::LoadedSession;
use crate::session::head::SessionHead;
use crate::store::{Change, Expected, Found, Key, Store, StoreError, Version};

/// Turns of a sealed segment.
pub(super) const SEGMENT_TURNS: u64 = 64;
/// Turns from which on the things that a session knows are stored; those of a shorter one are read from its log.
pub(super) const KNOWN_TURNS_MIN: u64 = 256;
/// Known things of more bytes than this are not stored.
const KNOWN_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a length before a part of the head.
const LENGTH_BYTES: usize = 4;

/// What an index was made of and with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MadeOf {
    /// How units are made of texts.
    units: u32,
    /// The embedder's name and revision.
    embedder: String,
    /// The session's version.
    pub version: Version,
    /// Turns that are held.
    pub turns: u64,
    /// Turns that were erased by then.
    pub erased: u64,
    /// Which things the user wanted forgotten by then: a sum of their turns.
    forgotten: u64,
    /// Whether the things that the session knew are held.
    known: Known,
    /// The session's agent.
    pub agent: Option<AgentName>,
    /// Whether other sessions of the user may see it.
    pub is_open: bool,
}

/// Whether the things that a session knows are stored with its units.
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
            is_open,
        }
    }

    /// Whether its turns are the first ones of a session as it is now.
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
    /// The index of a session; none where there is none, or it is damaged or of another embedder or version.
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

    /// All units. Where some are damaged, none, and what is stored is erased, to be made anew.
    pub(super) async fn units(
        &self,
        store: &dyn Store,
        session: &Key,
    ) -> Result<Option<Vec<TurnUnit>>> {
        let units = self.read_units(store, session).await?;
        if units.is_none() {
            store.erase(&session.derived()).await?;
        }
        Ok(units)
    }

    async fn read_units(&self, store: &dyn Store, session: &Key) -> Result<Option<Vec<TurnUnit>>> {
        let Some(mut last) = segment::decode(&self.last) else { return Ok(None) };
        if self.sealed == 0 {
            return Ok(Some(last));
        }
        let sealed = match store.entries(&session.derived(), 0..self.sealed).await {
            Ok(sealed) => sealed,
            Err(StoreError::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut units = Vec::new();
        for bytes in &sealed {
            let Some(mut read) = segment::decode(bytes) else { return Ok(None) };
            units.append(&mut read);
        }
        units.append(&mut last);
        Ok((sealed.len() as u64 == self.sealed).then_some(units))
    }

    /// The things that the session knew; none where they are not stored.
    pub(super) fn known(&self) -> Option<Vec<Entity>> {
        serde_json::from_slice(&self.known).ok()
    }

    /// What the next write goes on from: the units after the sealed ones, and the things known. None where the
    /// index has to be made anew, since the session has become long enough for its things to be stored.
    pub(super) fn rest(&self, head: &SessionHead) -> Option<(Vec<TurnUnit>, Vec<Entity>)> {
        let is_long = head.turns >= KNOWN_TURNS_MIN;
        if self.made_of.known == Known::Not && is_long {
            return None;
        }
        Some((segment::decode(&self.last)?, self.known().unwrap_or_default()))
    }

    /// Where the next write expects it.
    pub(super) fn expected(&self) -> Expected {
        Expected::At(self.thread)
    }
}

/// The change that writes an index. `units` are those after the `sealed` segments that are stored already.
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
    // A segment whose turns were all erased is empty, and there all the same.
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
