//! The subject of a statement as a key: statements with the same key are about the same thing.
//!
//! Invariant: a key is in lower case, without articles, and independent of the preposition used.

use std::collections::BTreeSet;

use regex::Captures;

use super::lexicon::{Language, languages};

/// A form's subject with the groups of its match inserted.
pub(super) fn from_template(language: &Language, template: &str, groups: &Captures<'_>) -> String {
    let mut subject = template.to_owned();
    for group in ["what", "value", "verb"] {
        if let Some(found) = groups.name(group) {
            subject = subject.replace(&format!("{{{group}}}"), found.as_str());
        }
    }
    if let Some(value) = groups.name("value") {
        subject = subject.replace("{head}", head(value.as_str()));
    }
    normalised(language, &subject)
}

/// Whether two keys name the same thing: "lisbon site code" is "site code for lisbon".
pub(super) fn same(one: &str, other: &str) -> bool {
    one == other || words(one) == words(other)
}

/// The words by which keys are compared; "my rack" is the rack, and "schwester" is the sister.
pub(super) fn words(key: &str) -> BTreeSet<&str> {
    let is_article = |word: &str| languages().iter().any(|language| is_article(language, word));
    let words = key.split([' ', '-']).filter(|word| *word != "for" && !is_article(word));
    words.map(english_word).collect()
}

/// A key with the English words that its language lists.
pub(super) fn in_english(key: &str) -> String {
    key.split(' ').map(english_word).collect::<Vec<_>>().join(" ")
}

/// The English word for a word of another language, if that language lists it.
fn english_word(word: &str) -> &str {
    let english = languages().iter().find_map(|language| language.english.get(word));
    english.map_or(word, String::as_str)
}

/// The last noun of two words: "seats" of "window seats".
fn head(value: &str) -> &str {
    match value.split_once(' ') {
        Some((_, noun)) if !noun.contains(' ') => noun,
        _ => value,
    }
}

fn is_version(word: &str) -> bool {
    word.contains('.')
        && word.trim_start_matches('v').chars().all(|it| it == '.' || it.is_ascii_digit())
}

/// The topic of an instruction, if the language defines it.
pub(super) fn of_instruction(language: &Language, clause: &str) -> Option<String> {
    language.topics.iter().find(|(_, says)| says.is_match(clause)).map(|(topic, _)| topic.clone())
}

pub(super) fn without_article<'t>(language: &Language, text: &'t str) -> &'t str {
    match text.split_once(' ') {
        Some((first, rest)) if is_article(language, &first.to_lowercase()) => rest,
        _ => text,
    }
}

pub(super) fn has_indefinite_article(language: &Language, text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    language.indefinite.contains(&first)
}

pub(super) fn is_article(language: &Language, word: &str) -> bool {
    language.indefinite.iter().chain(&language.articles).any(|article| article == word)
}

pub(super) fn normalised(language: &Language, subject: &str) -> String {
    let lower = subject.to_lowercase().replace('’', "'");
    let words = lower.split(|it: char| it.is_whitespace() || ",;:!?()\"".contains(it));
    let words =
        words.filter(|word| !word.is_empty() && !is_article(language, word) && !is_version(word));
    let is_preposition = |word: &str| language.prepositions.iter().any(|it| it == word);
    let words: Vec<&str> =
        words.map(|word| if is_preposition(word) { "for" } else { word }).collect();
    // "Lisbon's site code" is the site code for Lisbon.
    match words.iter().position(|word| word.ends_with("'s")) {
        Some(owner) if owner + 1 < words.len() => {
            let name = words[..=owner].join(" ");
            format!("{} for {}", words[owner + 1..].join(" "), name.trim_end_matches("'s"))
        }
        _ => words.join(" "),
    }
}
