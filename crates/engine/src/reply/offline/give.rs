//! Gives a phrase to a parameter: as the thing it names, as a choice, as text.

use super::ask::Phrase;
use super::fill::Filling;
use super::find::{Found, bare};
use super::narrow::thing_value;
use super::offer::{Means, Slot};
use super::scene::{Flow, Said};
use crate::lexicon::{self, Say};
use crate::session::dialogue::Want;

impl Filling<'_, '_> {
    /// Assigns a phrase to a parameter: as the thing it names, as a choice, as text.
    pub(super) fn give(&mut self, slot: &Slot, phrase: &Phrase) -> Flow<Result<bool, Box<Said>>> {
        let text = phrase.text.as_str();
        let kind = match &slot.means {
            Means::Thing(kind, _) => Some(kind.clone()),
            Means::Own(_) => self.offer.kind.clone(),
            _ => None,
        };
        if let (Some(kind), Some(id)) = (&kind, &phrase.id) {
            let mut thing = bare(kind, id);
            thing.id = Some(id.clone());
            if let Some(value) = thing_value(slot, &thing) {
                self.set(slot, value);
                return Ok(Ok(true));
            }
        }
        if let Some(kind) = kind {
            let kind_of = kind.clone();
            let number = text.bytes().all(|byte| byte.is_ascii_digit());
            let found = match slot.shape.value(text).filter(|_| number) {
                Some(value) => {
                    self.set(slot, value);
                    return Ok(Ok(true));
                }
                None => self.scene.find(text, std::slice::from_ref(&kind), phrase.placed)?,
            };
            match found {
                Found::One(thing) => {
                    // "card": what the row has under the parameter's name.
                    let row = self.scene.row_of(&thing);
                    let own = row.as_ref().and_then(|row| row.get(slot.name()));
                    let own = own.filter(|own| own.is_string() || own.is_number());
                    let own = own.and_then(|own| slot.shape.value(&super::rows::scalar(own)));
                    let value = own.or_else(|| thing_value(slot, &thing));
                    let value = value.or_else(|| slot.shape.value(text));
                    if let Some(value) = value {
                        self.set(slot, value);
                        self.named.push(thing);
                        return Ok(Ok(true));
                    }
                }
                Found::Several(things) => {
                    self.ask_which(slot, text, things);
                    return Ok(Ok(true));
                }
                Found::Near(things) => {
                    return Ok(Err(Box::new(self.scene.did_you_mean(
                        self.query(text),
                        0,
                        text,
                        things,
                    ))));
                }
                Found::None if !self.offer.reads => {
                    match self.scene.with_words(text, &kind_of)?.as_slice() {
                        [only] => {
                            if let Some(value) = thing_value(slot, only) {
                                self.is_vouched_for &= self.scene.is_named_by_user(only);
                                self.set(slot, value);
                                return Ok(Ok(true));
                            }
                        }
                        [] if self.needs_id(slot, text) => {
                            return Ok(Err(Box::new(self.no_such(slot, &kind_of, text))));
                        }
                        [] => {}
                        several => {
                            let several = several.to_vec();
                            self.ask_which(slot, text, several);
                            return Ok(Ok(true));
                        }
                    }
                }
                Found::Unknown if self.needs_id(slot, text) => {
                    return Ok(Err(Box::new(self.no_such(slot, &kind_of, text))));
                }
                // A list that was read does not have it, so it is the id of nothing.
                Found::None if self.offer.reads && by_id(slot) && !phrase.is_code() => {
                    return Ok(Ok(false));
                }
                Found::None | Found::Unknown | Found::Failed(_) => {}
            }
        }
        if !slot.shape.choices.is_empty() && slot.shape.choice(text).is_none() {
            let (field, choices) = (slot.shown(), slot.shape.choices_shown());
            let with = [("text", text), ("field", field.as_str()), ("choices", choices.as_str())];
            let mut query = self.query(text);
            query.want = Want::Act(self.offer.family.unwrap_or(lexicon::Family::Change));
            query.kind.clone_from(&self.offer.kind);
            query.call = Some((self.offer.tool.tool.clone(), self.arguments.clone()));
            let missing = crate::session::dialogue::Missing::Slot(slot.path());
            let said =
                self.scene.asked(self.scene.say(Say::NoChoice, &with), query, missing, Vec::new());
            return Ok(Err(Box::new(said)));
        }
        let text = if phrase.is_quoted { text } else { without_name(slot, text) };
        match slot.shape.value(&slot.searched(&self.offer.described, text)) {
            Some(value) => {
                self.set(slot, value);
                Ok(Ok(true))
            }
            None => Ok(Ok(false)),
        }
    }
}

/// Whether a parameter takes the id of a thing, by its name.
fn by_id(slot: &Slot) -> bool {
    slot.shape.required && slot.words.last().is_some_and(|word| word == "id")
}

/// A value without the name of its parameter: "north" of "the north bed".
fn without_name<'t>(slot: &Slot, text: &'t str) -> &'t str {
    let [name] = slot.words.as_slice() else { return text };
    let is_name = |word: &str| word.eq_ignore_ascii_case(name);
    match (text.split_once(' '), text.rsplit_once(' ')) {
        (Some((first, rest)), _) if is_name(first) => rest,
        (_, Some((rest, last))) if is_name(last) => rest,
        _ => text,
    }
}
