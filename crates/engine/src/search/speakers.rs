//! Who said what, for messages that name one of the speakers.
//!
//! "What did Anna order?" is about what Anna said. A speaker is named by the caller or, in an imported
//! conversation, by how the text begins: `Anna: …`. The roles of a conversation are not names.
//!
//! Invariant: a unit has at most one speaker.

use super::words::{WordHash, each_word, stems, word_hash};

/// Speakers that are told apart; more have no name.
const SPEAKERS_MAX: usize = 256;
/// The longest name at the start of a text, in bytes.
const NAME_BYTES_MAX: usize = 40;
/// The most words of a name.
const NAME_WORDS_MAX: usize = 3;
/// What a unit of somebody else counts when the message names one speaker.
const OTHERS_FACTOR: f32 = 0.8;
/// Stems of words that stand for a role.
const ROLES: [&str; 10] =
    ["ai", "assist", "bot", "human", "model", "system", "tool", "user", "agent", "function"];

/// The speakers of one session.
#[derive(Debug, Default)]
pub struct Speakers {
    names: Vec<Vec<WordHash>>,
    /// One a slot; `None` is somebody without a name.
    of_slot: Vec<Option<u16>>,
}

/// What a message says about speakers.
#[derive(Debug, PartialEq)]
pub struct Named {
    /// The one speaker that it names.
    one: Option<u16>,
    /// The words of the message that are no speaker's name.
    pub words: Vec<String>,
}

impl Speakers {
    /// Notes who said a unit: the [`hashed_name`] of the speaker.
    pub fn set(&mut self, slot: u32, name: &[WordHash]) {
        let slot = slot as usize;
        if self.of_slot.len() <= slot {
            self.of_slot.resize(slot + 1, None);
        }
        self.of_slot[slot] = self.number(name);
    }

    /// Whom the message names. Names count for nothing else: nearly every unit could be found by them.
    pub fn named(&self, words: &[String]) -> Named {
        let hashes: Vec<WordHash> = words.iter().map(|word| word_hash(word)).collect();
        let is_named = |name: &[WordHash]| name.iter().any(|part| hashes.contains(part));
        let mut numbers = (0..).zip(&self.names).filter(|(_, name)| is_named(name));
        let one = match (numbers.next(), numbers.next()) {
            (Some((number, _)), None) if self.names.len() > 1 => Some(number),
            _ => None,
        };
        let other: Vec<String> = words
            .iter()
            .zip(&hashes)
            .filter(|(_, hash)| !self.names.iter().flatten().any(|part| part == *hash))
            .map(|(word, _)| word.clone())
            .collect();
        Named { one, words: if other.is_empty() { words.to_vec() } else { other } }
    }

    /// What a unit's score is multiplied with.
    pub fn factor(&self, slot: u32, named: &Named) -> f32 {
        let speaker = self.of_slot.get(slot as usize).copied().flatten();
        if named.one.is_none() || speaker == named.one { 1.0 } else { OTHERS_FACTOR }
    }

    fn number(&mut self, name: &[WordHash]) -> Option<u16> {
        if name.is_empty() {
            return None;
        }
        let place = self.names.iter().position(|known| known == name);
        if place.is_none() && self.names.len() < SPEAKERS_MAX {
            self.names.push(name.to_vec());
            return u16::try_from(self.names.len() - 1).ok();
        }
        place.and_then(|place| u16::try_from(place).ok())
    }
}

/// A speaker's name as hashed stems; none where it is the name of a role.
pub fn hashed_name(name: &str) -> Vec<WordHash> {
    let stems = stems(name);
    if stems.iter().any(|part| ROLES.contains(&part.as_str())) {
        return Vec::new();
    }
    stems.iter().map(|part| word_hash(part)).collect()
}

/// Splits `Anna: I moved` into name and rest, where a text begins with a name.
pub fn split_name(text: &str) -> (Option<&str>, &str) {
    let Some((name, rest)) = text.split_once(": ") else { return (None, text) };
    let short = !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.contains(['\n', '/']);
    let mut words = 0;
    each_word(name, |_| {
        words += 1;
        true
    });
    let capital = name.split(' ').all(|word| word.starts_with(char::is_uppercase));
    if short && capital && (1..=NAME_WORDS_MAX).contains(&words) {
        (Some(name), rest)
    } else {
        (None, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speakers() -> Speakers {
        let mut speakers = Speakers::default();
        for (slot, name) in ["Anna", "Bert Jones", "assistant", "Anna"].into_iter().enumerate() {
            speakers.set(slot as u32, &hashed_name(name));
        }
        speakers
    }

    fn check(message: &str, factors: [f32; 4], words: &str) {
        let (speakers, message) = (speakers(), stems(message));
        let named = speakers.named(&message);
        let found = [0, 1, 2, 3].map(|slot| speakers.factor(slot, &named));
        assert_eq!((found, named.words.join(" ").as_str()), (factors, words), "{message:?}");
    }

    #[test]
    fn a_message_that_names_one_speaker_favours_what_that_one_said() {
        check("What did Anna order?", [1.0, 0.8, 0.8, 1.0], "order");
        check("What does Bert like?", [0.8, 1.0, 0.8, 0.8], "like");
    }

    #[test]
    fn a_message_that_names_none_or_several_favours_nobody() {
        check("Which users are there?", [1.0; 4], "user");
        check("Where did Anna meet Bert?", [1.0; 4], "meet");
        check("the assistant's tools", [1.0; 4], "assist tool");
    }

    #[test]
    fn a_message_of_names_alone_keeps_its_words() {
        check("Anna?", [1.0, 0.8, 0.8, 1.0], "anna");
    }

    #[test]
    fn a_name_at_the_start_of_a_text_is_its_speaker() {
        for (text, name) in [
            ("Anna: I moved", Some("Anna")),
            ("Bert Jones: hello", Some("Bert Jones")),
            ("see here: it works", None),
            ("https://example.org: a site", None),
            ("no colon at all", None),
            (": nothing", None),
        ] {
            assert_eq!(split_name(text).0, name, "{text:?}");
        }
        assert_eq!(split_name("Anna: I moved").1, "I moved");
    }
}
