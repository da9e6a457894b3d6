//! What the way without a model keeps between turns: the open question, what was asked last, what was shown.
//!
//! It is part of the head, so it is small and survives a restart. Rows of results are not here but in the log;
//! a [`Thing`] says where its row is.
//!
//! Invariant: everything in it comes from words of the user or from a result in the log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lexicon::Family;
use crate::pack::Kind;
use crate::tool::ToolName;

/// Questions that are remembered, so that "and the prefixes?" finds what it goes on from.
pub const SPOKEN_MAX: usize = 4;
/// Things of one list that are remembered.
pub const SHOWN_MAX: usize = 60;
/// Single things that are remembered.
pub const FOCUS_MAX: usize = 6;

/// What is kept between turns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Dialogue {
    /// What was asked back and not answered yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenQuestion>,
    /// The question that the last message chose an answer of, and what it chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Box<(OpenQuestion, Thing)>>,
    /// What was asked and answered, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spoken: Vec<Spoken>,
    /// Single things that were spoken of, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub focus: Vec<Thing>,
}

impl Dialogue {
    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Remembers a question that was answered.
    pub fn speak(&mut self, spoken: Spoken) {
        self.chosen = None;
        self.spoken.insert(0, spoken);
        self.spoken.truncate(SPOKEN_MAX);
    }

    /// Remembers a thing as the one now spoken of.
    pub fn focus_on(&mut self, thing: Thing) {
        self.focus.retain(|known| !known.is(&thing));
        self.focus.insert(0, thing);
        self.focus.truncate(FOCUS_MAX);
    }

    /// What the user says was meant: it is what is spoken of from now on.
    pub fn meant(&mut self, kind: &Kind, name: &str, id: Option<&str>) {
        let shown = self.spoken.iter().flat_map(|spoken| &spoken.shown);
        let mut known = self.focus.iter().chain(shown);
        let known = known.find(|thing| thing.kind == *kind && thing.label == name).cloned();
        let thing = known.unwrap_or_else(|| Thing {
            kind: kind.clone(),
            label: name.to_owned(),
            id: id.map(str::to_owned),
            keys: Map::new(),
            row: None,
        });
        self.open = None;
        self.focus_on(thing);
    }

    /// Gives rows of the turn that was just committed its number.
    pub fn number(&mut self, turn: u64) {
        let shown = self.spoken.iter_mut().flat_map(|spoken| &mut spoken.shown);
        let candidates = self.open.iter_mut().flat_map(|open| &mut open.candidates);
        let chosen = self.chosen.iter_mut().flat_map(|chosen| {
            let (open, thing) = chosen.as_mut();
            open.candidates.iter_mut().chain([thing])
        });
        let rows = shown
            .chain(&mut self.focus)
            .chain(candidates)
            .chain(chosen)
            .filter_map(|t| t.row.as_mut());
        for row in rows.filter(|row| row.turn == 0) {
            row.turn = turn;
        }
        for spoken in self.spoken.iter_mut().filter(|spoken| spoken.turn == 0) {
            spoken.turn = turn;
        }
    }
}

/// A question back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// What will be done with the answer.
    pub query: Query,
    /// What was asked for.
    pub missing: Missing,
    /// What can be chosen from, in the order shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Thing>,
}

impl OpenQuestion {
    /// Whether it is about a call of that tool.
    pub fn calls(&self, tool: &ToolName) -> bool {
        self.query.call.as_ref().is_some_and(|(own, _)| own == tool)
    }
}

/// What a question back asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Which thing words of the query mean; the number is that of the term.
    Term(usize),
    /// The value of a parameter, by its path.
    Slot(String),
    /// Something that has to be said in other words.
    Words,
}

/// A question or request, understood.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// What is wanted.
    pub want: Want,
    /// What kind of thing it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The narrower word for it: "firewalls".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrower: Option<String>,
    /// The fields that are wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// What narrows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
    /// The tool, where one was chosen, and the arguments that are filled already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<(ToolName, Map<String, Value>)>,
}

/// What is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// Things, listed.
    #[default]
    List,
    /// Their number.
    Count,
    /// All about one thing.
    Show,
    /// Fields of things.
    Field,
    /// Something is to be done.
    Act(Family),
}

/// What narrows a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// The words.
    pub text: String,
    /// What they were understood as.
    pub what: What,
    /// Whether it is denied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
}

/// What words of a query were understood as.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Thing(Thing),
    /// A value of a field.
    Choice {
        field: String,
        value: Value,
    },
    /// A word that results must have as a value.
    Word,
}

/// A thing that was named or shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thing {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What it is called.
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Values that identify it, by their keys.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub keys: Map<String, Value>,
    /// Where its row is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<RowAt>,
}

impl Thing {
    /// Whether both are the same.
    pub fn is(&self, other: &Self) -> bool {
        let same = match (&self.id, &other.id) {
            (Some(one), Some(two)) => one == two,
            _ => self.label.to_lowercase() == other.label.to_lowercase(),
        };
        self.kind == other.kind && same
    }
}

/// Where a row is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowAt {
    /// The turn; 0 until it is committed.
    pub turn: u64,
    pub call: usize,
    /// Which row of the result.
    pub row: usize,
}

/// A question that was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spoken {
    /// The turn; 0 until it is committed.
    pub turn: u64,
    /// The question.
    pub query: Query,
    /// What was shown, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Thing>,
    /// How many there were, where more were found than are remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}
