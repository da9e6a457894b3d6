//! Progressive summaries: when the window fills, its oldest turns are condensed.
//!
//! A summary is derived: the turns it covers stay in the log, and it can be made again. Made in the
//! background, by the model, or by extraction where there is none or it fails. What fits in the prompt
//! is not decided here.
//!
//! Invariant: a summary covers all turns from the first to `to`, without a gap.

use std::fmt::Write;
use std::sync::Arc;

use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::failure::{UpstreamError, UpstreamFault};
use crate::history;
use crate::limits::Limits;
use crate::model::{Block, Message, Model, ModelEvent, ModelRequest, Role, SystemBlock};
use crate::prompt::{self, quote};
use crate::session::head::SessionHead;
use crate::session::record::{TurnRecord, TurnStatus};
use crate::tokens;

/// The longest summary, in tokens; extraction drops its oldest notes beyond it.
pub const SUMMARY_TOKENS_MAX: u32 = 800;
/// Characters of a sentence that extraction takes.
const SENTENCE_CHARACTERS_MAX: usize = 200;

/// The turns that are due to be condensed: first and last.
pub fn due(head: &SessionHead, limits: &Limits) -> Option<(u64, u64)> {
    if !limits.summaries {
        return None;
    }
    let covered = head.summary.as_ref().map_or(0, |summary| summary.to);
    let verbatim = head.turns.saturating_sub(covered);
    let threshold = share(limits.window_turns, limits.summary_threshold).max(2);
    if verbatim < threshold {
        return None;
    }
    // A session that was never condensed may be long already: all but the window's rest is taken.
    let kept = verbatim - share(verbatim.min(limits.window_turns), limits.summary_share).max(1);
    let last = head.turns - kept.min(limits.window_turns);
    (last > covered).then_some((covered + 1, last))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a small count"
)]
fn share(turns: u64, share: f32) -> u64 {
    (turns as f32 * share).ceil() as u64
}

/// Condenses by extraction: who asked what, what was answered, what tools did.
pub fn extract(previous: Option<&str>, turns: &[Arc<TurnRecord>]) -> String {
    let mut notes: Vec<String> =
        previous.into_iter().flat_map(str::lines).map(str::to_owned).collect();
    for turn in turns.iter().filter(|turn| turn.status != TurnStatus::Erased) {
        let mut note = format!("{}. Asked: {}", turn.turn, sentence(&turn.message));
        if !turn.calls.is_empty() {
            let tools: Vec<&str> = turn.calls.iter().map(|c| c.tool.name.as_str()).collect();
            let _ = write!(note, " Used {}.", tools.join(", "));
        }
        if !turn.reply.is_empty() {
            let _ = write!(note, " Answered: {}", sentence(&turn.reply));
        } else if let Some(error) = &turn.error {
            let _ = write!(note, " Failed: {}", sentence(&error.message));
        }
        notes.push(note);
    }
    let mut total: u32 = notes.iter().map(|note| tokens::count(note) + 1).sum();
    let mut dropped = 0;
    while total > SUMMARY_TOKENS_MAX && dropped + 1 < notes.len() {
        total -= tokens::count(&notes[dropped]) + 1;
        dropped += 1;
    }
    notes.split_off(dropped).join("\n")
}

/// The first sentence of a text, shortened.
fn sentence(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let end = line
        .match_indices(['.', '?', '!'])
        .map(|(at, mark)| at + mark.len())
        .find(|end| line[*end..].starts_with(' ') || *end == line.len());
    let first = &line[..end.unwrap_or(line.len())];
    let mut short: String = first.chars().take(SENTENCE_CHARACTERS_MAX).collect();
    if short.len() < first.len() {
        short.push('…');
    }
    short
}

/// Condenses by a model.
pub async fn by_model(
    model: &dyn Model,
    previous: Option<&str>,
    turns: &[Arc<TurnRecord>],
) -> Result<String, UpstreamError> {
    let mut material = String::new();
    if let Some(previous) = previous {
        let _ = writeln!(material, "{}", quote("earlier notes", previous));
    }
    for turn in turns.iter().filter(|turn| turn.status != TurnStatus::Erased) {
        let results = history::results_text(turn);
        let origin = format!("turn {}", turn.turn);
        let said = format!("User: {}\n{results}\nAssistant: {}", turn.message, turn.reply);
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
        let reason = "it answered nothing";
        return Err(UpstreamError::new(model.name(), UpstreamFault::Malformed, reason));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::id::SessionId;
    use crate::session::head::Summary;

    #[track_caller]
    fn check(turns: u64, covered: u64, expected: Option<(u64, u64)>) {
        let id = SessionId::new("s").expect("valid");
        let mut head = SessionHead::new(id, Timestamp::UNIX_EPOCH);
        head.turns = turns;
        head.summary = (covered > 0).then(|| Summary {
            from: 1,
            to: covered,
            text: String::new(),
            tokens: 0,
            by: String::new(),
            at: Timestamp::UNIX_EPOCH,
        });
        assert_eq!(due(&head, &Limits::default()), expected, "{turns} turns, {covered} covered");
    }

    #[test]
    fn at_seventy_percent_of_the_window_its_oldest_forty_percent_are_due() {
        check(10, 0, None);
        check(11, 0, Some((1, 5)));
        check(15, 5, None);
        check(16, 5, Some((6, 10)));
    }

    #[test]
    fn a_long_session_is_condensed_up_to_its_window() {
        let (from, to) = {
            let id = SessionId::new("s").expect("valid");
            let mut head = SessionHead::new(id, Timestamp::UNIX_EPOCH);
            head.turns = 1_000;
            due(&head, &Limits::default()).expect("due")
        };
        assert_eq!(from, 1);
        assert!((985..1_000).contains(&to), "{to}");
    }

    #[test]
    fn extraction_takes_first_sentences_and_stays_short() {
        let turn = |number: u64, message: &str, reply: &str| {
            Arc::new(TurnRecord {
                message: message.into(),
                reply: reply.into(),
                status: TurnStatus::Complete,
                ..TurnRecord::erased(number, Timestamp::UNIX_EPOCH)
            })
        };
        let text = extract(None, &[turn(1, "Where is it? Please tell.", "In Berlin. Rack 4.")]);
        assert_eq!(text, "1. Asked: Where is it? Answered: In Berlin.");
        let many: Vec<_> = (0..200).map(|n| turn(n, "word ".repeat(30).as_str(), "ok.")).collect();
        assert!(tokens::count(&extract(None, &many)) <= SUMMARY_TOKENS_MAX + 10);
    }
}
