//! Assigns words to parameters.

use serde_json::Value;

use super::ask::Phrase;
use super::fill::Filling;
use super::find::Found;
use super::fit::has_ending;
use super::narrow::{side, thing_value};
use super::offer::{Means, Slot};
use super::read::{Part, Role};
use super::run::word::begins_alike;
use super::scene::{Flow, Said};
use crate::entity::token::Gap;
use crate::lexicon::{self, Class};
use crate::pack::Field;
use crate::search::words::stems;

/// Minimum letters before the number of an identifier that indicate its kind.
const SPELLED_LETTERS_MIN: usize = 3;

impl Filling<'_, '_> {
    /// The parameter named by an adjacent word: "status to offline", "called Dry Dock".
    pub(super) fn named_slot(&self, phrase: &Phrase) -> Option<Slot> {
        let free = |slot: &&Slot| self.is_free(slot) || slot.shape.many;
        let before: Vec<&Part> = self.parts[..phrase.at].iter().rev().take(3).collect();
        if before.first().is_some_and(|part| part.is(Class::Called)) {
            let named = |slot: &&Slot| {
                matches!(slot.words.last().map(String::as_str), Some("name" | "title"))
            };
            return self.offer.slots.iter().filter(free).find(named).cloned();
        }
        let renames = self.ask.verb.is_some_and(|(_, at)| self.parts[at].lower == "rename");
        if renames && phrase.placed == Some(Class::To) {
            let named = |slot: &&Slot| slot.words == ["name"] || slot.words == ["title"];
            return self.offer.slots.iter().filter(free).find(named).cloned();
        }
        // "select Liquid cooling": the verb is a parameter.
        if let Some((_, at)) = self.ask.verb {
            let verb = &self.parts[at].lower;
            let said = |word: &String| self.parts.iter().any(|part| part.lower == *word);
            let named = |slot: &&Slot| {
                slot.words.iter().any(|word| word == verb)
                    && slot.words.iter().all(|word| word == verb || said(word))
            };
            if let Some(slot) = self.offer.slots.iter().filter(free).find(named) {
                return Some(slot.clone());
            }
        }
        let english = lexicon::english();
        if let Some(slot) = self.handed_slot(phrase) {
            return Some(slot);
        }
        // "the status of the second one to offline"
        if phrase.placed == Some(Class::To) {
            // "assign it to Tom": the assignee.
            let acts = |slot: &&Slot| {
                let verb = self.parts[..phrase.at]
                    .iter()
                    .rev()
                    .find(|part| matches!(part.role, Role::Verb(_)));
                let own =
                    |verb: &Part| slot.words.iter().any(|word| begins_alike(word, &verb.lower));
                verb.is_some_and(own)
            };
            if let Some(slot) = self.offer.slots.iter().filter(free).find(acts) {
                return Some(slot.clone());
            }
            let said = |slot: &&Slot| {
                self.parts[..phrase.at].iter().any(|part| slot.words == [part.lower.clone()])
            };
            if let Some(slot) = self.offer.slots.iter().filter(free).find(said) {
                return Some(slot.clone());
            }
        }
        let skipped = |part: &&&Part| {
            matches!(part.role, Role::Filler)
                || matches!(part.role, Role::Word(Class::To | Class::Of | Class::With | Class::And))
        };
        // "the status of fra1-sw-02 to offline": "of" precedes the owner of the field, "to" its value.
        let is_owner = phrase.placed == Some(Class::Of)
            || before.first().is_some_and(|part| matches!(part.role, Role::Word(Class::Of)));
        if is_owner && self.ask.phrases.iter().any(|other| other.placed == Some(Class::To)) {
            return None;
        }
        let word = before.iter().find(|part| !skipped(part))?;
        let said = english.singular(&word.lower);
        // "tag Ulla Berg": what is done, not the tag.
        let lead = self.parts.iter().find(|part| part.role != Role::Filler);
        let leads = lead.is_some_and(|lead| lead.span == word.span);
        if leads && self.offer.words.first() == Some(&said) {
            return None;
        }
        let fields = self.ask.fields.iter().any(|field| {
            english.field([said.as_str()].into_iter()).is_some_and(|(f, _)| f == field)
        });
        let named = |slot: &&Slot| {
            slot.words.join(" ") == said
                || slot.name() == said
                || fields
                    && english
                        .field([said.as_str()].into_iter())
                        .is_some_and(|(field, _)| field == slot.name())
        };
        self.offer.slots.iter().filter(free).find(named).cloned()
    }

    /// "give it to Tom": the one who has it then.
    fn handed_slot(&self, phrase: &Phrase) -> Option<Slot> {
        let language = self.scene.language;
        let done = |part: &&Part| {
            matches!(part.role, Role::Verb(_)) || language.is(Class::Alters, &part.lower)
        };
        let verb = self.parts[..phrase.at].iter().rev().find(done)?;
        let handed = phrase.placed == Some(Class::To) && language.is(Class::Gives, &verb.lower);
        let free = |slot: &&Slot| slot.is_person() && (self.is_free(slot) || slot.shape.many);
        let mut slots = self.offer.slots.iter().filter(free);
        slots.next().filter(|_| handed && slots.next().is_none()).cloned()
    }

    /// The parameter whose kind an identifier is named after: "req-1" is a request, "task-1" a task.
    pub(super) fn spelled_slot(&self, phrase: &Phrase) -> Option<Slot> {
        let (word, number) = phrase.text.split_once(['-', '_'])?;
        let word = word.to_lowercase();
        let counted = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if !counted || word.len() < SPELLED_LETTERS_MIN {
            return None;
        }
        let takes = |slot: &&Slot| {
            let kind = match &slot.means {
                Means::Thing(kind, _) => Some(kind),
                Means::Own(_) => self.offer.kind.as_ref(),
                _ => None,
            };
            let first = kind.and_then(|kind| kind.as_str().split('_').next_back());
            self.is_free(slot) && first.is_some_and(|kind| kind.starts_with(&word))
        };
        let mut fitting = self.offer.slots.iter().filter(takes);
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => None,
        }
    }

    /// Values of parameters with choices: "high priority", "leaf".
    pub(super) fn choices(&mut self, phrase: &Phrase) -> bool {
        let words: Vec<&str> = phrase.text.split_whitespace().collect();
        let english = lexicon::english();
        let own = |word: &str| {
            let word = english.singular(&word.to_lowercase());
            let slots = self.offer.slots.iter().flat_map(|slot| &slot.words);
            slots.chain(&self.offer.words).any(|own| *own == word)
        };
        let values: Vec<&str> = words.iter().copied().filter(|word| !own(word)).collect();
        let whole = |slot: &Slot| slot.shape.choice(&phrase.text).is_some();
        let text = match self.offer.slots.iter().any(whole) {
            true => phrase.text.clone(),
            false => values.join(" "),
        };
        // "free double": one of the words.
        let one = values.iter().find(|word| {
            let chosen = |slot: &Slot| self.is_free(slot) && slot.shape.choice(word).is_some();
            let others = values.iter().filter(|other| other != word);
            let free = |other: &&&str| english.is(Class::Available, &other.to_lowercase());
            self.offer.slots.iter().any(chosen)
                && others.clone().count() > 0
                && others.clone().all(|o| free(&o))
        });
        let text = one.map_or(text, |word| (*word).to_owned());
        let takes = |slot: &&Slot| self.is_free(slot) && slot.shape.choice(&text).is_some();
        let sided = |slot: &&Slot| phrase.placed.is_some_and(|placed| side(slot, placed));
        let slots = || self.offer.slots.iter().filter(takes);
        let slot = slots().find(sided).or_else(|| slots().next());
        let Some(slot) = slot.filter(|_| !text.is_empty()).cloned() else { return false };
        let Some(value) = slot.shape.choice(&text).cloned() else { return false };
        self.set(&slot, value);
        true
    }

    /// The one parameter on the side that the word before a phrase says: "from main".
    pub(super) fn sided_slot(&self, phrase: &Phrase) -> Option<Slot> {
        let placed = phrase.placed?;
        let takes = |slot: &&Slot| {
            let text = matches!(slot.means, Means::Text | Means::Thing(_, Some(Field::Name)));
            let number = slot.means == Means::Number && phrase.text.parse::<f64>().is_ok();
            (text || number) && self.is_free(slot) && !slot.shape.many && side(slot, placed)
        };
        let mut slots = self.offer.slots.iter().filter(takes);
        let first = slots.next()?;
        slots.next().is_none().then(|| first.clone())
    }

    /// "the first line": one of what a parameter counts.
    pub(super) fn single(&mut self, phrase: &Phrase) -> bool {
        let words = stems(&phrase.text);
        let latest = phrase.text.split_whitespace().next().unwrap_or_default().to_lowercase();
        let counts = |slot: &&Slot| {
            let own = stems(&slot.shape.description);
            matches!(slot.means, Means::Limit | Means::Number)
                && self.is_free(slot)
                && words.len() > 1
                && words.iter().all(|word| own.contains(word))
        };
        let slot = self.offer.slots.iter().find(counts).cloned();
        let value = slot.as_ref().and_then(|slot| slot.shape.value("1"));
        match (slot, value) {
            (Some(slot), Some(value)) if self.scene.language.is(Class::Latest, &latest) => {
                self.set(&slot, value);
                true
            }
            _ => false,
        }
    }

    /// The only parameter that still needs a value of this sort.
    pub(super) fn last_resort(&mut self, phrase: &Phrase) -> Flow<Result<bool, Box<Said>>> {
        let number = phrase.text.parse::<f64>().is_ok();
        if self.in_folder(phrase) {
            return Ok(Ok(true));
        }
        if number && let Some(slot) = self.counted_slot(phrase) {
            return self.give(&slot, phrase);
        }
        // Something new gets no name that does not look like one.
        let makes = self.offer.family == Some(lexicon::Family::Create);
        let marked = phrase.text.contains(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let text = |slot: &&Slot| slot.means == Means::Text && slot.shape.required;
        let only = self.offer.slots.iter().filter(text).filter(|s| self.is_free(s)).count() == 1;
        let for_one = only && matches!(phrase.placed, Some(Class::Of | Class::With));
        let named = phrase.is_quoted || marked && (phrase.placed.is_none() || for_one);
        // "3 days": no id.
        let next = self.parts.get(phrase.at + 1).filter(|next| next.gap == Gap::Space);
        let counts = number && next.is_some_and(|next| next.role == Role::Content);
        let takes = |slot: &&Slot| {
            (self.is_free(slot) || slot.shape.many)
                && match slot.means {
                    Means::Own(_) | Means::Thing(..) => slot.shape.required && !counts,
                    Means::Text | Means::Search | Means::AnyName => {
                        slot.shape.required && !number && (!makes || named)
                    }
                    Means::Number => slot.shape.required && number,
                    _ => false,
                }
        };
        let open = self.offer.slots.iter().filter(takes);
        // Between two parameters that take ids of different kinds, neither is certain.
        let by_id = |slot: &&Slot| {
            matches!(slot.means, Means::Own(Some(Field::Id)) | Means::Thing(_, Some(Field::Id)))
        };
        if phrase.kind.is_none() && phrase.is_code() && open.clone().filter(by_id).count() > 1 {
            // A list may tell what has that id: the bike, and not the station.
            let by_id = open.filter(by_id).cloned().collect();
            return match self.taking(phrase, by_id)? {
                Ok(slot) if !number => self.give(&slot, phrase),
                _ => Ok(Ok(false)),
            };
        }
        let mut open: Vec<Slot> = open.cloned().collect();
        if open.len() > 1 && !number {
            open = match self.taking(phrase, open)? {
                Ok(slot) => return self.give(&slot, phrase),
                Err(open) => open,
            };
        }
        for slot in open {
            match self.give(&slot, phrase)? {
                Ok(false) => {}
                given => return Ok(given),
            }
        }
        Ok(Ok(false))
    }

    /// Of several parameters the one for things of the kind that has this name; else those for which it is unknown.
    fn taking(&self, phrase: &Phrase, open: Vec<Slot>) -> Flow<Result<Slot, Vec<Slot>>> {
        let mut unknown = Vec::new();
        for slot in open {
            let kind = match &slot.means {
                Means::Thing(kind, _) => Some(kind),
                Means::Own(_) => self.offer.kind.as_ref(),
                _ => None,
            };
            let Some(kind) = kind else {
                unknown.push(slot);
                continue;
            };
            match self.scene.find(&phrase.text, std::slice::from_ref(kind), phrase.placed)? {
                Found::One(_) | Found::Several(_) => return Ok(Ok(slot)),
                Found::None | Found::Near(_) => {}
                Found::Unknown | Found::Failed(_) => unknown.push(slot),
            }
        }
        Ok(Err(unknown))
    }

    /// A name without a folder: the new one of a file that is moved, or of what is made in a folder that is given.
    fn in_folder(&mut self, phrase: &Phrase) -> bool {
        let name = phrase.text.as_str();
        if name.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '\\')) {
            return false;
        }
        let paths = || self.offer.slots.iter().filter(|slot| slot.means == Means::Path);
        let given = paths().find_map(|slot| {
            let value = super::schema::get(&self.arguments, &slot.shape.path)?;
            Some((slot.clone(), value.as_str()?.trim_end_matches('/').to_owned()))
        });
        let Some((slot, path)) = given.filter(|(slot, _)| !self.is_free(slot)) else {
            return false;
        };
        let target = paths().find(|slot| slot.shape.required && self.is_free(slot)).cloned();
        let called = phrase.at.checked_sub(1).is_some_and(|at| self.parts[at].is(Class::Called));
        match (target, path.rsplit_once('/')) {
            (Some(target), Some((folder, _))) if phrase.placed == Some(Class::To) => {
                self.set(&target, format!("{folder}/{name}").into());
                true
            }
            (None, _) if called && self.offer.family == Some(lexicon::Family::Create) => {
                let path = format!("{path}/{name}");
                super::schema::put(&mut self.arguments, &slot.shape.path, path.into());
                true
            }
            _ => false,
        }
    }

    /// The path of a file in the folder that it is moved to.
    pub(super) fn in_target(&self, phrase: &Phrase) -> Option<String> {
        let renames = self.ask.verb.is_some_and(|(_, at)| self.parts[at].lower == "rename");
        if phrase.placed != Some(Class::To) || renames || has_ending(&phrase.text) {
            return None;
        }
        let paths = self.offer.slots.iter().filter(|slot| slot.means == Means::Path);
        let mut given = paths
            .filter_map(|slot| super::schema::get(&self.arguments, &slot.shape.path)?.as_str())
            .filter(|path| has_ending(path));
        let name = given.next()?.rsplit('/').next()?;
        Some(format!("{}/{name}", phrase.text.trim_end_matches('/')))
    }

    /// The parameter of a number next to a word of its description: "last 3 lines".
    pub(super) fn counted_slot(&self, phrase: &Phrase) -> Option<Slot> {
        let beside =
            |at: Option<usize>| at.and_then(|at| self.parts.get(at)).map(|part| part.lower.clone());
        let (before, after) = (beside(phrase.at.checked_sub(1)), beside(Some(phrase.at + 1)));
        let numeric =
            |slot: &&Slot| matches!(slot.means, Means::Limit | Means::Number) && self.is_free(slot);
        let describes = |slot: &Slot, word: &Option<String>| {
            word.as_ref().is_some_and(|word| {
                let own = stems(&slot.shape.description);
                stems(word).iter().all(|stem| own.contains(stem)) && !stems(word).is_empty()
            })
        };
        let slots = || self.offer.slots.iter().filter(numeric);
        let exact = slots().find(|slot| describes(slot, &before));
        let limit = || slots().find(|slot| slot.means == Means::Limit && describes(slot, &after));
        let latest = || {
            let latest =
                before.as_ref().is_some_and(|word| self.scene.language.is(Class::Latest, word));
            slots().find(|slot| slot.means == Means::Limit && latest)
        };
        exact.or_else(limit).or_else(latest).cloned()
    }

    /// Boolean parameters named in the message.
    pub(super) fn flags(&mut self) {
        let lower = self.scene.message.to_lowercase();
        let flags: Vec<Slot> =
            self.offer.slots.iter().filter(|slot| slot.means == Means::Flag).cloned().collect();
        for slot in flags {
            let name = slot.words.join(" ");
            // "all" is not in "called".
            let whole = |(at, _): &(usize, &str)| {
                let beside =
                    [lower[..*at].chars().next_back(), lower[at + name.len()..].chars().next()];
                !beside.into_iter().flatten().any(char::is_alphanumeric)
            };
            let Some((at, _)) = lower.match_indices(name.as_str()).find(whole) else { continue };
            let before: Vec<&str> = lower[..at].split_whitespace().rev().take(2).collect();
            let denied = before
                .iter()
                .any(|word| self.scene.language.is(Class::Not, word) || word.ends_with("n't"));
            if self.is_free(&slot) {
                self.set(&slot, Value::Bool(!denied));
            }
        }
    }

    /// The thing in focus fills the parameter for the tool's own kind, if the message names no other.
    pub(super) fn focus(&mut self) {
        // What is made is not what was spoken of.
        let makes =
            matches!(self.offer.family, Some(lexicon::Family::Create | lexicon::Family::Add));
        let own = |slot: &&Slot| match slot.means {
            Means::Own(field) => slot.shape.required && (!makes || field == Some(Field::Id)),
            _ => false,
        };
        let Some(slot) =
            self.offer.slots.iter().find(own).filter(|slot| self.is_free(slot)).cloned()
        else {
            return;
        };
        let Some(thing) = self.scene.dialogue.focus.first() else { return };
        let says = !self.filled.is_empty();
        if says
            && Some(&thing.kind) == self.offer.kind.as_ref()
            && let Some(value) = thing_value(&slot, thing)
        {
            self.is_vouched_for &= self.scene.is_named_by_user(thing);
            self.set(&slot, value);
        }
    }
}
