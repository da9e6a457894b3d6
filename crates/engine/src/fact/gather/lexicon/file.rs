//! The files of `lexicon/facts/` as they are written.
//!
//! Invariant: an unknown name in a file is an error.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;

use super::{LikelyWords, ValueRule};
use crate::fact::FactKind;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub words: BTreeMap<String, Vec<String>>,
    pub key: Key,
    pub clause: Clause,
    pub never: Never,
    pub explicit: Explicit,
    pub instruction: Instruction,
    pub topics: BTreeMap<String, String>,
    #[serde(default)]
    pub told_of: Vec<ToldOf>,
    #[serde(default)]
    pub change: ChangeWords,
    #[serde(default)]
    pub reworded: Vec<RewordedEntry>,
    pub form: Vec<FormEntry>,
    #[serde(default)]
    pub question: Vec<QuestionEntry>,
    #[serde(default)]
    pub forget: Forget,
    pub likely: Option<LikelyWords>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionEntry {
    pub subject: String,
    #[serde(default)]
    pub near: bool,
    #[serde(default)]
    pub kind: Option<FactKind>,
    pub asks: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Forget {
    pub that: Vec<String>,
    pub what: Vec<String>,
    /// The question about `{what}`.
    pub asks: String,
    /// Clauses that name a statement.
    #[serde(default)]
    pub told: Vec<RewordedEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Key {
    #[serde(default)]
    pub marks: HashSet<String>,
    #[serde(default)]
    pub secret: HashSet<String>,
    pub indefinite: Vec<String>,
    pub articles: Vec<String>,
    pub prepositions: Vec<String>,
    #[serde(default)]
    pub english: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clause {
    pub leads: Vec<String>,
    pub joints: Vec<String>,
    pub starts: Vec<String>,
    #[serde(default)]
    pub elided: Vec<String>,
    /// Relative clauses within another clause.
    #[serde(default)]
    pub inserted: Option<String>,
    /// Beginnings of sentences that have nothing to do with the others.
    #[serde(default)]
    pub asides: Vec<String>,
    /// Pleasantries at the end of a sentence.
    #[serde(default)]
    pub tails: Vec<String>,
    /// The same, without a comma before them.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Adverbs of time at the end of a clause.
    #[serde(default)]
    pub times: Vec<String>,
    #[serde(default)]
    pub correction: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeWords {
    /// Something has become so.
    pub words: Vec<String>,
    /// Something is so besides.
    pub added: Vec<String>,
    /// The opposite is so.
    pub negation: Vec<String>,
    /// Beginnings of statements about somebody else.
    pub others: Vec<String>,
    /// Whole clauses that name what was so before (`old`) or what has changed (`what`).
    pub ended: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Never {
    pub message: Vec<String>,
    pub unsaved: Vec<String>,
    #[serde(default)]
    pub quoting: Vec<String>,
    #[serde(default)]
    pub after: Vec<String>,
    #[serde(default)]
    pub around: Vec<String>,
    #[serde(default)]
    pub trouble: Vec<String>,
    pub condition: Vec<String>,
    #[serde(default)]
    pub wish: Vec<String>,
    #[serde(default)]
    pub report: Vec<String>,
    pub sentence: Vec<String>,
    pub clause: Vec<String>,
    pub value: Vec<String>,
    pub what: Vec<String>,
    pub which: Vec<String>,
    pub instruction: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Explicit {
    pub leads: Vec<String>,
    #[serde(default)]
    pub advice: Vec<String>,
    pub trailers: Vec<String>,
    pub asks: Vec<String>,
    pub tell: Vec<String>,
    pub tell_reject: Vec<String>,
    pub reject: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Instruction {
    pub leads: Vec<String>,
    #[serde(default)]
    pub bodies: Vec<String>,
    /// Beginnings and ends of instructions that are questions.
    #[serde(default)]
    pub asks: Vec<String>,
    #[serde(default)]
    pub tags: Vec<String>,
    pub forms: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToldOf {
    pub says: String,
    pub own: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RewordedEntry {
    pub says: String,
    pub own: Vec<String>,
    #[serde(default)]
    pub ends: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FormEntry {
    pub kind: FactKind,
    pub subject: String,
    #[serde(default)]
    pub value: ValueRule,
    #[serde(default)]
    pub never: Option<String>,
    pub says: String,
}
