//! The result of understanding a message.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::pointer::Number;
use super::record::EntityRef;
use crate::pack::Kind;

/// A byte range of the message, `message[start..end]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// Everything noticed in a message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Noticed {
    /// Mentioned entities, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Words that match several entities, to ask about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ambiguous: Vec<Ambiguity>,
    /// References that match nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<Unresolved>,
    /// Names whose type the message does not tell; only a look-up can say whether they are entities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guesses: Vec<Guess>,
    /// A correction of how an earlier message was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<Topic>,
    /// Types mentioned without a particular entity: "its *interfaces*", "all *sites*".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_about: Vec<Kind>,
    /// All references, resolved or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Pointed>,
    /// Whether the message was too long to be read whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl Noticed {
    pub fn of_kind<'a>(&'a self, kind: &'a Kind) -> impl Iterator<Item = &'a Mention> {
        self.mentions.iter().filter(move |mention| &mention.kind == kind)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mention {
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Empty if the message gives only an id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The known entity it was recognised as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityRef>,
    pub span: Span,
    pub how: How,
    /// 0–1. Below [`Mention::SURE`] it must be confirmed before it is acted on.
    pub confidence: f32,
}

impl Mention {
    /// Minimum confidence of a mention that counts as understood.
    pub const SURE: f32 = 0.7;

    /// Whether it may be acted on without asking.
    pub fn is_sure(&self) -> bool {
        self.confidence >= Self::SURE
    }

    /// The entity as known, or as the message gives it.
    pub fn target(&self) -> EntityRef {
        self.entity.clone().unwrap_or_else(|| EntityRef {
            kind: self.kind.clone(),
            name: self.name.clone(),
            id: self.id.clone(),
        })
    }
}

/// How a mention was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// A name next to a word for its type.
    Cue,
    Pattern,
    /// A known name.
    Name,
    Alias,
    /// A misspelt known name.
    Fuzzy,
    /// A reference: it, that device, the second one.
    Reference,
    /// A name whose type a look-up found.
    Found,
    /// Given along with the message.
    Given,
}

impl How {
    /// Whether the user wrote the name or id instead of only referring to it.
    pub fn names_it(self) -> bool {
        matches!(
            self,
            Self::Cue | Self::Pattern | Self::Name | Self::Alias | Self::Found | Self::Given
        )
    }
}

/// A reference: "it", "the second one", "those devices".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pointed {
    pub span: Span,
    pub number: Number,
    /// The types it can mean; `None` if it does not say.
    pub kinds: Option<Vec<Kind>>,
    /// "its": what follows belongs to it.
    pub is_possessive: bool,
}

/// Words that match several entities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ambiguity {
    pub text: String,
    pub span: Span,
    pub candidates: Vec<EntityRef>,
}

/// A name that could be of several types: "what do we have in Amsterdam?".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guess {
    pub text: String,
    pub span: Span,
    /// The types such a name can have.
    #[serde(rename = "types")]
    pub kinds: Vec<Kind>,
}

/// A reference that matches nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unresolved {
    pub text: String,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// What was understood, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<EntityRef>,
    /// What was meant, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<EntityRef>,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
}

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
