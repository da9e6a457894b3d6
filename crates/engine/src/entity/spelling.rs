//! Finds similar names.
//!
//! Each name is indexed under itself and under itself with one letter removed, so a misspelt word finds its name
//! in a few look-ups however many names there are.
//!
//! A different number is not a typo: `core-sw-01` and `core-sw-02` are two things, so names whose digits differ
//! (apart from leading zeros) never match.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Only names of this length are matched.
const CHARACTERS: std::ops::RangeInclusive<usize> = 4..=40;
/// From this length on, two letters may be wrong.
const TWO_WRONG_FROM_CHARACTERS: usize = 8;
/// Maximum names compared per word.
const COMPARED_MAX: usize = 64;

#[derive(Debug, Clone, Default)]
pub(super) struct Spellings {
    names: Vec<(String, u32)>,
    by_part: HashMap<u64, Vec<u32>>,
}

impl Spellings {
    /// Adds a lower-case name under `slot`.
    pub(super) fn add(&mut self, name: &str, slot: u32) {
        if !CHARACTERS.contains(&name.chars().count()) {
            return;
        }
        let Ok(index) = u32::try_from(self.names.len()) else { return };
        self.names.push((name.to_owned(), slot));
        for part in parts(name) {
            let filed = self.by_part.entry(part).or_default();
            if filed.len() < COMPARED_MAX {
                filed.push(index);
            }
        }
    }

    /// Slots with a name similar to `word`, with the number of differing letters, nearest first.
    pub(super) fn near(&self, word: &str) -> Vec<(u32, usize)> {
        let length = word.chars().count();
        if !CHARACTERS.contains(&length) {
            return Vec::new();
        }
        let wrong_max = if length >= TWO_WRONG_FROM_CHARACTERS { 2 } else { 1 };
        let mut compared = Vec::new();
        let mut found: Vec<(u32, usize)> = Vec::new();
        for part in parts(word) {
            for index in self.by_part.get(&part).into_iter().flatten() {
                if compared.len() >= COMPARED_MAX {
                    break;
                }
                if compared.contains(index) {
                    continue;
                }
                compared.push(*index);
                let (name, slot) = &self.names[*index as usize];
                let wrong = strsim::damerau_levenshtein(name, word);
                let new = !found.iter().any(|(known, _)| known == slot);
                if new && wrong > 0 && wrong <= wrong_max && same_digits(name, word) {
                    found.push((*slot, wrong));
                }
            }
        }
        found.sort_by_key(|(_, wrong)| *wrong);
        found
    }
}

/// Hashes of the word and of all variants with one letter removed.
fn parts(word: &str) -> Vec<u64> {
    let letters: Vec<char> = word.chars().collect();
    let hash = |left_out: usize| {
        let mut hasher = DefaultHasher::new();
        for (index, letter) in letters.iter().enumerate() {
            if index != left_out {
                letter.hash(&mut hasher);
            }
        }
        hasher.finish()
    };
    let mut parts: Vec<u64> = (0..=letters.len()).map(hash).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

fn same_digits(one: &str, two: &str) -> bool {
    let numbers = |text: &str| -> Vec<String> {
        text.split(|letter: char| !letter.is_ascii_digit())
            .filter(|digits| !digits.is_empty())
            .map(|digits| digits.trim_start_matches('0').to_owned())
            .collect()
    };
    numbers(one) == numbers(two)
}
