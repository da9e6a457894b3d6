//! The state of the offline reply between turns: the open question, the last queries, what was shown.
//!
//! It is part of the head, so it is small and survives a restart. Rows of results are in the log; a [`Thing`]
//! says where its row is.
//!
//! Invariant: everything in it comes from the user's words or from a result in the log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lexicon::Family;
use crate::pack::Kind;
use crate::tool::ToolName;

/// Queries remembered, so that "and the prefixes?" finds what it continues.
pub const SPOKEN_MAX: usize = 4;
/// Things remembered per list.
pub const SHOWN_MAX: usize = 60;
/// Single things remembered.
pub const FOCUS_MAX: usize = 6;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Dialogue {
    /// The question to the user that is not answered yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenQuestion>,
    /// The question answered last, and the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Box<(OpenQuestion, Thing)>>,
    /// Queries that were answered, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spoken: Vec<Spoken>,
    /// Whether the last message was not answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
    /// Whether that message was about what had been shown, so that "those" are not what was shown either.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
    /// Single things that were mentioned, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub focus: Vec<Thing>,
}

impl Dialogue {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Stores a query that was answered.
    pub fn speak(&mut self, spoken: Spoken) {
        self.chosen = None;
        self.spoken.insert(0, spoken);
        self.spoken.truncate(SPOKEN_MAX);
    }

    /// Puts a thing into focus.
    pub fn focus_on(&mut self, thing: Thing) {
        self.focus.retain(|known| !known.is(&thing));
        self.focus.insert(0, thing);
        self.focus.truncate(FOCUS_MAX);
    }

    /// Puts into focus what the user says was meant.
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

    /// Sets the number of the turn that was just committed.
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

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// What will be done with the answer.
    pub query: Query,
    pub missing: Missing,
    /// In the order shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Thing>,
}

impl OpenQuestion {
    pub fn calls(&self, tool: &ToolName) -> bool {
        self.query.call.as_ref().is_some_and(|(own, _)| own == tool)
    }
}

/// What a question asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Which thing the words of a term mean, by its index.
    Term(usize),
    /// The value of a parameter, by its path.
    Slot(String),
    /// Other words.
    Words,
    /// Whether the words that were not understood may be left out.
    Rest,
}

/// A question or request, understood.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Query {
    pub want: Want,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The more specific word for it: "firewalls".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrower: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
    /// How many of the newest; 0 for all of them, the newest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<usize>,
    /// What it is ordered by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// Whether a person refused it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// The tool, if one was chosen, and the arguments filled so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<(ToolName, Map<String, Value>)>,
}

/// An order of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The words that ask for it.
    pub text: String,
    /// The fields that it may be by, likelier ones first, each with whether its largest value comes first.
    pub fields: Vec<(String, bool)>,
    /// How many of the first; 0 for all of them.
    pub most: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// A list of things.
    #[default]
    List,
    Count,
    /// Everything about one thing.
    Show,
    /// Fields of things.
    Field,
    /// An action.
    Act(Family),
}

/// A part of a query that narrows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    pub text: String,
    pub what: What,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Thing(Thing),
    /// A value of a field.
    Choice {
        field: String,
        value: Value,
    },
    /// A number that a field must be above or below.
    Bound {
        field: String,
        less: bool,
        or_equal: bool,
        number: f64,
    },
    /// Days that a field must be within, both included.
    Days {
        from: Option<String>,
        to: Option<String>,
    },
    /// A word that results must have as a value.
    Word,
}

/// A thing that was named or shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thing {
    #[serde(rename = "type")]
    pub kind: Kind,
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Values that identify it, by key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub keys: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<RowAt>,
}

impl Thing {
    pub fn is(&self, other: &Self) -> bool {
        let same = match (&self.id, &other.id) {
            (Some(one), Some(two)) => one == two,
            _ => self.label.to_lowercase() == other.label.to_lowercase(),
        };
        self.kind == other.kind && same
    }
}

/// The position of a row in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowAt {
    /// 0 until the turn is committed.
    pub turn: u64,
    pub call: usize,
    /// The index of the row in the result.
    pub row: usize,
}

/// A query that was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spoken {
    /// 0 until the turn is committed.
    pub turn: u64,
    pub query: Query,
    /// In order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Thing>,
    /// The total, if more were found than are remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}
