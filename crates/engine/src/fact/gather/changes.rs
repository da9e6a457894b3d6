//! What a message changes among the facts that are known: "we switched from Jenkins to Buildkite", "I have three cats
//! now".
//!
//! A statement says that something has changed in one of three ways: it names what was so before, it names what has
//! changed ("I changed gyms"), or it has a word of change and begins like a known fact. It then takes the subject of
//! that fact, and so its place. What changes something that nobody stated states nothing, unless it has a form.
//!
//! Invariant: an addition ("I also speak Polish") takes the place of nothing.

use super::lexicon::{self, Language};
use super::{Fact, FactKind, Statement, claims, subject};
use crate::search::words::content_stems;

/// Words must agree in so many letters to be forms of one word.
const STEM_LETTERS_MIN: usize = 4;
/// The same for a word and its plural.
const PLURAL_LETTERS_MIN: usize = 3;
/// The last part of a compound has so many letters.
const COMPOUND_LETTERS_MIN: usize = 6;
/// Letters by which two forms of one word differ at most.
const ENDING_LETTERS_MAX: usize = 4;

/// What a statement says is no longer so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// As it would be stated ("I drink coffee"): the subject and the words, in the ways in which it may have been.
    pub(super) was: Vec<(String, String)>,
    /// What was so before, or what has changed, as the statement names it.
    pub(super) named: Vec<Named>,
    /// Whether the statement means nothing to somebody who did not know the other: "I don't see it any more".
    pub(super) needs_known: bool,
}

/// What a statement names of an older one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// "from Jenkins"
    Value(String),
    /// "I changed gyms"
    Thing(String),
}

/// The lasting statements in `message` to somebody who knows `facts`.
pub fn stated_over(message: &str, facts: &[&Fact]) -> Vec<Statement> {
    claims(message).into_iter().filter_map(|it| over(it, facts)).collect()
}

fn over(mut statement: Statement, facts: &[&Fact]) -> Option<Statement> {
    let languages = lexicon::languages_of(&statement.text);
    if languages.iter().any(|language| language.added.is_match(&statement.text)) {
        let is_known = |it: &String| {
            facts.iter().any(|fact| fact.subject.as_deref().is_some_and(|o| subject::same(it, o)))
        };
        if statement.subject.as_ref().is_some_and(is_known) {
            statement.subject = Some(subject::normalised(languages[0], &statement.text));
        }
        return Some(statement).filter(|it| !it.needs_known());
    }
    let ended = statement.ends.as_ref();
    let known = ended.and_then(|ended| {
        let said = facts.iter().find(|fact| ended.is_said_by(fact));
        said.or_else(|| facts.iter().find(|fact| ended.names(fact, &languages)))
    });
    let continues = |fact: &&&Fact| {
        languages.iter().any(|language| is_continued(language, &fact.text, &statement.text))
    };
    match known.or_else(|| facts.iter().find(continues)) {
        Some(fact) => {
            statement.subject.clone_from(&fact.subject);
            statement.kind = fact.kind;
            Some(statement)
        }
        None => Some(statement).filter(|it| !it.needs_known()),
    }
}

impl Statement {
    /// Whether it means nothing to somebody who does not know what it ends.
    pub(super) fn needs_known(&self) -> bool {
        self.ends.as_ref().is_some_and(|ended| ended.needs_known)
    }
}

impl Ended {
    /// Whether a fact states what has ended, perhaps more exactly.
    fn is_said_by(&self, fact: &Fact) -> bool {
        let Some(other) = fact.subject.as_deref() else { return false };
        self.was.iter().any(|(subject, text)| {
            let is_longer = || other.strip_prefix(&**subject).is_some_and(|it| it.starts_with(' '));
            (subject::same(subject, other) || is_longer()) && shares_value(text, &fact.text)
        })
    }

    /// Whether a fact of the user, not of somebody else, has the value or the subject that is named.
    fn names(&self, fact: &Fact, languages: &[&Language]) -> bool {
        let Some(about) = fact.subject.as_deref() else { return false };
        let of_another = languages.iter().any(|language| language.others.is_match(&fact.text));
        // Who gives something up may still like it.
        if of_another || fact.kind == FactKind::Preference {
            return false;
        }
        let is_named = self.named.iter().any(|named| match named {
            Named::Value(value) => has_words(&fact.text, value),
            Named::Thing(thing) => has_words(about, thing),
        });
        is_named || self.was.iter().any(|(_, text)| has_words(&fact.text, text))
    }
}

/// Whether a text has every content word of another, in any form.
fn has_words(text: &str, words: &str) -> bool {
    has_all(&lower_words(text), &lower_words(words))
}

fn lower_words(text: &str) -> Vec<String> {
    let words = text.split(|it: char| !it.is_alphanumeric() && it != '-');
    let words = words.map(|word| word.replace('-', "").to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

/// "smoke" and "smoking": the beginning is the same, and only an ending differs. "Kürzel" is a "Standortkürzel".
fn are_forms_of_one(one: &str, other: &str) -> bool {
    let shared: usize =
        one.chars().zip(other.chars()).take_while(|(left, right)| left == right).count();
    let (one_letters, other_letters) = (one.chars().count(), other.chars().count());
    let (longer, shorter) = (one_letters.max(other_letters), one_letters.min(other_letters));
    let is_plural = shared == shorter && shared >= PLURAL_LETTERS_MIN && longer - shared <= 2;
    let is_compound = one_letters >= COMPOUND_LETTERS_MIN && other.ends_with(one);
    is_plural
        || is_compound
        || shared >= STEM_LETTERS_MIN
            && longer - shared <= ENDING_LETTERS_MAX
            && shared * 2 > longer
}

/// "I no longer live in Bergen" says nothing of a home in Oslo: a word after the verb must be the same.
fn shares_value(ended: &str, text: &str) -> bool {
    let words = |text: &str| {
        let words = lower_words(text).into_iter();
        words.filter(|word| word.chars().count() > 2).collect::<Vec<_>>()
    };
    let after_verb: Vec<&str> = ended.split_whitespace().skip(2).collect();
    let (own, other) = (words(&after_verb.join(" ")), words(text));
    own.is_empty() || own.iter().any(|word| other.contains(word))
}

/// Whether a statement says the same as a fact with another number, with the opposite sense, or, with a word of change,
/// with another ending: "I take my coffee with milk", "I take my coffee black now".
fn is_continued(language: &Language, fact: &str, statement: &str) -> bool {
    let words = |text: &str| {
        let text = language.negation.replace_all(text, " ");
        let words = lower_words(&language.changed.replace_all(&text, " ")).into_iter();
        words.filter(|word| !subject::is_article(language, word)).collect::<Vec<_>>()
    };
    let is_negated = |text: &str| language.negation.is_match(text);
    let (older, newer) = (words(fact), words(statement));
    if older.len() < 2 || newer.len() < 2 {
        return false;
    }
    if is_negated(fact) != is_negated(statement) {
        return has_all(&older, &newer) && has_all(&newer, &older);
    }
    let shared = older.iter().zip(&newer).take_while(|(left, right)| left == right).count();
    let is_number = |word: &String| {
        let is_value = language.likely.as_ref().is_some_and(|it| it.value.contains(word));
        is_value || word.contains(|it: char| it.is_ascii_digit())
    };
    // The first two are the subject and its verb.
    let begins_alike =
        shared > 2 && newer[2..shared].iter().any(|it| !is_number(it) && is_content(it));
    if begins_alike && older != newer && language.changed.is_match(statement) {
        return true;
    }
    // "rack 5 is in room 12" is another rack: the number must come after the verb.
    let is_copula =
        |word: &String| language.likely.as_ref().is_some_and(|it| it.present.contains(word));
    let verb = newer.iter().position(is_copula).unwrap_or(newer.len() / 2 - 1);
    let mut differing =
        older.iter().zip(&newer).enumerate().filter(|(_, (left, right))| left != right);
    let only =
        differing.next().filter(|_| older.len() == newer.len() && differing.next().is_none());
    only.is_some_and(|(at, (left, right))| at > verb && is_number(left) && is_number(right))
}

fn is_content(word: &str) -> bool {
    !content_stems(word).is_empty()
}

/// Whether the content words of `wanted` are among `held`, in any form.
fn has_all(held: &[String], wanted: &[String]) -> bool {
    let mut wanted = wanted.iter().filter(|word| is_content(word)).peekable();
    wanted.peek().is_some()
        && wanted.all(|word| held.iter().any(|other| are_forms_of_one(word, other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_differ_in_their_ending() {
        for (one, other, expected) in [
            ("smoke", "smoking", true),
            ("geige", "geige", true),
            ("rauche", "rauchen", true),
            ("car", "cars", true),
            ("kürzel", "standortkürzel", true),
            ("mars", "market", false),
            ("training", "trains", true),
            ("station", "statement", false),
        ] {
            assert_eq!(are_forms_of_one(one, other), expected, "{one} {other}");
        }
    }
}
