//! Names and aliases of known entities, including misspelt ones.
//!
//! A name that is an ordinary word needs more evidence: a capital letter or a position where a name belongs. A
//! misspelt name is never certain: it is marked, or asked about if it matches several.

use super::mention::How;
use super::notice::{Open, Reading};
use super::token::{Gap, Setting, Shape};
use crate::lexicon::Class;
use crate::pack::PackSet;
use crate::weights;

/// Maximum words of a message compared with the spelling of known names.
const SPELLINGS_TRIED_MAX: usize = 64;

pub(super) fn read(reading: &mut Reading<'_>) {
    let mut at = 0;
    while at < reading.tokens.len() {
        let found = if reading.taken[at] { None } else { reading.known_at(at, |_| true) };
        let Some((words, candidates, how)) = found else {
            at += 1;
            continue;
        };
        if !is_meant(reading, at, words) {
            at += 1;
            continue;
        }
        reading.take(at, words);
        let phrase_is_vague = how == How::Alias
            && reading.is_at(at, Class::My)
            && !names_a_type(reading.packs, reading, at, words);
        if phrase_is_vague {
            let span = reading.span(at, words);
            let refs = candidates.iter().map(|entity| entity.entity.clone()).collect();
            reading.ask(span, refs);
        } else {
            let confidence = match how {
                How::Name => weights::NAME_KNOWN,
                _ => weights::NAME_ALIAS,
            };
            reading.leave_open(Open { first: at, words, candidates, how, confidence });
        }
        at += words;
    }
}

/// "my task workflow" names a type, "my task" could be anything.
fn names_a_type(packs: &PackSet, reading: &Reading<'_>, at: usize, words: usize) -> bool {
    let mut tokens = reading.tokens[at..at + words].iter();
    tokens.any(|token| packs.cue_at(std::iter::once(token.lower.as_str())).is_some())
}

fn is_meant(reading: &Reading<'_>, at: usize, words: usize) -> bool {
    let tokens = &reading.tokens[at..at + words];
    if tokens
        .iter()
        .all(|token| token.shape == Shape::Number || reading.is(Class::Ordinary, &token.lower))
    {
        return false;
    }
    let [token] = tokens else { return true };
    match token.shape {
        Shape::Identifier => true,
        Shape::Number => false,
        Shape::Capitalised => true,
        Shape::Compound => true,
        Shape::Plain => {
            let article = reading.is_before(at, Class::Article);
            let first = if article { at - 1 } else { at };
            let placed = reading.is_before(first, Class::Placing);
            let quoted = matches!(token.setting, Setting::Quoted(_));
            let cue = reading.cue_at(at).is_some();
            (placed || quoted || token.clitic == super::token::Clitic::S) && !cue
        }
    }
}

/// Remaining words that resemble a known name.
pub(super) fn read_misspelt(reading: &mut Reading<'_>) {
    misspelt_beside_cues(reading);
    let mut tried = 0;
    for at in 0..reading.tokens.len() {
        let token = &reading.tokens[at];
        let looks = match token.shape {
            Shape::Identifier => true,
            Shape::Capitalised => {
                token.gap != Gap::Stop && !reading.is(Class::Ordinary, &token.lower)
            }
            Shape::Compound => true,
            _ => false,
        };
        if !looks || reading.taken[at] || !reading.is_own(at) {
            continue;
        }
        tried += 1;
        if tried > SPELLINGS_TRIED_MAX {
            return;
        }
        reading.work(token.lower.len());
        let near = reading.known.spellings.near(&token.lower);
        let candidates: Vec<_> =
            near.iter().filter_map(|(slot, _)| reading.known.at(*slot)).collect();
        if !candidates.is_empty() {
            reading.take(at, 1);
            let (how, confidence) = (How::Fuzzy, weights::NAME_MISSPELT);
            reading.leave_open(Open { first: at, words: 1, candidates, how, confidence });
        }
    }
}

/// New names next to a cue, or of a known pattern, that resemble a known one of the same type.
fn misspelt_beside_cues(reading: &mut Reading<'_>) {
    let known = reading.known;
    let mut asked = Vec::new();
    for mention in &mut reading.noticed.mentions {
        if mention.entity.is_some() || mention.name.is_empty() {
            continue;
        }
        let near = known.spellings.near(&super::known::phrase_of(&mention.name));
        let of_kind = near.iter().filter_map(|(slot, _)| known.at(*slot));
        let candidates: Vec<_> =
            of_kind.filter(|entity| entity.entity.kind == mention.kind).collect();
        match candidates.as_slice() {
            [] => {}
            [one] => {
                mention.entity = Some(one.entity.clone());
                mention.name = one.entity.name.clone();
                mention.id = one.entity.id.clone();
                (mention.how, mention.confidence) = (How::Fuzzy, weights::NAME_MISSPELT);
            }
            several => {
                let refs: Vec<_> = several.iter().map(|entity| entity.entity.clone()).collect();
                asked.push((mention.span, refs));
            }
        }
    }
    for (span, refs) in asked {
        reading.noticed.mentions.retain(|mention| mention.span != span);
        reading.ask(span, refs);
    }
}
