//! Replies if nothing was done: a failed call, several candidates, a question to the user.

use serde_json::Value;

use super::offer::{Means, Offer};
use super::read::Role;
use super::rows;
use super::scene::{Said, Scene, Table};
use crate::lexicon::{self, Class, Say};
use crate::pack::{Kind, words_of_identifier};
use crate::reply::wording;
use crate::session::dialogue::{Dialogue, Missing, OpenQuestion, Query, Term, Thing};
use crate::session::record::CallRecord;

/// Maximum bytes of a text that is an error, and not something that only begins like one: a log.
const ERROR_BYTES_MAX: usize = 600;

/// Maximum kinds that are named where a name of any kind was not found.
const KINDS_NAMED_MAX: usize = 2;
/// Maximum parameters that are named with their values where a word fits none of them.
const CHOICES_NAMED_MAX: usize = 4;

/// Whether a call failed, which its server may only say in the text: of the whole, or of one of the values that it was
/// given.
pub(super) fn has_failed(record: &CallRecord) -> bool {
    let Some(output) = record.output.as_ref().filter(|_| record.ok()) else { return true };
    let text = output.text.trim();
    let given =
        record.arguments.as_object().into_iter().flatten().flat_map(|(_, value)| match value {
            Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
            value => Vec::from_iter(value.as_str()),
        });
    let of_value = |value: &str| {
        let rests = text.lines().filter_map(|line| line.strip_prefix(value)?.strip_prefix(": "));
        !value.is_empty() && rests.into_iter().any(lexicon::says_error)
    };
    text.len() <= ERROR_BYTES_MAX && lexicon::says_error(text) || given.into_iter().any(of_value)
}

impl Scene<'_> {
    pub(super) fn failed(&self, record: &CallRecord) -> Said {
        let mut dialogue = self.dialogue.clone();
        dialogue.open = None;
        let offer = self.offer(&record.tool);
        let paths = offer.into_iter().flat_map(|offer| &offer.slots);
        let mut paths = paths.filter(|slot| slot.means == Means::Path);
        let path = paths.find_map(|slot| record.arguments.get(slot.name())?.as_str());
        let missing = path.filter(|_| lexicon::says_none(&record.result_text()));
        let text = match missing {
            Some(path) => self.say(Say::NoSuchPath, &[("path", path)]),
            None => offer
                .and_then(|offer| self.no_such_thing(offer, record))
                .unwrap_or_else(|| wording::result(record)),
        };
        Said { text, unanswered: Some("tool_failed"), dialogue, ..Said::default() }
    }

    /// Several things match the words: shows them and asks for one.
    pub(super) fn several(
        &self,
        query: Query,
        term: usize,
        text: &str,
        candidates: Vec<Thing>,
    ) -> Said {
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

    /// A candidate with what distinguishes it from the others.
    pub(super) fn told_apart(&self, thing: &Thing, all: &[Thing]) -> String {
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
        let held = held.or_else(|| self.differing(&row, all));
        match (held, &thing.id) {
            (Some(held), _) => format!("{name} ({held})"),
            (None, Some(id)) => format!("{name} (id {id})"),
            (None, None) => name,
        }
    }

    /// The field of a row, with its value, that all candidates have with other values: the town of a bed.
    fn differing(&self, row: &Value, all: &[Thing]) -> Option<String> {
        let others: Vec<Value> = all.iter().filter_map(|thing| self.row_of(thing)).collect();
        let tells = |(key, value): &(&String, &Value)| {
            let same = others.iter().filter(|other| other.get(*key) == Some(*value)).count();
            let id = words_of_identifier(key).last().is_some_and(|word| word == "id");
            value.is_string() && !id && same == 1 && others.len() == all.len()
        };
        let (key, value) = row.as_object()?.iter().find(tells)?;
        Some(format!("{} {}", rows::spoken(key), rows::shown(value)))
    }

    /// What a failed call says in words, where it says that there is no such thing: "no plant P-99".
    fn no_such_thing(&self, offer: &Offer, record: &CallRecord) -> Option<String> {
        let text = record.result_text().to_lowercase();
        let kind = offer.kind.as_ref().filter(|_| offer.reads)?;
        let noun = self.noun(kind, false);
        let value = offer.own_slots().find_map(|slot| record.arguments.get(slot.name()))?;
        let value = rows::scalar(value);
        let mut none = lexicon::english().words(Class::Unknown);
        let says = none.any(|word| text.contains(&format!("{word} {noun}")));
        let told = (says || lexicon::says_none(&text)) && !value.is_empty();
        let with = [("kinds", noun.as_str()), ("text", value.as_str())];
        told.then(|| self.say(Say::NothingCalled, &with))
    }

    /// A question to the user.
    pub(super) fn asked(
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

    pub(super) fn nothing_called(
        &self,
        query: Query,
        term: usize,
        text: &str,
        kinds: &[Kind],
    ) -> Said {
        let seen = |kind: &Kind| self.list_of(kind).is_some() || self.view_of(kind).is_some();
        if !kinds.is_empty() && !kinds.iter().any(seen) {
            return self.cannot_look(text, kinds);
        }
        // "What is the capital of France?" is about nothing that can be looked up here.
        let plain = !text.contains(|c: char| c.is_ascii_digit());
        let verb = self.parts.iter().any(|part| matches!(part.role, Role::Verb(_)));
        let common = !verb && !text.contains(char::is_uppercase);
        if kinds.is_empty() && plain && (self.is_asked_anew() || common) {
            return self.no_answer(&[text]);
        }
        let kinds = self.one_of(kinds);
        let said = self.say(Say::NothingCalled, &[("kinds", &kinds), ("text", text)]);
        let asked = self.asked(said, query, Missing::Term(term), Vec::new());
        Said { absent: vec![text.to_owned()], ..asked }
    }

    /// No tool can look up such a thing.
    pub(super) fn cannot_look(&self, text: &str, kinds: &[Kind]) -> Said {
        let mut said = self.lost();
        // What was said earlier may answer it.
        said.hint = self.say(Say::CannotLook, &[("kinds", &self.one_of(kinds)), ("text", text)]);
        said
    }

    fn one_of(&self, kinds: &[Kind]) -> String {
        // What was not looked for is not said to be missing.
        let all = if kinds.is_empty() { self.all_kinds() } else { Vec::new() };
        let kinds = if (1..=KINDS_NAMED_MAX).contains(&all.len()) { &all[..] } else { kinds };
        let kinds: Vec<String> = kinds.iter().map(|kind| self.noun(kind, false)).collect();
        if kinds.is_empty() { "thing".to_owned() } else { kinds.join(" or ") }
    }

    /// A list that was not read completely cannot be searched.
    pub(super) fn read_in_part(&self, kind: &Kind, table: &Table, text: &str) -> Said {
        let (read, count) = (table.rows.len().to_string(), table.total());
        let kinds = self.noun(kind, true);
        let with = [("read", read.as_str()), ("count", &count), ("kinds", &kinds), ("text", text)];
        Said {
            text: self.say(Say::ReadInPart, &with),
            unanswered: Some("question"),
            ..Said::default()
        }
    }

    pub(super) fn not_by(&self, kind: &Kind, offer: &Offer, what: &str) -> Said {
        let by: Vec<String> = offer.slots.iter().map(super::offer::Slot::shown).collect();
        let hint = if by.is_empty() { String::new() } else { format!("{}?", by.join(", ")) };
        let with = [("kinds", self.noun(kind, true)), ("what", what.to_owned()), ("hint", hint)];
        let with: Vec<(&str, &str)> =
            with.iter().map(|(place, text)| (*place, text.as_str())).collect();
        let text = self.say(Say::NotBy, &with).trim_end().to_owned();
        Said { text, unanswered: Some("question"), ..Said::default() }
    }

    pub(super) fn unknown_word(
        &self,
        kind: &Kind,
        offer: &Offer,
        word: &str,
        table: &Table,
    ) -> Said {
        let declared = offer.slots.iter().filter(|slot| slot.means == Means::Choice);
        let declared: Vec<String> = declared
            .take(CHOICES_NAMED_MAX)
            .map(|slot| format!("{} ({})", slot.shown(), slot.shape.choices_shown()))
            .collect();
        let hint = match declared.is_empty() {
            false => format!("{}?", declared.join(", ")),
            true => {
                let row = table.rows.first().and_then(|(_, row)| row.as_object());
                let keys = row.into_iter().flatten().map(|(key, _)| rows::spoken(key));
                let keys = keys.take(8).collect::<Vec<_>>().join(", ");
                if keys.is_empty() { "?".into() } else { format!("{keys}?") }
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
    pub(super) fn with_question(&self, said: Said, query: Query, term: &Term) -> Said {
        let at = query.terms.iter().position(|one| one == term).unwrap_or_default();
        self.asked(said.text, query, Missing::Term(at), Vec::new())
    }

    /// Nothing that can be done was recognised.
    pub(super) fn lost(&self) -> Said {
        let mut dialogue = self.dialogue.clone();
        dialogue.open = None;
        Said { unanswered: Some("no_tool"), dialogue, ..Said::default() }
    }
}
