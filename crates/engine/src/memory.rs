//! Recall beyond the history window: older turns by words and meaning, and the entities a session mentioned.
//! [`across`] covers the user's other sessions.
//!
//! Both are derived from the log, cached while the session is in use, and updated before each use. What was
//! [`stored`] is loaded; only the rest is read from the log and embedded. The turn index contains no text; hits
//! are read from the log, so erased words cannot return through it.
//!
//! Invariant: a memory belongs to one incarnation of one session and is rebuilt when turns are withdrawn.

mod across;
mod cells;
mod giving;
mod keep;
mod reading;
mod segment;
mod standing;
mod stored;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use tokio::sync::Mutex;

use crate::embed::Embedder;
use crate::entity::{Entities, Entity, EntityRef, Kind, KnownEntities, add_aliases, harvest};
use crate::error::Result;
use crate::excerpt::EXCERPT_TOKENS;
use crate::id::SessionId;
use crate::pack::PackSet;
use crate::piece::HistoryPart;
use crate::search::{Calibration, Hit, Part, TurnIndex, TurnUnit};
use crate::session::record::TurnRecord;
use crate::session::{LoadedSession, SessionHead, Sessions};
use crate::store::{Key, Scope};
use crate::worklist::Worklist;

pub use across::AcrossQuery;
use across::UserMemory;
use cells::Cells;
pub use giving::{Asking, given, silent};
use reading::Reading;
pub use reading::RecallBounds;
pub use standing::{elsewhere, standing};
use stored::StoredIndex;

/// Turns read from the log at once.
const CATCH_UP_TURNS: u64 = 512;
/// Minimum score of a recalled part; below it, nothing connects it with the message.
const SCORE_MIN: f32 = 0.35;
/// Maximum sessions in `kept`.
const KEPT_MAX: u64 = 10_000;
/// Longer ones are shown as excerpts. What users say themselves is denser than what is said to them.
const LONG_MESSAGE_TOKENS: u32 = 240;
const LONG_REPLY_TOKENS: u32 = 120;
/// Maximum characters of a tool result that are indexed.
const RESULT_CHARACTERS_MAX: usize = 2_000;

struct SessionMemory {
    incarnation: u32,
    /// Whether the stored index was looked for.
    is_loaded: bool,
    /// Turns indexed.
    turns: u64,
    /// Turns whose entities are known.
    known_turns: u64,
    /// Number of withdrawn turns at that time.
    unused: u64,
    index: TurnIndex,
    known: Arc<KnownEntities>,
}

pub struct Memory {
    embedder: Arc<dyn Embedder>,
    calibration: Calibration,
    packs: Arc<PackSet>,
    /// Receives sessions without a stored index.
    work: Arc<Worklist>,
    sessions: Cells<Key, SessionMemory>,
    users: Cells<Scope, UserMemory>,
    /// Number of turns in the stored index of each session, as far as this process wrote them.
    kept: moka::sync::Cache<Key, u64>,
}

/// A part of an earlier turn that matches a message.
#[derive(Debug, Clone)]
pub struct Recalled {
    pub record: Arc<TurnRecord>,
    pub part: HistoryPart,
    /// How well it matches, 0–1.
    pub score: f32,
    /// The user's other session it comes from.
    pub session: Option<SessionId>,
}

impl Recalled {
    /// Tokens of its words; tool results are not counted.
    pub fn tokens(&self) -> u32 {
        match self.part {
            HistoryPart::Message => self.record.tokens.message,
            HistoryPart::Reply => self.record.tokens.reply,
            _ => 0,
        }
    }

    /// Whether it is so long that an excerpt serves better.
    pub fn is_long(&self) -> bool {
        let most = match self.part {
            HistoryPart::Message => LONG_MESSAGE_TOKENS,
            _ => LONG_REPLY_TOKENS,
        };
        self.tokens() > most
    }

    /// Tokens of what is shown of it, unless there is room for more.
    fn tokens_shown(&self) -> u32 {
        if self.is_long() { EXCERPT_TOKENS } else { self.tokens() }
    }
}

impl Memory {
    /// `bytes_max` is split evenly between session and user indexes.
    pub fn new(
        embedder: Arc<dyn Embedder>,
        calibration: Calibration,
        packs: Arc<PackSet>,
        work: Arc<Worklist>,
        bytes_max: u64,
        idle: Duration,
    ) -> Self {
        let sessions = Cells::new(bytes_max / 2, idle);
        let users = Cells::new(bytes_max / 2, idle);
        let kept = moka::sync::Cache::new(KEPT_MAX);
        Self { embedder, calibration, packs, work, sessions, users, kept }
    }

    fn empty_index(&self) -> TurnIndex {
        TurnIndex::new(self.calibration)
    }

    /// Drops a session from the cache.
    pub fn forget(&self, key: &Key) {
        self.sessions.forget(key);
        self.kept.invalidate(key);
        let Some(cell) = self.users.get(&key.scope) else { return };
        match cell.try_lock() {
            Ok(mut user) => user.remove(&key.id.clone().into()),
            // The index is locked, and may hold the session already.
            Err(_) => self.users.forget(&key.scope),
        }
    }

    /// All entities the session knows.
    pub async fn known(
        &self,
        sessions: &Sessions,
        loaded: &LoadedSession,
    ) -> Result<Arc<KnownEntities>> {
        if loaded.head.entities.tracked.is_empty() {
            return Ok(Arc::new(KnownEntities::new()));
        }
        let cell = self.cell(loaded);
        let mut memory = cell.lock().await;
        self.catch_up_known(sessions, loaded, &mut memory).await?;
        Ok(memory.known.clone())
    }

    /// Parts of earlier turns that fit the message, best first, as many as `bounds` allow. What `is_counted` denies
    /// takes no room.
    pub async fn search(
        &self,
        sessions: &Sessions,
        loaded: &LoadedSession,
        (message, vector): (&str, &[f32]),
        bounds: RecallBounds,
        is_counted: impl Fn(&TurnRecord) -> bool,
    ) -> Result<Vec<Recalled>> {
        if loaded.head.turns == 0 {
            return Ok(Vec::new());
        }
        let cell = self.cell(loaded);
        let mut memory = cell.lock().await;
        self.catch_up(sessions, loaded, &mut memory).await?;
        let mut hits: Vec<Hit> = memory.index.search(message, vector, bounds.parts_max, |_| false);
        self.sessions.weigh(&loaded.key, &cell, memory.turns, || memory.index.bytes());
        drop(memory);
        hits.retain(|hit| hit.score >= SCORE_MIN);
        let mut standing: HashMap<u64, Arc<TurnRecord>> = HashMap::new();
        let mut recalled: Vec<Recalled> = Vec::new();
        let mut reading = Reading::of(bounds.tokens);
        let mut rest = hits.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(reading.step().min(rest.len()));
            let turns = now.iter().map(|hit| hit.turn).filter(|turn| !standing.contains_key(turn));
            let read = sessions.turns_at(loaded, &turns.collect()).await?;
            let used = read.into_iter().filter(|record| loaded.head.uses(record));
            standing.extend(used.map(|record| (record.turn, record)));
            let found = recalled.len();
            recalled.extend(now.iter().filter_map(|hit| {
                let part = part_of(hit.part);
                let record = standing.get(&hit.turn).filter(|it| it.is_recallable(part))?.clone();
                Some(Recalled { record, part, score: hit.score, session: None })
            }));
            let counted = recalled[found..].iter().filter(|found| is_counted(&found.record));
            if !reading.goes_on(now.len(), counted.map(Recalled::tokens_shown).sum()) {
                break;
            }
            rest = later;
        }
        Ok(recalled)
    }

    fn cell(&self, loaded: &LoadedSession) -> Arc<Mutex<SessionMemory>> {
        self.sessions.get_or(&loaded.key, || self.empty(loaded))
    }

    fn empty(&self, loaded: &LoadedSession) -> SessionMemory {
        SessionMemory {
            incarnation: loaded.version.incarnation,
            is_loaded: false,
            turns: 0,
            known_turns: 0,
            unused: loaded.head.unused_turns(),
            index: self.empty_index(),
            known: Arc::new(KnownEntities::new()),
        }
    }

    /// Ensures that the memory belongs to the current session, and loads the stored index.
    async fn open(
        &self,
        sessions: &Sessions,
        loaded: &LoadedSession,
        memory: &mut SessionMemory,
    ) -> Result<()> {
        if memory.incarnation != loaded.version.incarnation
            || memory.unused != loaded.head.unused_turns()
        {
            *memory = self.empty(loaded);
        }
        if memory.is_loaded {
            return Ok(());
        }
        let store = sessions.store().as_ref();
        let stored = StoredIndex::find(store, &loaded.key, self.embedder.name()).await?;
        let index = &mut memory.index;
        let put_all =
            |units: Vec<TurnUnit>| units.iter().for_each(|unit| index.put(unit.turn, unit));
        if let Some(stored) = stored.filter(|s| s.made_of.fits(loaded.version, &loaded.head))
            && stored.read(store, &loaded.key, put_all).await?
        {
            memory.turns = stored.made_of.turns;
            if let Some(known) = stored.known() {
                memory.known = Arc::new(KnownEntities::of(known));
                memory.known_turns = stored.made_of.turns;
            }
        } else if loaded.head.turns > 0 {
            *memory = self.empty(loaded);
            self.work.add(&loaded.key);
        }
        memory.is_loaded = true;
        Ok(())
    }

    /// Updates the index to the session's last turn.
    async fn catch_up(
        &self,
        sessions: &Sessions,
        loaded: &LoadedSession,
        memory: &mut SessionMemory,
    ) -> Result<()> {
        self.open(sessions, loaded, memory).await?;
        while memory.turns < loaded.head.turns {
            let end = (memory.turns + CATCH_UP_TURNS).min(loaded.head.turns);
            let records = sessions.turns(loaded, memory.turns..end).await?;
            for unit in &self.units(&loaded.head, &records).await.0 {
                memory.index.put(unit.turn, unit);
            }
            memory.turns = end;
        }
        Ok(())
    }

    /// Updates the known entities to the session's last turn.
    async fn catch_up_known(
        &self,
        sessions: &Sessions,
        loaded: &LoadedSession,
        memory: &mut SessionMemory,
    ) -> Result<()> {
        self.open(sessions, loaded, memory).await?;
        if memory.known_turns >= loaded.head.turns {
            return Ok(());
        }
        while memory.known_turns < loaded.head.turns {
            let end = (memory.known_turns + CATCH_UP_TURNS).min(loaded.head.turns);
            let records = sessions.turns(loaded, memory.known_turns..end).await?;
            self.learn(&records, &loaded.head.entities, &mut memory.known);
            memory.known_turns = end;
        }
        for entity in &loaded.head.entities.tracked {
            if memory.known.get(&entity.entity) != Some(entity) {
                Arc::make_mut(&mut memory.known).learn(entity.clone());
            }
        }
        Ok(())
    }

    /// The index units of turns, and whether all have vectors.
    async fn units(
        &self,
        head: &SessionHead,
        records: &[Arc<TurnRecord>],
    ) -> (Vec<TurnUnit>, bool) {
        let mut parts = Vec::new();
        for record in records.iter().filter(|record| head.uses(record)) {
            let date = record.at.to_zoned(TimeZone::UTC).date();
            let turn = (record.turn, date);
            parts.push((turn, Part::Message, "User", Cow::Borrowed(record.message.as_str())));
            if !record.calls.is_empty() {
                let results: Vec<String> =
                    record.calls.iter().map(|call| call.result_text()).collect();
                let text = results.join("\n").chars().take(RESULT_CHARACTERS_MAX).collect();
                parts.push((turn, Part::ToolResult, "Tool", Cow::Owned(text)));
            }
            if record.is_recallable(HistoryPart::Reply) {
                parts.push((turn, Part::Reply, "Assistant", Cow::Borrowed(record.reply.as_str())));
            }
        }
        parts.retain(|(.., text)| !text.is_empty());
        let texts: Vec<&str> = parts.iter().map(|(.., text)| text.as_ref()).collect();
        let (vectors, complete) = match self.embedder.embed(&texts).await {
            Ok(vectors) => (vectors, true),
            Err(error) => {
                tracing::warn!(%error, "embedding failed; older turns are searched by words only");
                (vec![Vec::new(); texts.len()], false)
            }
        };
        let units =
            parts.iter().zip(&vectors).map(|(((turn, date), part, speaker, text), vector)| {
                TurnUnit::new((*turn, *part), speaker, text, vector, Some(*date))
            });
        (units.collect(), complete)
    }

    /// Adds entities that turns named or tools returned; those in the head follow, with more detail.
    fn learn(
        &self,
        records: &[Arc<TurnRecord>],
        entities: &Entities,
        known: &mut Arc<KnownEntities>,
    ) {
        for record in records {
            let is_forgotten = |entity: &EntityRef| entities.has_forgotten(entity, record.turn);
            for mention in &record.entities {
                let entity = EntityRef {
                    kind: Kind::new(mention.kind.clone()),
                    name: mention.name.clone(),
                    id: mention.id.clone(),
                };
                if known.get(&entity).is_none() && !is_forgotten(&entity) {
                    let mut entity = Entity::new(entity, record.at);
                    add_aliases(&mut entity, &self.packs);
                    Arc::make_mut(known).learn(entity);
                }
            }
            for call in record.calls.iter().filter(|call| call.ok()) {
                let Some(json) = call.output.as_ref().and_then(|o| o.json.as_ref()) else {
                    continue;
                };
                let found = harvest(&call.tool, &call.arguments, json, &self.packs, record.at);
                for mut entity in found.entities {
                    if is_forgotten(&entity.entity) {
                        continue;
                    }
                    entity.relations.retain(|relation| !is_forgotten(&relation.to));
                    add_aliases(&mut entity, &self.packs);
                    Arc::make_mut(known).learn(entity);
                }
            }
        }
    }
}

fn part_of(part: Part) -> HistoryPart {
    match part {
        Part::Message => HistoryPart::Message,
        Part::ToolResult => HistoryPart::Results,
        Part::Reply => HistoryPart::Reply,
    }
}
