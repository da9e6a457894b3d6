//! Answers that need neither a tool nor a model: what is written in the agent's references, and what was
//! said earlier. Rules are not quoted: they say how to answer, not what.
//!
//! Invariant: everything is quoted, with where it is from.

use std::fmt::Write;

use crate::history;
use crate::memory::Recalled;
use crate::piece::{HistoryPart, Source};
use crate::search::words::stems;
use crate::session::record::ReplyForm;

use super::{ReplyRequest, wording};

/// Earlier words worth quoting.
const SCORE_MIN: f32 = 0.5;
/// Texts that are quoted at most.
const QUOTED_MAX: usize = 3;
/// Characters of each.
const CHARACTERS_MAX: usize = 400;

/// What references say that were chosen for this message, the best first. One that is always in the request, or
/// was added by hand, is quoted where it has every word of the message that matters.
pub fn written(asked: &ReplyRequest<'_>) -> Option<String> {
    let wanted: Vec<String> = stems(asked.message);
    let agent = asked.agent;
    let pieces = asked.assembled.receipt.pieces.iter().filter(|piece| piece.sent());
    let mut found: Vec<(f32, String)> = pieces
        .filter_map(|piece| {
            let Source::Reference { name, .. } = &piece.source else { return None };
            let document = agent.references.iter().find(|document| document.name == *name)?;
            let held = stems(&format!("{name} {} {}", document.description, document.text));
            let has = |word: &&String| held.contains(word);
            let covered = !wanted.is_empty() && wanted.iter().all(|word| has(&word));
            let score = piece.score.or(covered.then_some(1.0))?;
            Some((score, format!("- {name}: {}", start_of(document.text.trim()))))
        })
        .collect();
    found.sort_by(|left, right| right.0.total_cmp(&left.0));
    found.truncate(QUOTED_MAX);
    found.first()?;
    let lines: Vec<String> = found.into_iter().map(|(_, line)| line).collect();
    Some(format!("This is written down about it:\n{}", lines.join("\n")))
}

/// What the conversation already holds, and a plain word on what is not there.
pub fn said_earlier(asked: &ReplyRequest<'_>, why: &str, hint: &str) -> String {
    let plain = format!(
        "This was answered without a model ({why}), so only tools, references and what the conversation \
         already holds can be used."
    );
    let recalled = asked.assembled.recalled.iter().filter(|recalled| recalled.score >= SCORE_MIN);
    let recalled: Vec<&Recalled> =
        recalled.filter(|r| says_something(r)).take(QUOTED_MAX).collect();
    if recalled.is_empty() {
        let nothing = "I found no tool and nothing said earlier that answers this.";
        let hint = if hint.is_empty() { String::new() } else { format!(" {hint}") };
        return format!("{nothing}{hint} {plain}");
    }
    let mut text = "The conversation already holds this:".to_owned();
    for recalled in recalled {
        let words = match recalled.part {
            HistoryPart::Results => wording::results(&recalled.record.calls),
            part => history::text_of(&recalled.record, part),
        };
        let _ = write!(text, "\n- turn {}: {}", recalled.record.turn, start_of(&words));
    }
    format!("{text}\n\n{plain}")
}

/// Whether it can answer anything: a question cannot, nor can a reply of this kind that found nothing.
fn says_something(recalled: &Recalled) -> bool {
    let record = &recalled.record;
    match recalled.part {
        HistoryPart::Message => !record.message.trim_end().ends_with('?'),
        HistoryPart::Reply => {
            !(matches!(record.form, ReplyForm::Offline { .. }) && record.calls.is_empty())
        }
        HistoryPart::Results => true,
    }
}

fn start_of(text: &str) -> String {
    text.chars().take(CHARACTERS_MAX).collect()
}
