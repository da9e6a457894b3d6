//! New facts and changes to facts: validated and normalised.
//!
//! A fact is data. A text that reads like an instruction to the model is stored as is; the request must quote it.
//!
//! Invariant: the result of [`FactDraft::checked`] is within the limits.

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::limits::Limits;

use super::gather;
use super::{Fact, FactKind, FactSource, Trust};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactDraft {
    /// The statement, as a sentence.
    pub text: String,
    /// The subject; a newer fact about the same subject supersedes an older one.
    pub subject: Option<String>,
    pub kind: FactKind,
    pub trust: Trust,
    pub source: Option<FactSource>,
}

impl FactDraft {
    /// A fact stated by a person.
    pub fn told(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            subject: None,
            kind: FactKind::Fact,
            trust: Trust::Told,
            source: None,
        }
    }

    pub(super) fn checked(self, limits: &Limits) -> Result<Self> {
        if let Some(source) = &self.source {
            check_length("source.sentence", &source.sentence, limits)?;
        }
        let text = checked_text(&self.text, limits)?;
        let subject = self.subject.map(|s| checked_subject(&s, limits)).transpose()?.flatten();
        let subject = subject.or_else(|| gather::subject_of(&text));
        Ok(Self { text, subject, ..self })
    }

    pub(super) fn into_fact(self, id: String, now: Timestamp) -> Fact {
        Fact {
            id,
            text: self.text,
            subject: self.subject,
            kind: self.kind,
            trust: self.trust,
            source: self.source,
            created_at: now,
            changed_at: now,
            last_used_at: None,
            superseded_by: None,
        }
    }
}

/// Changes to a fact; absent fields stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactPatch {
    pub text: Option<String>,
    /// An empty one removes it.
    pub subject: Option<String>,
    pub kind: Option<FactKind>,
}

impl FactPatch {
    pub(super) fn over(&self, fact: &Fact, now: Timestamp, limits: &Limits) -> Result<Fact> {
        let mut changed = fact.clone();
        if let Some(text) = &self.text {
            changed.text = checked_text(text, limits)?;
        }
        if let Some(subject) = &self.subject {
            changed.subject = checked_subject(subject, limits)?;
        }
        changed.kind = self.kind.unwrap_or(fact.kind);
        if changed != *fact {
            changed.trust = Trust::Told;
            changed.changed_at = now;
        }
        Ok(changed)
    }
}

/// The text for comparison: without case, extra spaces and the final full stop.
pub(super) fn comparable(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', '!']).to_owned()
}

pub(super) fn checked_text(text: &str, limits: &Limits) -> Result<String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::invalid("text", "it is empty"));
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
        return Err(Error::invalid("text", "it has control characters"));
    }
    check_length("text", text, limits)?;
    Ok(text.to_owned())
}

fn checked_subject(subject: &str, limits: &Limits) -> Result<Option<String>> {
    let subject = comparable(subject);
    let (size, allowed) = (subject.chars().count(), limits.title_characters_max);
    if size > allowed {
        return Err(Error::OverLimit {
            what: "the length of subject in characters".into(),
            size: size as u64,
            limit: "title_characters_max",
            allowed: allowed as u64,
        });
    }
    Ok(Some(subject).filter(|subject| !subject.is_empty()))
}

fn check_length(field: &str, text: &str, limits: &Limits) -> Result<()> {
    if text.len() <= limits.fact_bytes_max {
        return Ok(());
    }
    Err(Error::OverLimit {
        what: format!("the length of {field} in bytes"),
        size: text.len() as u64,
        limit: "fact_bytes_max",
        allowed: limits.fact_bytes_max as u64,
    })
}
