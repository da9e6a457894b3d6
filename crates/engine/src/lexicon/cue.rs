//! A cue: its syntax and matching.
//!
//! `*` stands for up to six words, `a|b` for either word, `~` for the rest of a word, `^` and `$` for the ends of
//! the message. In scripts without spaces a cue is a substring.

use rustc_hash::FxHashMap;

use super::file::{List, Script};
use super::language::words;

/// Maximum words for `*`; letters in scripts without spaces.
const GAP_WORDS_MAX: usize = 6;
const GAP_BYTES_MAX: usize = 48;

/// Bytes at the start of a message that are searched for cues; the rest is material.
const TEXT_BYTES_MAX: usize = 2048;

/// A message prepared for matching.
pub(super) enum Text {
    /// Lower-case words; punctuation that ends a sentence counts as a word.
    Words(Vec<String>),
    Letters(String),
}

impl Text {
    pub(super) fn new(message: &str, script: Script) -> Self {
        match script {
            Script::Spaced => Self::Words(words(beginning(message))),
            Script::Kana | Script::Han => Self::Letters(
                beginning(message)
                    .to_lowercase()
                    .replace('？', "?")
                    .replace('！', "!")
                    .replace(' ', ""),
            ),
        }
    }
}

/// The part of a message searched for cues.
fn beginning(message: &str) -> &str {
    &message[..message.floor_char_boundary(TEXT_BYTES_MAX)]
}

/// Cues of the same weight.
#[derive(Debug, Default)]
pub(super) struct CueSet {
    cues: Vec<Cue>,
    /// Cues by the words their first position allows; cues that start otherwise are in `others`.
    by_word: FxHashMap<String, Vec<usize>>,
    others: Vec<usize>,
}

#[derive(Debug)]
struct Cue {
    at_start: bool,
    at_end: bool,
    /// Runs of positions, separated by gaps.
    runs: Vec<Vec<Alternatives>>,
}

/// A position of a cue: any of these words.
type Alternatives = Vec<Word>;

#[derive(Debug)]
struct Word {
    text: String,
    is_beginning: bool,
}

impl CueSet {
    pub(super) fn new(list: &List) -> Self {
        let mut set = Self::default();
        for written in &list.0 {
            let cue = Cue::new(written);
            let index = set.cues.len();
            match cue.runs.first().and_then(|run| run.first()) {
                Some(place) if place.iter().all(|word| !word.is_beginning) => {
                    for word in place {
                        set.by_word.entry(word.text.clone()).or_default().push(index);
                    }
                }
                _ => set.others.push(index),
            }
            set.cues.push(cue);
        }
        set
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cues.is_empty()
    }

    /// The number of cues that match.
    pub(super) fn count(&self, text: &Text) -> usize {
        match text {
            Text::Letters(text) => self.cues.iter().filter(|cue| cue.is_in_letters(text)).count(),
            Text::Words(words) => self.count_words(words),
        }
    }

    /// The number of cues that match in `words`.
    pub(super) fn count_words(&self, words: &[String]) -> usize {
        if self.cues.is_empty() {
            return 0;
        }
        let mut found: Vec<usize> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            for index in self.candidates(word) {
                if !found.contains(&index) && self.cues[index].is_at(words, at) {
                    found.push(index);
                }
            }
        }
        found.len()
    }

    /// The cues that may start with a word.
    fn candidates(&self, word: &str) -> impl Iterator<Item = usize> {
        self.by_word.get(word).into_iter().flatten().chain(&self.others).copied()
    }

    /// Removes the words that match cues of the set.
    pub(super) fn taken_out(&self, text: Text) -> Text {
        let Text::Words(words) = text else { return text };
        let mut kept = Vec::with_capacity(words.len());
        let mut at = 0;
        while at < words.len() {
            let fits = |cue: &&Cue| cue.is_at(&words, at);
            match self
                .candidates(&words[at])
                .map(|index| &self.cues[index])
                .filter(fits)
                .filter_map(|cue| cue.runs.first())
                .map(Vec::len)
                .max()
            {
                Some(length) => at += length.max(1),
                None => {
                    kept.push(words[at].clone());
                    at += 1;
                }
            }
        }
        Text::Words(kept)
    }
}

impl Cue {
    fn new(written: &str) -> Self {
        let (at_start, rest) = match written.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, written),
        };
        let (at_end, rest) = match rest.strip_suffix('$') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let word = |text: &str| match text.strip_suffix('~') {
            Some(beginning) => Word { text: beginning.to_lowercase(), is_beginning: true },
            None => Word { text: text.to_lowercase(), is_beginning: false },
        };
        let place = |text: &str| text.split('|').map(word).collect();
        let run = |text: &str| text.split_whitespace().map(place).collect::<Vec<Alternatives>>();
        let runs = rest.split('*').map(run).filter(|run| !run.is_empty()).collect();
        Self { at_start, at_end, runs }
    }

    fn is_at(&self, words: &[String], at: usize) -> bool {
        (!self.at_start || at == 0) && self.fits(&self.runs, words, at)
    }

    fn fits(&self, runs: &[Vec<Alternatives>], words: &[String], at: usize) -> bool {
        let Some((run, rest)) = runs.split_first() else { return false };
        let Some(given) = words.get(at..at + run.len()) else { return false };
        if !run.iter().zip(given).all(|(place, word)| place.iter().any(|one| one.is(word))) {
            return false;
        }
        let end = at + run.len();
        match rest.is_empty() {
            true => !self.at_end || end == words.len(),
            false => (end..=end + GAP_WORDS_MAX).any(|next| self.fits(rest, words, next)),
        }
    }

    fn is_in_letters(&self, text: &str) -> bool {
        let mut from = 0;
        for (index, run) in self.runs.iter().enumerate() {
            let places = run.iter().flatten();
            let found =
                places.filter_map(|word| text[from..].find(&word.text).map(|at| (at, word)));
            let Some((at, word)) = found.min_by_key(|(at, _)| *at) else { return false };
            if index > 0 && at > GAP_BYTES_MAX {
                return false;
            }
            from += at + word.text.len();
        }
        true
    }
}

impl Word {
    fn is(&self, word: &str) -> bool {
        if self.is_beginning { word.starts_with(&self.text) } else { word == self.text }
    }
}
