//! Corrections: "no, the rack", "not that one, the other", "I meant core-sw-02".
//!
//! A correction says how an earlier message should have been understood. It is recognised only at the start of a
//! message or with "I meant"; a plain "no" corrects nothing.

use super::mention::{Correction, How, Mention};
use super::notice::Reading;
use super::record::EntityRef;
use super::reference;
use super::token::Gap;
use crate::lexicon::Class;
use crate::pack::{Grammar, Kind};

/// Longer messages that start with "no" answer a question.
const CORRECTION_WORDS_MAX: usize = 14;

pub(super) fn read(reading: &mut Reading<'_>) {
    if !marks_correction(reading) {
        return;
    }
    let (wrong, right) = sides(reading);
    let current = reading.entities.active().into_iter().next().cloned();
    let kind = right.as_ref().map(|right| right.kind.clone()).or_else(|| bare_kind(reading));
    let right = right
        .or_else(|| same_name_as(reading, current.as_ref()?, kind.as_ref()?))
        .or_else(|| says_other(reading).then(|| reference::other(reading, &|_| true)).flatten());
    if right.is_none() && kind.is_none() {
        return;
    }
    let wrong = wrong.or_else(|| {
        let same = |entity: &&&EntityRef| right.as_ref().is_none_or(|right| !entity.is(right));
        reading.entities.active().iter().find(same).map(|entity| (*entity).clone())
    });
    if let Some(wrong) = &wrong {
        let pointed = |mention: &Mention| {
            mention.how == How::Reference
                && mention.target().is(wrong)
                && right.as_ref().is_some_and(|right| !right.is(wrong))
        };
        reading.noticed.mentions.retain(|mention| !pointed(mention));
    }
    reading.noticed.correction = Some(Correction { wrong, right, kind });
}

fn marks_correction(reading: &Reading<'_>) -> bool {
    let tokens = &reading.tokens;
    let own = tokens.iter().enumerate().filter(|(at, _)| reading.is_own(*at));
    let words: Vec<&str> = own.map(|(_, token)| token.lower.as_str()).collect();
    if words.is_empty() || words.len() > CORRECTION_WORDS_MAX {
        return false;
    }
    let language = reading.language;
    let says = |class: Class| {
        (0..words.len()).any(|at| language.starts(class, words[at..].iter().copied()).is_some())
    };
    let first = |class: Class| language.is(class, words[0]);
    let says_more = tokens.get(1).is_some_and(|token| token.gap != Gap::Space);
    if says(Class::Meant) {
        return true;
    }
    if first(Class::No) {
        return says_more || words.get(1).is_some_and(|word| language.is(Class::Wait, word));
    }
    if first(Class::Not) {
        return says(Class::But) || says_more || words.len() <= 4;
    }
    if first(Class::Sorry) {
        return says_more && (says(Class::Mean) || words.len() <= 6);
    }
    language.starts(Class::Mean, words.iter().copied()).is_some()
}

/// What the message rejects, and what it means instead.
fn sides(reading: &Reading<'_>) -> (Option<EntityRef>, Option<EntityRef>) {
    let negated = |mention: &&Mention| {
        let first = reading.tokens.partition_point(|token| token.span.start < mention.span.start);
        let from = first.saturating_sub(3);
        let words = &reading.tokens[from..first];
        let after_not = words.iter().rposition(|token| reading.is(Class::Not, &token.lower));
        after_not.is_some_and(|at| words[at + 1..].iter().all(|token| token.gap == Gap::Space))
    };
    let mentions = || reading.noticed.mentions.iter();
    let wrong = mentions().find(negated).map(Mention::target);
    let right = mentions().find(|mention| !negated(mention)).map(Mention::target);
    (wrong, right)
}

fn bare_kind(reading: &Reading<'_>) -> Option<Kind> {
    let singular = reading.bare_cues.iter().find(|cue| cue.grammar == Grammar::Singular)?;
    let definite = reading.is_before(singular.at, Class::Article);
    definite.then(|| singular.entity_type.kind.clone())
}

/// "No, the rack": the rack with the name that was taken for something else.
fn same_name_as(reading: &Reading<'_>, wrong: &EntityRef, kind: &Kind) -> Option<EntityRef> {
    let phrase = super::known::phrase_of(&wrong.name);
    let found = reading.known.under(&phrase).into_iter();
    let mut of_kind = found.filter(|(entity, _)| entity.entity.kind == *kind);
    let first = of_kind.next()?;
    of_kind.next().is_none().then(|| first.0.entity.clone())
}

fn says_other(reading: &Reading<'_>) -> bool {
    (0..reading.tokens.len()).any(|at| reading.is_at(at, Class::Other))
}
