//! Summaries of turns that are no longer in the window.
//!
//! Without a model a summary consists of sentences from the session: those with facts – names, numbers, dates –
//! that cover much and repeat little, spread over the whole range. A model's summary is made in the background
//! and used from the next compaction on.
//!
//! Invariant: a summary names exactly the range of turns it was made from; the turns stay in the log.

mod extract;

use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures::StreamExt;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::failure::{UpstreamError, UpstreamFault};
use crate::history::{self, HistoryTurn};
use crate::model::{Block, Message, Model, ModelEvent, ModelRequest, Role, SystemBlock};
use crate::prompt::{self, quote};
use crate::session::head::Summary;
use crate::session::record::TurnRecord;
use crate::tokens;

/// Maximum summary by a model.
pub const SUMMARY_TOKENS_MAX: u32 = 800;
/// Maximum tokens of turns that a model summarizes at once.
const MATERIAL_TOKENS_MAX: u32 = 8_000;
/// Size and idle time of the cache of extracted summaries. Without it, an application that prepares requests
/// repeatedly and never records a turn would have the same turns summarized each time.
const REMEMBERED_BYTES_MAX: u64 = 8 << 20;
const REMEMBERED_FOR: Duration = Duration::from_secs(300);

/// Summarizes `turns` and what `previous` covers in at most `tokens_max`; `None` if that is too little. A
/// previous summary that does not reach up to `turns` is returned unchanged.
pub fn condense(
    previous: Option<&Summary>,
    turns: &[HistoryTurn],
    tokens_max: u32,
    now: Timestamp,
) -> Option<Summary> {
    let (Some(first), Some(last)) = (turns.first(), turns.last()) else { return previous.cloned() };
    if let Some(previous) = previous.filter(|previous| previous.to + 1 < first.turn) {
        return Some(previous.clone());
    }
    let text = remembered(previous, turns, tokens_max);
    (!text.is_empty()).then(|| Summary {
        from: previous.map_or(first.turn, |previous| previous.from),
        to: last.turn,
        tokens: tokens::count(&text),
        text: text.to_string(),
        by: Summary::EXTRACTION.into(),
        modelled_to: previous.map_or(0, |previous| previous.modelled_to),
        at: now,
    })
}

/// The cached extract of exactly these turns.
fn remembered(previous: Option<&Summary>, turns: &[HistoryTurn], tokens_max: u32) -> Arc<str> {
    static MADE: LazyLock<moka::sync::Cache<u128, Arc<str>>> = LazyLock::new(|| {
        moka::sync::Cache::builder()
            .max_capacity(REMEMBERED_BYTES_MAX)
            .weigher(|_, text: &Arc<str>| u32::try_from(text.len()).unwrap_or(u32::MAX))
            .time_to_idle(REMEMBERED_FOR)
            .build()
    });
    MADE.get_with(key_of(previous, turns, tokens_max), || {
        extract::notes(previous, turns, tokens_max).into()
    })
}

/// The cache key. It is keyed by a secret of this process, so that collisions cannot be constructed.
fn key_of(previous: Option<&Summary>, turns: &[HistoryTurn], tokens_max: u32) -> u128 {
    static KEYS: LazyLock<[RandomState; 2]> =
        LazyLock::new(|| [(); 2].map(|()| RandomState::new()));
    let pieces = turns.iter().flat_map(|turn| &turn.pieces).map(|sent| &sent.piece.hash);
    let days: Vec<_> = turns.iter().map(|turn| (turn.turn, turn.day)).collect();
    let notes = previous.map(|previous| (&previous.by, &previous.text));
    let made_of = (notes, tokens_max, days, Vec::from_iter(pieces));
    let [left, right] = [&KEYS[0], &KEYS[1]].map(|key| u128::from(key.hash_one(&made_of)));
    (left << 64) | right
}

/// Summarizes with a model.
pub async fn by_model(
    model: &dyn Model,
    previous: Option<&str>,
    turns: &[Arc<TurnRecord>],
) -> Result<String, UpstreamError> {
    let mut material = String::new();
    if let Some(previous) = previous {
        let _ = writeln!(material, "{}", quote("earlier notes", previous));
    }
    let mut room = MATERIAL_TOKENS_MAX;
    for turn in turns {
        let results = history::results_text(turn);
        let origin = format!("turn {}", turn.turn);
        let said = format!("User: {}\n{results}\nAssistant: {}", turn.message, turn.reply);
        // The rest is covered by the previous summary.
        let tokens = tokens::count(&said);
        if tokens > room {
            break;
        }
        room -= tokens;
        let _ = writeln!(material, "{}", quote(&origin, &said));
    }
    let request = ModelRequest {
        system: vec![SystemBlock {
            text: prompt::SUMMARIZE.trim_end().to_owned(),
            cache_breakpoint: false,
        }],
        messages: vec![Message { role: Role::User, content: vec![Block::text(material)] }],
        tools: Vec::new(),
        reply_tokens_max: SUMMARY_TOKENS_MAX,
        temperature: 0.2,
    };
    let mut stream = model.stream(&request, CancellationToken::new()).await?;
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let ModelEvent::Text(more) = event? {
            text.push_str(&more);
        }
    }
    let text = text.trim().to_owned();
    if text.is_empty() {
        let reason = "it returned an empty summary";
        return Err(UpstreamError::new(model.name(), UpstreamFault::Malformed, reason));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    fn turns(rack: &str, day: i64) -> Vec<HistoryTurn> {
        let said = |turn: u64| TurnRecord {
            message: format!("Move server {turn} to rack {rack} in Lisbon before Monday."),
            ..TurnRecord::erased(turn, Timestamp::from_second(day * 86_400).unwrap())
        };
        (1..9).map(|turn| HistoryTurn::of(&said(turn), &TimeZone::UTC)).collect()
    }

    #[test]
    fn notes_are_remembered_for_exactly_what_they_were_made_of() {
        let notes = |previous: Option<&Summary>, turns: &[HistoryTurn], room| {
            let made = condense(previous, turns, room, Timestamp::UNIX_EPOCH).unwrap();
            assert_eq!(made.text, extract::notes(previous, turns, room));
            made
        };
        let first = notes(None, &turns("R1", 1), 400);
        assert_eq!(notes(None, &turns("R1", 1), 400), first);
        assert_ne!(notes(None, &turns("R2", 1), 400).text, first.text);
        assert_ne!(notes(None, &turns("R1", 2), 400).text, first.text);
        assert_ne!(notes(None, &turns("R1", 1), 60).text, first.text);
        assert_ne!(notes(None, &turns("R1", 1)[1..], 400).text, first.text);
        let earlier = Summary { by: "a model".into(), to: 0, ..first.clone() };
        assert_ne!(notes(Some(&earlier), &turns("R1", 1), 800).text, first.text);
    }
}
