//! The speakers of units, for messages that name them.
//!
//! "What did Anna order?" is about what Anna said. A speaker is given by the caller or, in an imported session,
//! by the start of the text: `Anna: …`. Roles are not names. Other names are words like any other.
//!
//! Invariant: a unit has at most one speaker.

use super::bm25::Slot;
use super::stem::stem;
use super::words::{WORDS_MAX, WordHash, each_word, stems, word_hash};
use crate::lexicon::{self, Class};

/// Maximum speakers; further ones have no name.
const SPEAKERS_MAX: usize = 256;
/// Maximum bytes of a name at the start of a text.
const NAME_BYTES_MAX: usize = 40;
const NAME_WORDS_MAX: usize = 3;
/// Stems of words for roles.
const ROLES: [&str; 10] =
    ["ai", "assist", "bot", "human", "model", "system", "tool", "user", "agent", "function"];

#[derive(Debug, Default)]
pub(super) struct Speakers {
    names: Vec<Vec<WordHash>>,
    /// By slot; `None` is a speaker without a name.
    of_slot: Vec<Option<u16>>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Named {
    speakers: Vec<u16>,
    /// The words of the message that are not names of speakers.
    pub words: Vec<String>,
    /// Whether it asks only what they said, and nothing in particular.
    pub nothing_else: bool,
}

impl Speakers {
    /// Sets the speaker of a unit, as [`hashed_name`].
    pub(super) fn set(&mut self, slot: Slot, name: &[WordHash]) {
        let slot = slot as usize;
        if self.of_slot.len() <= slot {
            self.of_slot.resize(slot + 1, None);
        }
        self.of_slot[slot] = self.number(name);
    }

    /// The speakers the message names, other than its own. Their names are not searched as words, because nearly
    /// every unit would match.
    pub(super) fn named(&self, message: &str) -> Named {
        let (_, message) = split_name(message);
        let said = stems(message);
        let speakers = if self.names.len() > 1 { self.said_names(&said) } else { Vec::new() };
        let is_name = |word: &String| {
            let hash = word_hash(word);
            speakers.iter().any(|number| self.names[usize::from(*number)].contains(&hash))
        };
        let words: Vec<String> = said.iter().filter(|word| !is_name(word)).cloned().collect();
        let nothing_else = !speakers.is_empty() && asks_what_was_said(message, &words);
        let words = match nothing_else {
            true => Vec::new(),
            false if words.is_empty() => said,
            false => words,
        };
        Named { speakers, words, nothing_else }
    }

    /// Whether the speaker of a unit has a name.
    pub(super) fn is_named(&self, slot: Slot) -> bool {
        self.of_slot.get(slot as usize).is_some_and(Option::is_some)
    }

    pub(super) fn said_by(&self, slot: Slot, named: &Named) -> bool {
        let speaker = self.of_slot.get(slot as usize).copied().flatten();
        speaker.is_some_and(|speaker| named.speakers.contains(&speaker))
    }

    pub(super) fn slots_of(&self, named: &Named) -> impl Iterator<Item = usize> {
        let slots = if named.speakers.is_empty() { &[] } else { self.of_slot.as_slice() };
        let is_named = |speaker: &Option<u16>| speaker.is_some_and(|s| named.speakers.contains(&s));
        (0..).zip(slots).filter(move |(_, speaker)| is_named(speaker)).map(|(slot, _)| slot)
    }

    /// The speakers of whose names a part is mentioned; of those who share a name, the one whose other name is
    /// mentioned too. A part of one character counts only with all others.
    fn said_names(&self, said: &[String]) -> Vec<u16> {
        let said: Vec<(WordHash, bool)> =
            said.iter().map(|word| (word_hash(word), word.chars().nth(1).is_some())).collect();
        let parts_of = |name: &Vec<WordHash>| -> Vec<WordHash> {
            let parts: Vec<(WordHash, bool)> =
                said.iter().filter(|(part, _)| name.contains(part)).copied().collect();
            let all = name.iter().all(|part| parts.iter().any(|(said, _)| said == part));
            let counts = all || parts.iter().any(|(_, is_long)| *is_long);
            if counts { parts.into_iter().map(|(part, _)| part).collect() } else { Vec::new() }
        };
        let found: Vec<(u16, Vec<WordHash>)> = (0..)
            .zip(&self.names)
            .map(|(number, name)| (number, parts_of(name)))
            .filter(|(_, parts)| !parts.is_empty())
            .collect();
        let is_other = |parts: &[WordHash]| {
            let longer = |other: &[WordHash]| other.len() > parts.len();
            found.iter().any(|(_, other)| longer(other) && parts.iter().all(|p| other.contains(p)))
        };
        let named = found.iter().filter(|(_, parts)| !is_other(parts));
        named.map(|(number, _)| *number).collect()
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

/// A speaker's name as hashed stems; empty for a role.
pub(super) fn hashed_name(name: &str) -> Vec<WordHash> {
    let stems = stems(name);
    if stems.iter().any(|part| ROLES.contains(&part.as_str())) {
        return Vec::new();
    }
    stems.iter().map(|part| word_hash(part)).collect()
}

/// Whether a message asks what was said, and these words, which are no names, say no more than that.
fn asks_what_was_said(message: &str, words: &[String]) -> bool {
    let language = lexicon::of(message);
    let (mut saying, mut content) = (false, Vec::new());
    each_word(message, |word| {
        if language.is(Class::Saying, word) {
            saying = true;
        } else if !language.is(Class::Stop, word) {
            content.push(stem(word));
        }
        content.len() < WORDS_MAX
    });
    saying && !words.iter().any(|word| content.contains(word))
}

/// Splits `Anna: I moved` into name and rest, if a text starts with a name.
pub fn split_name(text: &str) -> (Option<&str>, &str) {
    // A name is short, so the rest of a long text is not searched for its end.
    let beginning = &text[..text.floor_char_boundary(NAME_BYTES_MAX + 2)];
    let Some((name, _)) = beginning.split_once(": ") else { return (None, text) };
    let rest = &text[name.len() + 2..];
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
        for (slot, name) in
            ["Anna", "Bert Jones", "assistant", "Anna", "Cora Jones"].into_iter().enumerate()
        {
            speakers.set(slot as u32, &hashed_name(name));
        }
        speakers
    }

    fn check(message: &str, slots: &[Slot], words: &str) {
        let speakers = speakers();
        let named = speakers.named(message);
        let said: Vec<Slot> = (0..5).filter(|slot| speakers.said_by(*slot, &named)).collect();
        let listed: Vec<usize> = speakers.slots_of(&named).collect();
        assert_eq!(
            (said.as_slice(), named.words.join(" ").as_str()),
            (slots, words),
            "{message:?}"
        );
        assert!(listed.iter().map(|slot| *slot as Slot).eq(said), "{message:?}");
        assert_eq!(named.nothing_else, words.is_empty(), "{message:?}");
    }

    #[test]
    fn what_every_named_speaker_said_is_favoured() {
        check("What did Anna order?", &[0, 3], "order");
        check("What does bert like?", &[1], "like");
        check("Where did Anna meet Bert?", &[0, 1, 3], "meet");
    }

    #[test]
    fn of_speakers_who_share_a_name_the_one_with_the_other_name_too_is_meant() {
        check("What does Jones like?", &[1, 4], "like");
        check("What does Cora Jones like?", &[4], "like");
        check("What do Cora and Bert Jones like?", &[1, 4], "like");
    }

    #[test]
    fn a_message_that_names_nobody_favours_nobody() {
        check("Which users are there?", &[], "user");
        check("the assistant's tools", &[], "assist tool");
    }

    #[test]
    fn a_message_that_asks_only_for_what_somebody_said_has_no_words_left() {
        check("What did Anna say?", &[0, 3], "");
        check("Tell me what Anna and Bert told you", &[0, 1, 3], "");
        check("Was hat Anna gesagt?", &[0, 3], "");
        check("What did Anna say about the harbour?", &[0, 3], "say harbour");
        check("What did Dora say?", &[], "dora say");
    }

    #[test]
    fn a_message_of_names_alone_keeps_its_words() {
        check("Anna?", &[0, 3], "anna");
        check("How are you, Anna?", &[0, 3], "anna");
    }

    #[test]
    fn who_says_a_message_is_not_named_by_it() {
        check("Anna: What does Bert like?", &[1], "like");
    }

    #[test]
    fn one_character_of_a_name_is_not_the_name() {
        let mut speakers = Speakers::default();
        speakers.set(0, &hashed_name("安娜"));
        speakers.set(1, &hashed_name("王明"));
        let slots = |message| speakers.slots_of(&speakers.named(message)).collect::<Vec<_>>();
        assert_eq!(slots("安娜的船在哪里"), [0]);
        assert_eq!(slots("明天安全吗"), [0; 0]);
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
