//! Clauses that state in other words what a form states: "on Fridays I swim", "I no longer drink coffee".
//!
//! What is no longer so has the subject of what was, so it takes the place of the older fact. If it ends
//! something that nobody stated ("I don't see the error any more"), it states nothing.
//!
//! Invariant: the words of a statement stay the user's; only its subject comes from the other words.

use super::lexicon::{Language, Reworded};
use super::{Ended, Fact, Meaning, Statement, claims, plain_form, subject};

/// The lasting statements in `message` to somebody who knows `facts`.
pub(crate) fn stated_over(message: &str, facts: &[&Fact]) -> Vec<Statement> {
    let over = |mut statement: Statement| {
        let Some(ended) = &statement.ends else { return Some(statement) };
        match facts.iter().find(|fact| ended.is_said_by(fact)) {
            Some(fact) => {
                statement.subject.clone_from(&fact.subject);
                statement.kind = fact.kind;
                Some(statement)
            }
            None => (!ended.needs_known).then_some(statement),
        }
    };
    claims(message).into_iter().filter_map(over).collect()
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
}

/// "I no longer live in Bergen" says nothing of a home in Oslo: a word after the verb must be the same.
fn shares_value(ended: &str, text: &str) -> bool {
    let words = |text: &str| {
        let text = text.to_lowercase();
        let words = text.split(|it: char| !it.is_alphanumeric()).map(str::to_owned);
        words.filter(|word| word.chars().count() > 2).collect::<Vec<_>>()
    };
    let after_verb: Vec<&str> = ended.split_whitespace().skip(2).collect();
    let (own, other) = (words(&after_verb.join(" ")), words(text));
    own.is_empty() || own.iter().any(|word| other.contains(word))
}

/// The meaning of a clause by other words for it.
pub(super) fn form(language: &Language, clause: &str) -> Option<Meaning> {
    let others = language.reworded.iter().filter(|it| !it.ends);
    others.flat_map(|it| it.all(clause)).find_map(|it| plain_form(language, &it))
}

/// What a clause says is no longer so.
pub(super) fn ended(language: &Language, clause: &str, has_form: bool) -> Option<Ended> {
    let others = language.reworded.iter().filter(|it| it.ends);
    let was = others.flat_map(|it| it.all(clause)).map(|text| {
        let formal = plain_form(language, &text).and_then(|meaning| meaning.subject);
        (formal.unwrap_or_else(|| subject::normalised(language, &text)), text)
    });
    let was: Vec<(String, String)> = was.collect();
    (!was.is_empty()).then_some(Ended { was, needs_known: !has_form })
}

impl Reworded {
    /// A clause in the first of the other words.
    pub(super) fn of(&self, clause: &str) -> Option<String> {
        self.all(clause).into_iter().next()
    }

    /// A clause in all other words for it.
    fn all(&self, clause: &str) -> Vec<String> {
        let Some(groups) = self.says.captures(clause) else { return Vec::new() };
        let expanded = self.own.iter().map(|own| {
            let mut text = String::new();
            groups.expand(own, &mut text);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        });
        expanded.collect()
    }
}
