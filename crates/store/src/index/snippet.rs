//! Cuts the most relevant excerpt out of a text and marks the words found.
//!
//! A single pass over the words, so the cost does not depend on how often a word repeats.

use std::collections::HashMap;
use std::ops::Range;

use throughline_engine::index::{DOCUMENT_BYTES_MAX, Snippet};

use super::query::ParsedQuery;
use super::words::{self, Term};

/// Number of words in a snippet.
const WORDS: usize = 24;
/// Number of words before the first match.
const WORDS_BEFORE: usize = 4;
/// Bytes of a text that are looked at first: a long text takes long.
const LOOKED_AT_FIRST: usize = 16 * 1024;
/// Marks where the text was cut.
const CUT: &str = "…";

/// The excerpt of `text` with the most matches, of the first part of it that has any.
pub(super) fn cut(text: &str, parsed: Option<&ParsedQuery>) -> Snippet {
    let text = &text[..text.floor_char_boundary(DOCUMENT_BYTES_MAX)];
    let mut looked_at = LOOKED_AT_FIRST;
    loop {
        let part = &text[..text.floor_char_boundary(looked_at)];
        let snippet = cut_part(part, part.len() < text.len(), parsed);
        if part.len() == text.len() || !snippet.marks.is_empty() {
            return snippet;
        }
        looked_at *= 8;
    }
}

fn cut_part(text: &str, goes_on: bool, parsed: Option<&ParsedQuery>) -> Snippet {
    let terms = words::terms(text);
    let found: Vec<bool> =
        terms.iter().map(|term| parsed.is_some_and(|parsed| parsed.has(&term.text))).collect();
    let first = best_start(&terms, &found);
    let last = (first + WORDS).min(terms.len());
    let start = if first == 0 { 0 } else { terms[first].range.start };
    let end = if last == terms.len() { text.len() } else { terms[last - 1].range.end };
    let head = if first == 0 { "" } else { CUT };
    let tail = if last == terms.len() && !goes_on { "" } else { CUT };
    let shift = |at: usize| at - start + head.len();
    let mut marks: Vec<Range<usize>> = Vec::new();
    for (term, _) in terms[first..last].iter().zip(&found[first..last]).filter(|(_, found)| **found)
    {
        let mark = shift(term.range.start)..shift(term.range.end);
        match marks.last_mut() {
            // Character pairs overlap.
            Some(before) if mark.start < before.end => before.end = mark.end,
            _ => marks.push(mark),
        }
    }
    Snippet { text: format!("{head}{}{tail}", &text[start..end]), marks }
}

/// The start of the window of [`WORDS`] with the most distinct matches, a little before the first of them.
fn best_start(terms: &[Term], found: &[bool]) -> usize {
    let mut inside: HashMap<&str, usize> = HashMap::new();
    let (mut best, mut most) = (None, 0);
    for at in 0..terms.len() {
        if found[at] {
            *inside.entry(&terms[at].text).or_default() += 1;
        }
        if at >= WORDS && found[at - WORDS] {
            let gone = terms[at - WORDS].text.as_str();
            if let Some(count) = inside.get_mut(gone) {
                *count -= 1;
                if *count == 0 {
                    inside.remove(gone);
                }
            }
        }
        if inside.len() > most {
            (most, best) = (inside.len(), Some(at));
        }
    }
    let Some(end) = best else { return 0 };
    let window = end.saturating_sub(WORDS - 1)..=end;
    let first = window.clone().find(|at| found[*at]).unwrap_or(end);
    first.saturating_sub(WORDS_BEFORE).max(*window.start())
}

#[cfg(test)]
mod tests {
    use throughline_engine::index::Words;

    use super::super::query;
    use super::*;

    fn check(text: &str, asked: &str, expected: &str) {
        let parsed = query::parse(asked, Words::All).expect("words");
        assert_eq!(cut(text, Some(&parsed)).marked("[", "]", str::to_owned), expected);
    }

    #[test]
    fn found_words_are_marked_in_their_surroundings() {
        check("The switches were rebooted.", "switch reboot", "The [switches] were [rebooted].");
        check("日本の東京都庁", "東京都", "日本の[東京都]庁");
        check("a 猫 b", "猫", "a [猫] b");
        let long = format!("{} core switch {}", "one ".repeat(40).trim_end(), "two ".repeat(40));
        let expected =
            format!("…one one one one [core] [switch] {}…", "two ".repeat(18).trim_end());
        check(&long, "switch core", &expected);
        check("nothing here", "absent", "nothing here");
        check("", "absent", "");
    }

    #[test]
    fn a_text_of_one_word_is_no_problem() {
        let parsed = query::parse("a", Words::All).expect("a word");
        let snippet = cut(&"a ".repeat(100_000), Some(&parsed));
        assert_eq!(snippet.marks.len(), WORDS);
    }
}
