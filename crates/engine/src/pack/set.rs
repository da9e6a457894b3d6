//! The loaded packs, with their word indexes.
//!
//! Invariant: a type's name belongs to one pack; a later pack of the same name replaces an earlier one
//! completely.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Kind;
use super::alias::aliases_of;
use super::check::{self, Pack};
use super::file::Generic;
use super::limits::PACKS_MAX;
use super::noun::{Nouns, words_of_identifier};
use super::problem::PackProblem;
use super::steering::{Guidance, Steering, padded};
use super::types::{EntityType, Grammar, Pattern};
use crate::tool::ToolDefinition;

const BUILTIN: [(&str, &str); 4] = [
    ("git.toml", include_str!("../../packs/git.toml")),
    ("netbox.toml", include_str!("../../packs/netbox.toml")),
    ("sdelements.toml", include_str!("../../packs/sdelements.toml")),
    ("workflow.toml", include_str!("../../packs/workflow.toml")),
];

#[derive(Debug, Clone, Default)]
pub struct PackSet {
    packs: Vec<Pack>,
    types: Vec<EntityType>,
    by_kind: HashMap<String, usize>,
    /// Cues by their first word, longest first.
    cues: HashMap<String, Vec<CueEntry>>,
    nouns: Nouns,
    /// The names of types only, without other words for them.
    plain_nouns: Nouns,
    /// Keys that name a type only inside an entity of another: (outer type, key).
    owned_keys: HashMap<(String, String), usize>,
}

#[derive(Debug, Clone)]
struct CueEntry {
    words: Vec<String>,
    type_index: usize,
    grammar: Grammar,
}

impl PackSet {
    /// The built-in packs.
    pub fn builtin() -> Self {
        static READ: LazyLock<PackSet> = LazyLock::new(|| {
            let packs = BUILTIN.map(|(file, text)| {
                check::read(text).unwrap_or_else(|(_, reason)| {
                    unreachable!("the shipped pack {file} is checked by a test: {reason}")
                })
            });
            PackSet::of(packs.into())
        });
        READ.clone()
    }

    pub fn empty() -> Self {
        Self::default()
    }

    /// The built-in packs and those given as `(file name, text)`. An invalid one is skipped and reported.
    pub fn load(files: Vec<(String, String)>) -> (Self, Vec<PackProblem>) {
        let mut packs = Self::builtin().packs;
        let mut problems = Vec::new();
        for (file, text) in files {
            let refused = match check::read(&text) {
                Ok(pack) => match admit(&mut packs, pack) {
                    Ok(()) => continue,
                    Err(refusal) => refusal,
                },
                Err(refusal) => refusal,
            };
            problems.push(PackProblem::at(&file, &text, refused.0, refused.1));
        }
        (Self::of(packs), problems)
    }

    /// Only the packs with these names.
    pub fn only(&self, names: &[&str]) -> Self {
        let named = |pack: &&Pack| names.contains(&pack.name.as_str());
        Self::of(self.packs.iter().filter(named).cloned().collect())
    }

    /// Whether one of the named packs, or any if none is named, knows a tool to be read-only.
    pub fn knows_reader(&self, definition: &ToolDefinition, names: &[String]) -> bool {
        let packs = self.packs.iter().filter(|pack| names.is_empty() || names.contains(&pack.name));
        packs.flat_map(|pack| &pack.reads).any(|known| known.is(definition))
    }

    fn of(packs: Vec<Pack>) -> Self {
        let mut set = Self::default();
        for entity_type in packs.iter().flat_map(|pack| &pack.types) {
            let index = set.types.len();
            set.by_kind.insert(entity_type.kind.to_string(), index);
            set.nouns.add(entity_type.kind.as_str(), index);
            set.plain_nouns.add(entity_type.kind.as_str(), index);
            for cue in &entity_type.cues {
                let words: Vec<String> = cue.text.split(' ').map(str::to_owned).collect();
                let entries = set.cues.entry(words[0].clone()).or_default();
                entries.push(CueEntry { words, type_index: index, grammar: cue.grammar });
                set.nouns.add(&cue.text, index);
            }
            set.types.push(entity_type.clone());
        }
        for (index, entity_type) in set.types.iter().enumerate() {
            for key in &entity_type.keys {
                match key.split_once('.') {
                    Some((owner, key)) => {
                        set.owned_keys.insert((owner.to_owned(), key.to_owned()), index);
                    }
                    None => set.nouns.add(key, index),
                }
            }
        }
        for entries in set.cues.values_mut() {
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.words.len()));
        }
        set.packs = packs;
        set
    }

    pub fn packs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.packs.iter().map(|pack| (pack.name.as_str(), pack.description.as_str()))
    }

    pub fn types(&self) -> &[EntityType] {
        &self.types
    }

    pub fn entity_type(&self, kind: &Kind) -> Option<&EntityType> {
        self.by_kind.get(kind.as_str()).map(|index| &self.types[*index])
    }

    /// The longest cue at the start of lower-case words: its type, number of words and grammar.
    pub fn cue_at<'a>(
        &self,
        words: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<(&EntityType, usize, Grammar)> {
        let entries = self.cues.get(words.clone().next()?)?;
        let fits = |entry: &&CueEntry| {
            let mut given = words.clone();
            entry.words.iter().all(|word| given.next() == Some(word.as_str()))
        };
        let entry = entries.iter().find(fits)?;
        Some((&self.types[entry.type_index], entry.words.len(), entry.grammar))
    }

    /// The pattern with the highest confidence that matches the whole text of one or two words.
    pub fn pattern_of(&self, text: &str, words: usize) -> Option<(&EntityType, &Pattern)> {
        let all = self
            .types
            .iter()
            .flat_map(|found| found.patterns.iter().map(move |pattern| (found, pattern)));
        let mut best: Option<(&EntityType, &Pattern)> = None;
        for (entity_type, pattern) in all.filter(|(_, pattern)| pattern.words == words) {
            let surer = best.is_none_or(|(_, best)| pattern.confidence > best.confidence);
            if surer && pattern.matches(text) {
                best = Some((entity_type, pattern));
            }
        }
        best
    }

    /// The type named by the last words of a JSON key or parameter.
    pub fn type_of_key(&self, key: &str) -> Option<&EntityType> {
        self.nouns.last_in(&words_of_identifier(key)).map(|index| &self.types[index])
    }

    /// Like [`Self::type_of_key`], for a key inside an entity of type `owner`.
    pub fn type_of_key_in(&self, owner: Option<&Kind>, key: &str) -> Option<&EntityType> {
        let owned = owner.and_then(|owner| {
            self.owned_keys
                .get(&(owner.to_string(), key.to_owned()))
                .map(|index| &self.types[*index])
        });
        owned.or_else(|| self.type_of_key(key))
    }

    /// The type named by the key of a scalar: only the type's own name counts, since "address" or "host" may
    /// contain anything.
    pub fn type_of_plain_key(&self, key: &str) -> Option<&EntityType> {
        self.plain_nouns.last_in(&words_of_identifier(key)).map(|index| &self.types[index])
    }

    pub fn type_of_tool(&self, tool: &str) -> Option<&EntityType> {
        self.nouns.anywhere_in(&words_of_identifier(tool)).map(|index| &self.types[index])
    }

    pub fn type_of_url(&self, url: &str) -> Option<&EntityType> {
        self.types
            .iter()
            .find(|entity_type| entity_type.urls.iter().any(|part| url.contains(part.as_str())))
    }

    pub fn aliases(&self, kind: &Kind, name: &str) -> Vec<String> {
        self.entity_type(kind).map_or_else(Vec::new, |entity_type| {
            let mut aliases = aliases_of(name, &entity_type.aliases, &entity_type.cues);
            aliases.retain(|alias| alias != name);
            aliases
        })
    }

    /// Whether a noun forms a compound with a type word instead of being a name.
    pub fn makes_compound(&self, word: &str) -> bool {
        self.packs.iter().any(|pack| pack.compounds.iter().any(|noun| noun == word))
    }

    /// Whether a type word is also a verb.
    pub fn is_verb_too(&self, word: &str) -> bool {
        self.packs.iter().any(|pack| pack.verbs.iter().any(|verb| verb == word))
    }

    /// Whether a word is a unit that numbers count.
    pub fn is_unit(&self, word: &str) -> bool {
        self.packs.iter().any(|pack| pack.units.iter().any(|unit| unit == word))
    }

    /// Generic servers, with the types each pack knows there.
    pub fn generic(&self) -> impl Iterator<Item = (&Generic, &[EntityType])> {
        self.packs.iter().filter_map(|pack| Some((pack.generic.as_ref()?, pack.types.as_slice())))
    }

    /// The type that a generic server calls `object`.
    pub fn type_of_object(&self, object: &str) -> Option<&EntityType> {
        self.types.iter().find(|known| known.objects.object.as_deref() == Some(object))
    }

    /// The relevance bonus of a type.
    pub fn bonus(&self, kind: &Kind) -> f64 {
        self.entity_type(kind).map_or(0.0, |entity_type| entity_type.bonus)
    }

    pub fn guidance(&self) -> impl Iterator<Item = &Guidance> {
        self.packs.iter().flat_map(|pack| &pack.guidance)
    }

    pub fn steering(&self, message: &str) -> Steering<'_> {
        let padded = padded(message);
        Steering { guidance: self.guidance().filter(|piece| piece.applies(&padded)).collect() }
    }
}

fn admit(packs: &mut Vec<Pack>, pack: Pack) -> Result<(), check::Refusal> {
    let others = || packs.iter().filter(|other| other.name != pack.name);
    for (index, entity_type) in pack.types.iter().enumerate() {
        let place = Some(pack.places[index].clone());
        if pack.types[..index].iter().any(|earlier| earlier.kind == entity_type.kind) {
            let reason = format!("the type {:?} is defined twice", entity_type.kind.as_str());
            return Err((place, reason));
        }
        let owner =
            others().find(|other| other.types.iter().any(|theirs| theirs.kind == entity_type.kind));
        if let Some(owner) = owner {
            let kind = entity_type.kind.as_str();
            let reason =
                format!("the type {kind:?} is already defined by the pack {:?}", owner.name);
            return Err((place, reason));
        }
    }
    match packs.iter().position(|other| other.name == pack.name) {
        Some(index) => packs[index] = pack,
        None if packs.len() >= PACKS_MAX => {
            return Err((None, format!("there are already {PACKS_MAX} packs")));
        }
        None => packs.push(pack),
    }
    Ok(())
}
