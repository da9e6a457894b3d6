//! The TOML format of a pack.
//!
//! Unknown keys are errors, so that a misspelt setting is reported. Only the format is checked here; see
//! [`super::check`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Spanned;

use super::reader::KnownReader;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PackFile {
    pub name: Spanned<String>,
    #[serde(default)]
    pub description: String,
    /// Nouns that form a compound with a type word instead of being a name: "rack elevation".
    #[serde(default)]
    pub compounds: Vec<String>,
    /// Type words that are also verbs: "to host".
    #[serde(default)]
    pub verbs: Vec<String>,
    /// Units counted by a number: "2 u".
    #[serde(default)]
    pub units: Vec<String>,
    #[serde(default)]
    pub actions: BTreeMap<Action, Vec<String>>,
    #[serde(default, rename = "type")]
    pub types: Vec<Spanned<TypeFile>>,
    #[serde(default)]
    pub guidance: Vec<Spanned<GuidanceFile>>,
    #[serde(default)]
    pub generic: Option<Generic>,
    /// Tools known to be read-only, whatever their server says.
    #[serde(default)]
    pub reads: Vec<KnownReader>,
}

/// `[generic]`: a server whose tools take the object type as an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generic {
    /// The tool that lists objects of a type.
    pub list: String,
    /// The tool that shows one object by id.
    pub get: String,
    /// The tool that searches several types.
    pub search: String,
    /// The parameter for the type.
    #[serde(rename = "type")]
    pub type_parameter: String,
    /// The parameter for filters, an object.
    pub filters: String,
    /// The parameter for the wanted fields.
    pub fields: String,
    /// The parameter of `get` for the id.
    pub id: String,
    /// The parameter of `search` for the words.
    pub query: String,
    /// The parameter of `search` for the types.
    pub types: String,
    /// The parameter for the page size.
    pub limit: String,
    /// The parameter for the start of a page.
    pub offset: String,
    /// Maximum page size.
    pub page: u32,
    /// Suffix of a filter key that matches a part of a text, ignoring case.
    pub contains: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeFile {
    pub name: Spanned<String>,
    pub singular: Vec<Spanned<String>>,
    pub plural: Vec<Spanned<String>>,
    #[serde(default)]
    pub bonus: f64,
    #[serde(default)]
    pub describes: bool,
    #[serde(default)]
    pub number: NumberMeans,
    #[serde(default)]
    pub named_before: NamedBefore,
    #[serde(default)]
    pub everyday: Vec<String>,
    #[serde(default)]
    pub parents: Vec<Spanned<String>>,
    #[serde(default)]
    pub within: Option<Spanned<String>>,
    #[serde(default)]
    pub aliases: Vec<Spanned<String>>,
    #[serde(default)]
    pub keys: Vec<String>,
    #[serde(default)]
    pub urls: Vec<String>,
    #[serde(default)]
    pub shape: Vec<String>,
    #[serde(default)]
    pub id: Vec<String>,
    #[serde(default)]
    pub label: Vec<String>,
    #[serde(default)]
    pub slug: Vec<String>,
    #[serde(default)]
    pub url: Vec<String>,
    #[serde(default)]
    pub parameters: BTreeMap<String, Field>,
    /// The tools that list and show it, where their names do not say so: `list` and `show`.
    #[serde(default)]
    pub tools: BTreeMap<String, String>,
    /// What the server calls the latest one.
    #[serde(default)]
    pub latest: Option<String>,
    /// The type's name on a generic server.
    #[serde(default)]
    pub object: Option<String>,
    /// A separate tool that lists it on a generic server, with filters only.
    #[serde(default)]
    pub list_tool: Option<String>,
    /// The fields that a list requests.
    #[serde(default)]
    pub fields: Vec<String>,
    /// The filter key for its name.
    #[serde(default = "name_key")]
    pub name_filter: String,
    /// The filter key for a numeric name.
    #[serde(default)]
    pub number_filter: Option<String>,
    /// Filter keys by the type they take; `"*"` takes a name of any type. A key that ends in `_id` takes an id,
    /// any other the name.
    #[serde(default)]
    pub filters: BTreeMap<String, String>,
    /// Values of a field that can be used as filters.
    #[serde(default)]
    pub choices: BTreeMap<String, Vec<String>>,
    /// Words for a boolean property, and its filter key.
    #[serde(default)]
    pub flags: BTreeMap<String, String>,
    /// Words that stand for a choice: `deleted = { action = "delete" }`.
    #[serde(default)]
    pub means: BTreeMap<String, BTreeMap<String, String>>,
    /// The type that a more specific word refers to: the role, for "firewalls".
    #[serde(default)]
    pub narrowed_by: Option<Spanned<String>>,
    /// For such a word, the words of which that entity's name must have one; empty if it narrows nothing.
    #[serde(default)]
    pub narrows: BTreeMap<String, Vec<String>>,
    /// Words that ask for such things of another one: "who edited fw-1?" for its changes.
    #[serde(default)]
    pub asked_by: Vec<String>,
    /// Whether other things are located in it.
    #[serde(default)]
    pub place: bool,
    /// Fields by the words people use for them.
    #[serde(default)]
    pub attributes: BTreeMap<String, String>,
    /// The type that is meant instead, by the type of its owner.
    #[serde(default)]
    pub instead: BTreeMap<String, String>,
    #[serde(default)]
    pub pattern: Vec<PatternFile>,
    #[serde(default)]
    pub resolve: Vec<ResolveFile>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PatternFile {
    pub regex: Spanned<String>,
    #[serde(default = "one_word")]
    pub words: usize,
    #[serde(default = "sure")]
    pub confidence: f32,
    #[serde(default)]
    pub check: Check,
    #[serde(default)]
    pub means: MatchMeans,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResolveFile {
    pub tool: Spanned<String>,
    pub arguments: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GuidanceFile {
    pub when: Vec<String>,
    #[serde(default)]
    pub unless: Vec<String>,
    #[serde(default)]
    pub prefer: Vec<String>,
    #[serde(default)]
    pub avoid: Vec<String>,
    pub text: String,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    #[default]
    Discussed,
    Modified,
    Created,
}

/// The meaning of a bare number after a cue: "project 123" is an id, "VLAN 100" a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberMeans {
    #[default]
    Id,
    Name,
    /// Neither: "port 8080" names no interface.
    Nothing,
}

/// Which words directly before a cue are a name: "the core-sw-01 switch", "the Berlin site".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedBefore {
    /// Only those with digits or special characters; a capitalised word is a description ("the Cisco switch").
    #[default]
    Identifier,
    /// Also capitalised words.
    Any,
    /// Also capitalised words, and several before a plural ("Java and Ruby answers").
    List,
}

/// The meaning of a pattern's match; unlike a number, a name by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MatchMeans {
    Id,
    #[default]
    Name,
}

/// A check beyond the pattern itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    #[default]
    Any,
    /// An IPv4 or IPv6 address, with or without a mask.
    Address,
    /// An address with a mask and host bits: an address on a network.
    Host,
    /// An IPv4 or IPv6 network: an address with a mask and no host bits.
    Network,
}

/// A field of an entity that can fill a tool's parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    Id,
    Name,
    Slug,
}

fn name_key() -> String {
    "name".to_owned()
}

fn one_word() -> usize {
    1
}

fn sure() -> f32 {
    0.9
}
