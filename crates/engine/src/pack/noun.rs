//! Type names in identifiers: `list_device_types`, `deselectedAnswers`, `primary_ip4`.
//!
//! Tools and JSON keys have program identifiers, so their words are found by splitting, not by cues.

use std::collections::HashMap;

/// Maximum identifier length.
const IDENTIFIER_BYTES_MAX: usize = 96;

/// The words of an identifier in lower case: `listDevice_types` gives list, device, types.
pub fn words_of_identifier(identifier: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_lower = false;
    for letter in identifier.chars().take(IDENTIFIER_BYTES_MAX) {
        let starts_word = letter.is_uppercase() && after_lower;
        if (starts_word || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase() || letter.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Type names and plurals as spelt in identifiers.
#[derive(Debug, Clone, Default)]
pub(super) struct Nouns(HashMap<String, usize>);

impl Nouns {
    /// Adds a spelling; the first type that claims one keeps it.
    pub(super) fn add(&mut self, spelling: &str, type_index: usize) {
        let key = words_of_identifier(spelling).join("_");
        self.0.entry(key).or_insert(type_index);
    }

    /// The type named by the last words of an identifier, longest first: interface, not device, for
    /// `get_device_interfaces`.
    pub(super) fn last_in(&self, words: &[String]) -> Option<usize> {
        let first = words.len().saturating_sub(super::CUE_WORDS_MAX);
        (first..words.len()).find_map(|from| self.0.get(&words[from..].join("_")).copied())
    }

    /// The type named by any part of an identifier, last and longest first: `device` for `device_search_by_name`.
    pub(super) fn anywhere_in(&self, words: &[String]) -> Option<usize> {
        (1..=words.len()).rev().find_map(|end| self.last_in(&words[..end]))
    }
}
