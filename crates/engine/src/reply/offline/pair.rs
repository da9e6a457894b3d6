//! Two parameters that take the same values, one for what is converted and one for what it becomes: units, time zones.
//!
//! Invariant: which value goes where is said by its place in the sentence ("12 yards", "how many feet", "to feet"), never
//! by the order of the words alone.

use super::ask::Phrase;
use super::fill::Filling;
use super::narrow::side;
use super::offer::{Means, Offer, Slot};
use super::read::{Literal, Part, Role};
use super::scene::Said;
use super::schema::plain;
use crate::entity::Span;
use crate::entity::token::Gap;
use crate::lexicon::{Class, Language};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Source,
    Target,
}

impl Side {
    const fn other(self) -> Self {
        match self {
            Self::Source => Self::Target,
            Self::Target => Self::Source,
        }
    }
}

/// The two parameters of a tool that take the same values: the source first.
pub(super) fn pair(offer: &Offer) -> Option<(&Slot, &Slot)> {
    let of = |class: Class| {
        let takes = |slot: &&Slot| matches!(slot.means, Means::Choice | Means::Zone);
        offer.slots.iter().filter(takes).find(|slot| side(slot, class))
    };
    let (from, to) = (of(Class::From)?, of(Class::To)?);
    let same = from.means == to.means && from.shape.choices == to.shape.choices;
    (same && from.path() != to.path()).then_some((from, to))
}

/// Which of the two parameters a phrase is for; `None` if nothing says it.
pub(super) fn said_side(phrase: &Phrase, parts: &[Part], language: &Language) -> Option<Side> {
    let before = phrase.at.checked_sub(1).map(|at| &parts[at]);
    let zone = parts[phrase.at].role == Role::Literal(Literal::Zone);
    let time = |part: &Part| part.role == Role::Literal(Literal::Time);
    // "9:15 in Lisbon", "Lisbon 9:15"
    let near = parts[..phrase.at]
        .iter()
        .rev()
        .find(|part| part.role != Role::Filler && !part.is(Class::In))
        .is_some_and(time);
    let after = parts.get(phrase.at + 1).is_some_and(|next| next.gap == Gap::Space && time(next));
    let counted = before.is_some_and(|part| {
        part.role == Role::Number && !part.is_possessive || language.is(Class::A, &part.lower)
    });
    let asked = parts[..phrase.at].iter().rev().find(|part| part.role != Role::Filler);
    match phrase.placed {
        _ if zone && (near || after) || !zone && counted => Some(Side::Source),
        _ if !zone && asked.is_some_and(|part| part.is(Class::Count)) => Some(Side::Target),
        Some(Class::From) => Some(Side::Source),
        Some(Class::To) => Some(Side::Target),
        Some(Class::In) if !zone => Some(Side::Target),
        _ => None,
    }
}

impl Filling<'_, '_> {
    /// Assigns the values of two such parameters; gives back where they are said, or asks which is which.
    pub(super) fn pair(&mut self) -> Result<Vec<Span>, Box<Said>> {
        let Some((from, to)) = pair(self.offer).map(|(from, to)| (from.clone(), to.clone())) else {
            return Ok(Vec::new());
        };
        let zones = from.means == Means::Zone;
        let takes = |phrase: &&Phrase| match zones {
            true => self.parts[phrase.at].role == Role::Literal(Literal::Zone),
            false => from.shape.choice(&phrase.text).is_some(),
        };
        let said: Vec<Phrase> = self.ask.phrases.iter().filter(takes).cloned().collect();
        let side = |phrase: &Phrase| said_side(phrase, self.parts, self.scene.language);
        let sides = match said.as_slice() {
            [one] => side(one).map(|side| vec![side]),
            [one, two] => match (side(one), side(two)) {
                (Some(one), Some(two)) => (one != two).then(|| vec![one, two]),
                (Some(one), None) => Some(vec![one, one.other()]),
                (None, Some(two)) => Some(vec![two.other(), two]),
                (None, None) => None,
            },
            _ => None,
        };
        let Some(sides) = sides else {
            // Zones in a row are read in their order.
            let unsure = said.len() > 1 && !zones;
            return if unsure { Err(Box::new(self.asked_for(&to))) } else { Ok(Vec::new()) };
        };
        for (phrase, side) in said.iter().zip(&sides) {
            let slot = if *side == Side::Source { &from } else { &to };
            let value = slot.shape.choice(&phrase.text).cloned();
            self.set(slot, value.unwrap_or_else(|| phrase.text.clone().into()));
            self.single_amount(phrase, *side);
        }
        Ok(said.iter().map(|phrase| phrase.span).collect())
    }

    /// "in an inch": one, where a number is needed and none is said.
    fn single_amount(&mut self, phrase: &Phrase, side: Side) {
        let article = phrase.at.checked_sub(1).map(|at| self.parts[at].lower.as_str());
        let article = article.is_some_and(|word| self.scene.language.is(Class::A, word));
        let number = |slot: &&Slot| slot.means == Means::Number && slot.shape.required;
        let mut slots = self.offer.slots.iter().filter(number);
        let (slot, None) = (slots.next().cloned(), slots.next()) else { return };
        let said = self.parts.iter().any(|part| part.role == Role::Number);
        if let Some(slot) = slot.filter(|_| article && !said && side == Side::Source)
            && let Some(one) = slot.shape.value("1")
        {
            self.set(&slot, one);
        }
    }

    /// Asks for a parameter of the call.
    fn asked_for(&self, slot: &Slot) -> Said {
        let mut query = self.query(&plain(slot.name()));
        query.want = crate::session::dialogue::Want::Act(
            self.offer.family.unwrap_or(crate::lexicon::Family::Show),
        );
        query.terms.clear();
        query.kind.clone_from(&self.offer.kind);
        query.call = Some((self.offer.tool.tool.clone(), self.arguments.clone()));
        self.scene.needs(query, slot)
    }
}
