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

use extract::Notes;

/// Tokens of the tags around a summary.
const FRAME_TOKENS: u32 = 20;
/// Maximum tokens of turns that a model summarizes at once.
const MATERIAL_TOKENS_MAX: u32 = 8_000;
/// Size and idle time of the cache of extracted summaries. Without it, an application that prepares requests
/// repeatedly and never records a turn would have the same turns summarized each time.
const REMEMBERED_BYTES_MAX: u64 = 8 << 20;
const REMEMBERED_FOR: Duration = Duration::from_secs(300);

/// Summarizes `turns` and what `previous` covers in at most `tokens_max`; `None` if that is too little. Where a previous
/// summary does not reach up to `turns`, they are left out.
pub fn condense(
    previous: Option<&Summary>,
    turns: &[HistoryTurn],
    tokens_max: u32,
    now: Timestamp,
) -> Option<Summary> {
    let tokens_max = tokens_max.saturating_sub(FRAME_TOKENS);
    let apart = |previous: &&Summary| turns.first().is_some_and(|turn| previous.to + 1 < turn.turn);
    let (previous, turns) = match previous.filter(apart) {
        Some(previous) => (Some(previous), &[][..]),
        None => (previous, turns),
    };
    if let Some(previous) = previous.filter(|p| turns.is_empty() && p.tokens <= tokens_max) {
        return Some(previous.clone());
    }
    let from = previous.map(|previous| previous.from).or(turns.first().map(|turn| turn.turn))?;
    let to = turns.last().map(|turn| turn.turn).or(previous.map(|previous| previous.to))?;
    let made = remembered(previous, turns, tokens_max);
    let by_model = previous.filter(|previous| turns.is_empty() && !previous.is_extract());
    (!made.text.is_empty()).then(|| Summary {
        from,
        to,
        tokens: tokens::count(&made.text),
        text: made.text.clone(),
        by: by_model.map_or(Summary::EXTRACTION, |previous| &previous.by).into(),
        modelled_to: previous.filter(|_| made.has_prose).map_or(0, |previous| previous.modelled_to),
        at: now,
    })
}

/// The cached extract of exactly these turns.
fn remembered(previous: Option<&Summary>, turns: &[HistoryTurn], tokens_max: u32) -> Arc<Notes> {
    static MADE: LazyLock<moka::sync::Cache<u128, Arc<Notes>>> = LazyLock::new(|| {
        moka::sync::Cache::builder()
            .max_capacity(REMEMBERED_BYTES_MAX)
            .weigher(|_, made: &Arc<Notes>| u32::try_from(made.text.len()).unwrap_or(u32::MAX))
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
    tokens_max: u32,
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
        reply_tokens_max: tokens_max,
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
            let again = extract::notes(previous, turns, room - FRAME_TOKENS);
            assert_eq!(made.text, again.text);
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

    /// Notes in `room`, compaction after compaction of eight turns.
    fn notes_of(
        previous: Option<Summary>,
        compactions: std::ops::Range<u64>,
        room: u32,
    ) -> Summary {
        let mut notes = previous;
        for number in compactions {
            let said = |turn: u64| TurnRecord {
                message: format!(
                    "Horse {turn} lives in stable {} since May. It eats oats.",
                    turn * 3
                ),
                ..TurnRecord::erased(turn, Timestamp::from_second(turn as i64 * 40_000).unwrap())
            };
            let turns = number * 8 + 1..=number * 8 + 8;
            let turns: Vec<_> = turns.map(|t| HistoryTurn::of(&said(t), &TimeZone::UTC)).collect();
            notes = condense(notes.as_ref(), &turns, room, Timestamp::UNIX_EPOCH);
            let piece = history::summary_piece(notes.as_ref().unwrap());
            assert!(piece.tokens <= room, "{} of {room}: {}", piece.tokens, piece.text);
        }
        notes.unwrap()
    }

    #[test]
    fn notes_stay_within_their_room_and_are_spread_over_their_range() {
        for room in [90, 120, 300, 600] {
            let notes = notes_of(None, 0..7, room);
            let lines = notes.text.lines().filter(|line| !line.starts_with('['));
            let turns: Vec<u64> =
                lines.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
            assert_eq!((notes.from, notes.to), (1, 56));
            assert!(turns.len() >= 2, "{notes:?}");
            let (first, last) = (turns[0], turns[turns.len() - 1]);
            assert!(first <= 28 && last > 28, "{room}: {turns:?}");
        }
    }

    #[test]
    fn what_a_model_wrote_outlasts_the_next_compactions() {
        let first = notes_of(None, 0..1, 600);
        let prose = "They keep 4 horses in Zermatt. The vet comes on Monday.";
        let by_model = |text: &str| Summary {
            text: text.into(),
            tokens: tokens::count(text),
            by: "a model".into(),
            modelled_to: 8,
            ..first.clone()
        };
        let notes = notes_of(Some(by_model(prose)), 1..6, 120);
        assert!(notes.text.starts_with(prose), "{}", notes.text);
        assert!(notes.is_extract() && notes.modelled_to == 8);
        let told = history::summary_piece(&notes).text;
        assert!(told.contains("notes on and sentences of turns 1 to 48"), "{told}");
        // Longer notes than the room are cut at a sentence.
        let long = prose.repeat(20).replace(".They", ". They");
        let notes = notes_of(Some(by_model(&long)), 1..3, 120);
        assert!(notes.text.starts_with(prose), "{}", notes.text);
        assert!(notes.text.contains(" user: "), "{}", notes.text);
        let shown = condense(Some(&by_model(&long)), &[], 100, Timestamp::UNIX_EPOCH).unwrap();
        assert!(shown.tokens <= 100 && !shown.is_extract(), "{shown:?}");
    }
}
