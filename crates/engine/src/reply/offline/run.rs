//! Carrying out a query that reads: lists, counts, one thing, its fields. What was found is put into words.
//!
//! Invariant: an answer is about all that was asked for. What a tool cannot filter by is filtered here, on
//! whole lists only, and what cannot be filtered at all is asked about.

use serde_json::{Map, Value};

use super::narrow::thing_value;
use super::offer::{Means, Offer};
use super::rows;
use super::scene::{Flow, Said, Scene, Table};
use super::schema::put;
use crate::lexicon::Say;
use crate::pack::Kind;
use crate::reply::wording;
use crate::session::dialogue::{
    Dialogue, Missing, OpenQuestion, Query, RowAt, SHOWN_MAX, Spoken, Term, Thing, Want, What,
};
use crate::session::record::CallRecord;

/// Lists that are put together where a tool takes one value at a time.
const RUNS_MAX: usize = 6;

impl Scene<'_> {
    /// Answers a query that reads.
    pub fn run(&self, query: Query) -> Flow<Said> {
        match query.want {
            Want::Show => self.run_show(query),
            Want::Field => self.run_fields(query),
            _ => self.run_list(query),
        }
    }

    /// A list, or its length.
    pub fn run_list(&self, mut query: Query) -> Flow<Said> {
        let Some(kind) = query.kind.clone() else { return Ok(self.lost()) };
        let kind = self.kind_for(&kind, &query.terms);
        query.kind = Some(kind.clone());
        let Some(offer) = self.list_of(&kind) else { return Ok(self.lost()) };
        let mut terms = query.terms.clone();
        match self.narrower_term(&query, offer)? {
            Ok(more) => terms.extend(more),
            Err(record) => return Ok(self.failed(&record)),
        }
        let mut table = Table { rows: Vec::new(), count: 0, text: None };
        let mut local = Vec::new();
        for run in self.runs(offer, &terms) {
            let (arguments, left) = self.arguments(offer, &run);
            let only_count = query.want == Want::Count && left.is_empty();
            match self.table(offer, &arguments, only_count)? {
                Ok(found) => {
                    table.count += found.count;
                    table.rows.extend(found.rows);
                    table.text = found.text.or(table.text);
                }
                Err(record) => return Ok(self.failed(&record)),
            }
            local = left;
        }
        if let Some(text) = table.text.clone().filter(|_| table.rows.is_empty()) {
            return Ok(self.told_text(query, text, &local));
        }
        if table.rows.is_empty() && local.is_empty() {
            table = self.looser(offer, &terms)?.unwrap_or(table);
        }
        for term in &local {
            table = match self.filter(table, term, &kind, offer) {
                Ok(table) => table,
                Err(said) => return Ok(self.with_question(*said, query, term)),
            };
        }
        Ok(self.told_list(query, &kind, &table))
    }

    /// A list that came as plain text: it is told as it is, or asked about where it had to be filtered.
    fn told_text(&self, query: Query, text: String, left: &[Term]) -> Said {
        if let Some(term) = left.first() {
            let kinds = query.kind.as_ref().map(|kind| self.noun(kind, true)).unwrap_or_default();
            let with = [("kinds", kinds.as_str()), ("text", term.text.as_str()), ("hint", "")];
            return self.asked(
                self.say(Say::UnknownWord, &with),
                query,
                Missing::Words,
                Vec::new(),
            );
        }
        let mut said = Said { text, dialogue: self.dialogue.clone(), ..Said::default() };
        said.dialogue.open = None;
        said.dialogue.speak(Spoken { turn: 0, query, shown: Vec::new(), count: None });
        said
    }

    /// The kind that is meant where another one belongs to the thing: interfaces of a virtual machine.
    fn kind_for(&self, kind: &Kind, terms: &[Term]) -> Kind {
        let known = self.known(kind);
        let instead = terms.iter().find_map(|term| match &term.what {
            What::Thing(thing) => known?.instead.get(&thing.kind),
            _ => None,
        });
        instead.unwrap_or(kind).clone()
    }

    /// What a narrower word adds: the roles that firewalls have.
    fn narrower_term(&self, query: &Query, offer: &Offer) -> Flow<Result<Vec<Term>, CallRecord>> {
        let Some(word) = &query.narrower else { return Ok(Ok(Vec::new())) };
        let known = query.kind.as_ref().and_then(|kind| self.known(kind));
        let Some(meant) = known.and_then(|known| known.narrows.get(word)) else {
            return Ok(Ok(vec![]));
        };
        let text = word.clone();
        let choice = offer.slots.iter().find_map(|slot| Some((slot, slot.shape.choice(word)?)));
        if let Some((slot, value)) = choice {
            let what = What::Choice { field: slot.name().to_owned(), value: value.clone() };
            return Ok(Ok(vec![Term { text, what, negated: false }]));
        }
        let by = known.and_then(|known| known.narrowed_by.as_ref());
        let roles = by.filter(|by| offer.slot_for(by).is_some()).and_then(|by| self.list_of(by));
        let Some(roles) = roles.filter(|_| !meant.is_empty()) else { return Ok(Ok(Vec::new())) };
        let table = match self.table(roles, &roles.fixed, false)? {
            Ok(table) => table,
            Err(record) => return Ok(Err(record)),
        };
        let kind = by.cloned().unwrap_or_else(|| Kind::new("role"));
        let english = crate::lexicon::english();
        let mut terms = Vec::new();
        for (at, row) in table.rows {
            let Some(mut thing) = rows::thing(&row, &kind, self.known(&kind)) else { continue };
            let own: Vec<String> =
                rows::parts(&thing.label).iter().map(|part| english.singular(part)).collect();
            let has = |phrase: &String| rows::parts(phrase).iter().all(|part| own.contains(part));
            if meant.iter().any(has) {
                thing.row = Some(at);
                terms.push(Term { text: text.clone(), what: What::Thing(thing), negated: false });
            }
        }
        Ok(Ok(terms))
    }

    /// One set of terms for each value where a slot takes one at a time.
    fn runs(&self, offer: &Offer, terms: &[Term]) -> Vec<Vec<Term>> {
        let (_, left) = self.arguments(offer, terms);
        let single: Vec<&Term> = left
            .iter()
            .filter(|term| !term.negated && self.slot_value(offer, term).is_some())
            .collect();
        let paths: Vec<String> =
            single.iter().filter_map(|term| Some(self.slot_value(offer, term)?.0.path())).collect();
        let Some(path) = paths.first().filter(|first| paths.iter().all(|path| path == *first))
        else {
            return vec![terms.to_vec()];
        };
        let of_path = |term: &Term| {
            self.slot_value(offer, term).is_some_and(|(slot, _)| slot.path() == *path)
        };
        let runs = single.iter().take(RUNS_MAX).map(|own| {
            terms.iter().filter(|term| !of_path(term) || *term == *own).cloned().collect()
        });
        runs.collect()
    }

    /// An empty list may only mean that a text was written another way: the whole list is compared without
    /// regard to case.
    fn looser(&self, offer: &Offer, terms: &[Term]) -> Flow<Option<Table>> {
        let is_text = |term: &&Term| match &term.what {
            What::Choice { field, .. } => {
                let slot = offer.slots.iter().find(|slot| slot.name() == field);
                slot.is_some_and(|slot| slot.means == Means::Text)
            }
            _ => false,
        };
        let loose: Vec<Term> = terms.iter().filter(is_text).cloned().collect();
        if loose.is_empty() {
            return Ok(None);
        }
        let strict: Vec<Term> = terms.iter().filter(|term| !is_text(term)).cloned().collect();
        let (arguments, _) = self.arguments(offer, &strict);
        let Ok(mut table) = self.table(offer, &arguments, false)? else { return Ok(None) };
        table.rows.retain(|(_, row)| {
            loose.iter().all(|term| match &term.what {
                What::Choice { field, value } => rows::field(row, field).is_some_and(|(_, own)| {
                    rows::parts(&rows::shown(own)) == rows::parts(&rows::scalar(value))
                }),
                _ => true,
            })
        });
        table.count = table.rows.len();
        Ok(Some(table))
    }

    /// The rows that a term leaves; what to ask where it cannot be told.
    fn filter(
        &self,
        mut table: Table,
        term: &Term,
        kind: &Kind,
        offer: &Offer,
    ) -> Result<Table, Box<Said>> {
        if table.rows.is_empty() {
            return Ok(table);
        }
        let words = term.text.clone();
        let fits: Box<dyn Fn(&Value) -> bool> = match &term.what {
            What::Choice { field, value } => {
                let (field, wanted) = (field.clone(), rows::parts(&rows::scalar(value)));
                Box::new(move |row| {
                    let own = rows::field(row, &field).map(|(_, value)| value);
                    let value = own.map(|own| own.get("value").unwrap_or(own));
                    value.is_some_and(|value| rows::parts(&rows::shown(value)) == wanted)
                })
            }
            What::Thing(thing) => {
                let key =
                    table.rows.iter().find_map(|(_, row)| self.key_of_kind(row, kind, &thing.kind));
                let Some(key) = key else {
                    return Err(Box::new(self.not_by(kind, offer, &self.noun(&thing.kind, false))));
                };
                let thing = thing.clone();
                Box::new(move |row| {
                    let own = row.get(&key);
                    let id = own.and_then(|own| own.get("id")).map(rows::scalar);
                    match (id, &thing.id) {
                        (Some(one), Some(two)) => one == *two,
                        _ => own.is_some_and(|own| {
                            rows::fit(&rows::shown(own), &thing.label).is_some()
                        }),
                    }
                })
            }
            What::Word => {
                let key =
                    table.rows.iter().find_map(|(_, row)| rows::field_with_value(row, &words));
                let Some(key) = key.map(str::to_owned) else {
                    return Err(Box::new(self.unknown_word(kind, offer, &words, &table)));
                };
                Box::new(move |row| {
                    let own = row.get(&key).map(|value| serde_json::json!({ "only": value }));
                    own.is_some_and(|own| rows::field_with_value(&own, &words).is_some())
                })
            }
        };
        table.rows.retain(|(_, row)| fits(row) != term.negated);
        table.count = table.rows.len();
        Ok(table)
    }

    /// The key of a row that holds a thing of a kind.
    fn key_of_kind(&self, row: &Value, own: &Kind, kind: &Kind) -> Option<String> {
        let keys =
            row.as_object()?.iter().filter(|(_, value)| value.is_object() || value.is_string());
        let mut of_kind = keys.filter(|(key, _)| {
            let known = self.packs.type_of_key_in(Some(own), key).map(|known| &known.kind);
            known == Some(kind) || key.as_str() == kind.as_str()
        });
        of_kind.next().map(|(key, _)| key.clone())
    }

    fn told_list(&self, query: Query, kind: &Kind, table: &Table) -> Said {
        let nouns = match &query.narrower {
            Some(word) => format!("{word}s"),
            None => self.noun(kind, true),
        };
        let filters = self.filters(&query.terms);
        let known = self.known(kind);
        let shown: Vec<Thing> = table
            .rows
            .iter()
            .take(SHOWN_MAX)
            .filter_map(|(at, row)| {
                Some(Thing { row: Some(*at), ..rows::thing(row, kind, known)? })
            })
            .collect();
        let count = table.count.to_string();
        let text = match (table.count, query.want) {
            (0, _) => self.say(Say::NoneMatch, &[("kinds", &nouns), ("filters", &filters)]),
            (_, Want::Count) => {
                let noun = if table.count == 1 { self.noun(kind, false) } else { nouns };
                self.say(
                    Say::Counted,
                    &[("count", &count), ("kinds", &noun), ("filters", &filters)],
                )
            }
            (1, _) => {
                let head = format!("1 {}{filters}:", self.noun(kind, false));
                wording::list(&head, &values(table), table.count)
            }
            _ => wording::list(&format!("{count} {nouns}{filters}:"), &values(table), table.count),
        };
        let mut said = Said { text, dialogue: self.dialogue.clone(), ..Said::default() };
        for term in query.terms.iter().rev() {
            if let What::Thing(thing) = &term.what {
                said.dialogue.focus_on(thing.clone());
            }
        }
        if let ([only], 1) = (shown.as_slice(), table.count) {
            said.dialogue.focus_on(only.clone());
        }
        said.dialogue.open = None;
        said.dialogue.speak(Spoken { turn: 0, query, shown, count: Some(table.count) });
        said
    }

    /// What a list was narrowed by, in words.
    fn filters(&self, terms: &[Term]) -> String {
        let shown = |term: &Term| {
            let text = match &term.what {
                What::Thing(thing) if thing.kind.as_str() == "*" => thing.label.clone(),
                What::Thing(thing) => format!("{} {}", self.noun(&thing.kind, false), thing.label),
                What::Choice { field, value } => {
                    format!("{} {}", rows::spoken(field), rows::scalar(value))
                }
                What::Word => format!("\"{}\"", term.text),
            };
            if term.negated { format!("not {text}") } else { text }
        };
        match terms {
            [] => String::new(),
            terms => format!(" ({})", terms.iter().map(shown).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Everything about one thing.
    fn run_show(&self, mut query: Query) -> Flow<Said> {
        let Some(thing) = query.terms.iter().find_map(as_thing).cloned() else {
            return Ok(self.lost());
        };
        let (row, thing) = match self.whole(&thing)? {
            Ok(found) => found,
            Err(Unseen::Failed(record)) => {
                let mut said = self.failed(&record);
                said.dialogue.speak(Spoken { turn: 0, query, shown: Vec::new(), count: None });
                return Ok(said);
            }
            Err(Unseen::Several(things)) => {
                return Ok(self.several(query, 0, &thing.label, things));
            }
            Err(Unseen::None) => {
                return Ok(self.nothing_called(
                    query,
                    0,
                    &thing.label,
                    std::slice::from_ref(&thing.kind),
                ));
            }
        };
        if let Some((rows, count)) = rows::rows(&row).filter(|(rows, _)| rows.len() > 1) {
            let at = thing.row.unwrap_or(RowAt { turn: 0, call: 0, row: 0 });
            let rows = rows
                .into_iter()
                .enumerate()
                .map(|(row, value)| (RowAt { row, ..at }, value.clone()));
            let table = Table { rows: rows.collect(), count, text: None };
            let kind = thing.kind.clone();
            return Ok(self.told_list(query, &kind, &table));
        }
        for term in &mut query.terms {
            if let What::Thing(known) = &mut term.what
                && known.is(&thing)
            {
                *known = thing.clone();
            }
        }
        let text = wording::thing_shown(&row);
        Ok(self.told_thing(query, thing, text))
    }

    fn told_thing(&self, query: Query, thing: Thing, text: String) -> Said {
        let mut said = Said { text, dialogue: self.dialogue.clone(), ..Said::default() };
        said.dialogue.open = None;
        said.dialogue.focus_on(thing.clone());
        said.dialogue.speak(Spoken { turn: 0, query, shown: Vec::new(), count: None });
        said
    }

    /// All that the server says of a thing.
    fn whole(&self, thing: &Thing) -> Flow<Result<(Value, Thing), Unseen>> {
        let known = self.known(&thing.kind);
        if let Some(offer) = self.view_of(&thing.kind)
            && let Some(arguments) = self.own_arguments(offer, thing)
        {
            let (at, record) = self.call(&offer.tool, arguments, true)?;
            if !record.ok() {
                return Ok(Err(Unseen::Failed(Box::new(record.clone()))));
            }
            let output = record.output.as_ref();
            let row = output.and_then(rows::json_of).map(std::borrow::Cow::into_owned);
            let row = row.unwrap_or_else(|| output.map_or(Value::Null, |o| o.text.clone().into()));
            let found = rows::thing(&row, &thing.kind, known).filter(|_| row.is_object());
            let mut found = found.unwrap_or_else(|| thing.clone());
            found.row = Some(RowAt { turn: 0, call: at, row: 0 });
            return Ok(Ok((row, found)));
        }
        if let Some(offer) = self.list_of(&thing.kind)
            && let Some(arguments) = self.own_arguments(offer, thing)
        {
            let table = match self.table(offer, &arguments, false)? {
                Ok(table) => table,
                Err(record) => return Ok(Err(Unseen::Failed(Box::new(record)))),
            };
            let mut found: Vec<(Value, Thing)> = Vec::new();
            for (at, row) in table.rows {
                if let Some(one) = rows::thing(&row, &thing.kind, known) {
                    found.push((row, Thing { row: Some(at), ..one }));
                }
            }
            return Ok(match found.len() {
                0 => Err(Unseen::None),
                1 => Ok(found.remove(0)),
                _ => Err(Unseen::Several(found.into_iter().map(|(_, thing)| thing).collect())),
            });
        }
        Ok(match self.row_of(thing) {
            Some(row) => Ok((row, thing.clone())),
            None => Err(Unseen::None),
        })
    }

    /// The arguments that identify a thing to a tool about its kind.
    pub fn own_arguments(&self, offer: &Offer, thing: &Thing) -> Option<Map<String, Value>> {
        let mut arguments = offer.fixed.clone();
        let slot = offer.own_slots().find(|slot| thing_value(slot, thing).is_some())?;
        let value = thing_value(slot, thing)?;
        let value = if slot.shape.many { Value::Array(vec![value]) } else { value };
        // A list that is asked for one thing wants all that is known of it.
        for (generic, _) in self.packs.generic() {
            if generic.list == offer.tool.tool.name {
                arguments.shift_remove(&generic.fields);
            }
        }
        put(&mut arguments, &slot.shape.path, value);
        Some(arguments)
    }

    /// Fields of things, from what is known already, else from the server.
    fn run_fields(&self, query: Query) -> Flow<Said> {
        let things: Vec<Thing> = query.terms.iter().filter_map(as_thing).cloned().collect();
        let mut lines = Vec::new();
        let mut told: Vec<Thing> = Vec::new();
        for thing in &things {
            let mut seen = self.row_of(thing).map(|row| (row, thing.clone()));
            for field in &query.fields {
                let name = self.attribute(&thing.kind, field);
                let holds = |row: &Value| rows::field(row, &name).is_some();
                if !seen.as_ref().is_some_and(|(row, _)| holds(row)) {
                    seen = match self.whole(thing)? {
                        Ok(found) => Some(found),
                        Err(Unseen::Failed(record)) => return Ok(self.failed(&record)),
                        Err(Unseen::Several(things)) => {
                            return Ok(self.several(query, 0, &thing.label, things));
                        }
                        Err(Unseen::None) => {
                            return Ok(self.nothing_called(
                                query,
                                0,
                                &thing.label,
                                std::slice::from_ref(&thing.kind),
                            ));
                        }
                    };
                }
                let Some((row, found)) = &seen else { continue };
                match rows::field(row, &name) {
                    Some((key, value)) if is_empty(value) => {
                        let with = [("thing", found.label.as_str()), ("field", &rows::spoken(key))];
                        lines.push(self.say(Say::EmptyField, &with));
                    }
                    Some((key, value)) => {
                        lines.push(format!(
                            "{}: {} {}",
                            found.label,
                            rows::spoken(key),
                            rows::shown(value)
                        ));
                    }
                    None => return self.related(&query, found, row, field),
                }
            }
            told.extend(seen.map(|(_, thing)| thing));
        }
        let Some(first) = told.first().cloned() else { return Ok(self.lost()) };
        Ok(self.told_thing(query, first, lines.join("\n")))
    }

    /// A field that is a kind of things: those that the row holds, or those that belong to the thing.
    fn related(&self, query: &Query, thing: &Thing, row: &Value, field: &str) -> Flow<Said> {
        let kind = query.kind.clone().filter(|kind| rows::spoken(kind.as_str()) == field);
        let known = kind.as_ref().and_then(|kind| self.known(kind));
        let inner = known.map(|known| rows::inner_things(row, known)).unwrap_or_default();
        if !inner.is_empty() {
            let names: Vec<&str> = inner.iter().map(|thing| thing.label.as_str()).collect();
            let text = format!("{}: {field} {}", thing.label, names.join(", "));
            let mut said = self.told_thing(query.clone(), thing.clone(), text);
            if let [only] = inner.as_slice() {
                said.dialogue.focus_on(only.clone());
            }
            return Ok(said);
        }
        let term =
            Term { text: thing.label.clone(), what: What::Thing(thing.clone()), negated: false };
        let listable = kind.as_ref().filter(|kind| {
            let kind = self.kind_for(kind, std::slice::from_ref(&term));
            self.list_of(&kind).is_some_and(|offer| self.takes(offer, &term))
        });
        if let Some(kind) = listable {
            let want = Want::List;
            let query =
                Query { want, kind: Some(kind.clone()), terms: vec![term], ..Query::default() };
            return self.run_list(query);
        }
        let text = self.say(Say::NoField, &[("field", field), ("thing", &thing.label)]);
        let mut said = self.told_thing(query.clone(), thing.clone(), text);
        said.unanswered = Some("not_understood");
        Ok(said)
    }

    /// The field that people mean by a word, as the pack says.
    fn attribute(&self, kind: &Kind, field: &str) -> String {
        let known = self.known(kind);
        known
            .and_then(|known| known.attributes.get(field).cloned())
            .unwrap_or_else(|| field.to_owned())
    }

    /// A call that failed.
    pub fn failed(&self, record: &CallRecord) -> Said {
        let mut dialogue = self.dialogue.clone();
        dialogue.open = None;
        Said {
            text: wording::result(record),
            unanswered: Some("tool_failed"),
            dialogue,
            ..Said::default()
        }
    }

    /// Several things fit the words: they are shown, and one of them is to be chosen.
    pub fn several(&self, query: Query, term: usize, text: &str, candidates: Vec<Thing>) -> Said {
        let question = self.say(Say::WhichOne, &[("text", text)]);
        let lines: Vec<String> = candidates
            .iter()
            .take(super::find::CANDIDATES_MAX)
            .enumerate()
            .map(|(at, thing)| format!("{}. {}", at + 1, self.told_apart(thing, &candidates)))
            .collect();
        self.asked(
            format!("{question}\n{}", lines.join("\n")),
            query,
            Missing::Term(term),
            candidates,
        )
    }

    /// A candidate with what sets it apart from the others.
    fn told_apart(&self, thing: &Thing, all: &[Thing]) -> String {
        let name = format!("{} {}", self.noun(&thing.kind, false), thing.label);
        let same = all
            .iter()
            .filter(|other| other.label == thing.label && other.kind == thing.kind)
            .count();
        if same < 2 {
            return name;
        }
        let row = self.row_of(thing).unwrap_or_default();
        let held = row.as_object().into_iter().flatten().find_map(|(key, value)| {
            let known = self.packs.type_of_key_in(Some(&thing.kind), key)?;
            known.place.then(|| format!("{} {}", rows::spoken(key), rows::shown(value)))
        });
        match (held, &thing.id) {
            (Some(held), _) => format!("{name} ({held})"),
            (None, Some(id)) => format!("{name} (id {id})"),
            (None, None) => name,
        }
    }

    /// A question back.
    pub fn asked(
        &self,
        text: String,
        query: Query,
        missing: Missing,
        candidates: Vec<Thing>,
    ) -> Said {
        let mut dialogue: Dialogue = self.dialogue.clone();
        if let [only] = candidates.as_slice() {
            dialogue.focus_on(only.clone());
        }
        dialogue.open = Some(OpenQuestion { query, missing, candidates });
        Said { text, unanswered: Some("question"), dialogue, ..Said::default() }
    }

    pub fn nothing_called(&self, query: Query, term: usize, text: &str, kinds: &[Kind]) -> Said {
        let kinds: Vec<String> = kinds.iter().map(|kind| self.noun(kind, false)).collect();
        let kinds = if kinds.is_empty() { "thing".to_owned() } else { kinds.join(", ") };
        let text = self.say(Say::NothingCalled, &[("kinds", &kinds), ("text", text)]);
        self.asked(text, query, Missing::Term(term), Vec::new())
    }

    fn not_by(&self, kind: &Kind, offer: &Offer, what: &str) -> Said {
        let by: Vec<String> = offer.slots.iter().map(super::offer::Slot::shown).collect();
        let hint = format!("{}?", by.join(", "));
        let with = [("kinds", self.noun(kind, true)), ("what", what.to_owned()), ("hint", hint)];
        let with: Vec<(&str, &str)> =
            with.iter().map(|(place, text)| (*place, text.as_str())).collect();
        Said { text: self.say(Say::NotBy, &with), unanswered: Some("question"), ..Said::default() }
    }

    fn unknown_word(&self, kind: &Kind, offer: &Offer, word: &str, table: &Table) -> Said {
        let declared = offer.slots.iter().find(|slot| slot.means == Means::Choice);
        let hint = match declared {
            Some(slot) => format!("{} ({})?", slot.shown(), slot.shape.choices_shown()),
            None => {
                let (_, row) = &table.rows[0];
                let keys = row.as_object().into_iter().flatten().map(|(key, _)| rows::spoken(key));
                format!("{}?", keys.take(8).collect::<Vec<_>>().join(", "))
            }
        };
        let with = [("kinds", self.noun(kind, true)), ("text", word.to_owned()), ("hint", hint)];
        let with: Vec<(&str, &str)> =
            with.iter().map(|(place, text)| (*place, text.as_str())).collect();
        Said {
            text: self.say(Say::UnknownWord, &with),
            unanswered: Some("question"),
            ..Said::default()
        }
    }

    /// A question about a term that the list could not be filtered by.
    fn with_question(&self, said: Said, query: Query, term: &Term) -> Said {
        let at = query.terms.iter().position(|one| one == term).unwrap_or_default();
        self.asked(said.text, query, Missing::Term(at), Vec::new())
    }

    /// Nothing that can be done was recognised.
    pub fn lost(&self) -> Said {
        let mut dialogue = self.dialogue.clone();
        dialogue.open = None;
        Said { unanswered: Some("no_tool"), dialogue, ..Said::default() }
    }
}

/// Why a thing could not be seen.
enum Unseen {
    Failed(Box<CallRecord>),
    Several(Vec<Thing>),
    None,
}

pub(super) fn as_thing(term: &Term) -> Option<&Thing> {
    match &term.what {
        What::Thing(thing) => Some(thing),
        _ => None,
    }
}

fn values(table: &Table) -> Vec<&Value> {
    table.rows.iter().map(|(_, row)| row).collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}
