//! Texts that a message gives word for word: after a colon, or after "to" at its end.
//!
//! Invariant: such a text is a part of the message, unchanged.

use serde_json::Value;

use super::ask::Phrase;
use super::fill::Filling;
use super::offer::{Means, Slot};
use super::read::{Part, Role};
use super::scene::Said;
use crate::entity::Span;
use crate::entity::token::Gap;
use crate::lexicon::{self, Class, Family, Say};
use crate::pack::{Field, Kind};
use crate::session::dialogue::{Missing, Want};

impl Filling<'_, '_> {
    /// Takes the texts after a colon: "append insight: berth 4 is full", "add a term: CAC, definition: what a customer
    /// costs". Gives back the places of the message that they were.
    pub(super) fn after_colon(&mut self) -> Vec<Span> {
        let message = self.scene.message;
        let Some(at) = message.find(": ").filter(|_| !self.offer.reads) else { return Vec::new() };
        let start = at + 2;
        let mut taken = Vec::new();
        let texts = self.open_written();
        let main = self.main_text(at);
        let end = match texts.as_slice() {
            [_] => self.tail(start, main.as_ref()),
            _ => message.len(),
        };
        if end < message.len() {
            taken.push(Span { start: end, end: message.len() });
        }
        let message = &message[..end];
        let begins = |rest: &str| self.slot_at(rest).is_some();
        let segments = segments(message, start, begins);
        let named = |span: &Span| self.slot_at(&message[span.start..span.end]).is_some();
        let several = texts.len() > 1 || segments.iter().skip(1).any(named);
        let segments = match several {
            true => segments,
            false => vec![Span { start, end: message.len() }],
        };
        for (index, span) in segments.into_iter().enumerate() {
            let text = message[span.start..span.end].trim();
            if index == 0 && texts.is_empty() && self.slot_at(text).is_none() {
                taken.extend(self.remark(Span { start, end: message.len() }));
                break;
            }
            let slot = match self.slot_at(text) {
                // "definition: what a customer costs"
                Some(slot) if text.contains(": ") => Some((slot, text.split_once(": "))),
                Some(_) => None,
                None if index == 0 => main.clone().map(|slot| (slot, None)),
                None => None,
            };
            let Some((slot, led)) = slot else { continue };
            let text = led.map_or(text, |(_, text)| text.trim());
            if let (Some(value), false) = (slot.shape.value(text), text.is_empty()) {
                self.set(&slot, value);
                taken.push(span);
            }
        }
        taken
    }

    /// Takes the text after "to" at the end of a change: "change its definition to what one customer costs".
    pub(super) fn rest_after_to(&mut self) -> Option<Span> {
        // "to Tom and make it high": more than a text follows.
        let last = self.parts.iter().rposition(|part| self.scene.alters(part));
        let to = self.parts.iter().rposition(|part| part.is(Class::To))?;
        if last.is_some_and(|last| last > to) {
            return None;
        }
        let phrase = self.ask.phrases.iter().find(|phrase| phrase.at > to)?;
        let changes = self.offer.family == Some(Family::Change);
        let several = self.ask.phrases.iter().filter(|other| other.at > to).count() > 1;
        let slot = self.named_slot(phrase).filter(|slot| {
            slot.means == Means::Text && slot.shape.choices.is_empty() && !slot.shape.many
        })?;
        if !changes || !several || phrase.is_quoted {
            return None;
        }
        let span = Span { start: self.parts[to].span.end, end: self.scene.message.len() };
        let text = self.scene.message[span.start..].trim().trim_end_matches(['.', '!']);
        self.set(&slot, text.into());
        Some(span)
    }

    /// Takes the bound of a comparison: "for less than 120 euros", where a parameter is the most or the least.
    pub(super) fn bound(&mut self) -> Option<Span> {
        let bound = self.ask.bound?;
        let class = if bound.less { Class::SlotMost } else { Class::SlotLeast };
        let takes = |slot: &&Slot| {
            let named = |word: &String| lexicon::english().is(class, word);
            slot.means == Means::Number && self.is_free(slot) && slot.words.iter().any(named)
        };
        let mut slots = self.offer.slots.iter().filter(takes);
        let slot = slots.next().filter(|_| slots.next().is_none()).cloned()?;
        let number = self.parts.get(bound.at)?;
        let value = slot.shape.value(&super::schema::written(&number.lower))?;
        self.set(&slot, value);
        let unit = self
            .parts
            .get(bound.at + 1)
            .filter(|next| next.gap == Gap::Space && next.role == Role::Content);
        Some(Span { start: number.span.start, end: unit.unwrap_or(number).span.end })
    }

    /// Takes what follows the name of a text for people, word for word: "with the comment enjoy the carnival".
    pub(super) fn after_noun(&mut self) -> Option<Span> {
        let reason = |slot: &&Slot| {
            let named = |word: &String| lexicon::english().is(Class::SlotReason, word);
            slot.means == Means::Text && slot.words.iter().any(named) && self.is_free(slot)
        };
        let slot = self.offer.slots.iter().find(reason).filter(|_| !self.offer.reads).cloned()?;
        let message = self.scene.message;
        let noun = format!(" {} ", slot.words.join(" "));
        let at = message.to_lowercase().find(&noun)?;
        let with = self
            .parts
            .iter()
            .rev()
            .find(|part| part.span.end <= at && part.role != Role::Filler)?;
        let start = at + noun.len();
        let text = message.get(start..)?.trim().trim_end_matches(['.', '!']);
        if !with.is(Class::With)
            || text.is_empty()
            || text.starts_with([':', '"', '\'', '`', '“', '„'])
        {
            return None;
        }
        self.set(&slot, text.into());
        Some(Span { start: at, end: message.len() })
    }

    /// Takes a reason word for word: "reject it because we are short staffed".
    pub(super) fn after_because(&mut self) -> Option<Span> {
        let because = self.parts.iter().find(|part| {
            let first = part.lower.split_whitespace().next().unwrap_or_default();
            self.scene.language.is(Class::Because, first)
        })?;
        let reason = |slot: &&Slot| {
            let named = |word: &String| lexicon::english().is(Class::SlotReason, word);
            slot.means == Means::Text && self.is_free(slot) && slot.words.iter().any(named)
        };
        let slot = self.offer.slots.iter().find(reason).filter(|_| !self.offer.reads).cloned()?;
        let start = because.span.start;
        let text = self.scene.message[start..].split_once(' ')?.1.trim().trim_end_matches('.');
        self.set(&slot, text.into());
        Some(Span { start, end: self.scene.message.len() })
    }

    /// Takes a title word for word, up to a comma: "titled Use OpenTelemetry for tracing, …".
    pub(super) fn after_called(&mut self) -> Option<Span> {
        let called = self.parts.iter().find(|part| part.is(Class::Called))?;
        let start = called.span.end;
        let text = &self.scene.message[start..];
        let end = start + text.find(", ")?;
        let is_title = |slot: &&Slot| {
            let last = slot.words.last().map(String::as_str);
            matches!(last, Some("name" | "title")) && self.is_free(slot)
        };
        let makes = self.offer.family == Some(Family::Create);
        let slot = self.offer.slots.iter().find(is_title).filter(|_| makes).cloned()?;
        let text = self.scene.message[start..end].trim().trim_matches(['"', '\'']);
        self.set(&slot, slot.shape.value(text)?);
        Some(Span { start, end })
    }

    /// Whether words are the name of a thing that a change needs the id of.
    pub(super) fn needs_id(&self, slot: &Slot, text: &str) -> bool {
        let by_id =
            matches!(slot.means, Means::Own(Some(Field::Id)) | Means::Thing(_, Some(Field::Id)));
        by_id && !self.offer.reads && text.contains(char::is_whitespace)
    }

    /// Asks for the id of a thing that was not found by its name.
    pub(super) fn no_such(&self, slot: &Slot, kind: &Kind, text: &str) -> Said {
        let mut query = self.query(text);
        query.want = Want::Act(self.offer.family.unwrap_or(Family::Change));
        query.kind.clone_from(&self.offer.kind);
        query.call = Some((self.offer.tool.tool.clone(), self.arguments.clone()));
        let kinds = self.scene.noun(kind, false);
        let said = self.scene.say(Say::NothingCalled, &[("kinds", &kinds), ("text", text)]);
        self.scene.asked(said, query, Missing::Slot(slot.path()), Vec::new())
    }

    /// The parameter whose name a text begins with.
    pub(super) fn slot_at(&self, text: &str) -> Option<Slot> {
        let first = text.split(|c: char| c.is_whitespace() || c == ':').next()?;
        let named = |slot: &&Slot| self.offer.is_called(slot, first);
        self.offer.slots.iter().filter(|slot| self.is_free(slot)).find(named).cloned()
    }

    /// The required parameters for texts, without a value.
    fn open_written(&self) -> Vec<Slot> {
        let makes = matches!(self.offer.family, Some(Family::Create | Family::Add));
        let written = |slot: &&Slot| {
            let own = makes && matches!(slot.means, Means::Own(_));
            let text = slot.means == Means::Text && slot.shape.choices.is_empty();
            slot.shape.required && self.is_free(slot) && !slot.shape.many && (text || own)
        };
        self.offer.slots.iter().filter(written).cloned().collect()
    }

    /// The parameter for the text after a colon: the last one, where something before the colon is the first.
    fn main_text(&self, colon: usize) -> Option<Slot> {
        let before = self.ask.phrases.iter().any(|phrase| {
            phrase.span.end <= colon && phrase.placed.is_none() && phrase.kind.is_none()
        });
        let mut open = self.open_written();
        match before {
            true => open.pop(),
            false => open.into_iter().next(),
        }
    }

    /// Whether only "and" or a comma is between two parts.
    pub(super) fn is_joined(&self, one: usize, two: usize) -> bool {
        let joins = |part: &Part| part.is(Class::And) || part.is(Class::Continue);
        let between = self.parts.get(one + 1..two).unwrap_or_default();
        let and = between.iter().any(joins);
        let small = |part: &Part| joins(part) || part.role == Role::Filler;
        between.iter().all(small) && (and || self.parts[two].gap == Gap::Pause)
    }

    /// The parameter that was filled last, if it takes several values.
    pub(super) fn last_list(&self) -> Option<Slot> {
        let path = self.filled.last()?;
        let slot = self.offer.slots.iter().find(|slot| slot.path() == *path);
        slot.filter(|slot| slot.shape.many || is_plural_text(slot)).cloned()
    }

    /// Adds a further value to a parameter that has one: to its list, or to its text as it is said.
    pub(super) fn add(&mut self, slot: &Slot, from: usize, phrase: &Phrase) {
        let said = &self.scene.message[self.parts[from].span.end..phrase.span.end];
        let before = super::schema::get(&self.arguments, &slot.shape.path).and_then(Value::as_str);
        let whole = before.map(|before| format!("{before}{said}"));
        let value = match slot.shape.many {
            true => slot.shape.value(&phrase.text),
            false => whole.map(Value::from),
        };
        if let Some(value) = value {
            self.set(slot, value);
        }
    }
}

/// Whether a parameter takes a text that names several: "deciders".
fn is_plural_text(slot: &Slot) -> bool {
    let last = slot.name().rsplit('_').next().unwrap_or_default();
    slot.means == Means::Text && lexicon::english().singular(last) != last
}

/// The parts of a message between commas, from `start` on; a sentence ends one as well if the next begins with the name
/// of a parameter.
fn segments(message: &str, start: usize, begins: impl Fn(&str) -> bool) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut from = start;
    let ends = message[start..].match_indices([',', '.']);
    for (end, mark) in ends.map(|(at, mark)| (start + at, mark)) {
        let rest = message[end + 1..].strip_prefix(' ');
        if rest.is_some_and(|rest| mark == "," || begins(rest)) {
            spans.push(Span { start: from, end });
            from = end + 2;
        }
    }
    spans.push(Span { start: from, end: message.len() });
    spans
}
