//! Answers to the engine's own questions: a choice, a value for a parameter, a word in place of one that was not
//! understood.

mod more;

use super::ask::Ask;
use super::find::Found;
use super::narrow::thing_value;
use super::offer::{Means, Slot};
use super::point::Meant;
use super::read::{Part, Role};
use super::rows::{self, Fit};
use super::scene::{Flow, Said, Scene};
use super::schema::put;
use crate::lexicon::{Class, Family, Say};
use crate::session::dialogue::{Missing, OpenQuestion, Query, Thing, Want, What};

impl Scene<'_> {
    /// Whether the message is a sentence that asks, and so no value of anything.
    pub(super) fn is_asked_anew(&self) -> bool {
        let message = self.message.trim_end();
        message.ends_with('?') && message.split_whitespace().count() > 2
    }

    /// The reply to a message that answers the open question; `None` if it does not.
    pub(super) fn answered(&self, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        let Some(open) = &self.dialogue.open else { return Ok(None) };
        let plain = |part: &&Part| !matches!(part.role, Role::Filler);
        let only = |class: Class| parts.iter().filter(plain).all(|part| part.is(class));
        if only(Class::No) && parts.iter().any(|part| part.is(Class::No)) {
            let mut said = self.lost();
            (said.text, said.unanswered) = (self.say(Say::Cancelled, &[]), None);
            return Ok(Some(said));
        }
        let agrees = only(Class::Yes) && parts.iter().any(|part| part.is(Class::Yes));
        if open.missing == Missing::Rest && agrees {
            return self.without_rest(&open.query).map(Some);
        }
        if open.missing == Missing::Rest
            && let Some(said) = self.with_other(open)
        {
            return Ok(Some(said));
        }
        if let Some(thing) = self.chosen(open, ask, parts) {
            return self.with_choice(open, &thing).map(Some);
        }
        // "Yes" to a question for a name: ask again.
        if only(Class::Yes)
            && parts.iter().any(|part| part.is(Class::Yes))
            && let (Missing::Term(at), [] | [_, _, ..]) = (&open.missing, &open.candidates[..])
            && let Some(term) = open.query.terms.get(*at)
        {
            let question = self.say(Say::WhichOne, &[("text", &term.text)]);
            return Ok(Some(self.offered(question, open, open.candidates.clone())));
        }
        if self.corrects(parts) && matches!(open.missing, Missing::Slot(_)) {
            return self.with_correction(open, ask);
        }
        let anew = ask.verb.is_some()
            || self.is_asked_anew()
            || self.begins_command(parts)
            || parts.iter().any(|part| part.role == Role::Command)
            || ask.counts
            || ask.questions
            || ask.details
            || ask.follows.is_some()
            || ask.of_shown
            // "how big is budget.csv?"
            || !ask.fields.is_empty() && !ask.phrases.is_empty()
            || ask.kinds.iter().any(|kind| kind.many || !matches!(open.missing, Missing::Slot(_)));
        if anew {
            return Ok(None);
        }
        match &open.missing {
            Missing::Slot(path) => match self.with_name(open, path, ask, parts)? {
                Some(said) => Ok(Some(said)),
                None => self.with_value(open, path, ask),
            },
            Missing::Term(at) => self.with_term(open, *at, ask),
            Missing::Words | Missing::Rest => Ok(None),
        }
    }

    /// "sorry, I meant with urgent priority": a value of the request that a question is open about.
    fn with_correction(&self, open: &OpenQuestion, ask: &Ask) -> Flow<Option<Said>> {
        let Some((tool, arguments)) = &open.query.call else { return Ok(None) };
        let Some(offer) = self.offer(tool) else { return Ok(None) };
        let mut arguments = arguments.clone();
        for phrase in &ask.phrases {
            let chosen = |slot: &Slot| {
                let named = |word: &&str| !slot.words.contains(&word.to_lowercase());
                let words: Vec<&str> = phrase.text.split_whitespace().filter(named).collect();
                Some((slot.shape.path.clone(), slot.shape.choice(&words.join(" "))?.clone()))
            };
            let mut found = offer.slots.iter().filter_map(chosen);
            let (Some((path, value)), None) = (found.next(), found.next()) else {
                return Ok(None);
            };
            put(&mut arguments, &path, value);
        }
        let mut query = open.query.clone();
        query.call = Some((tool.clone(), arguments));
        if ask.phrases.is_empty() { Ok(None) } else { self.carry_out(query, true).map(Some) }
    }

    /// "No, the other one": another choice for the question answered last.
    pub(super) fn chosen_again(&self, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        let Some((open, last)) = self.dialogue.chosen.as_deref() else { return Ok(None) };
        let rest: Vec<Thing> =
            open.candidates.iter().filter(|one| !one.is(last)).cloned().collect();
        let other =
            ask.pointers.iter().any(|pointer| pointer.number == crate::entity::Number::Other);
        let thing = match rest.as_slice() {
            [only] if other => Some(only.clone()),
            _ => self.chosen(open, ask, parts),
        };
        match thing {
            Some(thing) => self.with_choice(open, &thing).map(Some),
            None => Ok(None),
        }
    }

    fn chosen(&self, open: &OpenQuestion, ask: &Ask, parts: &[Part]) -> Option<Thing> {
        let candidates = &open.candidates;
        let single = |found: Vec<&Thing>| match found[..] {
            [only] => Some(only.clone()),
            _ => None,
        };
        if let [only] = candidates.as_slice() {
            let agrees = parts.iter().any(|part| part.is(Class::Yes));
            let points = ask.phrases.is_empty() && ask.kinds.is_empty() && !ask.pointers.is_empty();
            if agrees && ask.phrases.is_empty() || points && ask.fields.is_empty() {
                return Some(only.clone());
            }
        }
        if candidates.is_empty() {
            return None;
        }
        for pointer in &ask.pointers {
            if matches!(pointer.number, crate::entity::Number::Counted { count: 1, .. })
                && let Meant::Things(things) = self.meant(pointer)
            {
                return things.into_iter().next();
            }
        }
        let phrase = ask.phrases.first()?;
        let number = phrase.text.parse::<usize>().ok();
        let named = candidates.iter().any(|thing| thing.label == phrase.text);
        if let Some(counted) =
            number.filter(|_| !named).and_then(|at| candidates.get(at.checked_sub(1)?))
        {
            return Some(counted.clone());
        }
        let fitting = |wanted: Fit| {
            let fits = |thing: &&Thing| {
                rows::fit(&thing.label, &phrase.text).is_some_and(|fit| fit >= wanted)
            };
            single(candidates.iter().filter(fits).collect())
        };
        let words = || {
            let found = self.picked(&phrase.text);
            let own = |thing: &&Thing| found.iter().any(|one| one.is(thing));
            single(candidates.iter().filter(own).collect())
        };
        fitting(Fit::Exact).or_else(|| fitting(Fit::Part)).or_else(words)
    }

    fn with_choice(&self, open: &OpenQuestion, thing: &Thing) -> Flow<Said> {
        let mut query = open.query.clone();
        match &open.missing {
            Missing::Slot(path) => {
                let Some(slot) = self.open_slot(&query, path) else { return Ok(self.lost()) };
                let value = thing_value(&slot, thing).unwrap_or_else(|| thing.label.clone().into());
                self.with_argument(query, &slot, value)
            }
            Missing::Term(at) => {
                if let Some(term) = query.terms.get_mut(*at) {
                    term.what = What::Thing(thing.clone());
                    term.text.clone_from(&thing.label);
                }
                if query.want == Want::Show {
                    query.kind = Some(thing.kind.clone());
                }
                let mut said = self.run(query)?;
                said.dialogue.chosen = Some(Box::new((open.clone(), thing.clone())));
                Ok(said)
            }
            Missing::Words | Missing::Rest => Ok(self.lost()),
        }
    }

    /// "A todo called Clean the gutters": a value for the parameter, and the name of what is created.
    fn with_name(
        &self,
        open: &OpenQuestion,
        path: &str,
        ask: &Ask,
        parts: &[Part],
    ) -> Flow<Option<Said>> {
        let Some((tool, arguments)) = &open.query.call else { return Ok(None) };
        let Some(called) = parts.iter().position(|part| part.is(Class::Called)) else {
            return Ok(None);
        };
        let is_name = |slot: &&Slot| {
            let last = slot.words.last().map(String::as_str);
            matches!(last, Some("name" | "title")) && !arguments.contains_key(slot.name())
        };
        let offer = self.offer(tool);
        let name = offer.and_then(|offer| offer.slots.iter().find(is_name));
        let Some(name) = name.filter(|slot| slot.path() != path) else { return Ok(None) };
        let said = self.message[parts[called].span.end..].trim();
        let said = said.trim_matches(['"', '\'', '`', '.', '!']);
        let value = match ask.phrases.iter().filter(|p| p.at < called).collect::<Vec<_>>()[..] {
            [only] => self.open_slot(&open.query, path).and_then(|s| s.shape.value(&only.text)),
            _ => None,
        };
        let (Some(value), false) = (value, said.is_empty()) else { return Ok(None) };
        let mut query = open.query.clone();
        if let (Some((_, arguments)), Some(slot)) =
            (&mut query.call, self.open_slot(&open.query, path))
        {
            put(arguments, &slot.shape.path, value);
        }
        self.with_argument(query, name, said.into()).map(Some)
    }

    fn open_slot(&self, query: &Query, path: &str) -> Option<Slot> {
        let (tool, _) = query.call.as_ref()?;
        self.offer(tool)?.slots.iter().find(|slot| slot.path() == path).cloned()
    }

    /// The value of a parameter as given in the message.
    fn with_value(&self, open: &OpenQuestion, path: &str, ask: &Ask) -> Flow<Option<Said>> {
        let Some(slot) = self.open_slot(&open.query, path) else { return Ok(None) };
        let whole = self.message.trim().trim_matches(['"', '\'', '`']).trim_end_matches(['.', '!']);
        let text = match ask.phrases.as_slice() {
            [only] => only.text.as_str(),
            _ => whole,
        };
        let makes = matches!(open.query.want, Want::Act(Family::Create | Family::Add));
        let own = !matches!(slot.means, Means::Thing(..))
            && (makes || !matches!(slot.means, Means::Own(_)));
        if own && let Some(said) = self.with_more(open, &slot, whole)? {
            return Ok(Some(said));
        }
        // A sentence is no path.
        if slot.means == Means::Path && text.contains(char::is_whitespace) {
            return Ok(None);
        }
        let kind = match &slot.means {
            Means::Thing(kind, _) => Some(kind.clone()),
            Means::Own(_) => self.open_kind(&open.query),
            _ => None,
        };
        if let Some(kind) = kind {
            return match self.find(text, std::slice::from_ref(&kind), None)? {
                Found::One(thing) => self.with_choice(open, &thing).map(Some),
                Found::Several(things) => {
                    let question = self.say(Say::WhichOne, &[("text", text)]);
                    Ok(Some(self.offered(question, open, things)))
                }
                Found::Near(things) => {
                    let names: Vec<&str> =
                        things.iter().map(|thing| thing.label.as_str()).collect();
                    let with = [("text", text), ("name", &names.join(" / "))];
                    Ok(Some(self.offered(self.say(Say::DidYouMean, &with), open, things)))
                }
                Found::None | Found::Unknown | Found::Failed(_) => match slot.shape.value(text) {
                    None if text.split_whitespace().count() > 2 => Ok(None),
                    Some(value) => self.with_argument(open.query.clone(), &slot, value).map(Some),
                    None => Ok(Some(self.needs(open.query.clone(), &slot))),
                },
            };
        }
        match slot.shape.value(text) {
            Some(value) => self.with_argument(open.query.clone(), &slot, value).map(Some),
            // A sentence that is no such value is something else.
            None if text.split_whitespace().count() > 2 => Ok(None),
            None => Ok(Some(self.needs(open.query.clone(), &slot))),
        }
    }

    fn open_kind(&self, query: &Query) -> Option<crate::pack::Kind> {
        self.offer(&query.call.as_ref()?.0)?.kind.clone()
    }

    /// The same question with candidates to choose from.
    fn offered(&self, question: String, open: &OpenQuestion, things: Vec<Thing>) -> Said {
        let names: Vec<String> = things
            .iter()
            .enumerate()
            .map(|(at, thing)| format!("{}. {}", at + 1, thing.label))
            .collect();
        let text =
            if things.len() > 1 { format!("{question}\n{}", names.join("\n")) } else { question };
        self.asked(text, open.query.clone(), open.missing.clone(), things)
    }

    fn with_argument(&self, mut query: Query, slot: &Slot, value: serde_json::Value) -> Flow<Said> {
        let value = if slot.shape.many { serde_json::Value::Array(vec![value]) } else { value };
        if let Some((_, arguments)) = &mut query.call {
            put(arguments, &slot.shape.path, value);
        }
        self.carry_out(query, true)
    }

    /// A word in place of one that was not understood.
    fn with_term(&self, open: &OpenQuestion, at: usize, ask: &Ask) -> Flow<Option<Said>> {
        let mut query = open.query.clone();
        let Some(phrase) = ask.phrases.first() else { return Ok(None) };
        if at < query.terms.len() {
            query.terms.remove(at);
        }
        match query.want {
            Want::List | Want::Count => {
                let said = self.narrowed(query, ask)?;
                let fits = said.unanswered.is_none() || !super::serve::looks_named(phrase);
                Ok(fits.then_some(said))
            }
            _ => {
                let kinds: Vec<_> =
                    query.kind.iter().filter(|_| query.want == Want::Show).cloned().collect();
                let found = match kinds.is_empty() {
                    true => self.thing_named(phrase)?,
                    false => self.find(&phrase.text, &kinds, phrase.placed)?,
                };
                query.terms.insert(at.min(query.terms.len()), self.word(phrase));
                match found {
                    Found::One(thing) => {
                        query.terms[at].what = What::Thing(thing);
                        self.run(query).map(Some)
                    }
                    found => Ok(Some(self.not_one(query, phrase, found))),
                }
            }
        }
    }
}
