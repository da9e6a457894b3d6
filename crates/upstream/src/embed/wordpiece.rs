//! Splits text into the word pieces of an embedding table, as uncased BERT models do.
//!
//! Lower-cases, removes accents (non-spacing marks only; spacing vowel signs stay), separates punctuation and
//! ideographs, then matches the longest known piece from the left. A word with an unknown part is dropped as a whole,
//! as in the table's training.
//!
//! Invariant: every returned number is a row of the given vocabulary.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::char::decompose_canonical;

/// Maximum length of a word in characters; longer words are dropped.
const WORD_CHARACTERS_MAX: usize = 100;
/// Prefix in the vocabulary of pieces inside a word.
const INSIDE: &str = "##";

/// An indexed vocabulary.
pub(super) struct WordPieces {
    starts: HashMap<&'static str, u32, BuildHasherDefault<Fnv>>,
    insides: HashMap<&'static str, u32, BuildHasherDefault<Fnv>>,
}

impl WordPieces {
    /// Creates the index from tokens in row order.
    pub(super) fn new(tokens: impl Iterator<Item = &'static str>, rows: usize) -> Self {
        let map = |capacity| HashMap::with_capacity_and_hasher(capacity, BuildHasherDefault::new());
        let (mut starts, mut insides) = (map(rows), map(rows / 4));
        for (row, token) in tokens.enumerate() {
            match token.strip_prefix(INSIDE) {
                Some(inside) if !inside.is_empty() => insides.insert(inside, row as u32),
                _ => starts.insert(token, row as u32),
            };
        }
        Self { starts, insides }
    }

    /// The rows of the pieces of `text` in order, at most `most`.
    pub(super) fn rows(&self, text: &str, most: usize) -> Vec<u32> {
        let mut rows = Vec::with_capacity(most.min(text.len() / 4 + 1));
        let mut word = String::new();
        for character in text.chars() {
            if rows.len() >= most {
                break;
            }
            match Kind::of(character) {
                Kind::Ignored => {}
                Kind::Space => self.end_word(&mut word, &mut rows),
                Kind::Alone => {
                    self.end_word(&mut word, &mut rows);
                    push_plain(character, &mut word);
                    self.end_word(&mut word, &mut rows);
                }
                Kind::Inside => push_plain(character, &mut word),
            }
        }
        self.end_word(&mut word, &mut rows);
        rows.truncate(most);
        rows
    }

    fn end_word(&self, word: &mut String, rows: &mut Vec<u32>) {
        if word.is_empty() {
            return;
        }
        let before = rows.len();
        if word.chars().count() > WORD_CHARACTERS_MAX || !self.cut(word, rows) {
            rows.truncate(before);
        }
        word.clear();
    }

    /// Splits a word into known pieces and pushes them; returns `false` if a part is unknown.
    fn cut(&self, word: &str, rows: &mut Vec<u32>) -> bool {
        let mut start = 0;
        while start < word.len() {
            let known = if start == 0 { &self.starts } else { &self.insides };
            let piece = (start + 1..=word.len())
                .rev()
                .filter(|end| word.is_char_boundary(*end))
                .find_map(|end| known.get(&word[start..end]).map(|row| (*row, end)));
            let Some((row, end)) = piece else { return false };
            rows.push(row);
            start = end;
        }
        true
    }
}

/// Appends a character in lower case and without accents.
fn push_plain(character: char, word: &mut String) {
    if character.is_ascii() {
        word.push(character.to_ascii_lowercase());
        return;
    }
    decompose_canonical(character, |part| {
        if get_general_category(part) != GeneralCategory::NonspacingMark {
            word.extend(part.to_lowercase());
        }
    });
}

enum Kind {
    Space,
    Alone,
    Inside,
    Ignored,
}

impl Kind {
    fn of(character: char) -> Self {
        match character {
            ' ' | '\t' | '\n' | '\r' => Self::Space,
            '\0'..='\x1f' | '\x7f' | '\u{fffd}' => Self::Ignored,
            _ if character.is_ascii_punctuation() => Self::Alone,
            _ if character.is_ascii() => Self::Inside,
            '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}' => Self::Alone,
            _ if character.is_whitespace() => Self::Space,
            _ => Self::of_category(get_general_category(character)),
        }
    }

    fn of_category(category: GeneralCategory) -> Self {
        use GeneralCategory as Is;
        match category {
            Is::Control | Is::Format | Is::PrivateUse | Is::Surrogate => Self::Ignored,
            Is::ConnectorPunctuation
            | Is::DashPunctuation
            | Is::OpenPunctuation
            | Is::ClosePunctuation
            | Is::InitialPunctuation
            | Is::FinalPunctuation
            | Is::OtherPunctuation => Self::Alone,
            _ => Self::Inside,
        }
    }
}

/// A fast hash for short, trusted keys: the vocabulary is ours, so nobody can choose collisions.
#[derive(Default)]
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        // The hash table uses the top bits, which short keys barely reach.
        self.0 ^ self.0.rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: [&str; 12] =
        ["rack", "##s", "re", "##play", "!", "cafe", "地", "##", "#", "का", "東", "##ing"];

    fn check(text: &str, expected: &str) {
        let pieces = WordPieces::new(TOKENS.into_iter(), TOKENS.len());
        let found: Vec<_> =
            pieces.rows(text, 100).into_iter().map(|row| TOKENS[row as usize]).collect();
        assert_eq!(found.join(" "), expected, "{text:?}");
    }

    #[test]
    fn a_word_becomes_its_longest_known_pieces() {
        check("Racks replay!", "rack ##s re ##play !");
        check("racking", "rack ##ing");
    }

    #[test]
    fn a_word_with_an_unknown_stretch_is_left_out() {
        check("rackz rack", "rack");
        check(&"rack".repeat(40), "");
    }

    #[test]
    fn accents_go_but_vowel_signs_that_take_room_stay() {
        check("CAFÉ cafe\u{301}", "cafe cafe");
        check("का", "का");
    }

    #[test]
    fn ideographs_stand_alone_and_invisible_characters_vanish() {
        check("東地rack", "東 地 rack");
        check("ra\u{200d}ck\u{a0}rack\u{feff}\0", "rack rack");
    }

    #[test]
    fn no_more_pieces_than_asked_for() {
        let pieces = WordPieces::new(TOKENS.into_iter(), TOKENS.len());
        assert_eq!(pieces.rows("racks racks", 3), [0, 1, 0]);
    }
}
