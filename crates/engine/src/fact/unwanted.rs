//! Selects the facts a message asks to forget: "forget my locker number", "forget that".
//!
//! Only selects them; the engine forgets them.
//!
//! Invariant: a fact is selected only if it is certainly meant; if several may be, they are listed instead.

use super::Fact;
use super::gather::{self, Unwanted};
use crate::search::words::{content_stems, stems};

/// The result of a request to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgetting {
    Done {
        /// In the user's words; `None` if it is what the message before stated. Never the words of a fact, because
        /// the reply stays in the log.
        what: Option<String>,
    },
    Nothing {
        /// In the user's words.
        what: String,
    },
    /// Several facts may be meant; none was forgotten.
    Which {
        /// In the user's words.
        what: String,
        known: Vec<String>,
    },
}

/// Facts to forget.
pub(crate) struct Chosen<'f> {
    /// In the user's words, if the message names it.
    pub what: Option<String>,
    pub facts: Vec<&'f Fact>,
}

/// The facts `message` asks to forget, or why there are none; `None` if it does not ask for that. `just_said` are
/// those stated by the message before.
pub(crate) fn chosen<'f>(
    message: &str,
    facts: &'f [Fact],
    just_said: impl Fn(&Fact) -> bool,
) -> Option<Result<Chosen<'f>, Forgetting>> {
    let (what, subjects) = match gather::unwanted(message)? {
        Unwanted::JustSaid => {
            let said: Vec<&Fact> = facts.iter().filter(|fact| just_said(fact)).collect();
            return (!said.is_empty()).then_some(Ok(Chosen { what: None, facts: said }));
        }
        Unwanted::About { what, subjects } => (what, subjects),
    };
    let exact = facts.iter().filter(|fact| subjects.iter().any(|it| it.is_answered_by(fact)));
    let exact: Vec<&Fact> = exact.collect();
    if !exact.is_empty() {
        return Some(Ok(Chosen { what: Some(what), facts: exact }));
    }
    let words = content_stems(&what);
    let covers = |fact: &&Fact| {
        let held = stems(&fact.text);
        !words.is_empty() && words.iter().all(|word| held.contains(word))
    };
    let covering: Vec<&Fact> = facts.iter().filter(covers).collect();
    Some(match covering.len() {
        0 => Err(Forgetting::Nothing { what }),
        1 => Ok(Chosen { what: Some(what), facts: covering }),
        _ => {
            let known = covering.iter().map(|fact| fact.text.clone()).collect();
            Err(Forgetting::Which { what, known })
        }
    })
}
