//! The kind of things that a tool is about.
//!
//! Invariant: a pack names the kind only of tools of its own server.

use std::collections::BTreeSet;

use super::super::modes;
use super::super::naming::{described_noun, own_words, shared_word};
use super::{Offer, singular};
use crate::lexicon::{self, Family};
use crate::pack::{EntityType, Kind, PackSet, words_of_identifier};
use crate::tool::ToolDefinition;

/// The packs of which these tools are about some kind; all of them where there are no tools.
pub(in crate::reply::offline) fn packs_used(offers: &[Offer], packs: &PackSet) -> BTreeSet<String> {
    let kinds = offers.iter().filter_map(|offer| offer.kind.as_ref());
    let used = kinds.filter_map(|kind| packs.entity_type(kind)).map(|known| known.pack.clone());
    match offers.is_empty() {
        true => packs.types().iter().map(|known| known.pack.clone()).collect(),
        false => used.collect(),
    }
}

/// The kind that a tool's name is about: a pack's type if its server uses that name, else its noun.
pub(super) fn kind_of(
    tool: &ToolDefinition,
    tools: &[ToolDefinition],
    packs: &PackSet,
) -> Option<Kind> {
    let english = lexicon::english();
    let words = own_words(tool, tools);
    if let Some((known, _)) = told_by_pack(tool, packs) {
        return Some(known.kind.clone());
    }
    let known = packs.type_of_tool(&tool.tool.name);
    // "task" is a countermeasure only on a server that uses other words of that pack.
    let same = |other: &&ToolDefinition| other.tool.server == tool.tool.server;
    let says = |known: &&EntityType| {
        let own = || packs.types().iter().filter(|other| other.pack == known.pack);
        let mut names = tools.iter().filter(same).map(|one| words_of_identifier(&one.tool.name));
        names.any(|name| own().any(|other| other.is_named_in(&name)))
    };
    // "room" is a location only beside other kinds of that pack.
    let by_name = |known: &&EntityType| {
        let own = words_of_identifier(known.kind.as_str());
        let own = own.iter().all(|word| words.iter().any(|said| english.singular(said) == *word));
        let types = packs.types().iter().filter(|other| other.pack == known.pack);
        let names: Vec<_> =
            tools.iter().filter(same).map(|one| words_of_identifier(&one.tool.name)).collect();
        let used = types.filter(|other| names.iter().any(|name| other.is_named_in(name)));
        own || used.count() > 1
    };
    if let Some(known) = known.filter(says).filter(by_name) {
        return Some(known.kind.clone());
    }
    if let Some(noun) = described_noun(tool, tools) {
        return Some(Kind::new(noun));
    }
    let is_verb = |at: &usize| words.get(*at).is_some_and(|word| english.family(word).is_some());
    let verb = [0, words.len().saturating_sub(1)].into_iter().find(is_verb);
    if verb.is_none() && modes::mode(tool).is_none() {
        return None;
    }
    let rest = words.iter().enumerate().filter(|(at, _)| Some(*at) != verb);
    let noun: Vec<String> = rest.map(|(_, word)| english.singular(word)).collect();
    // `adr_update_status`: the status is a parameter, the ADR has it.
    let properties = tool.input_schema.get("properties").and_then(serde_json::Value::as_object);
    let is_parameter = properties.is_some_and(|all| all.contains_key(&noun.join("_")));
    let spoken = spoken_noun(tool, tools).map(Kind::new);
    if noun.is_empty() || is_parameter && spoken.is_some() {
        return spoken;
    }
    Some(Kind::new(noun.join("_")))
}

/// The word that all names of a server begin with, where the description speaks of such things: "List ADRs".
fn spoken_noun(tool: &ToolDefinition, tools: &[ToolDefinition]) -> Option<String> {
    let shared = shared_word(tool, tools)?;
    let english = lexicon::english();
    let mut words = tool.description.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let says = words.any(|word| word == shared || english.singular(&word) == shared);
    says.then_some(shared)
}

/// The kind that a tool of another verb is about, where other tools are, too: bookings, for `cancel_booking`.
pub(super) fn noun_of(
    tool: &ToolDefinition,
    tools: &[ToolDefinition],
    nouns: &[Kind],
) -> Option<Kind> {
    let words = own_words(tool, tools);
    let (_, rest) = words.split_first()?;
    let noun = Kind::new(singular(rest, lexicon::english()).join("_"));
    nouns.contains(&noun).then_some(noun)
}

/// The type that a pack names a tool for, and what the tool does with it.
pub(super) fn told_by_pack<'p>(
    tool: &ToolDefinition,
    packs: &'p PackSet,
) -> Option<(&'p EntityType, Family)> {
    packs.types().iter().find_map(|known| {
        let (does, _) = known.tools.iter().find(|(_, name)| **name == tool.tool.name)?;
        Some((known, if does == "list" { Family::List } else { Family::Show }))
    })
}
