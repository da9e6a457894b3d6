//! Exports facts, and imports them from here or from other products.
//!
//! Three formats are read: our own export, mem0's list of all memories of a user, and the graph of the official
//! MCP memory server (its file of lines, or its `read_graph` result). The format is detected.
//!
//! Invariant: a file is read and validated completely before anything is written.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::id::ThreadId;

use super::draft::comparable;
use super::forgotten::ForgottenOnes;
use super::gather::subject_key;
use super::stored::{AddedFact, Facts};
use super::{Fact, FactDraft, FactKind, Trust};

pub const FACTS_FORMAT: &str = "throughline.memories/1";
/// More contradictions of an import are only counted.
const CONTRADICTIONS_NAMED_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactExport {
    /// [`FACTS_FORMAT`].
    pub format: String,
    /// Including superseded ones, oldest first.
    pub memories: Vec<Fact>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedFacts {
    pub imported: usize,
    /// Facts that existed already.
    pub known: usize,
    /// Existing facts that are now superseded.
    pub superseded: usize,
    /// Facts that contradict a more trusted one; both are stored.
    pub contradicting: usize,
    /// The first of them, with what they contradict.
    pub contradictions: Vec<AddedFact>,
    /// Statements that the user has forgotten, which were left out.
    pub forgotten: usize,
}

#[derive(Deserialize)]
struct Mem0Memory {
    memory: String,
    #[serde(default)]
    created_at: Option<Timestamp>,
    #[serde(default)]
    updated_at: Option<Timestamp>,
    #[serde(default)]
    categories: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Mem0Relation {
    source: String,
    #[serde(alias = "relation")]
    relationship: String,
    #[serde(alias = "destination")]
    target: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entity {
    name: String,
    entity_type: String,
    observations: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Relation {
    from: String,
    to: String,
    relation_type: String,
}

/// Whether two facts say different things about the same subject.
fn contradicts(one: &Fact, other: &Fact) -> bool {
    let about = |fact: &Fact| fact.subject.as_deref().map(subject_key);
    about(one).is_some() && about(one) == about(other) && one.text != other.text
}

/// A fact in a file: with all its fields, or with what another product knew of it.
enum Read {
    Ours(Box<Fact>),
    Foreign { draft: FactDraft, created_at: Option<Timestamp>, changed_at: Option<Timestamp> },
}

impl Facts {
    /// All facts of the caller, as accepted by [`Facts::import`].
    pub async fn export(&self, caller: &Caller) -> Result<FactExport> {
        Ok(FactExport { format: FACTS_FORMAT.into(), memories: self.all(caller).await? })
    }

    /// Imports the facts of a file, all or none. What the user has forgotten is left out, unless it is to be
    /// brought back.
    pub async fn import(
        &self,
        caller: &Caller,
        text: &str,
        forgotten: ForgottenOnes,
    ) -> Result<ImportedFacts> {
        authorize(caller, Action::Write)?;
        let now = self.now();
        let mut report = ImportedFacts::default();
        let existing = self.all(caller).await?;
        let mut taken: HashSet<String> = existing.iter().map(|fact| fact.id.clone()).collect();
        let forgotten = match forgotten {
            ForgottenOnes::LeftOut => self.forgotten_words(&caller.scope).await?,
            ForgottenOnes::BroughtBack => None,
        };
        let stands: HashSet<String> = existing.iter().map(|fact| comparable(&fact.text)).collect();
        let mut wanted = Vec::new();
        for (at, read) in read(text)?.into_iter().enumerate() {
            let fact = match read {
                Read::Ours(fact) => {
                    ThreadId::new(&*fact.id)?;
                    let draft =
                        draft_of(&fact).checked(self.limits()).map_err(|e| within(at, e))?;
                    let fact = Fact { text: draft.text, subject: draft.subject, ..*fact };
                    // A file supersedes nothing that is known here, whatever it claims.
                    let known = |rival: &Fact| contradicts(&fact, rival);
                    let trust =
                        if existing.iter().any(known) { Trust::Imported } else { fact.trust };
                    Fact { trust, ..fact }
                }
                Read::Foreign { draft, created_at, changed_at } => {
                    let draft = draft.checked(self.limits()).map_err(|e| within(at, e))?;
                    let created_at = created_at.unwrap_or(now).min(now);
                    let changed_at = changed_at.unwrap_or(created_at).clamp(created_at, now);
                    Fact { changed_at, ..draft.into_fact(self.new_id(), created_at) }
                }
            };
            let is_forgotten = forgotten.as_ref().is_some_and(|words| words.has(&fact.text));
            if is_forgotten && !stands.contains(&comparable(&fact.text)) {
                report.forgotten += 1;
            } else if taken.insert(fact.id.clone()) {
                wanted.push(fact);
            } else {
                report.known += 1;
            }
        }
        // Of several about one subject the newest wins, whatever the order of the file.
        wanted.sort_by_key(|fact| fact.changed_at);
        for added in self.write(caller, wanted).await? {
            report.imported += usize::from(!added.known);
            report.known += usize::from(added.known);
            report.superseded += added.superseded.len();
            if !added.contradicts.is_empty() {
                report.contradicting += 1;
                report.contradictions.push(added);
            }
        }
        report.contradictions.truncate(CONTRADICTIONS_NAMED_MAX);
        Ok(report)
    }
}

fn draft_of(fact: &Fact) -> FactDraft {
    FactDraft {
        text: fact.text.clone(),
        subject: fact.subject.clone(),
        kind: fact.kind,
        trust: fact.trust,
        source: fact.source.clone(),
    }
}

fn read(text: &str) -> Result<Vec<Read>> {
    let whole: serde_json::Error = match serde_json::from_str(text) {
        Ok(Value::Array(list)) => return mem0(list),
        Ok(Value::Object(object)) => return read_object(object),
        Ok(_) => return Err(unknown_format()),
        Err(error) => error,
    };
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_line =
        serde_json::from_str::<Value>(first).is_ok_and(|value| value.get("type").is_some());
    if is_line { read_lines(text) } else { Err(broken("file", &whole)) }
}

fn read_object(mut object: Map<String, Value>) -> Result<Vec<Read>> {
    if let Some(format) = object.get("format") {
        if format != FACTS_FORMAT {
            let reason = format!("{format} is not {FACTS_FORMAT:?}");
            return Err(Error::invalid("format", reason));
        }
        let memories = list_of(&mut object, "memories")?;
        let facts = each::<Fact>("memories", memories)?;
        return Ok(facts.into_iter().map(|fact| Read::Ours(Box::new(fact))).collect());
    }
    if object.contains_key("entities") {
        let entities = each("entities", list_of(&mut object, "entities")?)?;
        let relations = match object.contains_key("relations") {
            true => each("relations", list_of(&mut object, "relations")?)?,
            false => Vec::new(),
        };
        return Ok(graph(entities, relations));
    }
    // A graph of one line is also a complete JSON document.
    if object.contains_key("type") {
        return read_lines(&Value::Object(object).to_string());
    }
    let name = ["results", "memories"].into_iter().find(|name| object.contains_key(*name));
    let mut memories = mem0(list_of(&mut object, name.ok_or_else(unknown_format)?)?)?;
    if object.get("relations").is_some_and(|relations| !relations.is_null()) {
        let relations: Vec<Mem0Relation> = each("relations", list_of(&mut object, "relations")?)?;
        memories
            .extend(relations.into_iter().map(|r| related(&r.source, &r.relationship, &r.target)));
    }
    Ok(memories)
}

fn mem0(list: Vec<Value>) -> Result<Vec<Read>> {
    let memories: Vec<Mem0Memory> = each("results", list)?;
    Ok(memories
        .into_iter()
        .map(|memory| {
            let kind = kind_of(memory.categories.as_deref().unwrap_or_default());
            let draft = FactDraft { kind, ..imported(memory.memory) };
            let (created_at, changed_at) = (memory.created_at, memory.updated_at);
            Read::Foreign { draft, created_at, changed_at }
        })
        .collect())
}

/// Maps mem0's categories to our kinds.
fn kind_of(categories: &[String]) -> FactKind {
    let has = |name: &str| categories.iter().any(|category| category == name);
    if has("user_preferences") {
        FactKind::Preference
    } else if has("personal_details") || has("professional_details") {
        FactKind::Profile
    } else {
        FactKind::Fact
    }
}

fn read_lines(text: &str) -> Result<Vec<Read>> {
    let (mut entities, mut relations) = (Vec::new(), Vec::new());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("line {}", at + 1);
        let value: Value = serde_json::from_str(line).map_err(|error| broken(&place, &error))?;
        match value.get("type").and_then(Value::as_str) {
            Some("entity") => entities.push(one(&place, value)?),
            Some("relation") => relations.push(one(&place, value)?),
            _ => return Err(Error::invalid(place, "its type is neither entity nor relation")),
        }
    }
    Ok(graph(entities, relations))
}

fn graph(entities: Vec<Entity>, relations: Vec<Relation>) -> Vec<Read> {
    let mut read = Vec::new();
    for Entity { name, entity_type, observations } in entities {
        if observations.is_empty() {
            read.push(foreign(imported(format!("{name} is a {entity_type}"))));
        }
        for observation in observations {
            read.push(foreign(imported(format!("{name}: {observation}"))));
        }
    }
    read.extend(relations.into_iter().map(|r| related(&r.from, &r.relation_type, &r.to)));
    read
}

fn related(from: &str, relation: &str, to: &str) -> Read {
    foreign(imported(format!("{from} {} {to}", relation.replace('_', " "))))
}

fn foreign(draft: FactDraft) -> Read {
    Read::Foreign { draft, created_at: None, changed_at: None }
}

fn imported(text: String) -> FactDraft {
    FactDraft { trust: Trust::Imported, ..FactDraft::told(text) }
}

fn list_of(object: &mut Map<String, Value>, name: &str) -> Result<Vec<Value>> {
    match object.remove(name) {
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(Error::invalid(name, "it is not a list")),
        None => Err(Error::invalid(name, "it is missing")),
    }
}

fn each<T: DeserializeOwned>(name: &str, list: Vec<Value>) -> Result<Vec<T>> {
    list.into_iter().enumerate().map(|(at, value)| one(&format!("{name}[{at}]"), value)).collect()
}

fn one<T: DeserializeOwned>(place: &str, value: Value) -> Result<T> {
    if !value.is_object() {
        return Err(Error::invalid(place, "it is not an object"));
    }
    serde_json::from_value(value).map_err(|error| broken(place, &error))
}

fn within(at: usize, error: Error) -> Error {
    match error {
        Error::Invalid { field, reason } => {
            Error::invalid(format!("memory {}: {field}", at + 1), reason)
        }
        Error::OverLimit { what, size, limit, allowed } => {
            Error::OverLimit { what: format!("memory {}: {what}", at + 1), size, limit, allowed }
        }
        other => other,
    }
}

fn broken(place: &str, error: &serde_json::Error) -> Error {
    Error::invalid(place, format!("it cannot be read: {error}"))
}

fn unknown_format() -> Error {
    let reason = "the file is not in a known format: a Throughline export, a mem0 export or a graph of the MCP memory server";
    Error::invalid("format", reason)
}
