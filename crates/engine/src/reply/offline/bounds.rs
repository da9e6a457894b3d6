//! Lists of what is more or less than a number: "which deals are worth more than 20000?".
//!
//! Which field is compared is known from the parameters of the list: the amount, if it takes a `min_amount`. The rows
//! are compared here, so that "more than" is not "at least".
//!
//! Invariant: there is exactly one such field, and every row has it.

use super::ask::{Ask, KindWord, Phrase};
use super::offer::{Means, Offer, Slot};
use super::rows;
use super::scene::{Flow, Said, Scene};
use super::serve::Meaning;
use crate::lexicon::{self, Class};
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
        let (Some(mut query), Some(field)) = (query, offer.and_then(compared_field)) else {
            return Ok(None);
        };
        let (less, or_equal, number) = (bound.less, bound.or_equal, bound.number);
        let text = ask.compared.clone().unwrap_or_default();
        let what = What::Bound { field, less, or_equal, number };
        super::serve::replace(&mut query.terms, Term { text, what, negated: false });
        let says = |phrase: &&&Phrase| {
            phrase.at != bound.at && !self.language.is(Class::Measure, &phrase.text.to_lowercase())
        };
        let phrases: Vec<&Phrase> = meaning.phrases.iter().filter(says).copied().collect();
        let meaning = Meaning { things: meaning.things.clone(), phrases };
        self.refine(query, ask, &meaning, subject).map(Some)
    }
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
