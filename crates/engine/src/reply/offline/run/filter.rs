//! Filters the rows of a list that the tool could not filter.

use serde_json::Value;

use super::super::bounds::is_within;
use super::super::offer::Offer;
use super::super::read::Role;
use super::super::rows;
use super::super::scene::{Said, Scene, Table};
use crate::lexicon::Class;
use crate::pack::{Kind, words_of_identifier};
use crate::search::words::stems;
use crate::session::dialogue::{Query, Term, What};

impl Scene<'_> {
    /// The rows that match a term, or a question if that cannot be decided.
    pub(in crate::reply::offline) fn filter(
        &self,
        mut table: Table,
        term: &Term,
        narrower: Option<&str>,
        offer: &Offer,
    ) -> Result<Table, Box<Said>> {
        let Some(kind) = offer.kind.as_ref() else { return Ok(table) };
        if table.rows.is_empty() {
            // An empty list does not tell what a word would select.
            return match term.what {
                What::Word => Err(Box::new(self.unknown_word(kind, offer, &term.text, &table))),
                _ => Ok(table),
            };
        }
        if !table.is_whole() {
            return Err(Box::new(self.read_in_part(kind, &table, &term.text)));
        }
        let mut words = term.text.clone();
        let fits: Box<dyn Fn(&Value) -> bool> = match &term.what {
            What::Choice { field, value } => {
                let (field, wanted) = (field.clone(), rows::parts(&rows::scalar(value)));
                Box::new(move |row| {
                    let own = rows::field(row, &field).map(|(_, value)| value);
                    let value = own.map(|own| own.get("value").unwrap_or(own));
                    value.is_some_and(|value| rows::parts(&rows::shown(value)) == wanted)
                })
            }
            What::Thing(thing) if thing.kind == *kind && !offer.nests() => {
                let (thing, known) = (thing.clone(), self.known(kind));
                Box::new(move |row| {
                    rows::thing(row, &thing.kind, known).is_some_and(|own| own.is(&thing))
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
            What::Bound { field, .. } => {
                let within = |(_, row): &(_, Value)| is_within(row, &term.what).is_some();
                if !table.rows.iter().all(within) {
                    return Err(Box::new(self.not_by(kind, offer, field)));
                }
                let what = term.what.clone();
                Box::new(move |row| is_within(row, &what).unwrap_or_default())
            }
            What::Word => {
                let key = |words: &str| {
                    let mut rows = table.rows.iter();
                    rows.find_map(|(_, row)| rows::field_with_value(row, words).map(str::to_owned))
                };
                // "access switches": with the noun it is a value, the role "Access Switch".
                let whole = narrower.map(|noun| format!("{words} {noun}"));
                let with_noun = || Some((key(whole.as_deref()?)?, whole.clone()?));
                let found = key(&words).map(|key| (key, words.clone())).or_else(with_noun);
                let flag = words.to_lowercase();
                let is_flag = |(_, row): &(_, Value)| row.get(&flag).is_some_and(Value::is_boolean);
                let flagged = table.rows.iter().any(is_flag);
                match (found, key_of_part(&table, &words)) {
                    (None, _) if flagged => {
                        Box::new(move |row| row.get(&flag) == Some(&Value::Bool(true)))
                    }
                    (Some((key, said)), _) => {
                        words = said;
                        Box::new(move |row| {
                            let own =
                                row.get(&key).map(|value| serde_json::json!({ "only": value }));
                            own.is_some_and(|own| rows::field_with_value(&own, &words).is_some())
                        })
                    }
                    (None, Some(key)) => Box::new(move |row| is_part(row.get(&key), &words)),
                    (None, None) => {
                        return Err(Box::new(self.unknown_word(kind, offer, &words, &table)));
                    }
                }
            }
        };
        table.rows.retain(|(_, row)| fits(row) != term.negated);
        table.count = table.rows.len();
        Ok(table)
    }

    /// Small words that are fields of the rows, which are so or not: "which are not active".
    pub(in crate::reply::offline) fn said_of_rows(
        &self,
        table: &Table,
        query: &Query,
    ) -> Vec<Term> {
        let Some((_, first)) = table.rows.first() else { return Vec::new() };
        let mut terms = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let is_flag = first.get(&part.lower).is_some_and(Value::is_boolean);
            let known = |term: &Term| matches!(&term.what, What::Choice { field, .. } if *field == part.lower);
            if part.role != Role::Filler || !is_flag || query.terms.iter().any(known) {
                continue;
            }
            let denied = self.parts[..at].iter().rev().find(|part| part.role != Role::Filler);
            let value = Value::Bool(!denied.is_some_and(|part| part.is(Class::Not)));
            let (text, field) = (part.text.clone(), part.lower.clone());
            terms.push(Term { text, what: What::Choice { field, value }, negated: false });
        }
        terms
    }

    /// Whether a word only says where a tool looks anyway: "in the database".
    pub(in crate::reply::offline) fn says_nothing(&self, offer: &Offer, term: &Term) -> bool {
        let plain = term.text.chars().all(|c| c.is_lowercase() || c == ' ');
        let server = words_of_identifier(&offer.tool.tool.server);
        let told = |word: &str| {
            let stems = stems(word);
            let described = !stems.is_empty() && stems.iter().all(|s| offer.described.contains(s));
            described || server.iter().any(|own| own == word)
        };
        term.what == What::Word && !term.negated && plain && term.text.split(' ').all(told)
    }

    /// The key of a row that contains a thing of a kind.
    pub(in crate::reply::offline) fn key_of_kind(
        &self,
        row: &Value,
        own: &Kind,
        kind: &Kind,
    ) -> Option<String> {
        let keys =
            row.as_object()?.iter().filter(|(_, value)| value.is_object() || value.is_string());
        let mut of_kind = keys.filter(|(key, _)| {
            let known = self.packs.type_of_key_in(Some(own), key).map(|known| &known.kind);
            known == Some(kind) || key.as_str() == kind.as_str()
        });
        of_kind.next().map(|(key, _)| key.clone())
    }
}

/// Maximum words of a value that a part of it stands for.
const VALUE_WORDS_MAX: usize = 5;

/// The one key under which these words are a part of a value: the company "Fjordline Ferries" for "Fjordline".
fn key_of_part(table: &Table, words: &str) -> Option<String> {
    let rows = table.rows.iter().filter_map(|(_, row)| row.as_object());
    let mut keys: Vec<&String> = Vec::new();
    for (key, _) in rows.flatten().filter(|(_, value)| is_part(Some(value), words)) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    match keys[..] {
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// Whether words are whole words of a short text.
fn is_part(value: Option<&Value>, words: &str) -> bool {
    let Some(text) = value.and_then(Value::as_str) else { return false };
    let (own, said) = (rows::parts(text), rows::parts(words));
    let named = !said.is_empty() && own.len() <= VALUE_WORDS_MAX;
    named && said.iter().all(|word| own.contains(word))
}
