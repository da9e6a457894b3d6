//! A pack as it is written: the shape of the TOML file.
//!
//! Unknown keys are errors, so that a misspelt setting is reported and not ignored. Nothing is
//! checked here beyond the shape; see [`super::check`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Spanned;

use super::reader::KnownReader;

/// The whole file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PackFile {
    pub name: Spanned<String>,
    #[serde(default)]
    pub description: String,
    /// Nouns that make a compound with a word for a type instead of naming one: "rack elevation".
    #[serde(default)]
    pub compounds: Vec<String>,
    /// Words for a type that are verbs, too: "to host".
    #[serde(default)]
    pub verbs: Vec<String>,
    /// What a number before it counts: "2 u".
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
    /// Tools that are known to read, whatever their server says.
    #[serde(default)]
    pub reads: Vec<KnownReader>,
}

/// `[generic]`: a server whose tools take the type of object as an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generic {
    /// The tool that lists objects of a type.
    pub list: String,
    /// The tool that shows one by its id.
    pub get: String,
    /// The tool that searches in several types.
    pub search: String,
    /// The parameter that takes the type.
    #[serde(rename = "type")]
    pub type_parameter: String,
    /// The parameter that takes filters, an object.
    pub filters: String,
    /// The parameter that takes the fields that are wanted.
    pub fields: String,
    /// The parameter of `get` that takes the id.
    pub id: String,
    /// The parameter of `search` that takes the words.
    pub query: String,
    /// The parameter of `search` that takes the types.
    pub types: String,
    /// The parameter that takes the length of a page.
    pub limit: String,
    /// The parameter that takes the start of a page.
    pub offset: String,
    /// The longest page.
    pub page: u32,
    /// Added to the key of a filter, it matches a part of a text, whatever its case.
    pub contains: String,
}

/// One `[[type]]`.
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
    /// The type's name on a generic server.
    #[serde(default)]
    pub object: Option<String>,
    /// A tool of its own that lists it on a generic server, with filters only.
    #[serde(default)]
    pub list_tool: Option<String>,
    /// The fields that a list asks for.
    #[serde(default)]
    pub fields: Vec<String>,
    /// The key of the filter for its name.
    #[serde(default = "name_key")]
    pub name_filter: String,
    /// The key of the filter for a name that is a number.
    #[serde(default)]
    pub number_filter: Option<String>,
    /// Keys of filters by the type of thing that they take; `"*"` takes a name of any type. A key that ends
    /// in `_id` takes an id, any other the name.
    #[serde(default)]
    pub filters: BTreeMap<String, String>,
    /// Values of a field that it can be filtered by.
    #[serde(default)]
    pub choices: BTreeMap<String, Vec<String>>,
    /// Words for what is true or not, and the key of the filter for it.
    #[serde(default)]
    pub flags: BTreeMap<String, String>,
    /// Words that mean a choice: `deleted = { action = "delete" }`.
    #[serde(default)]
    pub means: BTreeMap<String, BTreeMap<String, String>>,
    /// The type of thing that a narrower word names: the role, for "firewalls".
    #[serde(default)]
    pub narrowed_by: Option<Spanned<String>>,
    /// For such a word, the words of which the other thing's name has one; none where it narrows nothing.
    #[serde(default)]
    pub narrows: BTreeMap<String, Vec<String>>,
    /// Other things are in it.
    #[serde(default)]
    pub place: bool,
    /// Fields by the words that people use for them.
    #[serde(default)]
    pub attributes: BTreeMap<String, String>,
    /// The type that is meant instead, by the type of thing it belongs to.
    #[serde(default)]
    pub instead: BTreeMap<String, String>,
    #[serde(default)]
    pub pattern: Vec<PatternFile>,
    #[serde(default)]
    pub resolve: Vec<ResolveFile>,
}

/// One `[[type.pattern]]`.
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

/// One `[[type.resolve]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResolveFile {
    pub tool: Spanned<String>,
    pub arguments: BTreeMap<String, Value>,
}

/// One `[[guidance]]`.
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

/// What was done to an entity.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It was talked about or read.
    #[default]
    Discussed,
    /// It was changed.
    Modified,
    /// It was made.
    Created,
}

/// What a bare number after a cue word is: "project 123" is an id, "VLAN 100" a name.
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
    /// Only those with digits or signs; a capitalised word is a description ("the Cisco switch").
    #[default]
    Identifier,
    /// Capitalised words too.
    Any,
    /// Capitalised words too, also several before a plural ("Java and Ruby answers").
    List,
}

/// What a pattern's match is; unlike a number, by default a name.
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
    /// None.
    #[default]
    Any,
    /// It must be an IPv4 or IPv6 address, with or without a mask.
    Address,
    /// It must be an address with a mask and with host bits: an address on a network.
    Host,
    /// It must be an IPv4 or IPv6 network: an address with a mask and no host bits.
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
