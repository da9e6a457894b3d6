//! Tokenises text into terms, as they are indexed and searched.
//!
//! FTS5 receives finished terms: lower-case, without diacritics, stemmed by language, separated by spaces. So
//! documents, queries and snippets follow the same rules. Scripts written without spaces are split into pairs of
//! adjacent characters.
//!
//! Invariant: a term contains only letters, digits and non-ASCII characters, so FTS5's `ascii` tokenizer never
//! splits it.

use std::collections::HashMap;
use std::ops::Range;

use rust_stemmers::Algorithm;
use throughline_engine::search::stem::{by_script, stem_in};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::language;

/// How often a term of a document is indexed at most; more repetitions carry no information.
const REPEATS_MAX: u32 = 64;
/// Maximum size of a term; anything longer is not a word.
const TERM_BYTES_MAX: usize = 128;

/// A word, or a run of characters of an unspaced script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// Its byte range in the text.
    pub range: Range<usize>,
    /// Whether its script is written without spaces.
    pub is_run: bool,
}

/// A term and where it occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// The text as indexed.
    pub text: String,
    /// Its byte range in the text.
    pub range: Range<usize>,
}

/// Splits `text` into words and runs.
pub(super) fn units(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let is_run = is_unspaced(character);
        let continues = units.last().is_some_and(|last| last.range.end == at);
        match units.last_mut() {
            // A combining mark belongs to the letter before it.
            Some(last) if continues && !character.is_ascii() && is_combining_mark(character) => {
                last.range.end = end;
            }
            Some(last) if continues && is_run == last.is_run && is_part_of_word(character) => {
                last.range.end = end;
            }
            _ if is_part_of_word(character) => units.push(Unit { range: at..end, is_run }),
            _ => {}
        }
    }
    units
}

/// Tokenises a document.
pub(super) fn terms(text: &str) -> Vec<Term> {
    let units = units(text);
    let lower: Vec<String> = units.iter().map(|unit| lowered(&text[unit.range.clone()])).collect();
    let language = language::guess(lower.iter().map(String::as_str));
    let mut terms = Vec::with_capacity(units.len());
    for (unit, lower) in units.iter().zip(&lower) {
        if unit.is_run {
            terms.extend(pairs(text, unit));
            continue;
        }
        let term = term_of(lower, by_script(lower).unwrap_or(language));
        terms.push(Term { text: term, range: unit.range.clone() });
    }
    terms.retain(|term| !term.text.is_empty() && term.text.len() <= TERM_BYTES_MAX);
    terms
}

/// The text of a document as passed to FTS5.
pub(super) fn indexable(text: &str) -> String {
    let mut repeats: HashMap<&str, u32> = HashMap::new();
    let terms = terms(text);
    let mut indexable = String::with_capacity(text.len());
    for term in &terms {
        let count = repeats.entry(&term.text).or_default();
        *count += 1;
        if *count <= REPEATS_MAX {
            indexable.push_str(&term.text);
            indexable.push(' ');
        }
    }
    indexable
}

/// Converts a word to a term of one language.
pub(super) fn term_of(lower: &str, language: Algorithm) -> String {
    // Identifiers such as `sw1` have no language.
    if lower.bytes().any(|byte| byte.is_ascii_digit()) {
        return folded(lower);
    }
    let term = folded(&stem_in(lower, language));
    match language::prefix(language) {
        Some(prefix) if !term.is_empty() => format!("{prefix}{term}"),
        _ => term,
    }
}

/// Normalises (NFKC) and lower-cases a word.
pub(super) fn lowered(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    word.nfkc().flat_map(char::to_lowercase).collect()
}

/// Removes diacritics.
fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    word.nfd().filter(|character| !is_combining_mark(*character)).nfc().collect()
}

/// Pairs of adjacent characters of a run, and its last character alone: so a single character matches as the
/// prefix of a pair, and several match as a phrase.
fn pairs<'a>(text: &'a str, unit: &Unit) -> impl Iterator<Item = Term> + 'a {
    let start = unit.range.start;
    let places: Vec<usize> =
        text[unit.range.clone()].char_indices().map(|(at, _)| start + at).collect();
    let end = unit.range.end;
    (0..places.len()).map(move |at| {
        let to = places.get(at + 2).copied().unwrap_or(end);
        Term { text: lowered(&text[places[at]..to]), range: places[at]..to }
    })
}

fn is_part_of_word(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    character.is_alphanumeric() || (is_unspaced(character) && is_combining_mark(character))
}

/// Whether a character belongs to a script written without spaces between words, or with suffixes attached to
/// them (Korean).
fn is_unspaced(character: char) -> bool {
    !character.is_ascii()
        && matches!(character,
        '\u{e00}'..='\u{eff}'       // Thai, Lao
        | '\u{1000}'..='\u{109f}'   // Burmese
        | '\u{1100}'..='\u{11ff}'   // Hangul letters
        | '\u{1780}'..='\u{17ff}'   // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'   // Hiragana, Katakana
        | '\u{3400}'..='\u{9fff}'   // Han
        | '\u{ac00}'..='\u{d7af}'   // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
        && (character.is_alphanumeric() || is_combining_mark(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(indexable(text).trim_end(), expected, "{text:?}");
    }

    #[test]
    fn words_are_folded_and_stemmed_by_their_language() {
        check(
            "The switches in Zürich were rebooted twice.",
            "the switch in zurich were reboot twice",
        );
        check("Die Häuser der Stadt sw1", "βdie βhaus βder βstadt sw1");
        check("core-sw1 (10.0.0.1)", "core sw1 10 0 0 1");
        check("ＦＵＬＬ width ﬁne", "full width fine");
        check("кошки бежали", "кошк бежа");
        check("😀 … !", "");
        check("\0\u{2}a\u{3}", "a");
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        check("東京都", "東京 京都 都");
        check("server東京 ok", "server 東京 京 ok");
        check("ネコ", "ネコ コ");
        check("猫", "猫");
        assert!(indexable("ภาษาไทย").split(' ').count() > 3);
    }

    #[test]
    fn a_word_that_is_repeated_without_end_is_indexed_a_bounded_number_of_times() {
        let text = "a ".repeat(50_000) + "needle";
        assert_eq!(indexable(&text).split_whitespace().count(), REPEATS_MAX as usize + 1);
    }

    #[test]
    fn terms_keep_their_place() {
        let text = "Die Häuser 東京";
        let places: Vec<&str> = terms(text).into_iter().map(|term| &text[term.range]).collect();
        assert_eq!(places, ["Die", "Häuser", "東京", "京"]);
    }
}
