//! The words used to understand messages, one file per language.
//!
//! `lexicon/en.toml` is complete, German is smaller, and the others have the cues for [`asks_back`] and [`heat`].
//! An operator can add or replace languages with a folder of files ([`install`]). Domain words ("rack", "uplink")
//! belong to packs.
//!
//! Like a locale, the lexicon is global and fixed before the first message. Each message is read in the language
//! that most of its function words belong to ([`of`]).
//!
//! The folder `lexicon/` holds all words: a file per language here, and one for each of two other readers, in
//! `lexicon/facts/` (what states a fact) and `lexicon/effects/` (what a tool may change).

mod class;
mod cue;
mod cues;
mod file;
mod language;
mod say;

use std::sync::OnceLock;

use crate::sentence;
use crate::weights::{CUE_MIN, CUE_SURE};

pub use class::{Class, Family};
pub use cues::{Cues, Mode};
pub use language::Language;
pub use say::Say;

/// The loaded languages. The first reads messages that match none.
#[derive(Debug)]
pub struct Lexicon {
    languages: Vec<Language>,
}

const EMBEDDED: [(&str, &str); 8] = [
    ("en.toml", include_str!("../../lexicon/en.toml")),
    ("de.toml", include_str!("../../lexicon/de.toml")),
    ("fr.toml", include_str!("../../lexicon/fr.toml")),
    ("es.toml", include_str!("../../lexicon/es.toml")),
    ("it.toml", include_str!("../../lexicon/it.toml")),
    ("pt.toml", include_str!("../../lexicon/pt.toml")),
    ("ja.toml", include_str!("../../lexicon/ja.toml")),
    ("zh.toml", include_str!("../../lexicon/zh.toml")),
];

/// Words of "no tasks found".
const NONE_WORDS_MAX: usize = 5;
/// Maximum words before the colon of an error: "Database error: …".
const ERROR_WORDS_MAX: usize = 3;
/// Bytes of a message used to detect its language.
const MESSAGE_BYTES_MAX: usize = 4096;

impl Lexicon {
    /// Loads the built-in languages and those given as `(file name, text)`. A file replaces the built-in language
    /// of the same code; an invalid one is skipped and reported.
    pub fn load(files: &[(String, String)]) -> (Self, Vec<String>) {
        let mut lexicon = Self { languages: Vec::new() };
        let mut problems = Vec::new();
        let embedded = EMBEDDED.iter().map(|(file, text)| (*file, *text));
        let given = files.iter().map(|(file, text)| (file.as_str(), text.as_str()));
        for (file, text) in embedded.chain(given) {
            match Language::read(text) {
                Ok(language) => lexicon.add(language),
                Err(reason) => problems.push(format!("{file}: {reason}")),
            }
        }
        (lexicon, problems)
    }

    fn add(&mut self, language: Language) {
        match self.languages.iter_mut().find(|known| known.code == language.code) {
            Some(known) => *known = language,
            None => self.languages.push(language),
        }
    }

    pub fn languages(&self) -> &[Language] {
        &self.languages
    }

    pub fn of(&self, message: &str) -> &Language {
        let first = &self.languages[0];
        let message = &message[..message.floor_char_boundary(MESSAGE_BYTES_MAX)];
        let words = language::words(message);
        let weight = |language: &Language| language.function_words(message, &words);
        let mut best = (first, weight(first));
        let known = words.iter().any(|word| first.knows(word));
        for language in &self.languages[1..] {
            let found = weight(language);
            // A single shared word says little: "list em".
            if found > best.1 && (found > 1 || !known) {
                best = (language, found);
            }
        }
        if best.1 > 0 || self.says(first, &words) {
            return best.0;
        }
        // Without function words, a greeting or a "no" may tell, or the verb of a request.
        let other = || self.languages[1..].iter();
        let asks = |language: &&Language| {
            let verb = words.first().filter(|verb| !first.knows(verb));
            verb.is_some_and(|verb| language.family(verb).is_some())
        };
        other()
            .find(|language| self.says(language, &words))
            .or_else(|| other().find(asks))
            .unwrap_or(first)
    }

    /// The languages that have most function words of a message.
    fn told(&self, message: &str) -> Vec<&Language> {
        let message = &message[..message.floor_char_boundary(MESSAGE_BYTES_MAX)];
        let words = language::words(message);
        let weight = |language: &&Language| language.function_words(message, &words);
        let most = self.languages.iter().map(|language| weight(&language)).max().unwrap_or(0);
        self.languages.iter().filter(|language| most > 0 && weight(language) == most).collect()
    }

    /// See [`in_talk`].
    fn in_talk<'m>(
        &self,
        message: &str,
        mut earlier: impl Iterator<Item = &'m str>,
    ) -> (&Language, &Language) {
        let (own, told) = (self.of(message), self.told(message));
        let same = |one: &Language, two: &Language| one.code == two.code;
        if matches!(told[..], [only] if same(only, own)) {
            return (own, own);
        }
        let sure = |message: &str| match self.told(message)[..] {
            [only] => Some(only).filter(|only| same(only, self.of(message))),
            _ => None,
        };
        let Some(last) = earlier.find_map(sure) else { return (own, own) };
        if told.iter().any(|language| same(language, last)) {
            return (last, last);
        }
        let knows = |word: &String| own.knows(word) && !last.knows(word);
        let tells = !told.is_empty() || language::words(message).iter().any(knows);
        (own, if tells { own } else { last })
    }

    /// Whether a word greets, thanks, agrees or disagrees in that language and is unknown in the first one.
    fn says(&self, language: &Language, words: &[String]) -> bool {
        let first = &self.languages[0];
        let own = |word: &String| language.code == first.code || !first.knows(word);
        let talks = [Class::SmallTalk, Class::Yes, Class::No];
        words
            .iter()
            .filter(|word| own(word))
            .any(|w| talks.iter().any(|class| language.is(*class, w)))
    }
}

static CURRENT: OnceLock<Lexicon> = OnceLock::new();

/// Adds language files to the built-in ones; returns problems. Only the first call, before the first message, has
/// an effect.
pub fn install(files: &[(String, String)]) -> Vec<String> {
    let (lexicon, mut problems) = Lexicon::load(files);
    if CURRENT.set(lexicon).is_err() && !files.is_empty() {
        problems
            .push("the lexicon is already in use; its files take effect after a restart".into());
    }
    problems
}

pub fn current() -> &'static Lexicon {
    CURRENT.get_or_init(|| Lexicon::load(&[]).0)
}

pub fn of(message: &str) -> &'static Language {
    current().of(message)
}

/// The languages to read a message in and to answer it in, after earlier messages, newest first: where its words do not
/// tell, that of the latest one whose words do.
pub fn in_talk<'m>(
    message: &str,
    earlier: impl Iterator<Item = &'m str>,
) -> (&'static Language, &'static Language) {
    current().in_talk(message, earlier)
}

/// The language of program identifiers, and of messages that match no language.
pub fn english() -> &'static Language {
    &current().languages[0]
}

/// Whether a message asks about something said earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AsksBack {
    No,
    /// It asks for knowledge, or tells itself what it needs.
    InPassing,
    /// It asks, but perhaps only for an answer.
    Perhaps,
    Yes,
}

/// A message with more words, in several sentences, tells what it needs itself.
const QUESTION_WORDS_MAX: usize = 25;

fn ends_in_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？', '؟'])
}

/// The sentences of a message that ask something, and the last one.
fn questions(said: &str) -> String {
    let spans = sentence::spans(said);
    let last = spans.len().saturating_sub(1);
    let sentences = spans.into_iter().map(|span| &said[span]).enumerate();
    let asking = sentences.filter(|(at, one)| *at == last || ends_in_question(one));
    asking.map(|(_, one)| one).collect::<Vec<_>>().join(" ")
}

/// Whether a message tells what it needs.
fn tells_much(said: &str) -> bool {
    said.split_whitespace().nth(QUESTION_WORDS_MAX).is_some() && sentence::spans(said).len() > 1
}

/// Whether a text asks about something said earlier. `in_talk`: it is part of a talk among named speakers, who
/// ask each other about the present.
pub fn asks_back(said: &str, in_talk: bool) -> AsksBack {
    let language = of(said);
    let asked = if in_talk { 0.0 } else { language.cues.asks(said) };
    let tells_much = tells_much(said);
    let is_question = ends_in_question(said);
    // What is told on the way is full of words such as "said" and "before".
    let surely = || !in_talk && language.cues.asks(&questions(said)) >= CUE_SURE;
    if asked >= CUE_MIN && (!tells_much || surely()) {
        return AsksBack::Yes;
    }
    if !is_question && asked < CUE_MIN {
        return AsksBack::No;
    }
    // "How do I …?" asks for knowledge.
    if tells_much || asked < 0.0 {
        return AsksBack::InPassing;
    }
    match !language.addresses(said) && language.cues.names_something(said) {
        true => AsksBack::Yes,
        false => AsksBack::Perhaps,
    }
}

/// Whether a text speaks to its reader.
pub fn addresses(text: &str) -> bool {
    of(text).addresses(text)
}

/// A word of a tool's name in the plural.
pub fn plural(word: &str) -> String {
    english().plural(word)
}

/// The English word for a unit of measurement in lower case, however it is written: "kms" is "kilometer".
pub fn measure(text: &str) -> Option<&'static str> {
    let singular = english().singular(text);
    let languages = current().languages().iter();
    let mut found =
        languages.filter_map(|own| own.measure(text).or_else(|| own.measure(&singular)));
    found.next()
}

/// Whether a program's message says that something does not exist.
pub fn says_none(text: &str) -> bool {
    let words: Vec<String> =
        text.split(|c: char| !(c.is_alphanumeric() || c == '\'')).map(str::to_lowercase).collect();
    let says = |at: usize| words[at..].iter().map(String::as_str);
    // "No tasks found."
    let begins = words.first().is_some_and(|word| english().is(Class::No, word));
    let found = |word: &String| english().is(Class::Found, word);
    let none = begins && words.iter().take(NONE_WORDS_MAX).any(found);
    none || (0..words.len()).any(|at| english().starts(Class::NotFound, says(at)).is_some())
}

/// Whether a program's message begins as an error: "Database error: …", "Error - ENOENT …".
pub fn says_error(text: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let heads = [": ", " - "].iter().filter_map(|mark| line.split_once(mark));
    let Some(head) = heads.map(|(head, _)| head).min_by_key(|head| head.len()) else {
        return false;
    };
    let words: Vec<String> = head.split_whitespace().map(str::to_lowercase).collect();
    // "ValueError" is one word.
    let is = |word: &String| {
        english()
            .words(Class::Error)
            .any(|error| word == error || words.len() == 1 && word.ends_with(error))
    };
    words.len() <= ERROR_WORDS_MAX && words.last().is_some_and(is)
}

/// How likely a message is heated, 0–1, and the sign of it; heated from 0.5 on.
pub fn heat(message: &str) -> (f32, &'static str) {
    of(message).cues.heat(message)
}

#[cfg(test)]
mod tests;
