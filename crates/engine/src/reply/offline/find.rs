//! Finds the thing that a name refers to, in what was shown and in the server's lists.
//!
//! One match is that thing; several are asked about; without a match, similar names are suggested. Nothing counts
//! as a thing unless it was found.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::offer::{Means, Offer, is_literal};
use super::rows::{self, Fit};
use super::scene::{Flow, Scene};
use super::schema::put;
use crate::lexicon::Class;
use crate::pack::{Generic, Kind};
use crate::session::dialogue::{RowAt, Thing};
use crate::weights;

/// Maximum kinds searched for a name, because each costs a call.
const KINDS_MAX: usize = 4;
/// Maximum parts of a name searched if the whole is not found.
const PARTS_MAX: usize = 3;
/// Length of a short first part including its separator.
const SHORT_START: usize = 3;
/// Results per type of a search.
const SEARCH_LIMIT: u64 = 20;
/// Maximum names suggested.
pub(super) const CANDIDATES_MAX: usize = 8;

#[derive(Debug)]
pub(super) enum Found {
    One(Thing),
    Several(Vec<Thing>),
    /// No match, but similar names.
    Near(Vec<Thing>),
    None,
    /// The look-up failed, for this reason.
    Failed(String),
    /// There is no tool to look up such things.
    Unknown,
}

impl Scene<'_> {
    /// The things of a kind whose rows have all of these words: "the booking of Tomasz Zielinski".
    pub(super) fn with_words(&self, text: &str, kind: &Kind) -> Flow<Vec<Thing>> {
        let wanted = rows::parts(text);
        let marked = text.contains(|c: char| c.is_uppercase() || c.is_whitespace());
        let list = self.list_of(kind).filter(|list| list.is_free && marked && !wanted.is_empty());
        let Some(list) = list else { return Ok(Vec::new()) };
        let Ok(table) = self.table(list, &list.fixed, false)? else { return Ok(Vec::new()) };
        let has = |row: &Value| {
            let own = rows::words(row);
            wanted.iter().all(|word| own.contains(word))
        };
        let fitting = table.rows.iter().filter(|(_, row)| table.is_whole() && has(row));
        let known = self.known(kind);
        let things = fitting.filter_map(|(at, row)| {
            Some(Thing { row: Some(*at), ..rows::thing(row, kind, known)? })
        });
        Ok(things.collect())
    }

    /// The thing `text` names among things of these kinds, likelier ones first. After a preposition ("in"),
    /// places come first.
    pub(super) fn find(&self, text: &str, kinds: &[Kind], placed: Option<Class>) -> Flow<Found> {
        for kind in kinds {
            let literal = self.known(kind).filter(|known| is_literal(known));
            if literal.is_some_and(|known| known.can_be_called(text)) {
                return Ok(Found::One(bare(kind, text)));
            }
        }
        // A number may be the name of several things, of which only one was shown.
        let number = text.bytes().all(|byte| byte.is_ascii_digit());
        let numbered = |kind: &Kind| {
            number && self.known(kind).is_some_and(|known| known.objects.number_filter.is_some())
        };
        let shown =
            self.shown().filter(|thing| kinds.contains(&thing.kind) && !numbered(&thing.kind));
        let shown: Vec<&Thing> = shown.collect();
        let mut exact: Vec<&Thing> = Vec::new();
        for thing in shown.iter().filter(|thing| rows::fit(&thing.label, text) == Some(Fit::Exact))
        {
            if !exact.iter().any(|other| other.is(thing)) {
                exact.push(thing);
            }
        }
        if let [only] = exact[..] {
            return Ok(Found::One(only.clone()));
        }
        let mut ordered: Vec<Kind> =
            kinds.iter().filter(|kind| self.list_of(kind).is_some()).cloned().collect();
        if matches!(placed, Some(Class::In)) {
            ordered.sort_by_key(|kind| !self.known(kind).is_some_and(|known| known.place));
        }
        if ordered.is_empty() {
            return Ok(Found::Unknown);
        }
        let searched = match self.search_tool(&ordered) {
            Some(search) if ordered.len() > 1 => self.search(search, text, &ordered)?,
            _ => self.look_through(text, &ordered)?,
        };
        let found = match searched {
            Ok(found) => found,
            Err(reason) => return Ok(Found::Failed(reason)),
        };
        Ok(match self.best(found.fitting, &ordered, placed) {
            Found::None => match near(text, found.others) {
                Found::None if found.unread => Found::Unknown,
                Found::None => near(text, self.places(&ordered, placed)?),
                found => found,
            },
            found => found,
        })
    }

    /// All places of the likeliest kind, in which a misspelt one may be: a search finds only what is spelt right.
    fn places(&self, kinds: &[Kind], placed: Option<Class>) -> Flow<Vec<Thing>> {
        let bonus = |kind: &&Kind| self.known(kind).map_or(0.0, |known| known.bonus);
        let is_place = |kind: &&Kind| self.known(kind).is_some_and(|known| known.place);
        let places = kinds.iter().filter(|_| placed == Some(Class::In)).filter(is_place);
        let kind = places.max_by(|one, two| bonus(one).total_cmp(&bonus(two)));
        let Some((kind, list)) = kind.and_then(|kind| Some((kind, self.list_of(kind)?))) else {
            return Ok(Vec::new());
        };
        let table = self.table(list, &list.fixed, false)?.unwrap_or_default();
        let thing = |(at, row): &(RowAt, Value)| {
            Some(Thing { row: Some(*at), ..rows::thing(row, kind, self.known(kind))? })
        };
        Ok(table.rows.iter().filter_map(thing).collect())
    }

    /// Things that were shown, latest first.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Thing> {
        let open = self.dialogue.open.iter().flat_map(|open| &open.candidates);
        let lists = self.dialogue.spoken.iter().flat_map(|spoken| &spoken.shown);
        open.chain(&self.dialogue.focus).chain(lists)
    }

    fn search_tool(&self, kinds: &[Kind]) -> Option<&Generic> {
        let offer = self.list_of(kinds.first()?)?;
        let (generic, _) = self.packs.generic().find(|(g, _)| g.list == offer.tool.tool.name)?;
        let tool = self.tools.iter().find(|tool| tool.tool.name == generic.search)?;
        self.freedom.is_free(tool).then_some(generic)
    }

    /// Searches several kinds with one call.
    fn search(
        &self,
        generic: &Generic,
        text: &str,
        kinds: &[Kind],
    ) -> Flow<Result<Looked, String>> {
        let objects: BTreeMap<String, &Kind> = kinds
            .iter()
            .filter_map(|kind| Some((self.known(kind)?.objects.object.clone()?, kind)))
            .collect();
        let tool = self.tools.iter().find(|tool| tool.tool.name == generic.search);
        let Some(tool) = tool else { return Ok(Ok(Looked::default())) };
        let mut looked = Looked::default();
        for query in queries(text) {
            let mut arguments = Map::new();
            arguments.insert(generic.query.clone(), query.clone().into());
            arguments.insert(generic.types.clone(), json!(objects.keys().collect::<Vec<_>>()));
            arguments.insert(generic.limit.clone(), SEARCH_LIMIT.into());
            let (_, record) = self.call(tool, arguments, true)?;
            if !record.ok() {
                return Ok(Err(record.result_text()));
            }
            let json = record.output.as_ref().and_then(|output| output.json.as_ref());
            for (object, kind) in &objects {
                let rows = json.and_then(|json| json.get(object)?.as_array()).into_iter().flatten();
                for row in rows {
                    looked.add(self, row, kind, None, text);
                }
            }
            if !looked.fitting.is_empty() {
                break;
            }
        }
        Ok(Ok(looked))
    }

    /// Searches the lists of the kinds, one after the other, until something matches.
    fn look_through(&self, text: &str, kinds: &[Kind]) -> Flow<Result<Looked, String>> {
        let mut looked = Looked::default();
        let mut failed = None;
        let free =
            kinds.iter().filter_map(|kind| Some((kind, self.list_of(kind).filter(|o| o.is_free)?)));
        let free: Vec<_> = free.take(KINDS_MAX).collect();
        looked.unread = free.is_empty();
        for (kind, offer) in free {
            for arguments in self.name_filters(offer, text) {
                match self.table(offer, &arguments, false)? {
                    Ok(table) => {
                        let written = table.text.as_deref().map(rows::coded_lines);
                        let written = written.filter(|lines| !lines.is_empty());
                        for row in written.iter().flatten() {
                            looked.add(self, row, kind, None, text);
                        }
                        let read = written.is_some() || table.text.is_none();
                        looked.unread |= !read && table.rows.is_empty();
                        looked.unread |= !table.is_whole();
                        for (at, row) in &table.rows {
                            looked.add(self, row, kind, Some(*at), text);
                        }
                        // This is the whole list, so nothing else finds more.
                        if !looked.fitting.is_empty() || arguments == offer.fixed {
                            break;
                        }
                    }
                    Err(record) => failed = Some(record.result_text()),
                }
            }
            if looked.fitting.iter().any(|(fit, _)| *fit == Fit::Exact) {
                break;
            }
        }
        match failed {
            Some(reason) if looked.fitting.is_empty() && looked.others.is_empty() => {
                Ok(Err(reason))
            }
            _ => Ok(Ok(looked)),
        }
    }

    /// Ways to filter a list by name: by a part of it if the server can, else the whole list.
    fn name_filters(&self, offer: &Offer, text: &str) -> Vec<Map<String, Value>> {
        let generic = self.packs.generic().find(|(g, _)| g.list == offer.tool.tool.name);
        let Some((generic, _)) = generic else { return vec![offer.fixed.clone()] };
        let kind = offer.kind.as_ref().and_then(|kind| self.known(kind));
        let number = text.bytes().all(|byte| byte.is_ascii_digit());
        let number_key =
            kind.and_then(|known| known.objects.number_filter.clone()).filter(|_| number);
        let with = |key: String, value: Value| {
            let mut arguments = offer.fixed.clone();
            put(&mut arguments, &[generic.filters.clone(), key], value);
            arguments
        };
        if let Some(key) = number_key {
            return vec![with(key, text.parse::<i64>().map_or(Value::Null, Value::from))];
        }
        let name = kind.map_or("name", |known| known.objects.name_filter.as_str());
        let key = format!("{name}{}", generic.contains);
        queries(text).into_iter().map(|query| with(key.clone(), query.into())).collect()
    }

    /// The best match: exact before partial, and by the preposition before it.
    fn best(&self, mut fitting: Vec<(Fit, Thing)>, kinds: &[Kind], placed: Option<Class>) -> Found {
        let Some(best) = fitting.iter().map(|(fit, _)| *fit).max() else { return Found::None };
        fitting.retain(|(fit, _)| *fit == best);
        let is_place = |kind: &Kind| self.known(kind).is_some_and(|known| known.place);
        let found_kinds: Vec<Kind> = kinds
            .iter()
            .filter(|kind| fitting.iter().any(|(_, t)| t.kind == **kind))
            .cloned()
            .collect();
        if found_kinds.len() > 1 {
            let wanted: Vec<&Kind> = match placed {
                Some(Class::In) => {
                    found_kinds.iter().filter(|kind| is_place(kind)).take(1).collect()
                }
                Some(Class::Of | Class::From) => {
                    found_kinds.iter().filter(|kind| !is_place(kind)).collect()
                }
                _ => Vec::new(),
            };
            if let [only] = wanted[..] {
                fitting.retain(|(_, thing)| thing.kind == *only);
            }
        }
        let mut things: Vec<Thing> = Vec::new();
        for (_, thing) in fitting {
            if !things.iter().any(|other| other.is(&thing)) {
                things.push(thing);
            }
        }
        match things.len() {
            1 => Found::One(things.remove(0)),
            _ => Found::Several(things),
        }
    }
}

#[derive(Default)]
struct Looked {
    fitting: Vec<(Fit, Thing)>,
    others: Vec<Thing>,
    /// A list could not be read completely: what was not found may be in it.
    unread: bool,
}

impl Looked {
    fn add(&mut self, scene: &Scene<'_>, row: &Value, kind: &Kind, at: Option<RowAt>, text: &str) {
        let Some(mut thing) = rows::thing(row, kind, scene.known(kind)) else { return };
        thing.row = at;
        let names = ["slug", "code", "display", "vid", "facility", "asset_tag", "serial"];
        let further = names.iter().filter_map(|key| row.get(*key)).map(rows::scalar);
        let exact_id = thing.id.as_deref() == Some(text);
        let coded = || is_code(text) && has_code(row, text);
        let fits = [thing.label.clone()]
            .into_iter()
            .chain(further)
            .filter_map(|name| rows::fit(&name, text));
        // "rack 1" may be the one with that id, or one that is called so.
        let coded_id = thing
            .id
            .as_deref()
            .is_some_and(|id| id.split_once('-').is_some() && rows::ends_with_number(id, text));
        let numbered = exact_id || coded_id || rows::ends_with_number(&thing.label, text);
        let by_code = || coded().then_some(Fit::Part);
        match fits.max().or(numbered.then_some(Fit::Part)).or_else(by_code) {
            Some(fit) => self.fitting.push((fit, thing)),
            None => self.others.push(thing),
        }
    }
}

/// Whether a text is written like a code: letters and digits together, "C-9".
fn is_code(text: &str) -> bool {
    let written = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.chars().all(written)
        && text.contains(|c: char| c.is_ascii_digit())
        && text.contains(char::is_alphabetic)
}

/// Whether a row has a code of its own, and not the id of something else.
fn has_code(row: &Value, text: &str) -> bool {
    let mut fields = row.as_object().into_iter().flatten();
    fields.any(|(key, value)| value.as_str() == Some(text) && !key.ends_with("_id"))
}

/// Whether every word of a text is a whole word of a thing's name.
pub(super) fn is_named(thing: &Thing, text: &str) -> bool {
    let keys = thing.keys.values().map(rows::scalar);
    let own: Vec<String> =
        keys.chain([thing.label.clone()]).flat_map(|n| rows::parts(&n)).collect();
    rows::parts(text).iter().all(|word| own.contains(word))
}

/// A thing of which only the name is known.
pub(super) fn bare(kind: &Kind, label: &str) -> Thing {
    Thing { kind: kind.clone(), label: label.to_owned(), id: None, keys: Map::new(), row: None }
}

/// The queries for a server: the name, then its parts, longest first.
fn queries(text: &str) -> Vec<String> {
    let mut parts = rows::parts(text);
    parts.retain(|part| part.chars().count() > 2);
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    parts.truncate(PARTS_MAX);
    let mut queries = vec![text.to_owned()];
    // "nh-laef-01": a first part that is too short to search for is used with its separator.
    let start = text.find(['-', '_', '.', '/']).map(|at| &text[..=at]);
    let start = start.filter(|start| start.chars().count() == SHORT_START);
    queries.extend(parts.into_iter().filter(|part| *part != text.to_lowercase()));
    queries.extend(start.map(str::to_owned));
    queries
}

/// Names similar to the one that was not found.
pub(super) fn near(text: &str, others: Vec<Thing>) -> Found {
    let wanted = text.to_lowercase();
    let mut near: Vec<(usize, Thing)> = Vec::new();
    for thing in others {
        let label = thing.label.to_lowercase();
        let distance = strsim::osa_distance(&label, &wanted);
        let alike = strsim::jaro_winkler(&label, &wanted) >= weights::NEAR_MIN;
        let few = distance <= 1 + wanted.chars().count() / 6;
        if few && alike && !near.iter().any(|(_, other)| other.is(&thing)) {
            near.push((distance, thing));
        }
    }
    near.sort_by_key(|(distance, _)| *distance);
    let closest = near.first().map(|(distance, _)| *distance);
    near.retain(|(distance, _)| Some(*distance) == closest);
    near.truncate(CANDIDATES_MAX);
    match near.is_empty() {
        true => Found::None,
        false => Found::Near(near.into_iter().map(|(_, thing)| thing).collect()),
    }
}

/// The kinds a list can be narrowed by, places first.
pub(super) fn narrowing_kinds(offer: &Offer) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for kind in offer.kinds() {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    if offer.slots.iter().any(|slot| slot.means == Means::AnyName) {
        kinds.clear();
    }
    kinds
}
