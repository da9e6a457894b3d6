//! Clauses that state in other words what a form states: "on Fridays I swim", "I no longer drink coffee".
//!
//! What is no longer so has the subject of what was, so it takes the place of the older fact (`changes`). If it ends
//! something that nobody stated ("I don't see the error any more"), it states nothing.
//!
//! Invariant: the words of a statement stay the user's; only its subject comes from the other words.

use regex::Regex;

use super::changes::{Ended, Named};
use super::lexicon::{Language, Reworded};
use super::{Meaning, plain_form, subject};

/// The meaning of a clause by other words for it.
pub(super) fn form(language: &Language, clause: &str) -> Option<Meaning> {
    others(language, clause).find_map(|it| plain_form(language, &it))
}

/// A clause in other words that state the same.
pub(super) fn others(language: &Language, clause: &str) -> impl Iterator<Item = String> {
    language.reworded.iter().filter(|it| !it.ends).flat_map(|it| it.all(clause))
}

/// What a clause says is no longer so.
pub(super) fn ended(language: &Language, clause: &str) -> Option<Ended> {
    let others = language.reworded.iter().filter(|it| it.ends);
    let was = others.flat_map(|it| it.all(clause)).map(|text| {
        let formal = plain_form(language, &text).and_then(|meaning| meaning.subject);
        (formal.unwrap_or_else(|| subject::normalised(language, &text)), text)
    });
    let was: Vec<(String, String)> = was.collect();
    let named: Vec<Named> = language.ended.iter().filter_map(|says| named(says, clause)).collect();
    let is_ended = !was.is_empty() || !named.is_empty();
    is_ended.then_some(Ended { was, named, needs_known: true })
}

/// What a clause names of what was so before.
fn named(says: &Regex, clause: &str) -> Option<Named> {
    // Most do not match, and checking without groups allocates nothing.
    let groups = says.is_match(clause).then(|| says.captures(clause)).flatten()?;
    let named = |name: &str| groups.name(name).map(|found| found.as_str().to_owned());
    named("old").map(Named::Value).or_else(|| named("what").map(Named::Thing))
}

impl Reworded {
    /// A clause in the first of the other words.
    pub(super) fn of(&self, clause: &str) -> Option<String> {
        self.all(clause).into_iter().next()
    }

    /// A clause in all other words for it.
    fn all(&self, clause: &str) -> Vec<String> {
        if !self.says.is_match(clause) {
            return Vec::new();
        }
        let Some(groups) = self.says.captures(clause) else { return Vec::new() };
        let expanded = self.own.iter().map(|own| {
            let mut text = String::new();
            groups.expand(own, &mut text);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        });
        expanded.collect()
    }
}
