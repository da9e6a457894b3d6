//! Resolves references: "it", "its interfaces", "that device", "the second one", "both".
//!
//! A reference becomes a mention only if exactly one antecedent matches; several are asked about, none leaves it
//! unresolved. Quoted words refer to nothing of ours.

use super::mention::{How, Pointed, Span};
use super::notice::Reading;
use super::pointer::{Number, Pointer, pointer_at};
use super::record::EntityRef;
use crate::lexicon::Class;
use crate::pack::Kind;
use crate::weights::{REFERENCE_BARE, REFERENCE_TYPED};

/// Maximum bytes of a clause.
const CLAUSE_BYTES_MAX: usize = 512;

pub(super) fn read(reading: &mut Reading<'_>) {
    let mut at = 0;
    while at < reading.tokens.len() && !reading.is_full() {
        let pointer =
            if reading.taken[at] || !reading.is_own(at) { None } else { pointer_at(reading, at) };
        let Some((words, pointer)) = pointer else {
            at += 1;
            continue;
        };
        let span = reading.span(at, words);
        reading.noticed.references.push(Pointed {
            span,
            number: pointer.number,
            kinds: pointer.kinds.clone(),
            is_possessive: pointer.is_possessive,
        });
        let negated = reading.is_before(at, Class::Not);
        if !negated {
            resolve(reading, span, &pointer);
        }
        reading.take(at, words);
        at += words;
    }
}

fn resolve(reading: &mut Reading<'_>, span: Span, pointer: &Pointer) {
    // Each scans the mentions and the focus, both of which are bounded.
    reading.work(reading.noticed.mentions.len());
    let meant = antecedent(reading, span.start, pointer);
    let confidence = if pointer.kinds.is_some() { REFERENCE_TYPED } else { REFERENCE_BARE };
    match meant {
        Meant::These(entities) => {
            for entity in entities {
                reading.mention_known(&entity, span, How::Reference, confidence);
            }
        }
        Meant::OneOf(candidates) => reading.ask(span, candidates),
        Meant::Nothing if pointer.expects_something => reading.leave_unresolved(span),
        Meant::Nothing => {}
    }
}

enum Meant {
    These(Vec<EntityRef>),
    OneOf(Vec<EntityRef>),
    Nothing,
}

impl Meant {
    fn one(entity: Option<EntityRef>) -> Self {
        entity.map_or(Self::Nothing, |entity| Self::These(vec![entity]))
    }
}

/// What a reference at byte `before` refers to.
fn antecedent(reading: &Reading<'_>, before: usize, pointer: &Pointer) -> Meant {
    let fits = |kind: &Kind| pointer.kinds.as_ref().is_none_or(|kinds| kinds.contains(kind));
    match pointer.number {
        Number::One => one(reading, before, &fits, pointer),
        Number::Many => {
            let several = several(reading, before, &fits);
            let enough = several.len() > 1 || (pointer.kinds.is_some() && !several.is_empty());
            match enough {
                true => Meant::These(several),
                // "their devices" of one customer.
                false if pointer.is_possessive => one(reading, before, &fits, pointer),
                false => Meant::Nothing,
            }
        }
        Number::Both => {
            let several = several(reading, before, &fits);
            if several.len() == 2 { Meant::These(several) } else { Meant::Nothing }
        }
        Number::Other => Meant::one(other(reading, &fits)),
        Number::Counted { from, count } => {
            let listed = listed(reading, &fits);
            let from = if from == 0 { listed.len().saturating_sub(count) } else { from - 1 };
            match listed.get(from..from + count) {
                Some(counted) if !counted.is_empty() => Meant::These(counted.to_vec()),
                _ => Meant::Nothing,
            }
        }
        Number::Within => {
            let named: Vec<EntityRef> = reading
                .noticed
                .mentions
                .iter()
                .filter(|mention| mention.span.start > before)
                .map(super::Mention::target)
                .collect();
            let inside = |entity: &&EntityRef| {
                reading.known.get(entity).is_some_and(|known| {
                    let relations = &mut known.relations.iter();
                    relations.any(|relation| named.iter().any(|place| place.is(&relation.to)))
                })
            };
            let listed = listed(reading, &fits);
            let mut inside = listed.iter().filter(inside);
            Meant::one(inside.next().filter(|_| inside.next().is_none()).cloned())
        }
    }
}

fn one(
    reading: &Reading<'_>,
    before: usize,
    fits: &dyn Fn(&Kind) -> bool,
    pointer: &Pointer,
) -> Meant {
    let mentions = &reading.noticed.mentions;
    let earlier = || {
        let mut earlier: Vec<_> = mentions
            .iter()
            .filter(|mention| {
                mention.span.end <= before && mention.is_sure() && fits(&mention.kind)
            })
            .collect();
        earlier.sort_by_key(|mention| mention.span.start);
        earlier
    };
    if !pointer.looks_back && (pointer.is_possessive || new_clause_since_mention(reading, before)) {
        let here = earlier();
        let main = here.iter().find(|mention| !reading.is_placed(mention)).or(here.last());
        if let Some(mention) = main {
            return Meant::one(Some(mention.target()));
        }
    }
    for focus in &reading.entities.focus {
        let fitting: Vec<_> = focus.refs.iter().filter(|entity| fits(&entity.kind)).collect();
        let Some(main) = fitting.first() else { continue };
        let equals: Vec<EntityRef> = fitting
            .iter()
            .filter(|other| other.kind == main.kind)
            .map(|one| (*one).clone())
            .collect();
        return if equals.len() > 1 {
            Meant::OneOf(equals)
        } else {
            Meant::one(Some((*main).clone()))
        };
    }
    if pointer.kinds.is_some() {
        let related = related_to_main(reading, fits);
        if related.is_some() {
            return Meant::one(related);
        }
        let mentioned = reading
            .entities
            .tracked
            .iter()
            .filter(|entity| fits(&entity.entity.kind) && entity.mention_count > 0);
        let latest = mentioned.max_by_key(|entity| entity.last_mentioned);
        if let Some(latest) = latest {
            return Meant::one(Some(latest.entity.clone()));
        }
    }
    match listed(reading, fits).as_slice() {
        [single] => Meant::one(Some(single.clone())),
        _ => Meant::Nothing,
    }
}

/// Whether a clause starts between the last mention and the reference: "it" does not refer to a mention in its
/// own clause, as in "add VLAN 10 to it".
fn new_clause_since_mention(reading: &Reading<'_>, before: usize) -> bool {
    let ends = reading.noticed.mentions.iter().map(|mention| mention.span.end);
    let Some(last) = ends.filter(|end| *end <= before).max() else { return false };
    if before - last > CLAUSE_BYTES_MAX {
        return true;
    }
    let stops = reading.message[last..before].contains([',', ';', '.', '?', '!', ':', '(', '\n']);
    let from = reading.tokens.partition_point(|token| token.span.start < last);
    let to = reading.tokens.partition_point(|token| token.span.start < before);
    reading.work(before - last);
    let mut between = reading.tokens[from..to].iter();
    stops || between.any(|token| reading.is(Class::Clause, &token.lower))
}

/// The only entity of a matching type that is related to the session's main entity.
fn related_to_main(reading: &Reading<'_>, fits: &dyn Fn(&Kind) -> bool) -> Option<EntityRef> {
    let main = reading.entities.active().into_iter().next()?;
    let entity = reading.known.get(main).or_else(|| reading.entities.get(main))?;
    let mut related = entity.relations.iter().filter(|relation| fits(&relation.to.kind));
    let first = related.next()?;
    related.next().is_none().then(|| first.to.clone())
}

/// Several entities: named earlier in the message, in the newest list, or in the newest turn.
fn several(reading: &Reading<'_>, before: usize, fits: &dyn Fn(&Kind) -> bool) -> Vec<EntityRef> {
    let here: Vec<EntityRef> = reading
        .noticed
        .mentions
        .iter()
        .filter(|mention| mention.span.end <= before && fits(&mention.kind) && mention.is_sure())
        .map(super::Mention::target)
        .collect();
    if here.len() > 1 {
        return of_first_kind(here);
    }
    let shown = reading.entities.last_listed.iter().filter(|entity| fits(&entity.kind));
    let shown = of_first_kind(shown.cloned().collect());
    let spoken_turn = reading.entities.focus.first().map_or(0, |focus| focus.turn);
    let at = reading.tokens.partition_point(|token| token.span.start < before);
    // "all of them" and "which of those" refer to the whole list.
    let whole = reading.is_before(at, Class::Of)
        || (0..reading.tokens.len()).any(|at| reading.is_at(at, Class::All));
    if shown.len() > 1 && (whole || reading.entities.listed_turn >= spoken_turn) {
        return shown;
    }
    let spoken = spoken_lately(reading, fits);
    if spoken.len() > 1 { spoken } else { shown }
}

/// What the newest turns mentioned: several of one turn, or one each of consecutive turns.
fn spoken_lately(reading: &Reading<'_>, fits: &dyn Fn(&Kind) -> bool) -> Vec<EntityRef> {
    let mut spoken: Vec<EntityRef> = Vec::new();
    let mut next_turn = None;
    for focus in &reading.entities.focus {
        let refs: Vec<EntityRef> =
            focus.refs.iter().filter(|entity| fits(&entity.kind)).cloned().collect();
        let refs = of_first_kind(refs);
        let unbroken = next_turn.is_none_or(|turn| focus.turn + 1 == turn);
        if refs.is_empty() || !unbroken || (!spoken.is_empty() && refs.len() > 1) {
            if spoken.is_empty() {
                continue;
            }
            break;
        }
        next_turn = Some(focus.turn);
        for entity in refs {
            let same_kind = spoken.first().is_none_or(|first| first.kind == entity.kind);
            if same_kind && !spoken.iter().any(|known| known.is(&entity)) {
                spoken.push(entity);
            }
        }
        if next_turn.is_some() && focus.refs.len() > 1 && spoken.len() > 1 {
            break;
        }
    }
    spoken
}

pub(super) fn other(reading: &Reading<'_>, fits: &dyn Fn(&Kind) -> bool) -> Option<EntityRef> {
    let newest = reading.entities.focus.first()?.refs.iter();
    let mut newest = newest.filter(|entity| fits(&entity.kind));
    let current = newest.next()?;
    if newest.any(|entity| entity.kind == current.kind) {
        return None;
    }
    let listed = listed(reading, fits);
    let mut pool: Vec<EntityRef> =
        listed.into_iter().filter(|entity| entity.kind == current.kind).collect();
    if pool.len() != 2 {
        let active = reading.entities.active().into_iter();
        pool = active.filter(|entity| entity.kind == current.kind).cloned().collect();
    }
    let mut others = pool.into_iter().filter(|entity| !entity.is(current));
    others.next().filter(|_| others.next().is_none())
}

/// The entities that positions refer to: the candidates of the last question to the user, else the last list. If
/// the types are mixed, those of the first.
fn listed(reading: &Reading<'_>, fits: &dyn Fn(&Kind) -> bool) -> Vec<EntityRef> {
    let entities = reading.entities;
    let asked_last = !entities.asked.is_empty() && entities.asked_turn >= entities.listed_turn;
    let shown = if asked_last { &entities.asked } else { &entities.last_listed };
    let fitting = shown.iter().filter(|entity| fits(&entity.kind));
    of_first_kind(fitting.cloned().collect())
}

fn of_first_kind(mut entities: Vec<EntityRef>) -> Vec<EntityRef> {
    if let Some(kind) = entities.first().map(|entity| entity.kind.clone()) {
        entities.retain(|entity| entity.kind == kind);
    }
    entities
}
