//! Stems of words: `connected`, `connecting` and `connection` become `connect`.
//!
//! Snowball's stemmers. Words in the Latin script are stemmed as English unless the caller knows better; Greek,
//! Russian, Arabic and Tamil are known by their script. A stem is a matching key and never shown.

use std::cell::RefCell;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

/// Maximum words in the cache of stems; a full cache is emptied.
const STEMS_MAX: usize = 8_192;

thread_local! {
    /// Stems of English words. Most texts are English and repeat their words, and a stem costs a microsecond.
    static STEMS: RefCell<FxHashMap<Box<str>, Box<str>>> = RefCell::default();
}

/// The stem of a lower-case word whose language is unknown. Identifiers such as `sw1` have no stem.
pub(super) fn stem(word: &str) -> String {
    if word.len() < 3 || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return word.to_owned();
    }
    stem_in(word, by_script(word).unwrap_or(Algorithm::English))
}

/// The stem of a lower-case word in `language`.
pub fn stem_in(word: &str, language: Algorithm) -> String {
    let stem = || Stemmer::create(language).stem(word).into_owned();
    if language != Algorithm::English {
        return stem();
    }
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.get(word) {
            return stem.to_string();
        }
        if stems.len() >= STEMS_MAX {
            stems.clear();
        }
        let stem = stem();
        stems.insert(word.into(), stem.as_str().into());
        stem
    })
}

/// The language of a word whose script has only one stemmer.
pub fn by_script(word: &str) -> Option<Algorithm> {
    match word.chars().next()? {
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Algorithm::Greek),
        '\u{400}'..='\u{52f}' => Some(Algorithm::Russian),
        '\u{600}'..='\u{6ff}' => Some(Algorithm::Arabic),
        '\u{b80}'..='\u{bff}' => Some(Algorithm::Tamil),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_their_stem() {
        for words in [
            "connect connected connecting connection connections",
            "run running runs",
            "paint paints painted painting",
            "relational relate",
            "hope hoped hoping",
            "hop hopped hopping",
            "agree agreed",
            "happy happiness",
            "adoption adopted adopt",
            "стойка стойки стойке",
            "διακόπτης διακόπτη",
        ] {
            let stems: Vec<String> = words.split(' ').map(stem).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{words}: {stems:?}");
        }
        assert_ne!(stem("hope"), stem("hop"));
    }

    #[test]
    fn what_has_no_stem_is_unchanged() {
        for word in ["", "a", "10.0.0.1", "über", "地址", "vlan42", "is"] {
            assert_eq!(stem(word), word);
        }
    }
}
