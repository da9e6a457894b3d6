//! Lists of what is on a day: "appointments tomorrow", "loans due this week".
//!
//! A day goes to the parameter that takes one; else the rows that are listed are compared.
//!
//! Invariant: rows are compared by one field, and it is certain which one.

use jiff::civil::Date;
use serde_json::Value;

use super::ask::{Ask, Phrase};
use super::dates::{self, Days};
use super::narrow::side;
use super::offer::{Means, Offer, Slot};
use super::read::{Literal, Role};
use super::scene::{Scene, Table};
use crate::lexicon::{self, Class};
use crate::pack::words_of_identifier;
use crate::search::words::stems;
use crate::session::dialogue::{Term, What};

/// Whether a row is one of those that are meant.
pub(super) type Fits = Box<dyn Fn(&Value) -> bool>;

impl Scene<'_> {
    /// Whether the literals of a message are only days that narrow a list.
    pub(super) fn filters_days(&self, ask: &Ask) -> bool {
        let day = |phrase: &Phrase| {
            let role = self.parts.iter().find(|part| part.span == phrase.span).map(|p| &p.role);
            matches!(role, Some(Role::Literal(Literal::Date | Literal::Period)))
        };
        let mut literals = ask.phrases.iter().filter(|phrase| phrase.is_literal).peekable();
        let reads = ask.verb.is_none_or(|(family, _)| family.reads());
        let listed = ask.kinds.iter().any(|word| word.many && self.list_of(&word.kind).is_some());
        let goes_on = ask.kinds.is_empty() && (ask.follows.is_some() || ask.of_shown);
        let again = goes_on && self.last_list(None).is_some();
        literals.peek().is_some() && literals.all(day) && reads && (listed || again)
    }

    /// The terms of a phrase that is a day: values of the parameters that take one, or a comparison of rows.
    pub(super) fn day_terms(&self, offer: &Offer, phrase: &Phrase) -> Option<Vec<Term>> {
        let days = dates::days_of(&phrase.text, self.language, self.today);
        let days = days.filter(|_| phrase.is_literal)?;
        let (text, negated) = (phrase.text.clone(), phrase.negated);
        let given = |slot: &Slot, day: Date| {
            let what =
                What::Choice { field: slot.name().to_owned(), value: day.to_string().into() };
            Term { text: text.clone(), what, negated }
        };
        let slots: Vec<&Slot> =
            offer.slots.iter().filter(|slot| slot.means == Means::Date).collect();
        let on = |class: Class| slots.iter().find(|slot| side(slot, class));
        match (slots.as_slice(), days.single()) {
            ([slot], Some(day)) if !side(slot, Class::From) && !side(slot, Class::To) => {
                return Some(vec![given(slot, day)]);
            }
            _ => {}
        }
        if let (Some(from), Some(to), false) = (on(Class::From), on(Class::To), negated) {
            let first = days.from.map(|day| given(from, day));
            return Some(first.into_iter().chain(days.to.map(|day| given(to, day))).collect());
        }
        let shown = |day: Option<Date>| day.map(|day| day.to_string());
        let what = What::Days { from: shown(days.from), to: shown(days.to) };
        Some(vec![Term { text, what, negated }])
    }

    /// Tells the rows that are within the days of a term; `None` if it is not certain which field says it.
    pub(super) fn day_fits(&self, table: &Table, term: &Term) -> Option<Fits> {
        let What::Days { from, to } = &term.what else { return None };
        let read = |text: &Option<String>| text.as_ref().and_then(|day| day.parse::<Date>().ok());
        let days = Days { from: read(from), to: read(to) };
        let dated =
            |key: &&String| table.rows.iter().any(|(_, row)| day_of(row.get(*key)).is_some());
        let first = table.rows.first()?.1.as_object()?;
        let keys: Vec<&String> = first.keys().filter(dated).collect();
        let said = stems(self.message);
        let named = |key: &&&String| {
            let own = stems(&words_of_identifier(key).join(" "));
            own.iter().any(|word| said.contains(word))
        };
        // When a row was written says nothing about the thing.
        let record = |key: &&&String| {
            let words = words_of_identifier(key);
            !words.iter().any(|word| lexicon::english().is(Class::FieldRecord, word))
        };
        let only = |keys: Vec<&&String>| match keys[..] {
            [only] => Some((*only).clone()),
            _ => None,
        };
        let key = only(keys.iter().filter(named).collect())
            .or_else(|| only(keys.iter().collect()))
            .or_else(|| only(keys.iter().filter(record).collect()))?;
        Some(Box::new(move |row| day_of(row.get(&key)).is_some_and(|day| days.holds(day))))
    }
}

/// The day of a value that begins with a date.
fn day_of(value: Option<&Value>) -> Option<Date> {
    value?.as_str()?.get(..10)?.parse().ok()
}
