//! What the tools can do: actions on kinds of things, with their parameters.
//!
//! Derived from names and schemas alone, so that any server works; a pack adds what a schema does not say: the
//! types of a generic server, and their filter keys.
//!
//! Invariant: every required parameter of a tool is a slot or fixed.

mod generic;
mod kind;

use serde_json::{Map, Value};

use super::naming::{described_verb, makes_new, shared_word};
use super::schema::{Form, Shape, shapes};
use super::{hints, modes};
use crate::lexicon::{self, Class, Family, Language};
use crate::pack::{Check, EntityType, Field, Generic, Kind, PackSet, words_of_identifier};
use crate::search::words::stems;
use crate::tool::ToolDefinition;

use kind::{kind_of, noun_of, told_by_pack};

pub(super) use super::means::{Means, Slot};
pub(super) use kind::packs_used;

#[derive(Debug, Clone)]
pub(super) struct Offer {
    pub tool: ToolDefinition,
    /// The family of its verb, if it has one.
    pub family: Option<Family>,
    pub kind: Option<Kind>,
    /// Words of its name, in the singular.
    pub words: Vec<String>,
    /// The one with which the names of all tools of its server begin.
    pub shared: Option<String>,
    /// The verb of its description, where its name has none.
    pub acts: Option<String>,
    /// The verb of its description besides the one of its name: "Register a new member" for `add_member`.
    pub also: Option<String>,
    /// Stems of its description.
    pub described: Vec<String>,
    /// Arguments of every call.
    pub fixed: Map<String, Value>,
    pub slots: Vec<Slot>,
    pub page: Option<Page>,
    /// Whether it runs without approval.
    pub is_free: bool,
    pub reads: bool,
}

/// How a list is paged.
#[derive(Debug, Clone)]
pub(super) struct Page {
    pub limit: String,
    pub offset: Option<String>,
    pub length: u64,
}

impl Offer {
    /// The slot that takes things of a kind.
    pub(super) fn slot_for(&self, kind: &Kind) -> Option<&Slot> {
        let of = |slot: &&Slot| matches!(&slot.means, Means::Thing(theirs, _) if theirs == kind);
        let own =
            |slot: &&Slot| self.kind.as_ref() == Some(kind) && matches!(slot.means, Means::Own(_));
        self.slots.iter().find(of).or_else(|| self.slots.iter().find(own))
    }

    /// Whether things of its kind are in others of that kind, and it can be asked for those: regions.
    pub(super) fn nests(&self) -> bool {
        let own = |slot: &Slot| matches!(&slot.means, Means::Thing(kind, _) if self.kind.as_ref() == Some(kind));
        self.slots.iter().any(own)
    }

    /// Whether it takes arbitrary text.
    pub(super) fn takes_text(&self) -> bool {
        self.slots.iter().any(|slot| slot.means == Means::Text && !slot.shape.many)
    }

    /// Whether it evaluates arithmetic expressions.
    pub(super) fn takes_sum(&self) -> bool {
        self.slots.iter().any(|slot| slot.means == Means::Sum)
    }

    /// Whether it takes a time zone.
    pub(super) fn takes_zone(&self) -> bool {
        self.slots.iter().any(|slot| slot.means == Means::Zone)
    }

    /// Whether it takes a date.
    pub(super) fn takes_date(&self) -> bool {
        self.slots.iter().any(|slot| slot.means == Means::Date)
    }

    /// The slots that identify the thing it is about.
    pub(super) fn own_slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| matches!(slot.means, Means::Own(_)))
    }

    /// Kinds that it can be narrowed by, without its own.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.slots.iter().filter_map(|slot| match &slot.means {
            Means::Thing(kind, _) => Some(kind),
            _ => None,
        })
    }

    pub(super) fn lists(&self) -> bool {
        self.reads
            && matches!(self.family, Some(Family::List | Family::Find))
            && !self.slots.iter().any(|slot| slot.shape.required)
    }

    /// Whether it shows one thing identified by a value.
    pub(super) fn shows_one(&self) -> bool {
        self.reads
            && !self.lists()
            && self.own_slots().next().is_some()
            && self
                .slots
                .iter()
                .all(|slot| !slot.shape.required || matches!(slot.means, Means::Own(_)))
    }
}

/// Tells which calls may run without approval.
pub(super) trait Freedom: Sync {
    fn is_free(&self, tool: &ToolDefinition) -> bool;
    fn reads(&self, tool: &ToolDefinition) -> bool;
}

/// Everything that these tools offer.
pub(super) fn offers(
    tools: &[ToolDefinition],
    packs: &PackSet,
    freedom: &dyn Freedom,
) -> Vec<Offer> {
    let generic: Vec<(&Generic, &[EntityType])> = packs
        .generic()
        .filter(|(generic, _)| tools.iter().any(|tool| tool.tool.name == generic.list))
        .collect();
    let is_generic = |name: &str| {
        generic.iter().any(|(generic, types)| {
            [&generic.list, &generic.get, &generic.search].iter().any(|own| *own == name)
                || types.iter().any(|known| known.objects.list_tool.as_deref() == Some(name))
        })
    };
    let nouns: Vec<Kind> = tools.iter().filter_map(|tool| kind_of(tool, tools, packs)).collect();
    let mut offers = Vec::new();
    for tool in tools.iter().filter(|tool| !is_generic(&tool.tool.name)) {
        let kind = kind_of(tool, tools, packs).or_else(|| noun_of(tool, tools, &nouns));
        let offer = typed(tool, kind, &nouns, packs, freedom, shared_word(tool, tools));
        offers.extend(modes::split(offer));
    }
    identify(&mut offers);
    hints::give(&mut offers);
    for (generic, types) in generic {
        for known in types {
            offers.extend(generic::listed(generic, known, tools, freedom));
            offers.extend(generic::shown(generic, known, tools, freedom));
        }
    }
    offers
}

/// A text that alone says which thing of a kind a tool is about identifies such things for the other tools of its
/// server: the card of a member.
fn identify(offers: &mut [Offer]) {
    let plain = |slot: &Slot| {
        let is_plain = |word: &String| lexicon::english().is(Class::SlotPlain, word);
        slot.means == Means::Text
            && slot.shape.required
            && slot.shape.choices.is_empty()
            && slot.shape.path.len() == 1
            && !slot.shape.many
            && !slot.words.iter().any(is_plain)
    };
    let listed: Vec<Kind> = offers
        .iter()
        .filter(|offer| offer.lists())
        .filter_map(|offer| offer.kind.clone())
        .collect();
    let found = offers.iter().filter_map(|offer| {
        let kind = offer.kind.clone().filter(|kind| listed.contains(kind))?;
        let mut required = offer.slots.iter().filter(|slot| slot.shape.required);
        let (slot, None) = (required.next()?, required.next()) else { return None };
        let shows = offer.family == Some(Family::Find) && offer.reads;
        let known =
            (matches!(offer.family, Some(Family::Show | Family::Remove)) || shows) && plain(slot);
        known.then(|| (offer.tool.tool.server.clone(), slot.name().to_owned(), kind))
    });
    let found: Vec<(String, String, Kind)> = found.collect();
    for offer in offers.iter_mut().filter(|offer| !offer.reads || !offer.lists()) {
        let server = &offer.tool.tool.server;
        for slot in offer.slots.iter_mut().filter(|slot| plain(slot)) {
            let own = found.iter().filter(|(of, name, _)| of == server && *name == slot.name());
            let mut kinds: Vec<&Kind> = own.map(|(.., kind)| kind).collect();
            kinds.dedup();
            if let [kind] = kinds[..] {
                slot.means = match offer.kind.as_ref() == Some(kind) {
                    true => Means::Own(None),
                    false => Means::Thing(kind.clone(), None),
                };
            }
        }
    }
}

fn typed(
    tool: &ToolDefinition,
    kind: Option<Kind>,
    nouns: &[Kind],
    packs: &PackSet,
    freedom: &dyn Freedom,
    shared: Option<String>,
) -> Offer {
    let english = lexicon::english();
    let name = words_of_identifier(&tool.tool.name);
    let own = name.iter().find_map(|word| english.family(word));
    let described = described_verb(tool);
    let changes = |family: Family| !family.reads();
    let both = |(_, family): &(String, Family)| changes(*family) && own.is_some_and(changes);
    let also = described.clone().filter(both).map(|(verb, _)| verb);
    let described = described.filter(|_| own.is_none());
    let family = own.or(described.as_ref().map(|(_, family)| *family));
    let family = told_by_pack(tool, packs).map(|(_, family)| family).or(family);
    // "Open a new ticket" shows none.
    let shows = family.is_none_or(|family| family == Family::Show) && !freedom.is_free(tool);
    let family = if shows && makes_new(tool) { Some(Family::Create) } else { family };
    let mut slots: Vec<Slot> = Vec::new();
    for shape in shapes(&tool.input_schema) {
        let means = means(&shape, kind.as_ref(), family, nouns, packs);
        let words =
            words_of_identifier(shape.name()).iter().map(|word| english.singular(word)).collect();
        slots.push(Slot { shape, words, means });
    }
    let find = |class: Class| {
        slots.iter().find(|slot| slot.words.iter().any(|word| english.is(class, word)))
    };
    let page =
        find(Class::SlotLimit).filter(|slot| slot.shape.form == Form::Integer).map(|slot| Page {
            limit: slot.path(),
            offset: find(Class::SlotOffset).map(Slot::path),
            length: slot.shape.maximum.map_or(PAGE_LENGTH, |most| most as u64),
        });
    let listed = family.is_some_and(|family| matches!(family, Family::List | Family::Find));
    let page = page.filter(|_| listed);
    Offer {
        family,
        kind,
        words: name.iter().map(|word| english.singular(word)).collect(),
        shared,
        acts: described.map(|(verb, _)| verb),
        also,
        described: stems(&tool.description),
        fixed: Map::new(),
        slots,
        page,
        is_free: freedom.is_free(tool),
        reads: freedom.reads(tool) && (family != Some(Family::Create) || freedom.is_free(tool)),
        tool: tool.clone(),
    }
}

/// Page size if the schema gives no limit.
const PAGE_LENGTH: u64 = 100;

/// The meaning of a parameter, by its name, schema and description.
fn means(
    shape: &Shape,
    own: Option<&Kind>,
    family: Option<Family>,
    nouns: &[Kind],
    packs: &PackSet,
) -> Means {
    let english = lexicon::english();
    let words = words_of_identifier(shape.name());
    let is = |class: Class| words.iter().any(|word| english.is(class, word));
    let described = shape.description.to_lowercase();
    if !shape.choices.is_empty() {
        return Means::Choice;
    }
    match (shape.form, shape.format.as_deref()) {
        (Form::Flag, _) => return Means::Flag,
        (_, Some("date" | "date-time")) => return Means::Date,
        (_, Some("time")) => return Means::Time,
        (Form::Integer | Form::Number, _)
            if is(Class::SlotLimit) && !shape.required && !is_bound(&words) =>
        {
            return Means::Limit;
        }
        (Form::Text, None) if is_date(&words, &described) => return Means::Date,
        _ => {}
    }
    let (kind_words, field) = without_field(&words);
    let own_words: Vec<String> =
        own.map(|kind| words_of_identifier(kind.as_str())).unwrap_or_default();
    let is_own = kind_words.is_empty() || singular(&kind_words, english) == own_words;
    // The name of something created or renamed is new.
    let new_name = field == Some(Field::Name)
        && kind_words.is_empty()
        && (family == Some(Family::Create) || (family == Some(Family::Change) && !shape.required));
    if is_own && field.is_some() && own.is_some() {
        return if new_name { Means::Text } else { Means::Own(field) };
    }
    if is(Class::SlotZone) {
        return Means::Zone;
    }
    if shape.form == Form::Text && is(Class::SlotExpression) {
        return Means::Sum;
    }
    if is(Class::SlotPath) || words.iter().any(|word| english.singular(word) == "path") {
        return Means::Path;
    }
    if described.split(|c: char| !c.is_alphanumeric()).any(|word| word == "sql") {
        return Means::Sql;
    }
    if described.contains("hh:mm") {
        return Means::Time;
    }
    let key = kind_words.join("_");
    if let Some((known, declared)) = declared(shape.name(), packs) {
        let field =
            if shape.form == Form::Text && declared == Field::Id { None } else { Some(declared) };
        return match Some(&known) == own {
            true => Means::Own(field),
            false => Means::Thing(known, field),
        };
    }
    // The text of a comment is written, not searched for.
    let searched = family.is_some_and(Family::reads) || !words.iter().any(|word| word == "text");
    if is(Class::SlotSearch) && searched {
        // "Read an ADR by its number or title": it shows one.
        let shows = family == Some(Family::Show) && shape.required && own.is_some();
        return if shows { Means::Own(Some(Field::Id)) } else { Means::Search };
    }
    if is_own && own.is_some() && family.is_some_and(Family::reads) && !shape.many {
        return Means::Own(field);
    }
    let noun = Kind::new(singular(&kind_words, english).join("_"));
    let known = nouns.contains(&noun).then(|| noun.clone()).or_else(|| ending_with(&noun, nouns));
    // A pack has the say only about tools of its own.
    let used = |pack: &String| {
        nouns.iter().any(|noun| packs.entity_type(noun).is_some_and(|t| t.pack == *pack))
    };
    let by_pack = packs.type_of_key(&key).filter(|known| used(&known.pack));
    let known = known.or_else(|| by_pack.map(|known| known.kind.clone()));
    match (known, shape.form) {
        (Some(known), _) if Some(&known) == own => Means::Own(field),
        (Some(known), Form::Integer) => Means::Thing(known, Some(Field::Id)),
        (Some(known), _) => Means::Thing(known, field),
        (None, Form::Integer | Form::Number) => Means::Number,
        (None, _) => Means::Text,
    }
}

/// The one kind whose name ends with a word: leave requests, for "request".
fn ending_with(word: &Kind, nouns: &[Kind]) -> Option<Kind> {
    let ends = |noun: &&Kind| noun.as_str().ends_with(&format!("_{word}"));
    let mut found: Vec<&Kind> = nouns.iter().filter(ends).collect();
    found.sort_by_key(|noun| noun.as_str());
    found.dedup();
    match found[..] {
        [only] if !word.as_str().is_empty() => Some(only.clone()),
        _ => None,
    }
}

/// Whether a parameter bounds a field: the most of a price, not of results.
fn is_bound(words: &[String]) -> bool {
    let english = lexicon::english();
    let of_results = |word: &String| {
        let word = english.singular(word);
        english.is(Class::SlotLimit, &word) || english.is(Class::SlotCounted, &word)
    };
    words.split_first().is_some_and(|(first, rest)| {
        english.is(Class::SlotMost, first) && !rest.is_empty() && !rest.iter().any(of_results)
    })
}

/// Whether a parameter takes a day: by its name, or by the form that its description gives.
fn is_date(words: &[String], described: &str) -> bool {
    let named = |word: &String| lexicon::english().is(Class::SlotDate, word);
    let checks =
        matches!(words, [check, side] if check == "check" && (side == "in" || side == "out"));
    words.last().is_some_and(named) || checks || described.contains("yyyy-mm-dd")
}

fn declared(name: &str, packs: &PackSet) -> Option<(Kind, Field)> {
    packs
        .types()
        .iter()
        .find_map(|known| known.parameters.get(name).map(|field| (known.kind.clone(), *field)))
}

/// A parameter's words without the one that names a field.
fn without_field(words: &[String]) -> (Vec<String>, Option<Field>) {
    let field = match words.last().map(String::as_str) {
        Some("id" | "ids" | "number" | "no" | "code") => Some(Field::Id),
        Some("name" | "names") => Some(Field::Name),
        Some("slug" | "slugs") => Some(Field::Slug),
        _ => None,
    };
    let kept = words.len() - usize::from(field.is_some());
    (words[..kept].to_vec(), field)
}

fn singular(words: &[String], language: &Language) -> Vec<String> {
    words.iter().map(|word| language.singular(word)).collect()
}

/// Whether things of a type are recognised by form and need no look-up: addresses.
pub(super) fn is_literal(known: &EntityType) -> bool {
    known.patterns.iter().any(|pattern| pattern.check != Check::Any)
}
