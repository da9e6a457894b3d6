//! An answer that holds more than the value that was asked for: "ann@example.org, and her phone is 0660 12345".
//!
//! The value has the form that its parameter asks for, or ends where the answer names another parameter. What names one
//! goes there; the rest is asked about.
//!
//! Invariant: no word of the answer is put into a parameter that it does not belong to, and none is dropped silently.

use serde_json::{Map, Value};

use super::super::offer::{Means, Offer, Slot};
use super::super::scene::{Flow, Said, Scene};
use super::super::schema::{get, put};
use crate::lexicon::{self, Class, Say};
use crate::session::dialogue::{Missing, OpenQuestion, Query, Term, What};

/// Maximum words before the name of a parameter: "and his".
const LEADING_MAX: usize = 4;

/// A part of an answer, between commas and "and".
#[derive(Debug, Clone, Copy)]
struct Clause<'t> {
    text: &'t str,
    start: usize,
}

/// What an answer gives.
struct Given<'t> {
    value: Value,
    others: Vec<(Slot, Value)>,
    left: Vec<&'t str>,
}

impl Scene<'_> {
    /// The reply to an answer that holds more than the value; `None` where it is the value alone.
    pub(super) fn with_more(
        &self,
        open: &OpenQuestion,
        slot: &Slot,
        text: &str,
    ) -> Flow<Option<Said>> {
        let Some((tool, arguments)) = &open.query.call else { return Ok(None) };
        let Some(offer) = self.offer_of(tool, arguments) else { return Ok(None) };
        let Some(given) = self.given(offer, arguments, slot, text) else {
            // What is no address is none, whatever else it says.
            let asks = is_email(slot) && text.split_whitespace().count() <= 2;
            return Ok(asks.then(|| self.needs(open.query.clone(), slot)));
        };
        let mut query = open.query.clone();
        let understood = format!("{} {}", slot.shown(), super::rows::shown(&given.value));
        if let Some((_, arguments)) = &mut query.call {
            put(arguments, &slot.shape.path, listed(slot, given.value));
            for (other, value) in given.others {
                put(arguments, &other.shape.path, listed(&other, value));
            }
        }
        if given.left.is_empty() {
            return self.carry_out(query, true).map(Some);
        }
        let left = given.left.join("\", \"");
        query.terms = vec![Term { text: left, what: What::Word, negated: false }];
        Ok(Some(self.without_left(&understood, query)))
    }

    /// Whether the words that were not understood may be left out.
    fn without_left(&self, understood: &str, query: Query) -> Said {
        let left = query.terms.first().map(|term| term.text.clone()).unwrap_or_default();
        let with = [("understood", understood), ("left", left.as_str())];
        self.asked(self.say(Say::LeftOut, &with), query, Missing::Rest, Vec::new())
    }

    /// "No wait, his email is …": another value, before the rest is left out or not.
    pub(super) fn with_other(&self, open: &OpenQuestion) -> Option<Said> {
        let (tool, arguments) = open.query.call.as_ref()?;
        let offer = self.offer_of(tool, arguments)?;
        let (mut query, mut understood) = (open.query.clone(), Vec::new());
        for clause in self.clauses(self.message.trim()) {
            if self.is_small(clause.text) {
                continue;
            }
            let (slot, value) = self.other_value(offer, &Map::new(), None, clause.text)?;
            understood.push(format!("{} {}", slot.shown(), super::super::rows::shown(&value)));
            put(&mut query.call.as_mut()?.1, &slot.shape.path, listed(&slot, value));
        }
        (!understood.is_empty()).then(|| self.without_left(&understood.join(", "), query))
    }

    /// What an answer gives besides the value; `None` if it is the value as a whole, or no such value at all.
    fn given<'t>(
        &self,
        offer: &Offer,
        arguments: &Map<String, Value>,
        slot: &Slot,
        text: &'t str,
    ) -> Option<Given<'t>> {
        let clauses = self.clauses(text);
        let other =
            |clause: &Clause<'_>| self.other_value(offer, arguments, Some(slot), clause.text);
        let formed = |word: &&str| match is_email(slot) {
            true => is_address(word),
            false => slot.means == Means::Number && slot.shape.value(word).is_some(),
        };
        let words = || text.split_whitespace().map(trimmed);
        let mut fitting = words().filter(|word| formed(word));
        if let Some(word) = fitting.next().filter(|_| fitting.next().is_none()) {
            let (mut others, mut left) = (Vec::new(), Vec::new());
            for clause in &clauses {
                let own = clause.text.split_whitespace().any(|one| trimmed(one) == word);
                match other(clause) {
                    Some(found) if !own => others.push(found),
                    _ if own && self.says_only(offer, slot, clause.text, word) => {}
                    _ if !own && self.is_small(clause.text) => {}
                    _ => left.push(*clause),
                }
            }
            let value = slot.shape.value(word)?;
            return Some(Given { value, others, left: joined(text, &left) });
        }
        if is_email(slot) || slot.means == Means::Number {
            return None;
        }
        let free =
            matches!(slot.means, Means::Text | Means::Own(_)) && slot.shape.choices.is_empty();
        let chosen = !slot.shape.choices.is_empty()
            && clauses.first().is_some_and(|first| slot.shape.choice(first.text).is_some());
        let named = slot.words.last().is_some_and(|word| word == "name");
        let ends = |clause: &Clause<'_>| {
            let first = clause.text.split_whitespace().next().unwrap_or_default().to_lowercase();
            let told = named && self.language.is(Class::Person, &first);
            chosen || told || other(clause).is_some()
        };
        let at = clauses.iter().skip(1).position(ends)? + 1;
        if !(free || chosen) {
            return None;
        }
        let before = text[..clauses[at].start].trim_end();
        let before = before.trim_end_matches([',', ';', '.', ' ']);
        let before = self.without_and(before);
        let (mut others, mut left) = (Vec::new(), Vec::new());
        for clause in &clauses[at..] {
            match other(clause) {
                Some(found) => others.push(found),
                None => left.push(*clause),
            }
        }
        let value = slot.shape.value(before)?;
        Some(Given { value, others, left: joined(text, &left) })
    }

    /// The parameter that a clause names, with its value: "his phone is 0660 12345".
    fn other_value(
        &self,
        offer: &Offer,
        arguments: &Map<String, Value>,
        asked: Option<&Slot>,
        clause: &str,
    ) -> Option<(Slot, Value)> {
        let english = lexicon::english();
        let words: Vec<&str> = clause.split_whitespace().map(trimmed).collect();
        let lead =
            words.iter().take(LEADING_MAX).take_while(|word| self.is_small_word(word)).count();
        let open = |slot: &&Slot| {
            asked.is_none_or(|asked| slot.path() != asked.path())
                && get(arguments, &slot.shape.path).is_none()
        };
        let free = || offer.slots.iter().filter(open);
        if let [only] = &words[lead.min(words.len())..]
            && is_address(only)
        {
            let mut slots = free().filter(|slot| is_email(slot));
            let slot = slots.next().filter(|_| slots.next().is_none())?;
            return Some((slot.clone(), slot.shape.value(only)?));
        }
        let name = words.get(lead)?.to_lowercase();
        let field = self.language.field(std::iter::once(name.as_str())).map(|(field, _)| field);
        let is_named = |slot: &&Slot| {
            let own = slot.words.join(" ");
            own == name
                || own == english.singular(&name)
                || field == Some(slot.name())
                || offer.is_called(slot, &name)
        };
        let slot = free().find(is_named)?;
        let rest = &words[lead + 1..];
        let small = rest.iter().take_while(|word| self.is_small_word(word)).count();
        let said = rest.get(small).filter(|word| !word.is_empty())?;
        let at = clause.rfind(rest.last()?)? + rest.last()?.len();
        let from = clause.find(&name_in(clause, &name)?)? + name.len();
        let from = from + clause[from..].find(*said)?;
        let value = clause.get(from..at)?;
        let fits = !is_email(slot) || is_address(value);
        let value = slot.shape.choice(value).cloned().or_else(|| slot.shape.value(value));
        Some((slot.clone(), value.filter(|_| fits)?))
    }

    /// Whether a clause says nothing besides a value and the name of its parameter: "it is …", "my e-mail: …".
    fn says_only(&self, offer: &Offer, slot: &Slot, clause: &str, value: &str) -> bool {
        let unit = |word: &str| {
            let stems = crate::search::words::stems(word);
            let own = crate::search::words::stems(&slot.shape.description);
            !stems.is_empty() && stems.iter().all(|stem| own.contains(stem))
        };
        clause.split_whitespace().map(trimmed).all(|word| {
            let lower = word.to_lowercase();
            let named = slot.words.contains(&lexicon::english().singular(&lower));
            let field = self.language.field(std::iter::once(lower.as_str()));
            let field = field.is_some_and(|(field, _)| field == slot.name());
            let named = named || field || offer.is_called(slot, &lower) || unit(&lower);
            word == value || named || self.is_small_word(word)
        })
    }

    fn is_small(&self, clause: &str) -> bool {
        clause.split_whitespace().map(trimmed).all(|word| self.is_small_word(word))
    }

    fn is_small_word(&self, word: &str) -> bool {
        let lower = word.to_lowercase();
        let small = [
            Class::Filler,
            Class::And,
            Class::With,
            Class::Article,
            Class::Its,
            Class::Their,
            Class::Person,
            Class::It,
            Class::Auxiliary,
            Class::Yes,
            Class::No,
            Class::Wait,
            Class::Sorry,
        ];
        lower.is_empty() || small.iter().any(|class| self.language.is(*class, &lower))
    }

    /// The parts of an answer between commas, ends of sentences and "and".
    fn clauses<'t>(&self, text: &'t str) -> Vec<Clause<'t>> {
        let mut clauses: Vec<Clause<'t>> = Vec::new();
        let (mut start, mut end) = (0, 0);
        let mut push = |start: usize, end: usize| {
            let own = &text[start..end];
            let from = start + (own.len() - own.trim_start().len());
            let own = own.trim().trim_end_matches([',', ';', '.']);
            if !own.is_empty() {
                clauses.push(Clause { text: own, start: from });
            }
        };
        for word in text.split_whitespace() {
            let at = end + text[end..].find(word).unwrap_or_default();
            if self.language.is(Class::And, &word.to_lowercase()) && at > start {
                push(start, at);
                start = at + word.len();
            }
            end = at + word.len();
            if word.ends_with([',', ';', '.']) {
                push(start, end);
                start = end;
            }
        }
        push(start, text.len());
        clauses
    }

    /// A text without the "and" at its end.
    fn without_and<'t>(&self, text: &'t str) -> &'t str {
        match text.rsplit_once(' ') {
            Some((before, last)) if self.language.is(Class::And, &last.to_lowercase()) => {
                before.trim_end().trim_end_matches([',', ';'])
            }
            _ => text,
        }
    }

    /// Does what was understood, once the user says that the rest may be left out.
    pub(super) fn without_rest(&self, query: &Query) -> Flow<Said> {
        self.carry_out(Query { terms: Vec::new(), ..query.clone() }, true)
    }
}

fn listed(slot: &Slot, value: Value) -> Value {
    if slot.shape.many { Value::Array(vec![value]) } else { value }
}

/// The clauses that were not understood, those that follow each other as one text.
fn joined<'t>(text: &'t str, left: &[Clause<'t>]) -> Vec<&'t str> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for clause in left {
        let end = clause.start + clause.text.len();
        match spans.last_mut() {
            Some((_, last)) if !text[*last..clause.start].contains(char::is_alphanumeric) => {
                *last = end
            }
            _ => spans.push((clause.start, end)),
        }
    }
    spans.into_iter().map(|(start, end)| &text[start..end]).collect()
}

/// The name as a clause writes it.
fn name_in(clause: &str, name: &str) -> Option<String> {
    let mut words = clause.split_whitespace().map(trimmed);
    words.find(|word| word.to_lowercase() == name).map(str::to_owned)
}

fn trimmed(word: &str) -> &str {
    word.trim_matches([',', ';', ':', '.', '!', '?', '"', '=', '(', ')'])
}

/// Whether a parameter takes an e-mail address.
fn is_email(slot: &Slot) -> bool {
    let named = |word: &String| lexicon::english().is(Class::SlotEmail, word);
    slot.shape.format.as_deref() == Some("email")
        || slot.means == Means::Text && slot.words.last().is_some_and(named)
}

fn is_address(word: &str) -> bool {
    let Some((name, server)) = word.split_once('@') else { return false };
    !name.is_empty() && server.contains('.') && !word.contains(char::is_whitespace)
}
