//! Packs: domain knowledge as data.
//!
//! A pack is a TOML file that says which types of things a domain has, how they look in text and in
//! JSON, which tool finds them, and what steers tool choice. Three are compiled in (`netbox`,
//! `sdelements`, `workflow`); users add theirs as text. Reading folders is the caller's business.
//!
//! Not here: what a conversation mentions ([`crate::entity`]) and ranking of tools
//! ([`crate::search`]).
//!
//! Invariant: a [`PackSet`] holds only packs that passed every check, and nothing in it can make a
//! search over text cost more than time proportional to that text.

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
