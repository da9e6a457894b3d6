//! A tool's parameter and its meaning. [`super::slot`] decides which word belongs to which one.

use super::schema::Shape;
use crate::lexicon::{self, Class};
use crate::pack::{Field, Kind};
use crate::search::words::stems;

#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub shape: Shape,
    /// Words of its name, in the singular.
    pub words: Vec<String>,
    pub means: Means,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Means {
    /// A thing of a kind, by one of its fields; `None` if the tool takes any.
    Thing(Kind, Option<Field>),
    /// The thing the tool is about.
    Own(Option<Field>),
    AnyName,
    Choice,
    Flag,
    /// Maximum number of results.
    Limit,
    /// Free text to search for.
    Search,
    Path,
    Zone,
    /// A date or time of day.
    Date,
    Time,
    Sql,
    /// An arithmetic expression.
    Sum,
    Number,
    Text,
}

impl Slot {
    pub(super) fn name(&self) -> &str {
        self.shape.name()
    }

    pub(super) fn path(&self) -> String {
        self.shape.path.join(".")
    }

    /// Whether a word is one of its values, or says that it is so: "available".
    pub(super) fn is_filtered_by(&self, word: &str) -> bool {
        self.shape.choice(word).is_some() || self.means == Means::Flag && self.is_flag_for(word)
    }

    /// Whether words say that a flag is so: "open" of `is_open` and `open_only`.
    pub(super) fn is_flag_for(&self, said: &str) -> bool {
        let small = |word: &&String| lexicon::english().is(Class::SlotFlag, word);
        let own: Vec<&str> =
            self.words.iter().filter(|word| !small(word)).map(String::as_str).collect();
        self.words.join(" ") == said || !own.is_empty() && own.join(" ") == said
    }

    /// Whether its description says that things are named, and not given by an id.
    pub(super) fn is_by_name(&self) -> bool {
        let says = |text: &str| {
            let mut words = self.shape.description.split(|c: char| !c.is_alphanumeric());
            words.any(|word| word.eq_ignore_ascii_case(text))
        };
        says("name") && !says("id")
    }

    /// Whether a word is a value that only descriptions name.
    pub(super) fn is_hinted(&self, word: &str) -> bool {
        self.shape.hints.iter().any(|hint| hint.as_str() == Some(word))
    }

    /// Whether it takes a pattern for names.
    pub(super) fn is_pattern(&self) -> bool {
        self.words.iter().any(|word| lexicon::english().is(Class::SlotPattern, word))
    }

    /// The search text in the form the tool takes: with wildcards if it takes glob patterns.
    pub(super) fn searched(&self, described: &[String], text: &str) -> String {
        let is_glob = stems("glob").iter().all(|stem| described.contains(stem));
        match self.is_pattern() && is_glob && !text.contains(['*', '?', '[', '/']) {
            true if text.starts_with('.') => format!("**/*{text}"),
            true => format!("**/*{text}*"),
            false => text.to_owned(),
        }
    }

    /// Whether its values say what is done: a decision.
    pub(super) fn is_mode(&self) -> bool {
        let mode = |word: &String| lexicon::english().is(Class::SlotMode, word);
        self.shape.required && !self.shape.choices.is_empty() && self.words.iter().any(mode)
    }

    /// Whether it takes a person.
    pub(super) fn is_person(&self) -> bool {
        self.words.iter().any(|word| lexicon::english().is(Class::SlotPerson, word))
    }

    pub(super) fn shown(&self) -> String {
        let small = |word: &String| lexicon::english().is(Class::Placing, word);
        // `on` of a day is no name for it.
        if self.means == Means::Date && self.words.iter().all(small) {
            return "date".to_owned();
        }
        self.words.join(" ")
    }
}
