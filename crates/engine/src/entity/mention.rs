//! What was understood of a message.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::pointer::Number;
use super::record::EntityRef;
use crate::pack::Kind;

/// Bytes of the message, as `message[start..end]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// All that was noticed in one message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Noticed {
    /// Entities that the message mentions, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Words that fit several entities, to be asked about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ambiguous: Vec<Ambiguity>,
    /// References that fit nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<Unresolved>,
    /// Names whose type nothing in the message tells; only a look-up can say whether they are things.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guesses: Vec<Guess>,
    /// The message corrects how an earlier one was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<Topic>,
    /// Types that were named without naming one of them: "its *interfaces*", "all *sites*".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_about: Vec<Kind>,
    /// Words that point at something, whatever that is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Pointed>,
    /// The message was longer than what is looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl Noticed {
    /// Mentions of a type, in order.
    pub fn of_kind<'a>(&'a self, kind: &'a Kind) -> impl Iterator<Item = &'a Mention> {
        self.mentions.iter().filter(move |mention| &mention.kind == kind)
    }
}

/// One entity that a message mentions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mention {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its name; empty where the message gives only an id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The entity it was recognised as, if it was known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityRef>,
    /// Where in the message.
    pub span: Span,
    /// By what.
    pub how: How,
    /// How sure, 0–1. Below [`Mention::SURE`] it is to be confirmed before anything rests on it.
    pub confidence: f32,
}

impl Mention {
    /// From here on a mention counts as understood.
    pub const SURE: f32 = 0.7;

    /// Whether anything may rest on it without asking.
    pub fn is_sure(&self) -> bool {
        self.confidence >= Self::SURE
    }

    /// The entity, as known or as the message gives it.
    pub fn target(&self) -> EntityRef {
        self.entity.clone().unwrap_or_else(|| EntityRef {
            kind: self.kind.clone(),
            name: self.name.clone(),
            id: self.id.clone(),
        })
    }
}

/// By what a mention was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// A word of its type beside a name.
    Cue,
    /// Its shape.
    Pattern,
    /// A known name.
    Name,
    /// A further name of a known entity.
    Alias,
    /// A name nearly like a known one.
    Fuzzy,
    /// A word that points back: it, that device, the second one.
    Reference,
    /// A name whose type only a look-up told.
    Found,
    /// It came with the message, beside its words.
    Given,
}

impl How {
    /// Whether the user wrote the name or id, and did not only point at something.
    pub fn names_it(self) -> bool {
        matches!(
            self,
            Self::Cue | Self::Pattern | Self::Name | Self::Alias | Self::Found | Self::Given
        )
    }
}

/// Words that point at something: "it", "the second one", "those devices".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pointed {
    /// Where in the message.
    pub span: Span,
    /// How many, and which.
    pub number: Number,
    /// The types that it can mean; all where it does not say.
    pub kinds: Option<Vec<Kind>>,
    /// "its": what follows belongs to it.
    pub is_possessive: bool,
}

/// Words that fit several entities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ambiguity {
    /// The words.
    pub text: String,
    /// Where in the message.
    pub span: Span,
    /// What they could mean.
    pub candidates: Vec<EntityRef>,
}

/// A name that could be one of several types: "what do we have in Amsterdam?".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guess {
    /// The words.
    pub text: String,
    /// Where in the message.
    pub span: Span,
    /// The types that such a name can have.
    #[serde(rename = "types")]
    pub kinds: Vec<Kind>,
}

/// A reference that fits nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unresolved {
    /// The words.
    pub text: String,
    /// Where in the message.
    pub span: Span,
}

/// How an earlier message should have been understood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// What was understood, if that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<EntityRef>,
    /// What was meant, if that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<EntityRef>,
    /// The type that was meant.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
}

/// What a message is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityRef>,
    /// What about it, or of which type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Kind>,
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = self.about.as_ref().map(|kind| kind.as_str().replace('_', " "));
        match (&self.entity, about) {
            (Some(entity), Some(about)) => write!(f, "{entity} ({about})"),
            (Some(entity), None) => write!(f, "{entity}"),
            (None, Some(about)) => f.write_str(&about),
            (None, None) => Ok(()),
        }
    }
}
