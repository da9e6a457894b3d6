//! Joins parts that belong together: the words of a name, "the power one", "todo list".

use super::{Part, Reader, Role};
use crate::entity::token::Gap;
use crate::lexicon::Class;

impl Reader<'_> {
    /// Joins parts that belong together: words of one name, "the power one".
    pub(super) fn join(&self, parts: Vec<Part>) -> Vec<Part> {
        let mut joined: Vec<Part> = Vec::new();
        for part in parts {
            let glued = joined.last().is_some_and(|last| self.goes_on(last, &part));
            match joined.last_mut() {
                Some(last) if glued => {
                    last.span.end = part.span.end;
                    last.text = self.message[last.span.start..last.span.end].to_owned();
                    last.lower = last.text.to_lowercase();
                    last.is_possessive = part.is_possessive;
                    if last.role == Role::Number {
                        last.role = Role::Content;
                    }
                }
                _ => joined.push(part),
            }
        }
        for at in 1..joined.len() {
            let names_server = self.servers.iter().any(|span| *span == joined[at].span);
            let places = [Class::In, Class::From, Class::With, Class::Of, Class::To];
            if names_server && places.iter().any(|class| joined[at - 1].is(*class)) {
                joined[at - 1].role = Role::Filler;
            }
        }
        for at in 0..joined.len().saturating_sub(1) {
            let lists = self.language.is(Class::Listing, &joined[at + 1].lower);
            if let (Role::Kind { many, .. }, true) = (&mut joined[at].role, lists) {
                *many = true;
                joined[at + 1].role = Role::Filler;
            }
        }
        for at in 0..joined.len().saturating_sub(1) {
            let next = &joined[at + 1];
            if joined[at].role == Role::Content && next.is(Class::One) && next.gap == Gap::Space {
                joined[at].role = Role::Pick;
            }
        }
        joined
    }

    /// Whether a part continues the previous name: "pier 9", "marsh & sons", "third floor".
    fn goes_on(&self, last: &Part, part: &Part) -> bool {
        if part.gap != Gap::Space || last.is_possessive {
            return false;
        }
        let content = matches!(last.role, Role::Content);
        if content && self.ends_name(last, part) {
            return false;
        }
        let amp = |part: &Part| part.lower == "&";
        match &part.role {
            Role::Content => content || last.lower.ends_with('&'),
            Role::Number => content && !self.is_choice_like(last),
            Role::Word(Class::And) if amp(part) => content,
            _ => false,
        }
    }

    /// A lower-case word that does not look like part of a name keeps numbers apart: "tail 3".
    fn is_choice_like(&self, last: &Part) -> bool {
        let limit = |word: &str| self.language.is(Class::SlotLimit, word);
        last.lower.split(' ').next_back().is_some_and(limit)
    }
}
