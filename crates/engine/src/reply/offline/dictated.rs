//! A text that a tool is to keep: "note down: …", where the session has a tool that takes notes.
//!
//! Invariant: the text is the rest of the message, unchanged; exactly one tool takes such texts and needs nothing else.

use super::offer::{Means, Offer, Slot};
use super::scene::{Flow, Said, Scene};
use super::schema::put;
use crate::entity::token::{Token, tokens};
use crate::lexicon::{self, Class, Family};
use crate::session::dialogue::{Query, Want};

impl Scene<'_> {
    /// Hands the text after "note down" to the tool that takes notes.
    pub(super) fn dictated(&self) -> Flow<Option<Said>> {
        let Some((offer, slot)) = self.takes_notes() else { return Ok(None) };
        let Some(text) = self.dictated_text() else { return Ok(None) };
        let Some(value) = slot.shape.value(text) else { return Ok(None) };
        let mut arguments = offer.fixed.clone();
        put(&mut arguments, &slot.shape.path, value);
        let want = Want::Act(offer.family.unwrap_or(Family::Create));
        let call = Some((offer.tool.tool.clone(), arguments));
        self.carry_out(Query { want, kind: offer.kind.clone(), call, ..Query::default() }, true)
            .map(Some)
    }

    /// The one tool that takes a note, and its text.
    fn takes_notes(&self) -> Option<(&Offer, &Slot)> {
        let english = lexicon::english();
        let takes = |offer: &&Offer| {
            let note = |word: &String| english.is(Class::NoteKind, word);
            let adds = matches!(offer.family, Some(Family::Create | Family::Add));
            !offer.reads && adds && offer.words.last().is_some_and(note)
        };
        let only = |offer: &'_ Offer| -> Option<usize> {
            let required = |slot: &Slot| slot.shape.required;
            let at = offer.slots.iter().position(required)?;
            let text = offer.slots[at].means == Means::Text && !offer.slots[at].shape.many;
            (text && offer.slots.iter().filter(|slot| required(slot)).count() == 1).then_some(at)
        };
        let mut found = self.offers.iter().filter(takes).filter_map(|o| Some((o, only(o)?)));
        let (offer, at) = found.next().filter(|_| found.next().is_none())?;
        Some((offer, &offer.slots[at]))
    }

    /// The text after the words that ask to note it down.
    fn dictated_text(&self) -> Option<&str> {
        let (tokens, _) = tokens(self.message);
        let words = |at: usize| tokens[at..].iter().map(|token| token.lower.as_str());
        let small = |token: &&Token<'_>| self.language.is(Class::Filler, &token.lower);
        let lead = tokens.iter().take_while(small).count();
        // "Notiere: Milch kaufen" has no word that tells its language.
        let languages = std::iter::once(self.language).chain(lexicon::current().languages());
        let (language, mut at) = languages.into_iter().find_map(|language| {
            let down = |at: usize| Some(at + language.starts(Class::NotesDown, words(at))?);
            Some((language, (0..=lead).find_map(down)?))
        })?;
        // "notiere bitte: …"
        let polite = |token: &&Token<'_>| language.is(Class::Filler, &token.lower);
        let polite: Vec<_> = tokens[at..].iter().take_while(polite).collect();
        let ends = |last: &&Token<'_>| self.message[last.span.end..].trim_start().starts_with(':');
        at += polite.last().filter(|last| ends(last)).map_or(0, |_| polite.len());
        // "make a note to …", "notiere, dass …"
        if tokens.get(at).is_some_and(|token| language.is(Class::Introduces, &token.lower)) {
            at += 1;
        }
        let from = tokens.get(at)?.span.start;
        Some(self.message[from..].trim().trim_matches(['"', '“', '”']))
    }
}
