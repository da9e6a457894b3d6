//! What the words of a message select among the rows of a list, where no parameter takes them.
//!
//! A word is a value of a field ("dogs"), a field that is so or not ("vaccinated", "unpaid"), or a field with its value
//! ("tagged office", "high priority", "second floor").
//!
//! Invariant: every word is accounted for, and by a field that the rows have.

use serde_json::Value;

use super::super::rows;
use super::super::scene::{Said, Scene, Table};
use crate::lexicon::{self, Class, Say};
use crate::pack::words_of_identifier;
use crate::search::words::stems;
use crate::session::dialogue::{Query, Spoken, Term, Thing, Want, What};

/// Maximum words of a value that a part of it stands for.
const VALUE_WORDS_MAX: usize = 5;
/// Minimum letters of a word that shares its beginning with the name of a field.
const SHARED_LETTERS_MIN: usize = 4;

/// Whether a row is one of those that are meant.
type Fits = Box<dyn Fn(&Value) -> bool>;

impl Scene<'_> {
    /// Tells the rows that words select; `None` where they select nothing.
    pub(in crate::reply::offline) fn selected_by(
        &self,
        table: &Table,
        words: &str,
    ) -> Option<Fits> {
        if let Some(fits) = self.whole_phrase(table, words) {
            return Some(fits);
        }
        if let Some(fits) = self.mentioning(table, words) {
            return Some(fits);
        }
        let said: Vec<&str> = words.split_whitespace().collect();
        let (mut at, mut all): (usize, Vec<Fits>) = (0, Vec::new());
        while at < said.len() {
            let longest = (at + 1..=said.len())
                .rev()
                .find_map(|end| Some((end, self.whole_phrase(table, &said[at..end].join(" "))?)));
            let (end, fits) = longest.filter(|_| said.len() > 1)?;
            all.push(fits);
            at = end;
        }
        Some(Box::new(move |row| all.iter().all(|fits| fits(row))))
    }

    /// The rows that have words anywhere in their texts: "mention Redis".
    fn mentioning(&self, table: &Table, words: &str) -> Option<Fits> {
        let (first, sought) = words.split_once(' ')?;
        let sought = rows::parts(sought);
        let says = self.language.is(Class::Mentions, &first.to_lowercase()) && !sought.is_empty();
        let has = move |row: &Value| {
            let own = rows::words(row);
            sought.iter().all(|word| own.contains(word))
        };
        let any = says && table.rows.iter().any(|(_, row)| has(row));
        any.then(|| Box::new(has) as Fits)
    }

    /// Drops words of earlier messages in whose place the message has another value of the same field: "and Bob?" after
    /// "tickets of Ann".
    pub(super) fn drop_replaced(&self, query: &mut Query, local: &mut Vec<Term>, table: &Table) {
        let message = self.message.to_lowercase();
        let is_new = |term: &Term| message.contains(&term.text.to_lowercase());
        let key = |term: &Term| {
            let held =
                |(_, row): &(_, Value)| rows::field_with_value(row, &term.text).map(str::to_owned);
            let word = term.what == What::Word && !term.negated;
            word.then(|| table.rows.iter().find_map(held)).flatten()
        };
        let new: Vec<String> = local.iter().filter(|term| is_new(term)).filter_map(key).collect();
        let replaced = |term: &Term| !is_new(term) && key(term).is_some_and(|k| new.contains(&k));
        let old: Vec<Term> = local.iter().filter(|term| replaced(term)).cloned().collect();
        local.retain(|term| !old.contains(term));
        query.terms.retain(|term| !old.contains(term));
    }

    /// The lines of a list that was written as text which have all the words that are left.
    pub(super) fn told_lines(&self, query: &Query, text: &str, left: &[Term]) -> Option<Said> {
        let english = lexicon::english();
        let fits = |line: &&str| {
            let own = rows::parts(line);
            left.iter().all(|term| {
                let mut words = rows::parts(&term.text).into_iter();
                let has =
                    words.all(|word| own.contains(&word) || own.contains(&english.singular(&word)));
                has != term.negated
            })
        };
        let plain = left.iter().all(|term| term.what == What::Word);
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).filter(fits).collect();
        if left.is_empty()
            || !plain
            || lines.is_empty()
            || lines.iter().any(|line| line.ends_with(':'))
        {
            return None;
        }
        let kinds = query.kind.as_ref().map(|kind| self.noun(kind, true)).unwrap_or_default();
        let (count, filters) = (lines.len().to_string(), self.filters(&query.terms));
        let with =
            [("count", count.as_str()), ("kinds", kinds.as_str()), ("filters", filters.as_str())];
        let head = self.say(Say::Counted, &with);
        let text = match query.want {
            Want::Count => head,
            _ => format!("{}\n{}", head.trim_end_matches('.'), lines.join("\n")),
        };
        let mut said = Said { text, dialogue: self.dialogue.clone(), ..Said::default() };
        said.dialogue.open = None;
        said.dialogue.speak(Spoken {
            turn: 0,
            query: query.clone(),
            shown: Vec::new(),
            count: None,
        });
        Some(said)
    }

    /// How many there are of the one thing that is counted, if its row says so: "how many hex bolts do we have?".
    pub(super) fn quantity(&self, query: &Query, table: &Table, shown: &[Thing]) -> Option<String> {
        let ([thing], [(_, row)], Want::Count) = (shown, table.rows.as_slice(), query.want) else {
            return None;
        };
        let english = lexicon::english();
        let named = |term: &Term| {
            let one = english.singular(&term.text.to_lowercase());
            let label = thing.label.to_lowercase();
            term.what == What::Word
                && (label == term.text.to_lowercase() || english.singular(&label) == one)
        };
        let amount = |(key, value): &(&String, &Value)| {
            let words = words_of_identifier(key);
            value.is_number() && words.iter().any(|word| english.is(Class::FieldQuantity, word))
        };
        let (key, value) = row.as_object()?.iter().find(amount)?;
        let told = || format!("{}: {} {}", thing.label, rows::spoken(key), rows::shown(value));
        query.terms.iter().any(named).then(told)
    }

    /// The rows that have a phrase as one value, or one field with its value.
    fn whole_phrase(&self, table: &Table, words: &str) -> Option<Fits> {
        let spoken = words.to_lowercase();
        let meant = self.language.value(&spoken).map(str::to_owned);
        let said = meant.as_deref().unwrap_or(words);
        valued(table, said)
            .or_else(|| flagged(table, said))
            .or_else(|| self.field_and_value(table, said))
            .or_else(|| part(table, said))
    }

    /// "tagged office", "priority high", "second floor".
    fn field_and_value(&self, table: &Table, words: &str) -> Option<Fits> {
        let said: Vec<&str> = words.split_whitespace().collect();
        let (first, rest) = said.split_first()?;
        let (last, before) = said.split_last()?;
        let splits = [(*first, rest), (*last, before)];
        splits.into_iter().filter(|(_, value)| !value.is_empty()).find_map(|(field, value)| {
            let nouns = self.language.nouns(&field.to_lowercase()).iter();
            let mut names = nouns.map(|(noun, _)| noun.as_str()).chain([field]);
            let key = names.find_map(|name| key_named(table, name))?;
            let value = value.join(" ");
            let number = self.language.ordinal(&value.to_lowercase()).map(|n| n.to_string());
            let has = move |row: &Value, value: &str| {
                let own = row.get(&key).map(|own| serde_json::json!({ "only": own }));
                own.is_some_and(|own| {
                    rows::field_with_value(&own, value).is_some() || is_part(own.get("only"), value)
                })
            };
            let values = [Some(value), number];
            let known = values
                .into_iter()
                .flatten()
                .find(|value| table.rows.iter().any(|(_, row)| has(row, value)))?;
            Some(Box::new(move |row: &Value| has(row, &known)) as Fits)
        })
    }
}

/// The rows that have these words as a value of the one field that does in some row.
fn valued(table: &Table, words: &str) -> Option<Fits> {
    let mut rows = table.rows.iter();
    let key = rows.find_map(|(_, row)| rows::field_with_value(row, words))?.to_owned();
    let words = words.to_owned();
    Some(Box::new(move |row| {
        let own = row.get(&key).map(|value| serde_json::json!({ "only": value }));
        own.is_some_and(|own| rows::field_with_value(&own, &words).is_some())
    }))
}

/// The rows of which a field is true, or is not: "vaccinated", "unpaid", "unassigned".
fn flagged(table: &Table, words: &str) -> Option<Fits> {
    let lower = words.to_lowercase();
    if let Some(key) = key_that_is(table, &lower) {
        return Some(Box::new(move |row| is_so(row.get(&key))));
    }
    let mut negative = lexicon::english().words(Class::NegativePrefix);
    let key = negative.find_map(|begin| key_that_is(table, lower.strip_prefix(begin)?))?;
    Some(Box::new(move |row| !is_so(row.get(&key))))
}

/// The key that says whether something is so: a boolean, or a participle such as "assigned" where some rows have
/// nothing.
fn key_that_is(table: &Table, said: &str) -> Option<String> {
    let keys = || table.rows.iter().filter_map(|(_, row)| row.as_object()).flatten();
    let spoken = |key: &str| words_of_identifier(key).join(" ");
    let boolean = keys().find(|(key, value)| value.is_boolean() && spoken(key) == said);
    let open = |key: &str| {
        table.rows.iter().any(|(_, row)| row.get(key).is_some_and(Value::is_null))
            && words_of_identifier(key).first().is_some_and(|word| word == said)
    };
    let led = || {
        keys().find(|(key, value)| {
            let words = words_of_identifier(key);
            value.is_boolean() && words.len() > 1 && words[1..].join(" ") == said
        })
    };
    let found = boolean.or_else(led).or_else(|| keys().find(|(key, _)| open(key)));
    found.map(|(key, _)| key.clone())
}

fn is_so(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(is)) => *is,
        Some(Value::Null) | None => false,
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Array(values)) => !values.is_empty(),
        Some(_) => true,
    }
}

/// The key of the rows that a word names: as it is, as a participle, or by another word for it.
fn key_named(table: &Table, word: &str) -> Option<String> {
    let english = lexicon::english();
    let lower = word.to_lowercase();
    let singular = english.singular(&lower);
    let keys = || table.rows.iter().filter_map(|(_, row)| row.as_object()).flatten();
    let named = |fits: &dyn Fn(&str) -> bool| {
        keys().map(|(key, _)| key).find(|key| {
            words_of_identifier(key).iter().any(|own| fits(own) || fits(&english.singular(own)))
        })
    };
    let same = |own: &str| own == lower || own == singular;
    let stemmed = |own: &str| !stems(&lower).is_empty() && stems(own) == stems(&lower);
    let synonym = |own: &str| english.is_synonym(own, &lower);
    let found = named(&same).or_else(|| named(&stemmed)).or_else(|| named(&synonym));
    found.or_else(|| named(&|own: &str| begins_alike(own, &lower))).cloned()
}

/// Whether two words are forms of one: "tagged" and "tag", "assigned" and "assignee".
pub(in crate::reply::offline) fn begins_alike(one: &str, two: &str) -> bool {
    let shared = one.chars().zip(two.chars()).take_while(|(one, two)| one == two).count();
    let (short, long) = (one.len().min(two.len()), one.len().max(two.len()));
    let formed = shared == short && short >= 3 && long <= short + 3 && two.ends_with("ed");
    let few = long <= shared + 3;
    formed
        || few
            && (shared > SHARED_LETTERS_MIN || shared == SHARED_LETTERS_MIN && short <= shared + 1)
}

/// The rows of which these words are a part of a value, where only one field has them: the company "Fjordline Ferries"
/// for "Fjordline".
fn part(table: &Table, words: &str) -> Option<Fits> {
    let rows = table.rows.iter().filter_map(|(_, row)| row.as_object());
    let mut keys: Vec<&String> = Vec::new();
    for (key, _) in rows.flatten().filter(|(_, value)| is_part(Some(value), words)) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let (key, words) = match keys[..] {
        [only] => (only.clone(), words.to_owned()),
        _ => return None,
    };
    Some(Box::new(move |row| is_part(row.get(&key), &words)))
}

/// Whether words are whole words of a short text.
fn is_part(value: Option<&Value>, words: &str) -> bool {
    let Some(text) = value.and_then(Value::as_str) else { return false };
    let (own, said) = (rows::parts(text), rows::parts(words));
    let named = !said.is_empty() && own.len() <= VALUE_WORDS_MAX;
    named && said.iter().all(|word| own.contains(word))
}
