//! The part of a long text that fits a message: consecutive sentences around the ones that share most words with it.
//!
//! Invariant: what is shown depends only on the text and on where the excerpt starts and ends, so a receipt need not
//! store it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::search::words::stems;
use crate::sentence;

/// Bytes of an excerpt, as far as whole sentences allow, and about as many tokens.
const BYTES_WANTED: usize = 320;
pub const EXCERPT_TOKENS: u32 = 80;
/// Sentences looked at; what comes later is not found.
const SENTENCES_MAX: usize = 400;
/// Share of a neighbour's value that a sentence gets: the answer often stands beside the words of the question.
const NEIGHBOUR_SHARE: f32 = 0.3;

/// Where an excerpt starts and ends, in bytes of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Excerpt {
    pub from: u32,
    pub to: u32,
}

impl Excerpt {
    /// The excerpt of `text` that fits best to a message with the stems `wanted`; `None` if it would be most of it.
    pub(crate) fn best(text: &str, wanted: &HashSet<String>) -> Option<Self> {
        let mut sentences = sentence::spans(text);
        sentences.truncate(SENTENCES_MAX);
        if sentences.len() < 2 {
            return None;
        }
        let values = near(&values(text, &sentences, wanted));
        let best = (0..values.len()).max_by(|left, right| {
            // Of equal ones the first.
            values[*left].total_cmp(&values[*right]).then(right.cmp(left))
        })?;
        let Range { start: from, end: to } = around(&sentences, &values, best);
        let most = text.len() - text.len() / 4;
        (to - from < most)
            .then(|| Some(Self { from: u32::try_from(from).ok()?, to: u32::try_from(to).ok()? }))?
    }

    /// The words, with a mark where something is left out; `None` if the text is another one.
    pub fn of(self, text: &str) -> Option<String> {
        let (from, to) = (usize::try_from(self.from).ok()?, usize::try_from(self.to).ok()?);
        let words = text.get(from..to)?;
        let before = if text[..from].trim().is_empty() { "" } else { "[…] " };
        let after = if text[to..].trim().is_empty() { "" } else { " […]" };
        Some(format!("{before}{words}{after}"))
    }
}

/// The value of each sentence: the stems it shares, of which those that are rare in the text count more.
fn values(text: &str, sentences: &[Range<usize>], wanted: &HashSet<String>) -> Vec<f32> {
    let shared: Vec<HashSet<String>> = sentences
        .iter()
        .map(|span| stems(&text[span.clone()]).into_iter().filter(|s| wanted.contains(s)).collect())
        .collect();
    let mut found: HashMap<&str, f32> = HashMap::new();
    for stem in shared.iter().flatten() {
        *found.entry(stem).or_default() += 1.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let all = sentences.len() as f32;
    let weight = |stem: &String| (1.0 + all / found[stem.as_str()]).ln();
    shared.iter().map(|stems| stems.iter().map(weight).sum()).collect()
}

fn near(values: &[f32]) -> Vec<f32> {
    let at = |place: Option<usize>| place.and_then(|place| values.get(place)).copied();
    let beside = |place: usize| {
        at(place.checked_sub(1)).unwrap_or(0.0) + at(place.checked_add(1)).unwrap_or(0.0)
    };
    values.iter().enumerate().map(|(at, own)| own + NEIGHBOUR_SHARE * beside(at)).collect()
}

/// The sentence `best` with its more valuable neighbours, as many as fit.
fn around(sentences: &[Range<usize>], values: &[f32], best: usize) -> Range<usize> {
    let (mut first, mut last) = (best, best);
    loop {
        let before = first.checked_sub(1);
        let after = (last + 1 < sentences.len()).then_some(last + 1);
        let next = match (before, after) {
            (Some(before), Some(after)) if values[before] > values[after] => before,
            (_, Some(after)) => after,
            (Some(before), None) => before,
            (None, None) => break,
        };
        let (from, to) = (first.min(next), last.max(next));
        if sentences[to].end - sentences[from].start > BYTES_WANTED {
            break;
        }
        (first, last) = (from, to);
    }
    sentences[first].start..sentences[last].end
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADVICE: &str = "Good question, there are a few ways to go about that and most of them are fine.\n\n\
        1. Take everything out of the oven and let it cool down before you begin, and open a window.\n\
        2. For the glass door I would use Brockwell cream, which does not scratch.\n\
        3. Leave it for ten minutes and wipe it off with a damp cloth; repeat where that is needed.\n\n\
        Then dry it well. A steam clean once a month keeps it that way. Let me know whether you want a plan for \
        the rest of the kitchen too, such as the fridge, the sink and the hood above the stove.";

    fn check(message: &str, text: &str, expected: Option<&str>) {
        let wanted = stems(message).into_iter().collect();
        let excerpt = Excerpt::best(text, &wanted);
        let words = excerpt.map(|excerpt| excerpt.of(text).unwrap());
        assert_eq!(words.as_deref(), expected, "{message:?}");
    }

    #[test]
    fn the_sentences_that_share_words_with_the_message_are_shown_with_their_neighbours() {
        check(
            "What should I use for the glass door of the oven?",
            ADVICE,
            Some(
                "[…] 1. Take everything out of the oven and let it cool down before you begin, and open a window.\n\
                 2. For the glass door I would use Brockwell cream, which does not scratch.\n\
                 3. Leave it for ten minutes and wipe it off with a damp cloth; repeat where that is needed.\n\nThen dry it well. […]",
            ),
        );
        check("ovens", &ADVICE[..150], None);
    }

    #[test]
    fn an_excerpt_of_another_text_is_none() {
        let excerpt = Excerpt { from: 2, to: 9 };
        assert_eq!(excerpt.of("short"), None);
        assert_eq!(excerpt.of("aäbcdefghij").as_deref(), None);
        assert_eq!(excerpt.of("0123456789").as_deref(), Some("[…] 2345678 […]"));
        assert_eq!(Excerpt { from: 0, to: 4 }.of("all.\n").as_deref(), Some("all."));
    }
}
