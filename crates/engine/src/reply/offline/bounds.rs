//! Lists of what is more or less than a number: "which deals are worth more than 20000?".
//!
//! Which field is compared is known from the parameters of the list (the amount, if it takes a `min_amount`), or from the
//! words of the message and the fields of the rows. The rows are compared here, so that "more than" is not "at least".
//!
//! Invariant: there is exactly one such field, and every row has it.

use serde_json::Value;

use super::ask::{Ask, KindWord, Phrase};
use super::offer::{Means, Offer, Slot};
use super::rows;
use super::run::word::begins_alike;
use super::scene::{Flow, Said, Scene};
use super::serve::Meaning;
use crate::lexicon::{self, Class};
use crate::pack::words_of_identifier;
use crate::session::dialogue::{Query, Term, What};

impl Scene<'_> {
    /// The list of a kind, or the last one, within the bounds that a message gives; `None` if it cannot be compared.
    pub(super) fn bounded(
        &self,
        ask: &Ask,
        subject: Option<&KindWord>,
        meaning: &Meaning<'_>,
    ) -> Flow<Option<Said>> {
        let Some(bound) = ask.bound else { return Ok(None) };
        let goes_on = ask.follows.is_some() || ask.of_shown;
        let last = self.last_list(None).filter(|_| goes_on).map(|spoken| spoken.query.clone());
        let query = match subject {
            Some(word) => Some(Query {
                kind: Some(word.kind.clone()),
                narrower: word.narrower.clone(),
                ..Query::default()
            }),
            None => last,
        };
        let offer = query.as_ref().and_then(|query| self.list_of(query.kind.as_ref()?));
        let (Some(mut query), Some(offer)) = (query, offer) else { return Ok(None) };
        let field = match compared_field(offer) {
            Some(field) => Some(field),
            None => self.measured_field(offer, ask, bound.at)?,
        };
        let Some(field) = field else { return Ok(None) };
        let (less, or_equal, number) = (bound.less, bound.or_equal, bound.number);
        let text = ask.compared.clone().unwrap_or_default();
        let field_said = field.clone();
        let what = What::Bound { field, less, or_equal, number };
        super::serve::replace(&mut query.terms, Term { text, what, negated: false });
        let says = |phrase: &&&Phrase| {
            let lower = phrase.text.to_lowercase();
            let unit = phrase.at == bound.at + 1;
            let named = lower.split_whitespace().any(|word| is_named(&field_said, word));
            phrase.at != bound.at && !unit && !named && !self.language.is(Class::Measure, &lower)
        };
        let phrases: Vec<&Phrase> = meaning.phrases.iter().filter(says).copied().collect();
        let meaning = Meaning { things: meaning.things.clone(), phrases };
        self.refine(query, ask, &meaning, subject).map(Some)
    }
}

impl Scene<'_> {
    /// The field of the rows of a list that holds numbers, and that the message names or measures: "weigh more than 20
    /// kg". Without such words, the only one that is no id.
    fn measured_field(&self, offer: &Offer, ask: &Ask, number: usize) -> Flow<Option<String>> {
        let Ok(table) = self.table(offer, &offer.fixed, false)? else { return Ok(None) };
        let Some((_, row)) = table.rows.first() else { return Ok(None) };
        let numeric = |key: &String| {
            let values = table.rows.iter().filter_map(|(_, row)| row.get(key));
            let id = words_of_identifier(key).last().is_some_and(|word| word == "id");
            !id && values.clone().count() > 0 && values.clone().all(Value::is_number)
        };
        let keys: Vec<&String> = row
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key)
            .filter(|k| numeric(k))
            .collect();
        let phrases = ask.phrases.iter().flat_map(|phrase| phrase.text.split_whitespace());
        let unit = self.parts.get(number + 1).map(|part| part.lower.as_str());
        let compared = ask.compared.iter().flat_map(|text| text.split_whitespace());
        let fields = ask.fields.iter().map(String::as_str);
        let said = fields.chain(phrases).chain(unit).chain(compared).map(str::to_lowercase);
        let named = said.into_iter().find_map(|word| {
            let word = self
                .language
                .field(std::iter::once(word.as_str()))
                .map_or(word.clone(), |(f, _)| f.to_owned());
            keys.iter().find(|key| is_named(key, &word)).map(|key| (*key).clone())
        });
        Ok(named.or_else(|| match keys[..] {
            [only] => Some(only.clone()),
            _ => None,
        }))
    }
}

/// Whether a word names a field.
fn is_named(field: &str, word: &str) -> bool {
    let english = lexicon::english();
    let means = |own: &String| english.is_synonym(own, word) || begins_alike(own, word);
    words_of_identifier(field).iter().any(means)
}

/// The one field that a list has a least or a most value for.
fn compared_field(offer: &Offer) -> Option<String> {
    let english = lexicon::english();
    let bounds =
        |word: &String| [Class::SlotLeast, Class::SlotMost].iter().any(|c| english.is(*c, word));
    let field = |slot: &Slot| {
        let (first, rest) = slot.words.split_first()?;
        let named = slot.means == Means::Number && bounds(first) && !rest.is_empty();
        named.then(|| rest.join("_"))
    };
    let mut fields: Vec<String> = offer.slots.iter().filter_map(field).collect();
    fields.dedup();
    match fields.len() {
        1 => fields.pop(),
        _ => None,
    }
}

/// Whether a row is within a bound; `None` if it does not have the field.
pub(super) fn is_within(row: &serde_json::Value, what: &What) -> Option<bool> {
    let What::Bound { field, less, or_equal, number } = what else { return None };
    let (_, value) = rows::field(row, field)?;
    Some(value.as_f64().is_some_and(|own| match (less, or_equal) {
        (true, true) => own <= *number,
        (true, false) => own < *number,
        (false, true) => own >= *number,
        (false, false) => own > *number,
    }))
}
