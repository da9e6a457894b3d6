//! What the value of a form looks like: a name, a number, a thing.
//!
//! This looks only at the first word and its article; what the value means is the form's business.
//!
//! Invariant: an empty value is neither a name nor a number.

use super::lexicon::{Language, ValueRule};
use super::subject;

/// Whether a value is what a form accepts.
pub(super) fn fits(language: &Language, rule: ValueRule, value: &str) -> bool {
    let noun = subject::without_article(language, value);
    match rule {
        ValueRule::Any => true,
        ValueRule::Name => is_name(noun),
        ValueRule::Thing => {
            subject::has_indefinite_article(language, value) || is_name(noun) && !is_number(noun)
        }
    }
}

/// Whether the first word is a bare number or a time, unlike "100G".
fn is_number(value: &str) -> bool {
    let word = value.split_whitespace().next().unwrap_or_default();
    word.starts_with(|it: char| it.is_ascii_digit()) && !word.contains(char::is_uppercase)
}

/// Whether the first word looks like a name, a number or an identifier, or begins a quote.
fn is_name(value: &str) -> bool {
    let word = value.split_whitespace().next().unwrap_or_default();
    let bare = word.trim_start_matches(['\'', '"', '“', '„', '‘', '`']);
    bare.len() < word.len()
        || word.contains(char::is_uppercase)
        || word.contains(|it: char| it.is_ascii_digit() || "@_/".contains(it))
}
