//! Derives aliases from an entity's name.
//!
//! A rule is a template such as `my {first} {cue}`. Its placeholders are words of the name in lower case. An
//! alias equal to the name, or independent of it, is dropped.

use super::file::TypeFile;
use super::types::{Cue, Grammar};
use crate::lexicon::{self, Class};

/// Maximum aliases per entity.
pub const ENTITY_ALIASES_MAX: usize = 24;
const WORDS: [&str; 7] =
    ["{name}", "{first}", "{host}", "{address}", "{cue}", "{squashed}", "{bare}"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasRule(String);

impl AliasRule {
    /// Validates a template: only known placeholders, and at least one that depends on the name.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut rest = text.to_owned();
        for word in WORDS {
            rest = rest.replace(word, "");
        }
        if rest.contains(['{', '}']) {
            return Err(format!("alias rule {text:?} may only use {}", WORDS.join(", ")));
        }
        if !WORDS.iter().any(|word| *word != "{cue}" && text.contains(word)) {
            return Err(format!("alias rule {text:?} does not depend on the name"));
        }
        Ok(Self(text.to_lowercase()))
    }

    fn fill(&self, name: &Name<'_>, cue: &str) -> Option<String> {
        let mut filled = self.0.clone();
        for (word, value) in [
            ("{name}", Some(name.lower)),
            ("{first}", name.first()),
            ("{host}", name.host()),
            ("{address}", name.address()),
            ("{bare}", name.bare),
            ("{cue}", Some(cue)),
        ] {
            if filled.contains(word) {
                filled = filled.replace(word, value?);
            }
        }
        if filled.contains("{squashed}") {
            filled = filled.replace("{squashed}", &name.squashed());
        }
        Some(filled)
    }
}

struct Name<'a> {
    lower: &'a str,
    /// The name without a trailing cue word: "task management" of "task management workflow".
    bare: Option<&'a str>,
}

impl<'a> Name<'a> {
    /// The first of several words, if long enough to mean something.
    fn first(&self) -> Option<&'a str> {
        let first = self.lower.split_whitespace().next()?;
        let names_something =
            first.chars().count() >= 3 && !lexicon::of(self.lower).is(Class::Leading, first);
        (first.len() < self.lower.len() && names_something).then_some(first)
    }

    /// The part before the first dot of a host name.
    fn host(&self) -> Option<&'a str> {
        let (host, rest) = self.lower.split_once('.')?;
        let is_host = host.len() >= 3 && !rest.is_empty() && !self.lower.contains([' ', ':', '/']);
        (is_host && !host.bytes().all(|byte| byte.is_ascii_digit())).then_some(host)
    }

    /// The part before a mask: people say `10.0.0.1` for `10.0.0.1/24`.
    fn address(&self) -> Option<&'a str> {
        self.lower.split_once('/').map(|(address, _)| address)
    }

    fn squashed(&self) -> String {
        self.lower.chars().filter(|letter| letter.is_alphanumeric()).collect()
    }
}

/// The aliases that `rules` derive from `name`, without repeats.
pub(super) fn aliases_of(name: &str, rules: &[AliasRule], cues: &[Cue]) -> Vec<String> {
    let lower = name.to_lowercase();
    let singular = || cues.iter().filter(|cue| cue.grammar == Grammar::Singular);
    let without = |cue: &Cue| lower.strip_suffix(cue.text.as_str()).map(str::trim_end);
    let bare = singular().find_map(without).filter(|bare| !bare.is_empty());
    let name = Name { lower: &lower, bare };
    let cue = singular().next().map_or("", |cue| cue.text.as_str());
    let mut aliases: Vec<String> = Vec::new();
    for alias in rules.iter().filter_map(|rule| rule.fill(&name, cue)) {
        if aliases.len() < ENTITY_ALIASES_MAX && !aliases.contains(&alias) {
            aliases.push(alias);
        }
    }
    aliases
}

/// Parses the alias rules of a type.
pub(super) fn rules_of(
    file: &TypeFile,
) -> Result<Vec<AliasRule>, (std::ops::Range<usize>, String)> {
    let rule = |text: &toml::Spanned<String>| {
        AliasRule::new(text.get_ref()).map_err(|reason| (text.span(), reason))
    };
    file.aliases.iter().map(rule).collect()
}
