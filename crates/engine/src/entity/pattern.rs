//! Entities recognised by pattern: addresses, prefixes, interface names, ids.
//!
//! A pattern is matched against one or two whole words, so the cost is proportional to the length of the message.

use super::mention::{How, Mention};
use super::notice::{Open, Reading};
use super::token::{Shape, TOKEN_BYTES_MAX};
use crate::pack::NumberMeans;
use crate::weights;

pub(super) fn read(reading: &mut Reading<'_>) {
    for at in 0..reading.tokens.len() {
        if reading.taken[at] {
            continue;
        }
        if !read_at(reading, at, 1) {
            read_at(reading, at, 2);
        }
    }
}

fn read_at(reading: &mut Reading<'_>, at: usize, words: usize) -> bool {
    if reading.phrase(at, words).is_none() {
        return false;
    }
    let span = reading.span(at, words);
    let text = &reading.message[span.start..span.end];
    let last = &reading.tokens[at + words - 1];
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let might = digits || text.contains(':') || last.shape == Shape::Identifier;
    if text.len() > TOKEN_BYTES_MAX || !might {
        return false;
    }
    let Some((entity_type, pattern)) = reading.packs.pattern_of(text, words) else { return false };
    let (kind, text) = (&entity_type.kind, text.to_owned());
    let (how, confidence) = (How::Pattern, pattern.confidence);
    let is_id = pattern.means == NumberMeans::Id;
    let phrase = reading.phrase(at, words).unwrap_or_default();
    let mut candidates: Vec<_> = reading.known.with_id(kind, &text).collect();
    if candidates.is_empty() {
        let found = reading.known.under(&phrase).into_iter();
        candidates =
            found.map(|(entity, _)| entity).filter(|entity| entity.entity.kind == *kind).collect();
    }
    if candidates.is_empty() && reading.is_in_quoted_sentence(at) {
        return false;
    }
    reading.take(at, words);
    if candidates.is_empty() {
        let (name, id) = if is_id { (String::new(), Some(text)) } else { (text, None) };
        let kind = kind.clone();
        reading.mention(Mention { kind, name, id, entity: None, span, how, confidence });
    } else {
        let confidence = confidence.max(weights::NAME_KNOWN);
        reading.leave_open(Open { first: at, words, candidates, how, confidence });
    }
    true
}
