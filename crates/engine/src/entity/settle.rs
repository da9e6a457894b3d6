//! Decides which known entity an ambiguous name means.
//!
//! The rest of the message decides, then the focus of the session. If neither does, the user is asked; none is
//! picked arbitrarily.

use super::notice::{Open, Reading};
use super::record::{Entity, EntityRef};
use crate::weights::CONTEXT_DECIDED;

pub(super) fn settle(reading: &mut Reading<'_>) {
    let (single, several): (Vec<Open<'_>>, Vec<Open<'_>>) =
        std::mem::take(&mut reading.open).into_iter().partition(|open| open.candidates.len() == 1);
    for open in single {
        let span = reading.span(open.first, open.words);
        let entity = open.candidates[0].entity.clone();
        reading.mention_known(&entity, span, open.how, open.confidence);
    }
    for open in several {
        let span = reading.span(open.first, open.words);
        let others: Vec<EntityRef> =
            reading.noticed.mentions.iter().map(super::Mention::target).collect();
        match choose(&open.candidates, &others, reading) {
            Some((entity, doubt)) => {
                reading.mention_known(&entity, span, open.how, open.confidence * doubt);
            }
            None => {
                let refs = open.candidates.iter().map(|entity| entity.entity.clone()).collect();
                reading.ask(span, refs);
            }
        }
    }
}

fn choose(
    candidates: &[&Entity],
    others: &[EntityRef],
    reading: &Reading<'_>,
) -> Option<(EntityRef, f32)> {
    let only = |fits: &dyn Fn(&Entity) -> bool| {
        let mut fitting = candidates.iter().filter(|entity| fits(entity));
        fitting.next().filter(|_| fitting.next().is_none()).map(|entity| entity.entity.clone())
    };
    let related = |entity: &Entity, other: &EntityRef| {
        entity.relations.iter().any(|relation| relation.to.is(other))
    };
    if let Some(entity) = only(&|entity| others.iter().any(|other| related(entity, other))) {
        return Some((entity, 1.0));
    }
    let active = reading.entities.active();
    if let Some(entity) =
        only(&|entity| active.iter().any(|one| one.id.is_some() && one.is(&entity.entity)))
    {
        return Some((entity, CONTEXT_DECIDED));
    }
    let main = active.first()?;
    only(&|entity| related(entity, main)).map(|entity| (entity, CONTEXT_DECIDED))
}
