//! All actions besides listing and showing: selects the tool whose name matches the message best.
//!
//! Invariant: a tool is called only if its parameters and name cover every content word.

use serde_json::{Map, Value};

use super::ask::{Ask, Follow};
use super::back::has_failed;
use super::fill::Filled;
use super::fit::{is_choice, said_words, takes_value};
use super::offer::{Means, Offer, Slot};
use super::read::{Part, Role};
use super::rows;
use super::scene::{Flow, Said, Scene};
use super::schema::{get, put};
use crate::lexicon::{self, Class, Family, Say};
use crate::pack::Kind;
use crate::reply::wording;
use crate::search::words::stems;
use crate::session::dialogue::{Missing, Query, RowAt, SHOWN_MAX, Spoken, Thing, Want};
use crate::weights;

/// Maximum bytes of a text that only says that there is nothing.
const NONE_BYTES_MAX: usize = 200;
/// Words that start an SQL statement.
const SQL_VERBS: [&str; 9] =
    ["select", "insert", "update", "delete", "with", "create", "drop", "alter", "pragma"];
/// What a statement creates, drops or alters.
const SQL_OBJECTS: [&str; 9] =
    ["table", "index", "view", "trigger", "unique", "temporary", "temp", "virtual", "schema"];
/// Words of which such a statement has one.
const SQL_WORDS: [&str; 6] = ["from", "into", "table", "set", "values", "index"];

/// Whether a text in lower case has the form of a statement: "drop table", not "drop the table".
fn is_statement(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (verb, next) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match verb {
        "delete" => next == "from",
        "insert" => matches!(next, "into" | "or"),
        "update" => words.any(|word| word == "set"),
        "create" | "drop" | "alter" => SQL_OBJECTS.contains(&next),
        _ => true,
    }
}

/// The folder that a call lists.
fn folder_of<'a>(offer: &Offer, arguments: &'a Map<String, Value>) -> Option<&'a str> {
    let mut paths = offer.slots.iter().filter(|slot| slot.means == Means::Path);
    let slot = paths.next().filter(|_| paths.next().is_none() && offer.is_about_folders())?;
    get(arguments, &slot.shape.path)?.as_str()
}

impl Scene<'_> {
    /// A message that is an SQL statement, for a tool that takes one.
    pub(super) fn statement(&self) -> Flow<Option<Said>> {
        let takes = |offer: &&Offer| offer.slots.iter().any(|slot| slot.means == Means::Sql);
        let offers: Vec<&Offer> = self.offers.iter().filter(takes).collect();
        // "run this: select …"
        let after = self.message.find(": ").unwrap_or_default();
        let begin = |part: &&Part| part.span.start >= after;
        let led = self.parts.iter().filter(begin).take(1);
        let begins = self.parts.iter().take(2).chain(led).find(|part| {
            let first = part.lower.split_whitespace().next().unwrap_or_default();
            SQL_VERBS.contains(&first)
        });
        let Some(part) = begins.filter(|_| !offers.is_empty()) else { return Ok(None) };
        let text = self.message[part.span.start..].trim();
        let lower = text.to_lowercase();
        if !SQL_WORDS.iter().any(|word| lower.split_whitespace().any(|said| said == *word)) {
            return Ok(None);
        }
        if !is_statement(&lower) {
            return Ok(None);
        }
        let verb = stems(lower.split_whitespace().next().unwrap_or_default());
        let reads = verb == stems("select") || verb == stems("with") || verb == stems("pragma");
        let named = |offer: &&&Offer| {
            verb.iter().all(|word| offer.described.contains(word)) && offer.reads == reads
        };
        let Some(offer) =
            offers.iter().find(named).or_else(|| offers.iter().find(|o| o.reads == reads))
        else {
            return Ok(None);
        };
        let Some(slot) = offer.slots.iter().find(|slot| slot.means == Means::Sql) else {
            return Ok(None);
        };
        // "explain: delete from orders": not handed over to be run.
        let runs = |part: &Part| {
            let handed = |word: &str| self.language.is(Class::Runs, word);
            part.role == Role::Filler || part.lower.split_whitespace().all(handed)
        };
        if !reads && !self.parts.iter().take_while(|p| p.span.start < part.span.start).all(runs) {
            let mut said = self.lost();
            said.text = self.say(Say::Deliberated, &[]);
            return Ok(Some(said));
        }
        let mut arguments = offer.fixed.clone();
        super::schema::put(&mut arguments, &slot.shape.path, text.into());
        let want = Want::Act(offer.family.unwrap_or(Family::Show));
        let call = Some((offer.tool.tool.clone(), arguments));
        self.carry_out(Query { want, call, ..Query::default() }, true).map(Some)
    }

    /// Whether the words name a tool that neither lists nor shows things, completely.
    pub(super) fn is_command(&self, ask: &Ask, parts: &[Part]) -> bool {
        let Some((_, offer)) = self.fitting(ask, parts) else { return false };
        let sought = matches!(ask.verb, Some((Family::Find, _)));
        let listed = offer.kind.as_ref().is_some_and(|kind| self.list_of(kind).is_some());
        let searches = offer.family == Some(Family::Find) && listed && !sought;
        let special = !offer.lists() && !offer.shows_one() && !searches;
        let said = said_words(parts);
        let (mut hits, mut all) = (0, 0);
        for noun in offer.nouns() {
            all += 1;
            hits += usize::from(said.contains(noun));
        }
        let own = |text: &str| self.is_own_word(offer, &text.to_lowercase());
        let accounted = ask.phrases.iter().all(|phrase| {
            phrase.is_literal || own(&phrase.text) || takes_value(offer, &phrase.text)
        });
        special && hits > 0 && (hits == all || accounted)
    }

    /// Whether a message starts with a tool's name: "close item 4" for `close_item`.
    pub(super) fn begins_command(&self, parts: &[Part]) -> bool {
        let first = parts.iter().find(|part| part.role != Role::Filler);
        let lead = first.and_then(|part| part.lower.split_whitespace().next()).unwrap_or_default();
        let said = said_words(parts);
        self.offers.iter().any(|offer| {
            let mut own = offer.words.iter().filter(|word| Some(*word) != offer.shared.as_ref());
            let leads = own.next().is_some_and(|word| word == lead);
            let more = own.clone().next().is_some();
            let says = said.len() > 1 && (offer.shared.is_some() || offer.command().is_some());
            leads && (own.any(|word| said.contains(word)) || !more && says)
        })
    }

    /// Whether a tool takes every content word as a number or a choice: "37 celsius in kelvin".
    pub(super) fn is_valued(&self, ask: &Ask) -> bool {
        ask.kinds.is_empty()
            && self.offers.iter().filter(|offer| offer.reads).any(|offer| {
                let chosen = ask.phrases.iter().filter(|phrase| is_choice(offer, &phrase.text));
                chosen.count() > 1 && ask.phrases.iter().all(|p| takes_value(offer, &p.text))
            })
    }

    /// Runs the tool that matches the message best, or asks for what is missing.
    pub(super) fn act(&self, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        let Some((score, offer)) = self.fitting(ask, parts) else { return Ok(None) };
        if score < weights::TOOL_MIN {
            return Ok(None);
        }
        self.act_with(offer, ask, parts)
    }

    /// Whether a part is a verb that gives something other values: "set", "make".
    pub(super) fn alters(&self, part: &Part) -> bool {
        let verb = matches!(part.role, Role::Verb(_) | Role::Filler);
        verb && self.language.is(Class::Alters, &part.lower)
    }

    /// "give 4107 to Tom": does it with the only tool that takes every value of the message and needs no more.
    pub(super) fn act_by_values(&self, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        let alters =
            ask.verb.is_some_and(|(_, at)| self.language.is(Class::Alters, &parts[at].lower));
        let changes = |offer: &&Offer| {
            !offer.reads && offer.family == Some(Family::Change) && needs_one(offer)
        };
        let mut found: Option<(&Offer, Filled)> = None;
        for offer in self.offers.iter().filter(changes).filter(|_| alters) {
            let Ok(filled) = self.fill(offer, ask, parts)? else { continue };
            let given = |slot: &Slot| get(&filled.arguments, &slot.shape.path).is_some();
            let whole = offer.slots.iter().all(|slot| !slot.shape.required || given(slot));
            let changes = filled.changes || filled.arguments.len() > 1;
            let fits = whole && changes && filled.left.is_empty();
            if fits && found.replace((offer, filled)).is_some() {
                return Ok(None);
            }
        }
        let Some((offer, filled)) = found else { return Ok(None) };
        let call = Some((offer.tool.tool.clone(), filled.arguments));
        let (want, kind) = (Want::Act(Family::Change), offer.kind.clone());
        let query = Query { want, kind, call, ..Query::default() };
        self.carry_out(query, filled.is_vouched_for).map(Some)
    }

    /// "close the first one": what is done is the value that the only tool for such a change takes.
    pub(super) fn act_by_choice(&self, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        let Some((_, at)) = ask.verb else { return Ok(None) };
        let verb = stems(&parts[at].lower);
        let value = |slot: &Slot| {
            let done = |choice: &&Value| choice.as_str().is_some_and(|text| stems(text) == verb);
            slot.shape.choices.iter().find(done).cloned()
        };
        let mut found: Vec<(&Offer, &Slot, Value)> = Vec::new();
        let changes = |offer: &&Offer| {
            !offer.reads && offer.family == Some(Family::Change) && needs_one(offer)
        };
        for offer in self.offers.iter().filter(changes).filter(|_| !verb.is_empty()) {
            let chosen = offer.slots.iter().filter_map(|slot| Some((offer, slot, value(slot)?)));
            found.extend(chosen);
        }
        let [(offer, slot, value)] = found.as_slice() else { return Ok(None) };
        let Ok(filled) = self.fill(offer, ask, parts)? else { return Ok(None) };
        let mut arguments = filled.arguments;
        let free = get(&arguments, &slot.shape.path).is_none();
        put(&mut arguments, &slot.shape.path, value.clone());
        let given = |slot: &Slot| get(&arguments, &slot.shape.path).is_some();
        let whole = offer.slots.iter().all(|slot| !slot.shape.required || given(slot));
        if !(free && whole && filled.left.is_empty()) {
            return Ok(None);
        }
        let call = Some((offer.tool.tool.clone(), arguments));
        let (want, kind) = (Want::Act(Family::Change), offer.kind.clone());
        let query = Query { want, kind, call, ..Query::default() };
        self.carry_out(query, filled.is_vouched_for).map(Some)
    }

    /// Does what the message asks for with a tool.
    pub(super) fn act_with(&self, offer: &Offer, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        let mut filled = match self.fill(offer, ask, parts)? {
            Ok(filled) => filled,
            Err(said) => return Ok(Some(*said)),
        };
        self.take_all(offer, ask, &mut filled.arguments);
        let family =
            offer.family.unwrap_or(if offer.reads { Family::Show } else { Family::Change });
        let mut query =
            Query { want: Want::Act(family), kind: offer.kind.clone(), ..Query::default() };
        query.call = Some((offer.tool.tool.clone(), filled.arguments));
        if !filled.left.is_empty() {
            let left = filled.left.join("\", \"");
            let name = offer.words.join(" ");
            let text = self.say(Say::NotUnderstood, &[("understood", &name), ("left", &left)]);
            return Ok(Some(self.asked(text, query, Missing::Words, Vec::new())));
        }
        let sets = offer.words.iter().any(|word| lexicon::english().is(Class::Sets, word));
        if family == Family::Change
            && sets
            && !filled.changes
            && !offer.reads
            && offer.slots.len() > 1
        {
            let own = |slot: &&Slot| !matches!(slot.means, Means::Own(_));
            let needed = offer.slots.iter().filter(own).filter(|slot| slot.shape.required);
            if let Some(slot) = needed.clone().next() {
                return Ok(Some(self.needs(query, slot)));
            }
            let open: Vec<String> = offer.slots.iter().filter(own).map(Slot::shown).collect();
            let what = format!("the new value ({})", open.join(", "));
            let text = self.say(Say::NeedsSlot, &[("what", &what)]);
            return Ok(Some(self.asked(text, query, Missing::Words, Vec::new())));
        }
        self.carry_out(query, filled.is_vouched_for).map(Some)
    }

    /// "Which branches are there?" leaves nothing out: a parameter that can be "all" is.
    fn take_all(&self, offer: &Offer, ask: &Ask, arguments: &mut Map<String, Value>) {
        let continues = ask.follows == Some(Follow::Continues);
        let asks = ask.questions || continues;
        let lists = ask.verb.map_or(asks, |(family, _)| family == Family::List);
        let english = lexicon::english();
        let open: Vec<&Slot> = offer.slots.iter().filter(|slot| slot.shape.required).collect();
        for slot in open.into_iter().filter(|_| lists && offer.reads) {
            let all = |value: &&Value| value.as_str().is_some_and(|v| english.is(Class::All, v));
            if let (None, Some(all)) =
                (get(arguments, &slot.shape.path), slot.shape.choices.iter().find(all))
            {
                put(arguments, &slot.shape.path, all.clone());
            }
        }
    }

    /// Calls the tool of a query, or asks for what is missing.
    pub(super) fn carry_out(&self, query: Query, is_vouched_for: bool) -> Flow<Said> {
        let Some((tool, mut arguments)) = query.call.clone() else { return Ok(self.lost()) };
        let Some(offer) = self.offer_of(&tool, &arguments) else { return Ok(self.lost()) };
        for slot in offer.slots.iter().filter(|slot| slot.shape.required) {
            if let (None, Some(value)) =
                (get(&arguments, &slot.shape.path), self.context_value(offer, slot))
            {
                put(&mut arguments, &slot.shape.path, value);
            }
        }
        let query = Query { call: Some((tool.clone(), arguments.clone())), ..query };
        let given = |slot: &Slot| super::schema::get(&arguments, &slot.shape.path).is_some();
        if let Some(slot) = offer.slots.iter().find(|slot| slot.shape.required && !given(slot)) {
            return Ok(self.needs(query, slot));
        }
        let (at, record) = self.call(&offer.tool, arguments.clone(), is_vouched_for)?;
        if has_failed(record) {
            return Ok(self.failed(record));
        }
        let json = record.output.as_ref().and_then(rows::json_of);
        let json = json.as_deref();
        let rows = json.and_then(rows::rows);
        let mut said = Said {
            text: wording::result(record),
            dialogue: self.dialogue.clone(),
            ..Said::default()
        };
        let text = record.output.as_ref().map_or("", |output| output.plain_text());
        let mut shown: Vec<Thing> = Vec::new();
        // What is shown of one thing is not a list of such things.
        let lists = !offer.own_slots().any(|slot| slot.shape.required);
        if let Some(kind) = offer.kind.as_ref().filter(|_| lists || rows.is_none()) {
            let known = self.known(kind);
            let thing =
                |row: &Value, at| Some(Thing { row: Some(at), ..rows::thing(row, kind, known)? });
            match &rows {
                Some((rows, _)) => {
                    let things = rows.iter().take(SHOWN_MAX).enumerate();
                    shown.extend(
                        things.filter_map(|(row, value)| {
                            thing(value, RowAt { turn: 0, call: at, row })
                        }),
                    );
                }
                None => {
                    let at = RowAt { turn: 0, call: at, row: 0 };
                    let result = (json, text);
                    if let Some(one) = self.thing_of(offer, &arguments, result, at) {
                        said.dialogue.focus_on(one);
                    }
                }
            }
        }
        if offer.family == Some(Family::Remove) {
            self.forget(&mut said.dialogue, offer, &arguments);
        }
        if json.is_none() {
            let kind = offer.kind.clone().unwrap_or_else(|| Kind::new("file"));
            let printed = super::paths::printed(text);
            shown
                .extend(printed.iter().take(SHOWN_MAX).map(|path| super::paths::file(&kind, path)));
            if let (true, Some(folder)) = (shown.is_empty(), folder_of(offer, &arguments)) {
                shown.extend(super::paths::entries(text, folder).into_iter().take(SHOWN_MAX));
            }
            if let [only] = shown.as_slice() {
                said.dialogue.focus_on(only.clone());
            }
        }
        let hollow = |value: &Value| value.as_array().is_some_and(Vec::is_empty) || value.is_null();
        let holds = |object: &serde_json::Map<String, Value>| {
            !object.is_empty() && object.values().all(hollow)
        };
        let searches = matches!(offer.family, Some(Family::Find | Family::List));
        let says_none =
            searches && rows.is_none() && text.len() <= NONE_BYTES_MAX && lexicon::says_none(text);
        let empty = says_none
            || rows.is_some_and(|(rows, _)| rows.is_empty())
            || json.and_then(Value::as_object).is_some_and(holds);
        if empty && offer.reads {
            let with: Vec<String> = arguments
                .iter()
                .map(|(key, value)| format!("{} {}", rows::spoken(key), rows::shown(value)))
                .collect();
            let filters =
                if with.is_empty() { String::new() } else { format!(" ({})", with.join(", ")) };
            let kinds = wording::subject(&tool.name);
            said.text = self.say(Say::NoneMatch, &[("kinds", &kinds), ("filters", &filters)]);
            // What was turned into a search is not answered by finding nothing.
            if searches && !self.is_sought(offer) {
                said.unanswered = Some("not_understood");
            }
        }
        if let Some(thing) = self.asked_about(offer, &arguments).filter(|_| json.is_some()) {
            said.dialogue.focus_on(thing);
        }
        said.dialogue.open = None;
        said.dialogue.speak(Spoken { turn: 0, query, shown, count: None });
        Ok(said)
    }

    /// Whether the message asks for a search, or names what the tool lists, or goes on with its last call.
    fn is_sought(&self, offer: &Offer) -> bool {
        let sought = |part: &Part| {
            matches!(part.role, Role::Verb(Family::Find | Family::List) | Role::Command)
        };
        let said = said_words(self.parts);
        let again = self.dialogue.spoken.first().and_then(|spoken| spoken.query.call.as_ref());
        self.parts.iter().any(sought)
            || offer.nouns().any(|noun| said.contains(noun))
            || again.is_some_and(|(tool, _)| *tool == offer.tool.tool)
            || self.dialogue.open.as_ref().is_some_and(|open| open.calls(&offer.tool.tool))
    }

    /// The question for a missing parameter.
    pub(super) fn needs(&self, query: Query, slot: &Slot) -> Said {
        let family = match query.want {
            Want::Act(family) if !family.reads() => "new ",
            _ => "",
        };
        let kind = query.kind.as_ref().map(|kind| self.noun(kind, false)).unwrap_or_default();
        let own = matches!(slot.means, Means::Own(_))
            || slot.words == ["name"]
            || slot.words == ["title"];
        let english = std::ptr::eq(self.speaks, lexicon::english());
        let what = match own && !kind.is_empty() {
            // Parameters are named in English; articles are not mixed in.
            _ if !english => format!("\"{}\"", slot.shown()),
            true if matches!(slot.means, Means::Own(_)) => {
                format!("the {} of the {kind}", slot.shown())
            }
            true => format!("the {} of the {family}{kind}", slot.shown()),
            false => format!("the {}", slot.shown()),
        };
        let mut text = self.say(Say::NeedsSlot, &[("what", &what)]);
        if !slot.shape.choices.is_empty() {
            let choices = self.say(Say::Possible, &[("choices", &slot.shape.choices_shown())]);
            text = format!("{text} {choices}");
        }
        self.asked(text, query, Missing::Slot(slot.path()), Vec::new())
    }
}

/// Whether it needs to be told which thing to change.
fn needs_one(offer: &Offer) -> bool {
    let numbered = |slot: &Slot| {
        let last = slot.words.last().map(String::as_str);
        slot.means == Means::Number && matches!(last, Some("number" | "id"))
    };
    let own = |slot: &Slot| matches!(slot.means, Means::Own(_)) || numbered(slot);
    offer.slots.iter().any(|slot| slot.shape.required && own(slot))
}
