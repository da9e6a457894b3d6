//! Packs: domain knowledge as data.
//!
//! A pack is a TOML file that defines the entity types of a domain, how they look in text and JSON, which tool
//! finds them, and guidance for choosing tools. Four are built in (`git`, `netbox`, `sdelements`, `workflow`); users
//! add their own as text. The caller reads the folders.
//!
//! [`crate::entity`] finds mentions; [`crate::search`] ranks tools.
//!
//! Invariant: a [`PackSet`] has only validated packs, and none of them can make a search cost more than time
//! proportional to the text.

mod alias;
mod check;
mod file;
mod kind;
mod limits;
mod noun;
mod problem;
mod reader;
mod set;
mod steering;
mod types;

pub use alias::{AliasRule, ENTITY_ALIASES_MAX};
pub use file::{Action, Check, Field, Generic, NamedBefore, NumberMeans};
pub use kind::Kind;
pub use limits::*;
pub use noun::words_of_identifier;
pub use problem::PackProblem;
pub use set::PackSet;
pub use steering::{Guidance, Steering};
pub use types::{Cue, EntityType, Grammar, Objects, Pattern, Resolver};

#[cfg(test)]
mod tests;
