//! The reading tool that a question means, where its words are not those of the tool: "how full are we?" for
//! `get_occupancy`.
//!
//! It is asked for only after everything else has failed.
//!
//! Invariant: the tool runs without approval, and every content word of the message is one of the tool's, means the
//! same as one, or fills a parameter.

use std::collections::BTreeSet;

use super::ask::{Ask, Phrase};
use super::fit::is_choice;
use super::offer::{Means, Offer, Slot};
use super::read::{Part, Role};
use super::scene::{Flow, Said, Scene};
use super::schema::get;
use super::serve::looks_named;
use crate::lexicon::{self, Class, Family, Say};
use crate::pack::words_of_identifier;
use crate::search::thesaurus;
use crate::search::words::stems;
use crate::session::dialogue::{Missing, Query, Want};

/// Minimum similarity of a word to one of the tool's.
const NEAR_MIN: f32 = 0.5;
/// Minimum lead of the best tool over the next one.
const LEAD_MIN: f32 = 0.5;
/// Maximum tools named in a question.
const NAMED_MAX: usize = 3;

/// The words of a tool: those of its name, its description and what it gives; and those of its parameters.
struct Vocabulary {
    own: BTreeSet<String>,
    slots: BTreeSet<String>,
}

impl Scene<'_> {
    /// The answer of the tool that a question means; a question if several may be meant.
    pub(super) fn by_meaning(&self, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        let asks = ask.questions || ask.counts || self.is_asked_anew();
        let reads = ask.verb.is_none_or(|(family, _)| family.reads());
        let leans = ask.of_shown || ask.follows.is_some() || ask.corrects || ask.others;
        let more = ask.compared.is_some() || ask.order.is_some() || ask.newest.is_some();
        if !asks || !reads || leans || more || !ask.pointers.is_empty() {
            return Ok(None);
        }
        let mut found: Vec<(f32, &Offer, Query)> = Vec::new();
        for offer in self.offers.iter().filter(|offer| is_plain(offer)) {
            // "Which bikes are in Graz?" asks for several, whatever else a name could be the id of.
            let one = offer.own_slots().any(|slot| slot.shape.required && !slot.shape.many);
            if one
                && ask.kinds.iter().any(|word| word.many && offer.kind.as_ref() == Some(&word.kind))
            {
                continue;
            }
            let Some((score, said)) = self.explained(offer, ask, parts) else { continue };
            if self.literals(offer, ask, parts).is_none() {
                continue;
            }
            let ask = Ask { phrases: said, kinds: ask.kinds.clone(), ..Ask::default() };
            let Ok(filled) = self.fill(offer, &ask, parts)? else { continue };
            let open = |slot: &Slot| get(&filled.arguments, &slot.shape.path).is_none();
            let lacks = offer.slots.iter().any(|slot| slot.shape.required && open(slot));
            let score = if lacks { score - LEAD_MIN } else { score };
            if filled.left.is_empty() {
                let want = Want::Act(offer.family.unwrap_or(Family::Show));
                let call = Some((offer.tool.tool.clone(), filled.arguments));
                let kind = offer.kind.clone();
                found.push((score, offer, Query { want, kind, call, ..Query::default() }));
            }
        }
        found.sort_by(|left, right| right.0.total_cmp(&left.0));
        let lead = match found.as_slice() {
            [] => return Ok(None),
            [_] => true,
            [first, second, ..] => first.0 - second.0 >= LEAD_MIN,
        };
        if !lead {
            let best = found[0].0;
            let close = found.iter().filter(|(score, ..)| best - score < LEAD_MIN);
            let what: Vec<String> =
                close.take(NAMED_MAX).map(|(_, offer, _)| self.needed(offer)).collect();
            let text = self.say(Say::Lost, &[("what", &what.join(", "))]);
            return Ok(Some(self.asked(text, Query::default(), Missing::Words, Vec::new())));
        }
        let (_, _, query) = found.swap_remove(0);
        self.carry_out(query, true).map(Some)
    }

    /// How well a tool explains the words of a message that are no values, and the phrases that are; `None` if a word is
    /// left over.
    fn explained(&self, offer: &Offer, ask: &Ask, parts: &[Part]) -> Option<(f32, Vec<Phrase>)> {
        let words = vocabulary(offer);
        let is_value = |phrase: &Phrase| {
            let number = phrase.text.bytes().all(|byte| byte.is_ascii_digit());
            phrase.is_literal || looks_named(phrase) || number || is_choice(offer, &phrase.text)
        };
        let (values, rest): (Vec<&Phrase>, Vec<&Phrase>) =
            ask.phrases.iter().partition(|phrase| is_value(phrase));
        let kinds = ask.kinds.iter().map(|kind| parts[kind.at].lower.as_str());
        let rest = rest.iter().map(|phrase| phrase.text.as_str()).chain(kinds);
        let rest = rest.chain(ask.fields.iter().map(String::as_str));
        let relates = parts.iter().filter(|part| part.role == Role::Word(Class::Relates));
        let relates = relates.filter(|part| !self.language.is(Class::Auxiliary, &part.lower));
        let (mut score, mut any) = (0.0_f32, false);
        for word in rest.flat_map(str::split_whitespace).map(str::to_lowercase) {
            if self.says_nothing_itself(&word) {
                continue;
            }
            let near = self.nearness(&word, &words.own);
            any |= near.is_some();
            score += near.or_else(|| self.nearness(&word, &words.slots).map(|near| near / 2.0))?;
        }
        for part in relates {
            score += self.nearness(&part.lower, &words.own).unwrap_or_default();
        }
        let chosen = values.iter().filter(|phrase| is_choice(offer, &phrase.text)).count();
        any |= chosen > 0 && values.iter().any(|phrase| phrase.is_literal);
        score += if chosen > 0 { LEAD_MIN } else { 0.0 };
        any.then(|| (score, values.into_iter().cloned().collect()))
    }

    /// How near a word is to one of these: 1 for the word itself or one that means the same.
    fn nearness(&self, word: &str, words: &BTreeSet<String>) -> Option<f32> {
        let english = lexicon::english();
        let translated = self.language.nouns(word).iter().map(|(noun, _)| noun.clone());
        let mut forms: Vec<String> = translated.collect();
        forms.extend([word.to_owned(), english.singular(word)]);
        let known = |form: &String| words.contains(form);
        let synonym = |form: &String| words.iter().any(|own| english.is_synonym(own, form));
        if forms.iter().any(|form| known(form) || synonym(form)) {
            return Some(1.0);
        }
        let own: BTreeSet<String> = words.iter().flat_map(|word| stems(word)).collect();
        let said: Vec<String> = forms.iter().flat_map(|form| stems(form)).collect();
        if said.iter().any(|stem| own.contains(stem)) {
            return Some(1.0);
        }
        let near = said.iter().flat_map(|stem| thesaurus::near(stem));
        let near = near.filter(|(stem, near)| *near >= NEAR_MIN && own.contains(*stem));
        near.map(|(_, near)| near).max_by(f32::total_cmp)
    }

    /// Whether a word asks and names nothing: "how".
    fn says_nothing_itself(&self, word: &str) -> bool {
        let small = [Class::Filler, Class::Count, Class::What, Class::Who, Class::Auxiliary];
        small.iter().any(|class| self.language.is(*class, word))
            || crate::search::words::is_stop_word(word)
    }
}

/// Whether it reads freely, and needs no text, which could be anything.
fn is_plain(offer: &Offer) -> bool {
    let text = |slot: &Slot| {
        let open = matches!(slot.means, Means::Text | Means::Search | Means::AnyName);
        open || matches!(slot.means, Means::Path | Means::Sql | Means::Sum)
    };
    let needs = offer.slots.iter().any(|slot| slot.shape.required && text(slot));
    offer.reads && offer.is_free && !needs
}

fn vocabulary(offer: &Offer) -> Vocabulary {
    let english = lexicon::english();
    let properties = |schema: &serde_json::Value| -> Vec<String> {
        let keys = schema.get("properties").and_then(serde_json::Value::as_object);
        keys.into_iter().flatten().flat_map(|(key, _)| words_of_identifier(key)).collect()
    };
    let given = offer.tool.output_schema.as_ref().map(properties).unwrap_or_default();
    let description = offer.tool.description.split(|c: char| !c.is_alphanumeric());
    let own = offer.nouns().cloned().chain(description.map(str::to_lowercase)).chain(given);
    let own = own.filter(|word| !word.is_empty() && !crate::search::words::is_stop_word(word));
    let slots = offer.slots.iter().flat_map(|slot| slot.words.iter().cloned());
    Vocabulary { own: own.map(|word| english.singular(&word)).collect(), slots: slots.collect() }
}

/// Whether nothing was answered, and nothing asked for that would complete the request.
pub(super) fn is_lost(said: &Said) -> bool {
    let open = said.dialogue.open.as_ref();
    let completes = open.is_some_and(|open| {
        !open.candidates.is_empty() || matches!(open.missing, Missing::Slot(_))
    });
    said.unanswered.is_some_and(|code| code != "tool_failed") && !completes
}
