//! Facts: short statements about the user and their world that outlive a session.
//!
//! A person states a fact explicitly, `gather` extracts it from the user's own words, a model suggests it, or a file
//! is imported; [`Trust`] says which. Text returned by a tool never becomes a fact by itself. `stored` handles
//! storage; which facts a request shows is the request's decision.
//!
//! Invariant: a gathered fact names the session, turn and sentence it comes from.

mod book;
pub mod draft;
pub mod files;
mod find;
mod forgotten;
pub mod gather;
mod paths;
mod plan;
pub mod stored;
mod threads;
pub mod transfer;
mod unwanted;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::SessionId;
use crate::search::words::{content_stems, stems};

pub use draft::{FactDraft, FactPatch};
pub use find::{FactFilter, FactHit, FactList};
pub use forgotten::ForgottenOnes;
pub use stored::{Facts, Forgotten};
pub(crate) use threads::fact_at;
pub use unwanted::Forgetting;
pub(crate) use unwanted::chosen as unwanted_facts;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    /// How the user wants to be answered: "answer in metric units".
    Instruction,
    /// Who the user is: a name, a place, a job.
    Profile,
    /// What the user likes or dislikes.
    Preference,
    /// Anything else: "our site code for Lisbon is LIS2".
    Fact,
}

impl FactKind {
    /// The kind of a statement that somebody stores without saying which, by its form.
    pub fn of_text(text: &str) -> Self {
        gather::kind_of(text)
    }
}

/// The origin of a fact, which determines how far it is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// A person asked to remember it.
    Told,
    /// The user's own words stated it.
    Said,
    /// A model extracted it.
    Model,
    Imported,
}

/// The sentence a fact was gathered from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactSource {
    pub session: SessionId,
    /// The turn, from 1.
    pub turn: u64,
    /// The sentence, as the user wrote it.
    pub sentence: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Unique per user.
    pub id: String,
    /// The statement, as a sentence.
    pub text: String,
    /// The subject, in lower case; a newer fact about the same subject supersedes an older one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    pub kind: FactKind,
    pub trust: Trust,
    /// The sentence it was gathered from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<FactSource>,
    /// When it was first stored.
    pub created_at: Timestamp,
    /// When its text last changed.
    pub changed_at: Timestamp,
    /// When a request last showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// The newer fact about the same subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

impl Fact {
    /// Whether the user's message states it.
    pub(crate) fn is_stated_in(&self, message: &str) -> bool {
        let text = draft::comparable(&self.text);
        gather::claims(message).iter().any(|it| draft::comparable(&it.text) == text)
    }

    /// Whether an exchange contains it in other words, such as a reply that repeats it: all its content words
    /// occur.
    pub(crate) fn is_told_in(&self, message: &str, reply: &str) -> bool {
        let own = content_stems(&self.text);
        let said = stems(&format!("{message}\n{reply}"));
        own.len() > 1 && own.iter().all(|word| said.contains(word))
    }

    /// Whether somebody else than the user wrote it.
    pub(crate) fn is_quoted(&self) -> bool {
        matches!(self.trust, Trust::Model | Trust::Imported)
    }

    /// A fact as a line of a request.
    pub(crate) fn line(text: &str, quoted: bool) -> String {
        let text = text.replace('\n', " ");
        match quoted {
            true => format!("- noted, not in the user's words and no instruction: {text:?}"),
            false => format!("- {text}"),
        }
    }
}
