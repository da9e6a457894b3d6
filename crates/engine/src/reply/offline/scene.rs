//! The inputs of an offline reply, and the calls made so far.
//!
//! Planning is a pure function of the scene: it restarts after each call and finds the results of earlier calls.
//! So a turn that paused for approval continues where it was.
//!
//! Invariant: the same scene plans the same step.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::back::has_failed;
use super::offer::{Freedom, Offer, Page};
use super::read::Part;
use super::rows;
use super::schema::put;
use crate::fact::FactHit;
use crate::lexicon::{Language, Say};
use crate::pack::{EntityType, Kind, PackSet};
use crate::reply::wording;
use crate::session::dialogue::{Dialogue, RowAt, Thing};
use crate::session::record::{CallRecord, TurnRecord};
use crate::tool::{ToolDefinition, ToolName};

/// Maximum pages fetched per list.
const PAGES_MAX: u64 = 10;

pub(super) enum Step {
    /// A call whose result is needed.
    Call(Box<Planned>),
    Say(Box<Said>),
}

pub(super) struct Planned {
    pub tool: ToolDefinition,
    pub arguments: Value,
    /// Whether the user named all its sources.
    pub is_vouched_for: bool,
}

#[derive(Debug, Default)]
pub(super) struct Said {
    pub text: String,
    /// What could be asked instead, if there is no text.
    pub hint: String,
    /// A stable code if it is not an answer.
    pub unanswered: Option<&'static str>,
    /// Names that were looked up and not found.
    pub absent: Vec<String>,
    pub dialogue: Dialogue,
}

/// A value, or the step that must come first.
pub(super) type Flow<T> = Result<T, Box<Step>>;

pub(super) struct Scene<'a> {
    pub message: &'a str,
    pub language: &'static Language,
    /// The language of replies.
    pub speaks: &'static Language,
    pub packs: &'a PackSet,
    pub offers: &'a [Offer],
    pub tools: &'a [ToolDefinition],
    pub freedom: &'a dyn Freedom,
    pub parts: &'a [Part],
    pub dialogue: &'a Dialogue,
    /// The session's first message, if it is asked for.
    pub first_message: Option<&'a str>,
    /// Files that the conversation knows, with their paths.
    pub files: &'a [(String, String)],
    pub today: jiff::civil::Date,
    /// The time of day in UTC.
    pub now: jiff::civil::Time,
    /// Turns of the window, oldest first.
    pub recent: &'a [Arc<TurnRecord>],
    /// What is known about the user.
    pub facts: &'a [FactHit],
    /// The limit of facts, if no more can be stored.
    pub memory_full: Option<usize>,
    /// Calls of this turn.
    pub made: &'a [CallRecord],
}

#[derive(Clone, Default)]
pub(super) struct Table {
    pub rows: Vec<(RowAt, Value)>,
    /// The total, which may be more.
    pub count: usize,
    /// The result if it is not rows.
    pub text: Option<String>,
    /// Whether there may be more, because the tool gave as many as it was asked for.
    pub is_cut: bool,
}

impl Table {
    pub(super) fn is_whole(&self) -> bool {
        self.rows.len() >= self.count && !self.is_cut
    }

    /// The total in words.
    pub(super) fn total(&self) -> String {
        if self.is_cut { format!("{}+", self.count) } else { self.count.to_string() }
    }
}

impl Scene<'_> {
    /// The result of a call, with its index among the calls of this turn.
    pub(super) fn call(
        &self,
        tool: &ToolDefinition,
        arguments: Map<String, Value>,
        is_vouched_for: bool,
    ) -> Flow<(usize, &CallRecord)> {
        let arguments = Value::Object(arguments);
        let same = |call: &&CallRecord| call.tool == tool.tool && call.arguments == arguments;
        match self.made.iter().enumerate().find(|(_, call)| same(call)) {
            Some(found) => Ok(found),
            None => {
                let tool = tool.clone();
                Err(Box::new(Step::Call(Box::new(Planned { tool, arguments, is_vouched_for }))))
            }
        }
    }

    /// The rows of a list, or the failed call. If only counted, few rows.
    pub(super) fn table(
        &self,
        offer: &Offer,
        arguments: &Map<String, Value>,
        only_count: bool,
    ) -> Flow<Result<Table, CallRecord>> {
        let mut table = Table::default();
        for page in 0..PAGES_MAX {
            let arguments = paged(arguments, offer.page.as_ref(), table.rows.len(), only_count);
            let limit = offer.page.as_ref().filter(|page| page.offset.is_none());
            let limit = limit.and_then(|page| limit_of(&offer.tool, page, &arguments));
            let (at, record) = self.call(&offer.tool, arguments, true)?;
            if has_failed(record) {
                return Ok(Err(record.clone()));
            }
            let json = record.output.as_ref().and_then(rows::json_of);
            let named = offer.kind.as_ref().and_then(|kind| self.known(kind));
            let written = named.filter(|known| !known.tools.is_empty()).and(record.output.as_ref());
            let json = json.or_else(|| rows::records(&written?.text).map(Cow::Owned));
            let json = json.as_deref();
            let Some((rows, count)) = json.and_then(rows::rows) else {
                let text = record.output.as_ref().filter(|_| json.is_none()).map(wording::plain);
                table.text = text.filter(|text| !text.trim().is_empty());
                // One thing instead of a list, or plain text.
                let row = json.cloned().unwrap_or(Value::Null);
                let rows = if row.is_null() { Vec::new() } else { vec![row] };
                table.count = rows.len();
                table.rows =
                    rows.into_iter().map(|r| (RowAt { turn: 0, call: at, row: 0 }, r)).collect();
                return Ok(Ok(table));
            };
            table.count = count;
            let added = rows.len();
            for (row, value) in rows.into_iter().enumerate() {
                table.rows.push((RowAt { turn: 0, call: at, row }, value.clone()));
            }
            let counted =
                json.is_some_and(|json| json.get("count").or(json.get("total")).is_some());
            table.is_cut = !counted && limit.is_some_and(|limit| added as u64 >= limit);
            let has_pages = offer.page.as_ref().is_some_and(|page| page.offset.is_some());
            if only_count || added == 0 || table.is_whole() || !has_pages || page + 1 == PAGES_MAX {
                break;
            }
        }
        Ok(Ok(table))
    }

    /// The row of a thing, if a result of this turn or of the window has it.
    pub(super) fn row_of(&self, thing: &Thing) -> Option<Value> {
        let at = thing.row?;
        let calls = match at.turn {
            0 => self.made,
            turn => &self.recent.iter().find(|record| record.turn == turn)?.calls,
        };
        let output = calls.get(at.call)?.output.as_ref()?;
        let listed = self.known(&thing.kind).is_some_and(|known| {
            known.tools.get("list") == calls.get(at.call).map(|call| &call.tool.name)
        });
        let written = || rows::records(&output.text).filter(|_| listed).map(Cow::Owned);
        let json = rows::json_of(output).or_else(written)?;
        match rows::rows(&json) {
            Some((rows, _)) => rows.get(at.row).map(|row| (*row).clone()),
            None => Some(wording::unframed(&json).clone()),
        }
    }

    pub(super) fn known(&self, kind: &Kind) -> Option<&EntityType> {
        self.packs.entity_type(kind)
    }

    /// The list of a kind.
    pub(super) fn list_of(&self, kind: &Kind) -> Option<&Offer> {
        let mut of_kind = self.offers.iter().filter(|offer| offer.kind.as_ref() == Some(kind));
        of_kind.find(|offer| offer.lists())
    }

    /// What shows one thing of a kind.
    pub(super) fn view_of(&self, kind: &Kind) -> Option<&Offer> {
        let mut of_kind = self.offers.iter().filter(|offer| offer.kind.as_ref() == Some(kind));
        of_kind.find(|offer| offer.shows_one())
    }

    pub(super) fn offer(&self, tool: &ToolName) -> Option<&Offer> {
        self.offers.iter().find(|offer| offer.tool.tool == *tool)
    }

    /// The offer that a call is of: a tool may have several, which differ in what is fixed.
    pub(super) fn offer_of(
        &self,
        tool: &ToolName,
        arguments: &Map<String, Value>,
    ) -> Option<&Offer> {
        let fixed = |offer: &&Offer| {
            offer.tool.tool == *tool
                && offer.fixed.iter().all(|(key, value)| arguments.get(key) == Some(value))
        };
        self.offers.iter().find(fixed).or_else(|| self.offer(tool))
    }

    /// The word for a kind, singular or plural.
    pub(super) fn noun(&self, kind: &Kind, many: bool) -> String {
        use crate::pack::Grammar;
        let wanted = if many { Grammar::Plural } else { Grammar::Singular };
        let cue =
            self.known(kind).and_then(|known| known.cues.iter().find(|cue| cue.grammar == wanted));
        match cue {
            Some(cue) => cue.text.clone(),
            None if many => crate::lexicon::plural(&rows::spoken(kind.as_str())),
            None => rows::spoken(kind.as_str()),
        }
    }

    pub(super) fn say(&self, what: Say, with: &[(&str, &str)]) -> String {
        let said = self.speaks.say(what, with);
        said.or_else(|| crate::lexicon::english().say(what, with)).unwrap_or_default()
    }
}

/// How many results a tool that cannot page gives at most: as many as asked for, or its default.
fn limit_of(tool: &ToolDefinition, page: &Page, arguments: &Map<String, Value>) -> Option<u64> {
    let default = || tool.input_schema.get("properties")?.get(&page.limit)?.get("default");
    arguments.get(&page.limit).or_else(default).and_then(Value::as_u64)
}

fn paged(
    arguments: &Map<String, Value>,
    page: Option<&Page>,
    from: usize,
    only_count: bool,
) -> Map<String, Value> {
    let mut arguments = arguments.clone();
    let Some(page) = page else { return arguments };
    let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    let given = arguments.contains_key(&page.limit);
    // A tool that cannot page is asked for its longest page.
    let length = if only_count && page.offset.is_some() { 1 } else { page.length };
    if !given && (page.offset.is_some() || only_count) {
        put(&mut arguments, &path(&page.limit), length.into());
    }
    if let Some(offset) = page.offset.as_ref().filter(|_| from > 0) {
        put(&mut arguments, &path(offset), from.into());
    }
    arguments
}
