//! Entities: the things in the user's systems that a session is about.
//!
//! [`fn@notice`] finds them in a message, [`fn@harvest`] in a tool result. [`Entities`] has the most relevant
//! ones in the session's head, [`KnownEntities`] finds all of them by name. [`fn@recall`] describes them for a
//! prompt, [`plan_resolution`] and [`read_resolution`] look one up with the user's tools, and [`value_for`] fills
//! a tool's parameter. All of it is pure: text, JSON and times in, values out.
//!
//! When to call a tool, what to store and what fits a prompt is decided elsewhere.
//!
//! Invariant: work is proportional to the size of the message or result, and to the number of known entities only
//! when an index is built.

mod apply;
mod argument;
mod correction;
mod cue;
mod expletive;
mod find;
mod harvest;
mod harvest_object;
mod known;
mod limits;
mod mention;
mod name;
mod notice;
mod pattern;
mod pointer;
mod recall;
mod record;
mod reference;
mod relevance;
mod resolution;
mod settle;
mod spelling;
pub(crate) mod token;
mod topic;
mod tracked;
mod trust;
mod within;

pub use crate::pack::Kind;
pub use apply::{Moment, add_aliases, with_found};
pub use argument::{Filled, Parameter, is_about, is_known_by_id_only, value_for};
pub use find::{Found, Reference};
pub use harvest::{Harvest, harvest};
pub use known::KnownEntities;
pub use limits::*;
pub use mention::{
    Ambiguity, Correction, Guess, How, Mention, Noticed, Pointed, Span, Topic, Unresolved,
};
pub use notice::notice;
pub use pointer::Number;
pub use recall::{EntityNote, Relevance, recall, usage, usage_without_tools};
pub use record::{ActionAt, Entity, EntityRef, MentionContext, Relation, RelationKind};
pub use relevance::relevance;
pub use resolution::{Resolution, plan_resolution, read_resolution};
pub use tracked::{Entities, Focus, Forgotten};
pub use trust::{Origin, Trust, needs_approval};

#[cfg(test)]
mod tests;
