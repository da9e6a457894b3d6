//! Entity types, validated and ready for use.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use regex::Regex;
use serde_json::Value;

use super::Kind;
use super::alias::AliasRule;
use super::file::{Action, Check, Field, NamedBefore, NumberMeans};

#[derive(Debug, Clone)]
pub struct EntityType {
    /// Its name, as in an entity's `"type"`.
    pub kind: Kind,
    pub pack: String,
    pub cues: Vec<Cue>,
    /// Its relevance bonus.
    pub bonus: f64,
    /// Whether it describes other things, as a role does, and is rarely what a message is about.
    pub describes: bool,
    /// The meaning of a bare number after a cue.
    pub number: NumberMeans,
    pub named_before: NamedBefore,
    /// Cue words of everyday talk: "room".
    pub everyday: Vec<String>,
    /// Types that an entity of this type belongs to.
    pub parents: Vec<Kind>,
    /// The type of place that "in" refers to after this type: sites, for "devices in Berlin".
    pub within: Option<Kind>,
    pub aliases: Vec<AliasRule>,
    /// JSON keys of entities of this type, besides its name and plural; as `type.key`, only inside an entity of
    /// that type.
    pub keys: Vec<String>,
    /// Parts of a URL that identify this type.
    pub urls: Vec<String>,
    /// JSON keys that together identify this type.
    pub shape: Vec<String>,
    /// Dotted paths of the id; the first found wins.
    pub id: Vec<String>,
    /// Dotted paths of the name.
    pub label: Vec<String>,
    /// Dotted paths of the slug.
    pub slug: Vec<String>,
    /// Dotted paths of the address.
    pub url: Vec<String>,
    /// Parameter names that mean a field of this type.
    pub parameters: BTreeMap<String, Field>,
    /// The tools that list and show it, where their names do not say so.
    pub tools: BTreeMap<String, String>,
    /// What the server calls the latest one.
    pub latest: Option<String>,
    pub patterns: Vec<Pattern>,
    pub resolvers: Vec<Resolver>,
    /// Verbs in tool names by the action they stand for.
    pub actions: BTreeMap<Action, Vec<String>>,
    /// How to query a generic server for it.
    pub objects: Objects,
    /// The type that a more specific word refers to.
    pub narrowed_by: Option<Kind>,
    /// For such a word, the words of which that entity's name must have one.
    pub narrows: BTreeMap<String, Vec<String>>,
    /// Words that ask for such things of another one.
    pub asked_by: Vec<String>,
    /// Whether other things are located in it.
    pub place: bool,
    /// Fields by the words people use for them.
    pub attributes: BTreeMap<String, String>,
    /// The type that is meant instead, by the type of its owner.
    pub instead: BTreeMap<Kind, Kind>,
}

/// How to query a generic server for a type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Objects {
    /// The type's name there.
    pub object: Option<String>,
    /// A separate tool, with filters only.
    pub list_tool: Option<String>,
    /// The fields that a list requests.
    pub fields: Vec<String>,
    /// The filter key for its name.
    pub name_filter: String,
    /// The filter key for a numeric name.
    pub number_filter: Option<String>,
    /// Filter keys by the type they take.
    pub filters: BTreeMap<String, String>,
    /// Values of a field that can be used as filters.
    pub choices: BTreeMap<String, Vec<String>>,
    /// Words for a boolean property, and its filter key.
    pub flags: BTreeMap<String, String>,
    /// Words that stand for a choice.
    pub means: BTreeMap<String, BTreeMap<String, String>>,
}

impl EntityType {
    /// The first singular cue, used in text.
    pub fn word(&self) -> &str {
        let singular = self.cues.iter().find(|cue| cue.grammar == Grammar::Singular);
        singular.map_or(self.kind.as_str(), |cue| cue.text.as_str())
    }

    /// Whether an identifier is one of the words for it.
    pub fn is_named_in(&self, identifier: &[String]) -> bool {
        let own = super::words_of_identifier(self.kind.as_str());
        let cues = self.cues.iter().map(|cue| super::words_of_identifier(&cue.text));
        let mut names = cues.chain([own]);
        names.any(|name| identifier.windows(name.len().max(1)).any(|words| words == name))
    }

    /// Whether an entity of this type can have that name: types with checked patterns allow no other names.
    pub fn can_be_called(&self, name: &str) -> bool {
        let mut checked =
            self.patterns.iter().filter(|pattern| pattern.check != Check::Any).peekable();
        checked.peek().is_none() || checked.any(|pattern| pattern.matches(name))
    }

    /// The action of the verb in a tool's name: the pack's first match, else discussed.
    pub fn action_of(&self, tool: &str) -> Action {
        let words = super::words_of_identifier(tool);
        let meant = |verbs: &Vec<String>| verbs.iter().any(|verb| words.contains(verb));
        self.actions
            .iter()
            .rev()
            .find(|(_, verbs)| meant(verbs))
            .map_or(Action::Discussed, |(action, _)| *action)
    }
}

/// A word or phrase for a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cue {
    /// Lower-case words separated by single spaces.
    pub text: String,
    pub grammar: Grammar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    Singular,
    Plural,
}

/// How an entity looks in text. Matched against whole words, never searched for.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Anchored at both ends.
    pub regex: Regex,
    /// 1 or 2.
    pub words: usize,
    /// 0–1.
    pub confidence: f32,
    pub check: Check,
    pub means: NumberMeans,
}

impl Pattern {
    /// Whether `text` as a whole matches.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text) && self.check.holds(text)
    }
}

impl Check {
    pub fn holds(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Address => text.parse::<IpAddr>().is_ok() || text.parse::<IpNet>().is_ok(),
            Self::Host => text.parse::<IpNet>().is_ok_and(|net| net.trunc() != net),
            Self::Network => text.parse::<IpNet>().is_ok_and(|net| net.trunc() == net),
        }
    }
}

/// A tool that finds an entity, and its arguments with the placeholders `{name}`, `{id}` and `{slug}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolver {
    /// The name on whichever server has it.
    pub tool: String,
    pub arguments: BTreeMap<String, Value>,
}
