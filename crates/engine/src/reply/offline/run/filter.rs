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
    /// The rows that match a term, or a question if that cannot be decided. What words mean is told by all rows of the list.
    pub(in crate::reply::offline) fn filter(
        &self,
        mut table: Table,
        term: &Term,
        narrower: Option<&str>,
        (offer, whole): (&Offer, &Table),
    ) -> Result<Table, Box<Said>> {
        let Some(kind) = offer.kind.as_ref() else { return Ok(table) };
        if whole.rows.is_empty() {
            // An empty list does not tell what a word would select.
            return match term.what {
                What::Word => Err(Box::new(self.unknown_word(kind, offer, &term.text, &table))),
                _ => Ok(table),
            };
        }
        if !table.is_whole() {
            return Err(Box::new(self.read_in_part(kind, &table, &term.text)));
        }
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
                    whole.rows.iter().find_map(|(_, row)| self.key_of_kind(row, kind, &thing.kind));
                if let (None, Some(fits)) = (&key, self.selected_by(whole, &thing.label)) {
                    table.rows.retain(|(_, row)| fits(row) != term.negated);
                    table.count = table.rows.len();
                    return Ok(table);
                }
                let Some(key) = key else {
                    return Err(Box::new(self.not_by(kind, offer, &self.noun(&thing.kind, false))));
                };
                let thing = thing.clone();
                Box::new(move |row| {
                    let own = row.get(&key);
                    let plain = own.filter(|_| key.ends_with("_id"));
                    let id = own.and_then(|own| own.get("id")).or(plain).map(rows::scalar);
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
            What::Days { .. } => match self.day_fits(whole, term) {
                Some(fits) => fits,
                None => return Err(Box::new(self.not_by(kind, offer, &term.text))),
            },
            What::Word => {
                // "access switches": with the noun it is a value, the role "Access Switch".
                let noun = narrower.map(|noun| format!("{} {noun}", term.text));
                let with_noun = || self.selected_by(whole, noun.as_deref()?);
                let before = self.preposition_before(&term.text);
                let placed = || self.selected_by(whole, &format!("{} {}", before?, term.text));
                match self.selected_by(whole, &term.text).or_else(with_noun).or_else(placed) {
                    Some(fits) => fits,
                    None => {
                        let words = &term.text;
                        return Err(Box::new(self.unknown_word(kind, offer, words, &table)));
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
        let lower = self.message.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let can =
            |at: usize| self.language.starts(Class::CanYou, words[at..].iter().copied()).is_some();
        // "which units can you convert": what else the server does.
        let done = |word: &str| {
            let own = |other: &Offer| {
                let same = other.tool.tool.server == offer.tool.tool.server;
                same && other.words.first().is_some_and(|first| first == word)
            };
            (0..words.len()).any(can) && self.offers.iter().any(own)
        };
        let told = |word: &str| {
            let stems = stems(word);
            let described = !stems.is_empty() && stems.iter().all(|s| offer.described.contains(s));
            described || done(word) || server.iter().any(|own| own == word)
        };
        term.what == What::Word && !term.negated && plain && term.text.split(' ').all(told)
    }

    /// The small word before some words of the message: "on" of "on duty".
    fn preposition_before(&self, words: &str) -> Option<&str> {
        let at = self.message.find(words)?;
        self.message[..at].split_whitespace().next_back()
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
        let by_id = || {
            let key = format!("{kind}_id");
            row.get(&key).is_some().then_some(key)
        };
        of_kind.next().map(|(key, _)| key.clone()).or_else(by_id)
    }
}
