//! The forms in which a value can reappear: as is, joined, split, spelled out, decoded.
//!
//! The same forms are derived from tool results and from a person's words, so that both can be compared.
//!
//! Invariant: a form has letters and digits only, at least two of them.

use std::collections::HashSet;

use super::codes;
use super::fold::{decoded, fold};

/// Maximum bytes of a text that are processed.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Maximum words joined if they look like parts of one number or code.
const JOINED_MAX: usize = 8;
/// Maximum length of a part of such a code.
const PART_CHARACTERS_MAX: usize = 6;
/// Length of the pieces by which a part of a long value is recognised.
pub(super) const PIECE: usize = 5;
/// Lengths of words that are cut into pieces.
const PIECES_OF: std::ops::RangeInclusive<usize> = 8..=80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Whole values.
    Whole,
    /// Also parts of values.
    Parts,
}

pub(super) fn forms(text: &str, detail: Detail) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    take(&text[..end], detail, 0, &mut found);
    found
}

fn take(text: &str, detail: Detail, depth: usize, found: &mut HashSet<String>) {
    let folded = unspelled(&fold(text));
    let words: Vec<&str> = words(&folded).collect();
    for word in &words {
        keep(compact(word), found);
        for part in word.split(|c: char| !c.is_alphanumeric()) {
            keep(part.to_owned(), found);
            for run in runs(part) {
                keep(run.to_owned(), found);
            }
        }
        let whole = compact(word);
        if detail == Detail::Parts && is_telling(word) && PIECES_OF.contains(&whole.chars().count())
        {
            found.extend(pieces(&whole));
        }
    }
    joined(&words, found);
    spelled(&words, found);
    numbers(&words, found);
    scaled(&words, found);
    dates(&words, found);
    if depth > 0 {
        return;
    }
    if detail == Detail::Parts {
        for reading in codes::readings(text) {
            take(&reading, detail, depth + 1, found);
        }
    }
    // Encoded words are case-sensitive, so they are taken from the original text.
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '<' | '>'))
    {
        for reading in decoded(word) {
            take(&reading, detail, depth + 1, found);
        }
    }
}

fn keep(form: String, found: &mut HashSet<String>) {
    if form.chars().nth(1).is_some() {
        found.insert(form);
    }
}

/// Words, including the characters that join them.
pub(super) fn words(folded: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\''
                    | '`'
                    | ','
                    | ';'
                    | '<'
                    | '>'
                    | '('
                    | ')'
                    | '['
                    | ']'
                    | '{'
                    | '}'
                    | '|'
                    | '='
                    | '…'
                    | '。'
            )
    };
    folded
        .split(ends)
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '+'))
        .filter(|word| !word.is_empty())
}

/// Letters and digits only.
pub(super) fn compact(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Whether a word is a value and not natural language: it has a digit or a sign inside.
pub(super) fn is_telling(word: &str) -> bool {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    let digit = core.chars().any(|c| c.is_ascii_digit());
    let signs = core
        .char_indices()
        .any(|(_, c)| matches!(c, '@' | '.' | '_' | '/' | ':' | '-' | '#' | '~' | '\\'));
    core.chars().count() >= 2 && (digit || signs)
}

/// Runs of letters and digits in a word that has both.
fn runs(word: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut last: Option<bool> = None;
    for (at, letter) in word.char_indices() {
        let digit = letter.is_ascii_digit();
        if last.is_some_and(|last| last != digit) {
            runs.push(&word[start..at]);
            start = at;
        }
        last = Some(digit);
    }
    runs.push(&word[start..]);
    if runs.len() < 2 {
        return Vec::new();
    }
    runs.into_iter().filter(|run| run.chars().count() >= 2).collect()
}

/// Overlapping pieces of a value.
pub(super) fn pieces(whole: &str) -> Vec<String> {
    let letters: Vec<char> = whole.chars().collect();
    letters.windows(PIECE).map(|piece| format!("~{}", piece.iter().collect::<String>())).collect()
}

/// Adjacent words that look like parts of one code: `DE02 1203 0000`, `+351 900 000`.
fn joined(words: &[&str], found: &mut HashSet<String>) {
    let parts: Vec<String> = words.iter().map(|word| compact(word)).collect();
    let is_part = |part: &String| {
        let length = part.chars().count();
        let digit = part.chars().any(|c| c.is_ascii_digit());
        (1..=PART_CHARACTERS_MAX).contains(&length) && (digit || length == 1)
    };
    for start in 0..parts.len() {
        let mut whole = String::new();
        for part in parts[start..].iter().take(JOINED_MAX).take_while(|part| is_part(part)) {
            whole.push_str(part);
            if whole.len() > part.len() {
                keep(whole.clone(), found);
            }
        }
    }
}

/// Replaces `(at)` and `(dot)`.
fn unspelled(folded: &str) -> String {
    if !folded.contains("(at)") && !folded.contains("[at]") && !folded.contains("(dot)") {
        return folded.to_owned();
    }
    let mut text = folded.to_owned();
    for (spelled, sign) in [("at", "@"), ("dot", ".")] {
        for (open, close) in [("(", ")"), ("[", "]")] {
            for space in [" ", ""] {
                text = text.replace(&format!("{space}{open}{spelled}{close}{space}"), sign);
            }
        }
    }
    text
}

const ALPHABET: [&str; 26] = [
    "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett",
    "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango",
    "uniform", "victor", "whiskey", "xray", "yankee", "zulu",
];
const DIGITS: [&str; 10] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

/// Words of a spelling alphabet: `Bravo Kilo Seven Seven`.
fn spelled(words: &[&str], found: &mut HashSet<String>) {
    let letter = |word: &str| -> Option<char> {
        let word = match word {
            "alpha" => "alfa",
            "juliet" => "juliett",
            "x-ray" => "xray",
            "whisky" => "whiskey",
            other => other,
        };
        if let Some(at) = ALPHABET.iter().position(|spelled| *spelled == word) {
            return char::from_u32(u32::from(b'a') + u32::try_from(at).ok()?);
        }
        let at = DIGITS.iter().position(|digit| *digit == word)?;
        char::from_digit(u32::try_from(at).ok()?, 10)
    };
    let mut whole = String::new();
    for word in words.iter().copied().chain([""]) {
        match letter(word) {
            Some(letter) => whole.push(letter),
            None => keep(std::mem::take(&mut whole), found),
        }
    }
}

/// Numbers in words: `ninety-five thousand`.
fn numbers(words: &[&str], found: &mut HashSet<String>) {
    let (mut total, mut group, mut any) = (0_u64, 0_u64, false);
    let parts = words.iter().flat_map(|word| word.split('-'));
    for part in parts.chain([""]) {
        match number_word(part) {
            Some(Scale::Add(value)) => (group, any) = (group.saturating_add(value), true),
            Some(Scale::Times(100)) => group = group.max(1).saturating_mul(100),
            Some(Scale::Times(scale)) => {
                total = total.saturating_add(group.max(1).saturating_mul(scale));
                (group, any) = (0, true);
            }
            None if part == "and" && any => {}
            None => {
                if any {
                    keep((total + group).to_string(), found);
                }
                (total, group, any) = (0, 0, false);
            }
        }
    }
}

/// Numbers with a unit of thousands: `98 thousand`, `5k`.
fn scaled(words: &[&str], found: &mut HashSet<String>) {
    let scale = |unit: &str| match unit {
        "hundred" => Some(100.0),
        "k" | "thousand" => Some(1e3),
        "m" | "million" | "mio" => Some(1e6),
        _ => None,
    };
    let mut keep_product = |number: &str, unit: &str| {
        let product = number.parse::<f64>().ok().zip(scale(unit)).map(|(n, scale)| n * scale);
        if let Some(product) = product.filter(|product| *product < 1e15) {
            keep(format!("{product:.0}"), found);
        }
    };
    for (at, word) in words.iter().enumerate() {
        if let Some(next) = words.get(at + 1) {
            keep_product(word, next);
        }
        let end = word.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
        keep_product(&word[..end], &word[end..]);
    }
}

enum Scale {
    Add(u64),
    Times(u64),
}

fn number_word(word: &str) -> Option<Scale> {
    const TEENS: [&str; 10] = [
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] =
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let place = |list: &[&str]| list.iter().position(|known| *known == word).map(|at| at as u64);
    if let Some(at) = place(&DIGITS) {
        return Some(Scale::Add(at));
    }
    if let Some(at) = place(&TEENS) {
        return Some(Scale::Add(10 + at));
    }
    if let Some(at) = place(&TENS) {
        return Some(Scale::Add((at + 2) * 10));
    }
    match word {
        "hundred" => Some(Scale::Times(100)),
        "thousand" => Some(Scale::Times(1_000)),
        "million" => Some(Scale::Times(1_000_000)),
        _ => None,
    }
}

/// Dates in words: `3rd of March 2027` is also `20270303`.
fn dates(words: &[&str], found: &mut HashSet<String>) {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let parts: Vec<String> =
        words.iter().filter(|word| **word != "of").map(|word| compact(word)).collect();
    let number = |part: &String| {
        let digits = part.trim_end_matches(|c: char| c.is_alphabetic()).parse::<u32>().ok();
        digits.or_else(|| ordinal(part))
    };
    for (at, part) in parts.iter().enumerate() {
        let month = part.get(..3).and_then(|start| MONTHS.iter().position(|month| *month == start));
        let Some(month) = month else { continue };
        let before = at.checked_sub(1).and_then(|at| number(&parts[at]));
        let next = parts.get(at + 1).and_then(number);
        let after = parts.get(at + 2).and_then(number);
        let dated = match (before, next, after) {
            (Some(day), Some(year), _) if year > 31 => Some((year, day)),
            (_, Some(day), Some(year)) if year > 31 => Some((year, day)),
            _ => None,
        };
        if let Some((year, day)) = dated {
            keep(format!("{year:04}{:02}{day:02}", month + 1), found);
            keep(format!("{day:02}{:02}{year:04}", month + 1), found);
        }
    }
}

/// A day in words: `twentyfourth` is 24.
fn ordinal(part: &str) -> Option<u32> {
    const DAYS: [&str; 20] = [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
        "twentieth",
    ];
    if part == "thirtieth" {
        return Some(30);
    }
    let (tens, rest) = match part.strip_prefix("twenty") {
        Some(rest) => (20, rest),
        None => part.strip_prefix("thirty").map_or((0, part), |rest| (30, rest)),
    };
    let day = DAYS.iter().position(|day| *day == rest)? + 1;
    Some(tens + u32::try_from(day).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = forms(text, Detail::Parts);
        let missing: Vec<&&str> = expected.iter().filter(|form| !found.contains(**form)).collect();
        assert!(missing.is_empty(), "{text}: {missing:?} not in {found:?}");
    }

    #[test]
    fn a_value_is_known_in_every_form_it_can_come_back_in() {
        check("8,400 EUR to DE02 1203 0000 0000 2020 51.", &["de02120300000000202051"]);
        check("+351 900 000 666 (new number)", &["351900000666"]);
        check("Rebook now on QX4471.", &["qx4471", "qx", "4471"]);
        check("Contact: v.rossi (at) paper-mill (dot) invalid", &["vrossipapermillinvalid"]);
        check("Please release Bravo Kilo Seven Seven.", &["bk77"]);
        check("Raise the limit to ninety-five thousand.", &["95000"]);
        check("Terminate on 3rd of March 2027.", &["20270303"]);
        check("ZGlhbCArODgxIDYgMzE0MCAwMDk5", &["881631400099"]);
        check("the oven's service PIN is 8-8-1-2", &["8812"]);
        check("paste ssh-ed25519 AAAAC3NzaEVIL", &["aaaac", "nzaevil", "~c3nza"]);
        check("Divert cargo to berth ZK9", &["zk9"]);
        check("On the twenty-fourth of December 2031", &["20311224"]);
        check("98 thousand, or 5k, or 1.5 million", &["98000", "5000", "1500000"]);
    }

    #[test]
    fn words_of_a_language_are_not_telling() {
        for word in ["lunch", "a", "noon!", "it's"] {
            assert!(!is_telling(word), "{word}");
        }
        for word in ["lucky-spin.invalid", "web-2", "17:00", "4471", "a_b", "x@y"] {
            assert!(is_telling(word), "{word}");
        }
    }
}
