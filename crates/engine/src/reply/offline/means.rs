//! A tool's parameter and what it means. Which one a word of a message belongs to is decided elsewhere.

use super::schema::Shape;
use crate::lexicon::{self, Class};
use crate::pack::{Field, Kind};
use crate::search::words::stems;

/// A parameter and what it means.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub shape: Shape,
    /// Words of its name, in the singular.
    pub words: Vec<String>,
    pub means: Means,
}

/// What a parameter takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Means {
    /// A thing of a kind, by one of its fields; open where the tool takes any.
    Thing(Kind, Option<Field>),
    /// The thing that the tool is about.
    Own(Option<Field>),
    /// The name of a thing of any kind.
    AnyName,
    Choice,
    /// Yes or no.
    Flag,
    /// The most that are wanted.
    Limit,
    /// Free text that is searched for.
    Search,
    Path,
    /// A time zone.
    Zone,
    /// A date or a time of day.
    Date,
    Time,
    /// A query in SQL.
    Sql,
    /// A sum to work out.
    Sum,
    Number,
    Text,
}

impl Slot {
    pub fn name(&self) -> &str {
        self.shape.name()
    }

    pub fn path(&self) -> String {
        self.shape.path.join(".")
    }

    /// Whether it takes a pattern that names are compared with.
    pub fn is_pattern(&self) -> bool {
        self.words.iter().any(|word| lexicon::english().is(Class::SlotPattern, word))
    }

    /// What is looked for, as the tool takes it: a word is a part of a name where it takes glob patterns.
    pub fn searched(&self, described: &[String], text: &str) -> String {
        let is_glob = stems("glob").iter().all(|stem| described.contains(stem));
        match self.is_pattern() && is_glob && !text.contains(['*', '?', '[', '/']) {
            true if text.starts_with('.') => format!("**/*{text}"),
            true => format!("**/*{text}*"),
            false => text.to_owned(),
        }
    }

    /// Its name in words.
    pub fn shown(&self) -> String {
        self.words.join(" ")
    }
}
