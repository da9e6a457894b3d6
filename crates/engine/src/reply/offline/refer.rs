//! References by words that no pack knows: "that ticket", "the booking", "delete that", "when does she leave?".
//!
//! Invariant: a reference is made only where the dialogue has a thing that it can mean.

use super::read::{Part, Role};
use super::scene::Scene;
use crate::entity::token::Gap;
use crate::entity::{Number, Span};
use crate::lexicon::Class;
use crate::pack::{EntityType, Kind};
use crate::session::dialogue::{Missing, Thing, What};

/// Minimum letters of a name that is recognised wherever it is said.
const LABEL_LETTERS_MIN: usize = 4;

impl Scene<'_> {
    /// The parts with references in the place of words that refer to what was spoken of.
    pub(super) fn referred(&self, parts: Vec<Part>) -> Vec<Part> {
        let mut referred: Vec<Part> = Vec::new();
        let mut at = 0;
        while at < parts.len() {
            match self.reference_at(&parts, at) {
                Some((count, role)) => {
                    let mut part = parts[at].clone();
                    part.span.end = parts[at + count - 1].span.end;
                    part.text = self.message[part.span.start..part.span.end].to_owned();
                    (part.lower, part.role) = (part.text.to_lowercase(), role);
                    part.is_possessive = parts[at + count - 1].is_possessive;
                    referred.push(part);
                    at += count;
                }
                None => {
                    referred.extend(self.labelled(&parts[at]));
                    at += 1;
                }
            }
        }
        referred
    }

    /// "who edited fw-1?": a question for the records of what was done to it, where a pack has a word for that.
    pub(super) fn done_to(&self, parts: Vec<Part>) -> Vec<Part> {
        let asks = |part: &Part| {
            [Class::Who, Class::What, Class::When, Class::Any].iter().any(|class| part.is(*class))
        };
        let other = |part: &Part| matches!(part.role, Role::Kind { .. } | Role::Verb(_));
        let last = |word: &str| self.language.is(Class::Newest, word);
        let kind = |word: &str| {
            let listed = |known: &&EntityType| self.list_of(&known.kind).is_some();
            let mut asked = self.packs.types().iter().filter(listed);
            asked.find(|known| known.asked_by.iter().any(|own| own == word)).map(|k| k.kind.clone())
        };
        // "edited fw-1", "last changed": words that were taken for one name.
        let said = |part: &Part| {
            let rest = part.lower.trim_start_matches(|c: char| !c.is_whitespace()).trim_start();
            let rest = if last(part.lower[..part.lower.len() - rest.len()].trim_end()) {
                rest
            } else {
                &part.lower
            };
            let first = rest.split_whitespace().next().unwrap_or_default();
            Some((kind(first)?, rest[first.len()..].trim_start().len()))
        };
        let at = parts.iter().position(|part| said(part).is_some());
        let Some(at) = at.filter(|_| parts.iter().any(asks) && !parts.iter().any(other)) else {
            return parts;
        };
        let mut rewritten: Vec<Part> = Vec::new();
        for (index, mut part) in parts.into_iter().enumerate() {
            let named = said(&part).filter(|_| index == at);
            if part.is(Class::Who) || part.is(Class::When) {
                part.role = Role::Word(Class::What);
            } else if last(&part.lower) {
                part.role = Role::Filler;
            }
            let Some((kind, length)) = named else {
                rewritten.push(part);
                continue;
            };
            let start = part.span.end - length;
            let rest = self.message.get(start..part.span.end).filter(|rest| !rest.is_empty());
            let role = Role::Kind { kind, many: true, narrower: None };
            rewritten.push(Part { role, ..part.clone() });
            if let Some(rest) = rest {
                let (text, span) = (rest.to_owned(), Span { start, end: part.span.end });
                rewritten.push(Part {
                    lower: text.to_lowercase(),
                    text,
                    span,
                    gap: Gap::Space,
                    ..part
                });
            }
        }
        rewritten
    }

    /// A part that begins with the name of a thing that was shown, as that name and the rest: "pilates full".
    fn labelled(&self, part: &Part) -> Vec<Part> {
        let plain = part.role == Role::Content && !part.is_possessive;
        let begins = |thing: &&Thing| {
            let label = thing.label.to_lowercase();
            let rest = part.lower.strip_prefix(label.as_str());
            let ends = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
            let marked = part.text.contains(char::is_uppercase) && part.lower == label;
            let long = label.chars().count() >= LABEL_LETTERS_MIN;
            ends && !marked && long && label.contains(char::is_alphabetic)
        };
        let found = self.shown().filter(|_| plain).filter(begins);
        let Some(thing) = found.max_by_key(|thing| thing.label.len()) else {
            return vec![part.clone()];
        };
        let end = part.span.start + thing.label.len();
        let (Some(name), Some(rest)) =
            (self.message.get(part.span.start..end), self.message.get(end..part.span.end))
        else {
            return vec![part.clone()];
        };
        let (kind, id) = (Some(thing.kind.clone()), thing.id.clone());
        let mut parts = vec![Part {
            role: Role::Name { kind, is_sure: true, id },
            lower: name.to_lowercase(),
            text: name.to_owned(),
            span: Span { start: part.span.start, end },
            ..part.clone()
        }];
        let trimmed = rest.trim_start();
        if !trimmed.is_empty() {
            let start = part.span.end - trimmed.len();
            let (lower, text) = (trimmed.to_lowercase(), trimmed.to_owned());
            let span = Span { start, end: part.span.end };
            parts.push(Part { lower, text, span, gap: Gap::Space, ..part.clone() });
        }
        parts
    }

    /// The reference that starts at a part, and its number of parts.
    fn reference_at(&self, parts: &[Part], at: usize) -> Option<(usize, Role)> {
        let small = matches!(parts[at].role, Role::Filler | Role::Word(Class::These));
        let word = parts[at].lower.as_str();
        let is = |class: Class| small && self.language.is(class, word);
        let one = |kinds: Option<Vec<Kind>>| {
            let (number, is_possessive) = (Number::One, false);
            Role::Pointer { number, kinds, is_possessive }
        };
        if let Some(Role::Kind { kind, many: false, narrower: None }) =
            parts.get(at + 1).map(|next| &next.role)
            && (is(Class::This) || is(Class::The))
            && self.packs.entity_type(kind).is_none()
            && !self.is_named_after(parts, at + 1)
        {
            // The id that the last question was about.
            if let Some(id) = self.unresolved_id() {
                return Some((
                    2,
                    Role::Name { kind: Some(kind.clone()), is_sure: true, id: Some(id) },
                ));
            }
            if self.knows(kind) {
                return Some((2, one(Some(vec![kind.clone()]))));
            }
        }
        let before = at.checked_sub(1).map(|at| &parts[at].role);
        let done = matches!(before, Some(Role::Verb(_) | Role::Command));
        let ends = parts.get(at + 1).is_none_or(|next| {
            next.gap != Gap::Space || matches!(next.role, Role::Word(Class::To | Class::With))
        });
        let spoken = !self.dialogue.focus.is_empty();
        if is(Class::This) && done && ends && spoken && self.dialogue.open.is_none() {
            return Some((1, one(None)));
        }
        None
    }

    /// Whether a word for a kind is followed by the name of one: "the ticket 17", "the booking of Ann".
    fn is_named_after(&self, parts: &[Part], at: usize) -> bool {
        let named = |part: &Part| {
            matches!(
                part.role,
                Role::Name { .. } | Role::Number | Role::Quoted | Role::Content | Role::Pick
            )
        };
        let beside = parts.get(at + 1).filter(|next| next.gap == Gap::Space);
        let placed = |part: &Part| {
            let places = [Class::Of, Class::With, Class::From, Class::In, Class::Called];
            places.iter().any(|class| part.is(*class))
                && parts.get(at + 2).is_some_and(|next| named(next) || next.role == Role::Filler)
        };
        beside.is_some_and(|next| named(next) || placed(next))
            || at >= 2 && parts[at - 1].gap == Gap::Space && named(&parts[at - 1])
    }

    /// The id that a message named which was not understood.
    fn unresolved_id(&self) -> Option<String> {
        let open = self.dialogue.open.as_ref()?;
        let Missing::Term(at) = &open.missing else { return None };
        let term = open.query.terms.get(*at).filter(|term| term.what == What::Word)?;
        let coded = term.text.contains(|c: char| c.is_ascii_digit());
        (coded && !term.text.contains(char::is_whitespace)).then(|| term.text.clone())
    }

    /// Whether a thing of that kind is in focus, or is the only one that was shown.
    fn knows(&self, kind: &Kind) -> bool {
        self.dialogue.focus.iter().any(|thing| thing.kind == *kind)
            || matches!(self.listed(), [only] if only.kind == *kind)
    }
}
