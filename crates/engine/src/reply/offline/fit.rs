//! Which tool a message means: how well the name, the parameters and the description of each fit its words.
//!
//! Invariant: a tool that cannot take a value of the message that is known by its look does not fit.

use std::collections::BTreeSet;

use super::ask::{Ask, Follow, Phrase};
use super::narrow::can;
use super::offer::{Means, Offer, Slot};
use super::read::{Literal, Part, Role};
use super::scene::Scene;
use super::serve::looks_named;
use crate::lexicon::{self, Class, Family};
use crate::search::words::stems;
use crate::weights;

impl Scene<'_> {
    /// The tool whose name, parameters and description fit the words best, and how well.
    pub(super) fn fitting(&self, ask: &Ask, parts: &[Part]) -> Option<(f32, &Offer)> {
        let mut best: Option<(f32, &Offer)> = None;
        for offer in self.offers.iter().filter(|offer| !offer.tool.input_schema.is_null()) {
            let Some(score) = self.fitness(offer, ask, parts) else { continue };
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, offer));
            }
        }
        best
    }

    #[expect(clippy::cast_precision_loss, reason = "a few words")]
    fn fitness(&self, offer: &Offer, ask: &Ask, parts: &[Part]) -> Option<f32> {
        let mut said = said_words(parts);
        said.extend(ask.fields.iter().cloned());
        let first = parts.iter().find(|part| part.role != Role::Filler);
        let lead = first.and_then(|part| part.lower.split_whitespace().next()).unwrap_or_default();
        let english = lexicon::english();
        let own = || offer.words.iter().filter(|word| Some(*word) != offer.shared.as_ref());
        let sums = self.adds_up(ask, parts);
        // "commits by Piet": several things, and not what is done.
        let named = |word: &String| offer.reads && *word == english.singular(lead);
        let describes = english.is(Class::Adjective, lead)
            && parts.iter().any(|part| matches!(part.role, Role::Kind { many: true, .. }));
        let asks = [Class::Who, Class::What].iter().any(|class| self.language.is(*class, lead));
        let leads = !describes && !asks && own().any(|word| *word == lead || named(word))
            || offer.decided_by(lead).is_some()
            || sums && own().any(|word| english.is(Class::Sum, word));
        let folder = said.iter().any(|word| english.is(Class::Folder, word));
        if has_file(ask) && offer.is_about_folders() && !folder {
            return None;
        }
        // "what files are in /srv": several things are asked for.
        let verb = ask.verb.filter(|_| !sums);
        let continues = ask.follows == Some(Follow::Continues) && ask.phrases.is_empty();
        let listing = verb.is_none()
            && (ask.questions || continues)
            && ask.fields.is_empty()
            && (ask.placed && ask.phrases.iter().all(|phrase| phrase.is_literal)
                || has_plural(ask, parts));
        let mut score = match verb {
            Some((family, at)) => {
                let verb = parts[at].lower.as_str();
                let exact = offer.is_done_by(verb);
                let slot = !family.reads()
                    && offer.slots.iter().any(|slot| {
                        let mut words = slot.words.iter();
                        slot.words.iter().any(|word| word == verb)
                            && words.all(|word| word == verb || said.contains(word))
                    });
                // "add a task": what is not there yet is made.
                let made = family == Family::Add
                    && offer.family == Some(Family::Create)
                    && offer.kind.as_ref().is_some_and(|kind| {
                        let new = |p: &Phrase| p.is_quoted && p.kind.as_ref() == Some(kind);
                        ask.kinds.iter().any(|w| w.kind == *kind) || ask.phrases.iter().any(new)
                    });
                let made = made || makes_one(offer, ask, parts);
                let adds = family == Family::Create && is_added(offer, ask);
                let fits = match family.reads() {
                    true => offer.reads,
                    false => exact || adds || can(offer, family),
                };
                if !fits {
                    return None;
                }
                match offer.family {
                    _ if makes_one(offer, ask, parts) => {
                        weights::TOOL_VERB_EXACT + weights::TOOL_NOUN
                    }
                    _ if slot || exact => weights::TOOL_VERB_EXACT,
                    Some(own) if own == family || made || adds => weights::TOOL_VERB,
                    Some(own) if own.reads() && family.reads() => weights::TOOL_VERB_OTHER,
                    _ => weights::TOOL_VERB_NEAR,
                }
            }
            None if offer.decided_by(lead).is_some() => {
                weights::TOOL_VERB_EXACT + weights::TOOL_NOUN
            }
            None if leads => weights::TOOL_VERB,
            None if listing && offer.reads && offer.family == Some(Family::List) => {
                weights::TOOL_VERB
            }
            None if offer.reads => 0.0,
            None => return None,
        };
        let nouns: Vec<&String> = offer.nouns().collect();
        let hits = nouns.iter().filter(|noun| said.contains(**noun)).count();
        // "create an issue": an item of a sort that the tool makes.
        let sort = |slot: &Slot| slot.shape.required && said.iter().any(|w| slot.is_hinted(w));
        let makes = !offer.reads && !nouns.is_empty() && offer.slots.iter().any(sort);
        let hits = if makes { hits.max(1) } else { hits };
        let kind = offer.kind.as_ref();
        let named_kind = kind.is_some_and(|kind| {
            ask.kinds.iter().any(|word| word.kind == *kind)
                || ask.phrases.iter().any(|phrase| phrase.kind.as_ref() == Some(kind))
        });
        let other_kind = ask.kinds.iter().any(|word| {
            let said = &parts[word.at].lower;
            let own = self.is_own_word(offer, said) || makes && is_choice(offer, said);
            kind != Some(&word.kind) && !own && offer.slot_for(&word.kind).is_none()
        });
        if other_kind {
            return None;
        }
        let focused = ask.kinds.is_empty()
            && kind.is_some()
            && self.dialogue.focus.first().map(|thing| &thing.kind) == kind;
        let points = !ask.pointers.is_empty() || !ask.fields.is_empty();
        let slots_said = offer.slots.iter().filter(|slot| {
            let says = |word: &String| said.contains(word) && !nouns.contains(&word);
            let is_verb = |word: &String| verb.is_some_and(|(_, at)| parts[at].lower == *word);
            slot.words.iter().any(|word| says(word) && (slot.words.len() == 1 || !is_verb(word)))
                || ask.fields.iter().any(|field| field == slot.name())
        });
        let described = said
            .iter()
            .filter(|word| stems(word).iter().all(|stem| offer.described.contains(stem)));
        let literals = self.literals(offer, ask, parts)?;
        // What is asked of a file is told by a tool that speaks of it.
        let told = |field: &String| {
            stems(field).iter().all(|stem| offer.described.contains(stem)) || said_of(offer, field)
        };
        if literals > 0 && !ask.fields.iter().all(told) {
            return None;
        }
        let counted = counts(offer, parts, self.language);
        let literals = literals
            + usize::from(counted)
            + ask.phrases.iter().filter(|phrase| is_choice(offer, &phrase.text)).count();
        // A list of something unknown is no search for it.
        let lists = matches!(ask.verb, Some((Family::List, _)));
        if lists && offer.family == Some(Family::Find) && hits == 0 && !named_kind {
            return None;
        }
        // "and in Oslo?" goes on with the last call; alone it does not say what is wanted.
        let place = |phrase: &Phrase| {
            matches!(parts.get(phrase.at).map(|p| &p.role), Some(Role::Literal(Literal::Zone)))
        };
        if hits == 0 && !leads && ask.follows.is_some() && ask.phrases.iter().all(place) {
            return None;
        }
        // A day does not say what is wanted.
        let day = |phrase: &Phrase| {
            let role = parts.get(phrase.at).map(|part| &part.role);
            matches!(role, Some(Role::Literal(Literal::Date)))
        };
        let told_words = |word: &&String| {
            let own = stems(word);
            !own.is_empty() && own.iter().all(|stem| offer.described.contains(stem))
        };
        let says = said.iter().any(|word| told_words(&word)) || slots_said.clone().next().is_some();
        let mut days = ask.phrases.iter().filter(|phrase| phrase.is_literal).peekable();
        let days = days.peek().is_some() && days.all(day);
        if hits == 0 && !named_kind && !leads && verb.is_none() && literals > 0 && days && !says {
            return None;
        }
        let sets = sets_field(offer, ask, &said);
        if hits == 0 && !named_kind && !(focused && points) && literals == 0 && !leads {
            let slot = ask.verb.is_some_and(|(_, at)| {
                offer
                    .slots
                    .iter()
                    .any(|slot| slot.words.iter().any(|word| *word == parts[at].lower))
            });
            if !slot && !sets && score < weights::TOOL_VERB_EXACT {
                return None;
            }
        }
        // What is made, changed or removed is said, or it is not meant.
        let changes = verb.is_some_and(|(family, _)| !family.reads());
        if changes && hits == 0 && !named_kind && !focused && !sets && !nouns.is_empty() {
            let done = |verb: &str| stems(verb).iter().all(|stem| offer.described.contains(stem));
            let does = verb.is_some_and(|(_, at)| {
                offer.is_done_by(&parts[at].lower) || done(&parts[at].lower)
            });
            if !does {
                return None;
            }
            score -= if self.is_only(ask, parts) { 0.0 } else { weights::TOOL_NOUN };
        }
        score += hits as f32 * weights::TOOL_NOUN;
        score -= (nouns.len() - hits) as f32 * weights::TOOL_NOUN_UNSAID;
        let about = named_kind && hits == 0 || focused && (points || hits == 0);
        score += if about { weights::TOOL_NOUN } else { 0.0 };
        // Of tools with the verb that was said, the one whose needs are named is as good as named itself.
        let exact = ask.verb.is_some_and(|(_, at)| offer.is_done_by(&parts[at].lower));
        let (needed, other): (Vec<&Slot>, Vec<&Slot>) =
            slots_said.take(3).partition(|slot| exact && slot.shape.required);
        score += needed.len() as f32 * weights::TOOL_NOUN + other.len() as f32 * weights::TOOL_SLOT;
        score += described.count().min(3) as f32 * weights::TOOL_DESCRIBED;
        score += literals as f32 * weights::TOOL_NOUN;
        score += ask.fields.iter().filter(|field| told(field)).count() as f32 * weights::TOOL_SLOT;
        score -= if offer.described.iter().any(|stem| *stem == "deprec") {
            weights::TOOL_DESCRIBED
        } else {
            0.0
        };
        let required =
            offer.slots.iter().filter(|slot| slot.shape.required && !self.is_context(offer, slot));
        let values = ask.phrases.len() + ask.pointers.len();
        let unfilled = |slot: &&Slot| slot.means == Means::Path && literals == 0;
        let unfilled = usize::from(required.clone().any(|slot| unfilled(&slot)));
        let open = required.count().saturating_sub(values).min(1).max(unfilled);
        Some(score - open as f32 * weights::TOOL_NOUN)
    }

    /// "Delete Marta": one tool does that, and it is done to what is named.
    fn is_only(&self, ask: &Ask, parts: &[Part]) -> bool {
        let does =
            |offer: &&Offer| ask.verb.is_some_and(|(_, at)| offer.is_done_by(&parts[at].lower));
        let named = |phrase: &Phrase| looks_named(phrase) && !phrase.is_literal;
        let [phrase] = ask.phrases.as_slice() else { return false };
        named(phrase) && ask.kinds.is_empty() && self.offers.iter().filter(does).count() == 1
    }

    /// How many values that are known by their look the tool takes; `None` where it does not take one.
    pub(super) fn literals(&self, offer: &Offer, ask: &Ask, parts: &[Part]) -> Option<usize> {
        let mut taken = 0;
        let mut used: Vec<String> = Vec::new();
        for phrase in ask.phrases.iter().filter(|phrase| phrase.is_literal) {
            let Role::Literal(literal) = parts.get(phrase.at)?.role else { continue };
            let free = |slot: &&Slot| slot.shape.many || !used.contains(&slot.path());
            // A file is not the folder that every tool of a server works in.
            let file = literal == Literal::Path && has_ending(&phrase.text);
            let takes = |slot: &&Slot| {
                takes_literal(offer, slot, literal) && !(file && self.is_context(offer, slot))
            };
            let slot = offer.slots.iter().filter(takes).find(free)?;
            used.push(slot.path());
            taken += 1;
        }
        Some(taken)
    }
}

/// "Add an entity Petrel": what has no name yet is made.
fn makes_one(offer: &Offer, ask: &Ask, parts: &[Part]) -> bool {
    let english = lexicon::english();
    let adds = matches!(ask.verb, Some((Family::Add | Family::Create, _)));
    let new = |at: usize| {
        let before = at.checked_sub(1).map(|at| parts[at].lower.as_str());
        let own =
            matches!(&parts[at].role, Role::Kind { kind, .. } if offer.kind.as_ref() == Some(kind));
        own && before.is_some_and(|word| english.is(Class::A, word))
    };
    adds && offer.family == Some(Family::Create) && (0..parts.len()).any(new)
}

/// "Create a member", where members are added: what is named is not there yet.
fn is_added(offer: &Offer, ask: &Ask) -> bool {
    let named = |kind: &crate::pack::Kind| ask.kinds.iter().any(|word| word.kind == *kind);
    offer.family == Some(Family::Add)
        && offer.kind.as_ref().is_some_and(named)
        && !offer.own_slots().any(|slot| slot.shape.required)
}

/// "Set the amount of Crew app to 25k": a parameter of the tool, the thing that has it, and its new value.
fn sets_field(offer: &Offer, ask: &Ask, said: &BTreeSet<String>) -> bool {
    let changes = matches!(ask.verb, Some((Family::Change, _)));
    let own = offer.own_slots().any(|slot| slot.shape.required);
    let said = |slot: &Slot| {
        !matches!(slot.means, Means::Own(_)) && slot.words.iter().all(|word| said.contains(word))
    };
    let placed = |class: Class| ask.phrases.iter().any(|phrase| phrase.placed == Some(class));
    changes && own && offer.slots.iter().any(said) && placed(Class::Of) && placed(Class::To)
}

/// Whether a message names a file: the last part of a path has an ending.
fn has_file(ask: &Ask) -> bool {
    ask.phrases.iter().any(|phrase| phrase.is_literal && has_ending(&phrase.text))
}

/// Whether a path is one of a file: its last part has an ending.
pub(super) fn has_ending(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let ending = name.trim_start_matches('.').rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        ending.contains(char::is_alphabetic) && ending.chars().all(char::is_alphanumeric)
    })
}

/// Whether a word is in the name of a tool or of one of its parameters, in the singular.
fn said_of(offer: &Offer, word: &str) -> bool {
    offer.words.iter().chain(offer.slots.iter().flat_map(|slot| &slot.words)).any(|own| own == word)
}

/// Whether a message asks for several things by a word.
fn has_plural(ask: &Ask, parts: &[Part]) -> bool {
    let english = lexicon::english();
    let plural = |word: &str| english.singular(word) != word;
    ask.kinds.iter().any(|kind| kind.many)
        || parts.iter().any(|part| part.role == Role::Content && plural(&part.lower))
}

/// Whether a number counts what the tool gives: "the last 2 commits", where it can be limited.
pub(super) fn counts(offer: &Offer, parts: &[Part], language: &lexicon::Language) -> bool {
    let limited = offer.slots.iter().any(|slot| slot.means == Means::Limit);
    let given = |word: &str| stems(word).iter().all(|stem| offer.described.contains(stem));
    limited
        && parts.windows(3).any(|three| {
            language.is(Class::Latest, &three[0].lower)
                && three[1].role == Role::Number
                && given(&three[2].lower)
        })
}

/// The words of a message in the singular.
pub(super) fn said_words(parts: &[Part]) -> BTreeSet<String> {
    let english = lexicon::english();
    let words = parts
        .iter()
        .filter(|part| !matches!(part.role, Role::Literal(_) | Role::Quoted | Role::Name { .. }));
    let words = words.flat_map(|part| part.lower.split(|c: char| !c.is_alphanumeric()));
    let mut said: BTreeSet<String> = words
        .filter(|word| !word.is_empty())
        .flat_map(|word| [word.to_owned(), english.singular(word)])
        .collect();
    if said.iter().any(|word| english.is(Class::Folder, word)) {
        said.extend(english.words(Class::Folder).map(str::to_owned));
    }
    said
}

/// Whether a phrase is a choice of a parameter.
pub(super) fn is_choice(offer: &Offer, text: &str) -> bool {
    offer.slots.iter().any(|slot| slot.shape.choice(text).is_some())
}

/// Whether a phrase is a choice of a parameter, or a number and a parameter takes numbers.
pub(super) fn takes_value(offer: &Offer, text: &str) -> bool {
    let number = text.parse::<f64>().is_ok();
    is_choice(offer, text) || number && offer.slots.iter().any(|slot| slot.means == Means::Number)
}

/// Whether a parameter takes such a literal.
pub(super) fn takes_literal(offer: &Offer, slot: &Slot, literal: Literal) -> bool {
    if literal == Literal::Ending {
        let patterns = offer.slots.iter().any(Slot::is_pattern);
        return if patterns { slot.is_pattern() } else { slot.means == Means::Path };
    }
    matches!(
        (literal, &slot.means),
        (Literal::Path, Means::Path)
            | (Literal::Zone, Means::Zone)
            | (Literal::Time, Means::Time)
            | (Literal::Date, Means::Date)
    )
}
