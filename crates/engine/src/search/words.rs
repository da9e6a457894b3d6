//! The words of a text for matching: lower case, split inside identifiers, without stop words, stemmed.
//!
//! Used for turns, items, tools and messages alike. Not for display.
//!
//! Indexes contain words as [hashes](WordHash), so neither memory nor a stored index shows what was said.
//!
//! Invariant: splitting is deterministic and gives at most [`WORDS_MAX`] words.

use super::stem::stem;
use crate::lexicon::{self, Class};

/// Maximum words per text that are indexed; later ones are not searchable.
pub const WORDS_MAX: usize = 4_096;

/// A stem in an index: 40 bits of a hash that is the same on every machine and in every version. With a hundred
/// thousand stems, one index in two hundred has a collision.
pub type WordHash = u64;
const HASH_BITS: u32 = 40;

/// FNV-1a, folded.
pub fn word_hash(stem: &str) -> WordHash {
    let hash = stem.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> HASH_BITS)) & ((1 << HASH_BITS) - 1)
}

/// The hash of each distinct stem, with its count.
pub fn counted(stems: &[String]) -> Vec<(WordHash, u16)> {
    let mut hashes: Vec<WordHash> = stems.iter().map(|stem| word_hash(stem)).collect();
    hashes.sort_unstable();
    let runs = hashes.chunk_by(|left, right| left == right);
    runs.map(|run| (run[0], u16::try_from(run.len()).unwrap_or(u16::MAX))).collect()
}

/// Whether a lower-case word is a stop word.
pub fn is_stop_word(word: &str) -> bool {
    lexicon::english().is(Class::Stop, word)
}

/// The stems of the content words of `text`, in order, with repeats.
pub fn stems(text: &str) -> Vec<String> {
    let mut stems = Vec::new();
    each_word(text, |word| {
        if !is_stop_word(word) {
            stems.push(stem(word));
        }
        stems.len() < WORDS_MAX
    });
    stems
}

/// The stems of `text` without the stop words of its language.
pub fn content_stems(text: &str) -> Vec<String> {
    let language = lexicon::of(text);
    let mut stems = Vec::new();
    each_word(text, |word| {
        if !is_stop_word(word) && !language.is(Class::Stop, word) {
            stems.push(stem(word));
        }
        stems.len() < WORDS_MAX
    });
    stems
}

/// Calls `take` with each lower-case word of `text` until it returns `false`.
pub fn each_word(text: &str, mut take: impl FnMut(&str) -> bool) {
    let mut word = String::new();
    let mut previous = Kind::Gap;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let kind = Kind::of(character);
        let next_is_small = characters.peek().is_some_and(|next| Kind::of(*next) == Kind::Small);
        // `getHTTPServer` is split before `HTTP` and before `Server`.
        let hump = kind == Kind::Capital
            && (previous == Kind::Small || (previous == Kind::Capital && next_is_small));
        let ends = matches!(kind, Kind::Gap | Kind::Single) || previous == Kind::Single || hump;
        if ends && !word.is_empty() {
            if !take(&word) {
                return;
            }
            word.clear();
        }
        if kind != Kind::Gap {
            word.extend(character.to_lowercase());
        }
        previous = kind;
    }
    if !word.is_empty() {
        take(&word);
    }
}

/// The effect of a character on the word it is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gap,
    /// A word by itself: scripts without spaces between words.
    Single,
    Capital,
    Small,
    Digit,
}

impl Kind {
    fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Small,
            'A'..='Z' => Self::Capital,
            '0'..='9' => Self::Digit,
            _ if character.is_ascii() => Self::Gap,
            '\u{0e00}'..='\u{0eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}' => Self::Single,
            _ if character.is_uppercase() => Self::Capital,
            _ if character.is_numeric() => Self::Digit,
            _ if character.is_alphabetic() => Self::Small,
            _ => Self::Gap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(stems(text).join(" "), expected, "{text:?}");
    }

    #[test]
    fn identifiers_are_cut_into_their_words() {
        check("listDevicesBySite", "list devic site");
        check("get_interface_addresses", "get interfac address");
        check("HTTPServer parseJSON XMLHttpRequest", "http server pars json xml http request");
        check("vlan42 eth0/1", "vlan42 eth0 1");
    }

    #[test]
    fn stop_words_and_apostrophes_leave_nothing_behind() {
        check("What did you do when it wasn't there?", "");
        check("Caroline's painting isn't finished", "carolin paint finish");
    }

    #[test]
    fn scripts_without_spaces_are_cut_at_each_character() {
        check("搜索IP地址", "搜 索 ip 地 址");
        check("Größe Ärger", "größe ärger");
    }

    #[test]
    fn a_hash_never_changes() {
        assert_eq!(["", "tulip", "花"].map(word_hash), [0xe484e9d1b9, 0xd0b4179641, 0x1ba55ae11f]);
        let stems = ["tulip", "rose", "tulip"].map(str::to_owned);
        let counts: Vec<u16> = counted(&stems).into_iter().map(|(_, count)| count).collect();
        assert_eq!((counts.len(), counts.iter().sum::<u16>()), (2, 3));
    }

    #[test]
    fn a_text_without_end_is_cut_off_at_the_limit() {
        assert_eq!(stems(&"word ".repeat(WORDS_MAX + 10)).len(), WORDS_MAX);
    }
}
