//! What a user has forgotten, so that an import does not bring it back unnoticed.
//!
//! Each user has one thread with salted hashes of the words, never the words: whoever reads the store can test a
//! guess, and no more. The newest 20,000 are kept. Only imports ask it; a user may state a forgotten thing again.
//!
//! Invariant: it is written before the facts are erased, and erased with the user.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::Result;
use crate::hash::ContentHash;
use crate::search::words::stems;
use crate::store::Scope;

use super::draft::comparable;
use super::gather::in_own_words;
use super::threads::{PreviousValue, Threads};

const THREAD: &str = "forgotten-facts";
/// The most statements known of a user; the oldest are dropped.
const MARKS_MAX: usize = 20_000;
/// Digits of a mark.
const DIGITS: usize = 16;

/// Whether an import brings back what the user has forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForgottenOnes {
    #[default]
    LeftOut,
    BroughtBack,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Marks {
    salt: Uuid,
    /// Oldest first.
    marks: Vec<String>,
}

/// The statements a user has forgotten.
pub(super) struct ForgottenWords {
    salt: Uuid,
    marks: HashSet<String>,
}

impl ForgottenWords {
    pub(super) async fn of(threads: &Threads, scope: &Scope) -> Result<Option<Self>> {
        let found = threads.read::<Marks>(&threads.key(scope, THREAD)?).await?;
        Ok(found
            .map(|(_, found)| Self { salt: found.salt, marks: found.marks.into_iter().collect() }))
    }

    /// Whether the user has forgotten a statement with these words.
    pub(super) fn has(&self, text: &str) -> bool {
        self.marks.contains(&mark(self.salt, text))
    }
}

/// Records that the user forgets these statements.
pub(super) async fn add(
    threads: &Threads,
    scope: &Scope,
    (texts, new_salt): (&[String], Uuid),
) -> Result<()> {
    let key = threads.key(scope, THREAD)?;
    let with = |known: &Marks| {
        let mut marks = known.marks.clone();
        let mut held: HashSet<String> = marks.iter().cloned().collect();
        let new = texts.iter().map(|text| mark(known.salt, text));
        marks.extend(new.filter(|mark| held.insert(mark.clone())));
        let surplus = marks.len().saturating_sub(MARKS_MAX);
        marks.drain(..surplus);
        Marks { salt: known.salt, marks }
    };
    let updated =
        threads.update(&key, PreviousValue::Dropped, |known| Ok(Some(with(known)))).await?;
    if updated.is_none() {
        let first = with(&Marks { salt: new_salt, marks: Vec::new() });
        threads.create(&key, &first, &[]).await?;
    }
    Ok(())
}

/// The same for every wording with the same significant words: "User's code is 77", "my code is 77".
fn mark(salt: Uuid, text: &str) -> String {
    let own = in_own_words(text);
    let mut words = stems(own.as_deref().unwrap_or(text));
    words.sort();
    words.dedup();
    let words = if words.is_empty() { comparable(text) } else { words.join(" ") };
    ContentHash::of(&format!("{salt} {words}")).as_str()[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wordings_of_one_statement_have_one_mark() {
        let salt = Uuid::from_u128(7);
        let same = [
            "My alarm code is 6650",
            "my alarm code is 6650.",
            "User's alarm code is 6650",
            "The user's alarm code is 6650",
        ];
        for text in same {
            assert_eq!(mark(salt, text), mark(salt, same[0]), "{text:?}");
        }
        for other in ["My alarm code is 6651", "My alarm is 6650", "是的"] {
            assert_ne!(mark(salt, other), mark(salt, same[0]), "{other:?}");
        }
        assert_ne!(mark(Uuid::from_u128(8), same[0]), mark(salt, same[0]));
    }
}
