//! Which facts a message asks to forget, by its own words: "forget my locker number", "forget that".
//!
//! Choosing only; forgetting them is the engine's.
//!
//! Invariant: a fact is chosen only where it is certain that it is meant; several that may be are named instead.

use super::Fact;
use super::gather::{self, Unwanted};
use crate::search::words::{content_stems, stems};

/// What became of a request to forget something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgetting {
    /// These facts are forgotten.
    Done(Vec<String>),
    /// Nothing is remembered about that.
    Nothing {
        /// The user's words for it.
        what: String,
    },
    /// Several facts may be meant, and none was forgotten.
    Which {
        /// The user's words for it.
        what: String,
        /// The facts.
        known: Vec<String>,
    },
}

/// The facts that `message` asks to forget, or why there are none; `None` where it does not ask for that. `just_said`
/// are those that the message before stated.
pub(crate) fn chosen<'f>(
    message: &str,
    facts: &'f [Fact],
    just_said: impl Fn(&Fact) -> bool,
) -> Option<Result<Vec<&'f Fact>, Forgetting>> {
    let (what, subjects) = match gather::unwanted(message)? {
        Unwanted::JustSaid => {
            let said: Vec<&Fact> = facts.iter().filter(|fact| just_said(fact)).collect();
            return (!said.is_empty()).then_some(Ok(said));
        }
        Unwanted::About { what, subjects } => (what, subjects),
    };
    let exact = facts.iter().filter(|fact| subjects.iter().any(|it| it.is_answered_by(fact)));
    let exact: Vec<&Fact> = exact.collect();
    if !exact.is_empty() {
        return Some(Ok(exact));
    }
    let words = content_stems(&what);
    let covers = |fact: &&Fact| {
        let held = stems(&fact.text);
        !words.is_empty() && words.iter().all(|word| held.contains(word))
    };
    let covering: Vec<&Fact> = facts.iter().filter(covers).collect();
    Some(match covering.len() {
        0 => Err(Forgetting::Nothing { what }),
        1 => Ok(covering),
        _ => {
            let known = covering.iter().map(|fact| fact.text.clone()).collect();
            Err(Forgetting::Which { what, known })
        }
    })
}
