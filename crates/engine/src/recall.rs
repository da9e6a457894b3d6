//! Older turns of a session that matter for a message, beyond the window.
//!
//! The index of a session is derived from its log, kept in memory while the session is in use, and
//! caught up before each search. It holds no text; what it finds is read from the log again, so erased
//! words cannot come back through it.
//!
//! Invariant: an index belongs to one incarnation of one session.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::embed::Embedder;
use crate::error::Result;
use crate::history;
use crate::limits::Limits;
use crate::piece::{HistoryPart, Piece, Place, Rank, Source};
use crate::search::{Calibration, Part, TurnIndex};
use crate::session::record::{TurnRecord, TurnStatus};
use crate::session::{Loaded, Sessions};
use crate::store::Key;

/// Turns read from the log at once while catching up.
const CATCH_UP_TURNS: u64 = 512;
/// The lowest score of a recalled part; below it, nothing connects it with the message.
const SCORE_MIN: f32 = 0.35;
/// The most characters of a tool result that are indexed.
const RESULT_CHARACTERS_MAX: usize = 2_000;

struct SessionRecall {
    incarnation: u32,
    /// Turns indexed so far.
    turns: u64,
    /// Erased turns when it was indexed; a change means starting anew.
    erased: u64,
    index: TurnIndex,
}

/// The recall indexes of the sessions in use.
pub struct Recall {
    embedder: Arc<dyn Embedder>,
    calibration: Calibration,
    sessions: moka::sync::Cache<Key, Arc<Mutex<SessionRecall>>>,
}

/// Bounds of one recall.
pub struct Wanted<'a> {
    /// The message.
    pub message: &'a str,
    /// Its vector.
    pub vector: &'a [f32],
    /// The first turn of the window; only older ones are recalled.
    pub before: u64,
}

impl Recall {
    /// Recall for up to `sessions_max` sessions at a time.
    pub fn new(
        embedder: Arc<dyn Embedder>,
        calibration: Calibration,
        sessions_max: u64,
        idle: Duration,
    ) -> Self {
        let sessions =
            moka::sync::Cache::builder().max_capacity(sessions_max).time_to_idle(idle).build();
        Self { embedder, calibration, sessions }
    }

    /// Forgets a session.
    pub fn forget(&self, key: &Key) {
        self.sessions.invalidate(key);
    }

    /// Parts of older turns that matter for the message, in the order of the conversation.
    pub async fn search(
        &self,
        sessions: &Sessions,
        loaded: &Loaded,
        wanted: Wanted<'_>,
        limits: &Limits,
    ) -> Result<Vec<Piece>> {
        if wanted.before <= 1 {
            return Ok(Vec::new());
        }
        let cell = self.sessions.get_with(loaded.key.clone(), || {
            Arc::new(Mutex::new(SessionRecall {
                incarnation: loaded.version.incarnation,
                turns: 0,
                erased: loaded.head.erased_turns,
                index: TurnIndex::new(self.calibration),
            }))
        });
        let mut recall = cell.lock().await;
        self.catch_up(sessions, loaded, &mut recall).await?;
        let mut hits =
            recall.index.search(wanted.message, wanted.vector, limits.recalled_turns, |turn| {
                turn >= wanted.before
            });
        drop(recall);
        hits.retain(|hit| hit.score >= SCORE_MIN);
        hits.sort_by_key(|hit| (hit.turn, hit.part));
        let mut pieces = Vec::with_capacity(hits.len());
        for hit in hits {
            let found = sessions.turns(loaded, hit.turn - 1..hit.turn).await?;
            let Some(record) = found.first() else { continue };
            pieces.extend(piece(record, hit.part).map(|piece| piece.scored(hit.score)));
        }
        Ok(pieces)
    }

    async fn catch_up(
        &self,
        sessions: &Sessions,
        loaded: &Loaded,
        recall: &mut SessionRecall,
    ) -> Result<()> {
        let stale = recall.incarnation != loaded.version.incarnation
            || recall.erased != loaded.head.erased_turns;
        if stale {
            *recall = SessionRecall {
                incarnation: loaded.version.incarnation,
                turns: 0,
                erased: loaded.head.erased_turns,
                index: TurnIndex::new(self.calibration),
            };
        }
        while recall.turns < loaded.head.turns {
            let next = recall.turns..(recall.turns + CATCH_UP_TURNS).min(loaded.head.turns);
            let end = next.end;
            let records = sessions.turns(loaded, next).await?;
            self.index(&records, &mut recall.index).await?;
            recall.turns = end;
        }
        Ok(())
    }

    async fn index(&self, records: &[Arc<TurnRecord>], index: &mut TurnIndex) -> Result<()> {
        let mut parts = Vec::new();
        for record in records.iter().filter(|record| record.status != TurnStatus::Erased) {
            parts.push((record.turn, Part::Message, "User", record.message.clone()));
            if !record.calls.is_empty() {
                let results: Vec<String> =
                    record.calls.iter().map(|call| call.result_text()).collect();
                let text = results.join("\n").chars().take(RESULT_CHARACTERS_MAX).collect();
                parts.push((record.turn, Part::ToolResult, "Tool", text));
            }
            parts.push((record.turn, Part::Reply, "Assistant", record.reply.clone()));
        }
        parts.retain(|(.., text)| !text.is_empty());
        let texts: Vec<&str> = parts.iter().map(|(.., text)| text.as_str()).collect();
        let vectors = self.embedder.embed(&texts).await?;
        for ((turn, part, speaker, text), vector) in parts.iter().zip(&vectors) {
            index.add(*turn, *part, speaker, text, vector);
        }
        Ok(())
    }
}

fn piece(record: &TurnRecord, part: Part) -> Option<Piece> {
    if record.status == TurnStatus::Erased {
        return None;
    }
    let (source, part, rank) = match part {
        Part::Message => {
            (recalled(record, HistoryPart::Message), HistoryPart::Message, Rank::Recalled)
        }
        Part::Reply => (recalled(record, HistoryPart::Reply), HistoryPart::Reply, Rank::Recalled),
        Part::ToolResult => {
            (Source::EarlierResult { turn: record.turn }, HistoryPart::Results, Rank::EarlierResult)
        }
    };
    let text = history::recalled_text(record, part);
    Some(Piece::new(source, "an older turn that fits the message", Place::Aside, rank, text))
}

fn recalled(record: &TurnRecord, part: HistoryPart) -> Source {
    Source::Recalled { turn: record.turn, part }
}
