//! What a message asks for: the action, the kind, and the phrases that narrow it.
//!
//! Nothing is looked up here; a phrase is words and their context.

mod marks;
mod order;

use super::read::{Part, Role};
use super::scene::Scene;
use crate::entity::token::Gap;
use crate::entity::{Number, Span};
use crate::lexicon::{Class, Family};
use crate::pack::Kind;
use crate::session::dialogue::Order;

#[derive(Debug, Clone, Default)]
pub(super) struct Ask {
    pub verb: Option<(Family, usize)>,
    /// Words for kinds without a name: the subject, or a field of one.
    pub kinds: Vec<KindWord>,
    pub phrases: Vec<Phrase>,
    pub pointers: Vec<Pointer>,
    pub fields: Vec<String>,
    pub counts: bool,
    pub details: bool,
    /// "which", "what", "any".
    pub questions: bool,
    pub follows: Option<Follow>,
    /// "ones", "them": it is about what was shown.
    pub of_shown: bool,
    /// "there".
    pub there: bool,
    /// "what else".
    pub others: bool,
    /// A comparison, with the words that follow.
    pub compared: Option<String>,
    /// The same with a number.
    pub bound: Option<Bound>,
    /// Whether something is located: "in", "at".
    pub placed: bool,
    /// "who has": asks for the owner or actor.
    pub who: bool,
    /// Asks for a time.
    pub when: bool,
    /// "they have": belongs to who was spoken of.
    pub they: bool,
    /// It says that the previous message was misunderstood.
    pub corrects: bool,
    /// "the latest 3 changes": how many of the newest; 0 for all.
    pub newest: Option<usize>,
    /// "the cheapest".
    pub order: Option<Order>,
}

#[derive(Debug, Clone)]
pub(super) struct KindWord {
    pub kind: Kind,
    pub many: bool,
    pub narrower: Option<String>,
    /// "except the servers".
    pub negated: bool,
    /// The class of the word before it, where that says which ones: "each", "other", "all".
    pub after: Option<Class>,
    pub at: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Phrase {
    pub text: String,
    /// The kind suggested by the adjacent words or its form.
    pub kind: Option<Kind>,
    pub is_sure: bool,
    pub id: Option<String>,
    /// The preposition before it: in, of, from, to, with.
    pub placed: Option<Class>,
    pub negated: bool,
    /// "the power one".
    pub picks: bool,
    pub is_literal: bool,
    pub is_quoted: bool,
    pub span: Span,
    pub at: usize,
}

impl Phrase {
    /// Whether it is a number or a code, and no name that can be looked for.
    pub(super) fn is_code(&self) -> bool {
        let plain = self.text.chars().all(|c| !c.is_whitespace());
        plain && self.text.contains(|c: char| c.is_ascii_digit())
    }
}

#[derive(Debug, Clone)]
pub(super) struct Pointer {
    pub number: Number,
    pub kinds: Option<Vec<Kind>>,
    pub is_possessive: bool,
    pub span: Span,
    pub at: usize,
}

/// "more than 20000".
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub less: bool,
    pub or_equal: bool,
    pub number: f64,
    /// The part that is the number.
    pub at: usize,
}

/// How a message relates to the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// "and …", "what about …".
    Continues,
    /// "the same for …".
    Same,
    /// "only …".
    Only,
    /// "back to …".
    Back,
}

impl Scene<'_> {
    pub(super) fn ask(&self, parts: &[Part]) -> Ask {
        let mut ask = Ask::default();
        let mut placed = None;
        let mut negated = false;
        // What is excepted may be several things: "except servers and firewalls".
        let mut excepts = false;
        let goes_on = |at: usize| parts.get(at + 1).is_some_and(|next| next.is(Class::And));
        for (at, part) in parts.iter().enumerate() {
            if part.gap == Gap::Stop && at > 0 {
                (placed, negated, excepts) = (None, false, false);
            }
            match &part.role {
                Role::Filler if self.is_choice_of(parts, at) || self.is_filter_word(parts, at) => {
                    let mut phrase = phrase(part, &Role::Content, at);
                    (phrase.placed, phrase.negated) = (placed, negated);
                    let named = self.is_choice_of(parts, at);
                    ask.phrases.retain(|before| !named || before.at + 1 != at);
                    ask.phrases.push(phrase);
                    negated &= excepts && goes_on(at);
                }
                Role::Filler | Role::Command => continue,
                Role::Verb(family) => {
                    // "create a task, assign it to Tom": one request, to make something.
                    let makes = matches!(ask.verb, Some((Family::Create, _)));
                    if !makes || *family == Family::Create {
                        ask.verb = Some((*family, at));
                    }
                    ask.counts |= self.language.is(Class::Count, &part.lower);
                }
                Role::Kind { kind, many, narrower } => {
                    // "is any circuit down?" asks for several.
                    let any = at.checked_sub(1).is_some_and(|at| parts[at].is(Class::Any));
                    let (kind, many, narrower) = (kind.clone(), *many || any, narrower.clone());
                    let after = self.quantifier(parts, at);
                    ask.kinds.push(KindWord { kind, many, narrower, negated, after, at });
                    negated &= excepts && goes_on(at);
                }
                Role::Pointer { number, kinds, is_possessive } => {
                    let (number, kinds) = (*number, kinds.clone());
                    ask.of_shown |= matches!(number, Number::Many | Number::Both);
                    let is_possessive = *is_possessive;
                    ask.pointers.push(Pointer {
                        number,
                        kinds,
                        is_possessive,
                        span: part.span,
                        at,
                    });
                    placed = None;
                }
                Role::Word(class) => {
                    self.note(&mut ask, *class, at, parts);
                    match class {
                        Class::In | Class::Of | Class::From | Class::To | Class::With => {
                            placed = Some(*class);
                            ask.placed |= *class == Class::In;
                        }
                        Class::Except => (placed, negated, excepts) = (None, true, true),
                        Class::SameFor => placed = Some(Class::Of),
                        Class::Not => negated = true,
                        Class::And | Class::Relates | Class::Called => {}
                        _ => placed = None,
                    }
                    continue;
                }
                role => {
                    let mut phrase = phrase(part, role, at);
                    (phrase.placed, phrase.negated) = (placed, negated);
                    ask.phrases.push(phrase);
                    // What follows "and" is located like what precedes it.
                    if !goes_on(at) {
                        placed = None;
                    }
                    negated &= excepts && goes_on(at);
                }
            }
        }
        // "how many is that?": of what was shown.
        let mut last = parts.iter().rev().take_while(|part| part.role == Role::Filler);
        ask.of_shown |= ask.counts && last.any(|p| self.language.is(Class::This, &p.lower));
        ask.they = self.says_they(parts);
        self.take_newest(&mut ask, parts);
        self.take_order(&mut ask, parts);
        self.own_kinds(&mut ask, parts);
        self.take_values(&mut ask, parts);
        self.join_fields(&mut ask, parts);
        self.give_kinds(&mut ask, parts);
        self.take_fields(&mut ask, parts);
        ask
    }

    /// Whether a small word is a value of the parameter named before it: "status available".
    fn is_choice_of(&self, parts: &[Part], at: usize) -> bool {
        let Some(before) = at.checked_sub(1).map(|at| &parts[at]) else { return false };
        let named = |slot: &&super::offer::Slot| {
            slot.words == [before.lower.clone()] && slot.shape.choice(&parts[at].lower).is_some()
        };
        before.role == Role::Content
            && self.offers.iter().flat_map(|offer| &offer.slots).any(|slot| named(&slot))
    }

    fn note(&self, ask: &mut Ask, class: Class, at: usize, parts: &[Part]) {
        let leads = parts[..at].iter().all(|part| part.role == Role::Filler);
        match class {
            Class::Count => ask.counts = true,
            Class::Details => ask.details = true,
            Class::What | Class::Any => ask.questions = true,
            Class::Who => (ask.questions, ask.who) = (true, true),
            Class::Where => ask.questions = true,
            Class::When => {
                (ask.questions, ask.when) = (true, true);
                // "who made it, and when?"
                let more = at.checked_sub(1).map(|at| &parts[at].role);
                if let Some(Role::Word(Class::And | Class::Continue)) = more {
                    ask.fields.push("created".into());
                }
            }
            Class::Ones | Class::These | Class::They => ask.of_shown = true,
            Class::There => ask.there = true,
            Class::Else => ask.others = true,
            Class::Compare => {
                let rest = parts[at..].iter().take(3).map(|part| part.text.as_str());
                ask.compared = Some(rest.collect::<Vec<_>>().join(" "));
                ask.bound = self.bound(parts, at);
            }
            Class::SameFor => ask.follows = Some(Follow::Same),
            Class::BackTo if leads => ask.follows = Some(Follow::Back),
            Class::Only => ask.follows = Some(Follow::Only),
            Class::Continue if leads => ask.follows = ask.follows.or(Some(Follow::Continues)),
            _ => {}
        }
    }

    /// A word and the kind word after it may name a field together: "primary ip".
    fn join_fields(&self, ask: &mut Ask, parts: &[Part]) {
        for at in 1..parts.len() {
            let (one, two) = (&parts[at - 1], &parts[at]);
            let beside = two.gap == Gap::Space && one.role == Role::Content;
            if !beside || !matches!(two.role, Role::Kind { .. }) {
                continue;
            }
            let name = format!("{} {}", one.lower, two.lower);
            let key = name.replace(' ', "_");
            let kinds = self.offers.iter().filter_map(|offer| offer.kind.as_ref());
            let mut known = kinds.filter_map(|kind| self.known(kind));
            if known.any(|known| known.objects.fields.contains(&key)) {
                ask.fields.push(name);
                ask.phrases.retain(|phrase| phrase.at + 1 != at);
                ask.kinds.retain(|kind| kind.at != at);
            }
        }
    }

    /// Assigns the adjacent kind to a name: "rack B01", "the antwerp site".
    fn give_kinds(&self, ask: &mut Ask, parts: &[Part]) {
        let mut taken: Vec<usize> = Vec::new();
        for phrase in &mut ask.phrases {
            // "the cheapest double room": a value, and no name.
            let plain = !phrase.text.contains(|c: char| c.is_uppercase() || c.is_ascii_digit());
            if phrase.picks || phrase.is_literal || ask.order.is_some() && plain {
                continue;
            }
            let beside = |kind: &&KindWord| {
                let before = kind.at + 1 == phrase.at && parts[phrase.at].gap != Gap::Stop;
                let after = phrase.at + 1 == kind.at && parts[kind.at].gap == Gap::Space;
                (before || (after && !is_number(&phrase.text)))
                    && !kind.many
                    && !taken.contains(&kind.at)
            };
            let Some(kind) = ask.kinds.iter().find(beside).cloned() else { continue };
            let possessive = parts[phrase.at.min(kind.at)].is_possessive;
            let is_value = self.is_value(&kind.kind, &phrase.text);
            let fits = phrase.kind.as_ref().is_none_or(|own| *own == kind.kind || !phrase.is_sure);
            if fits && !possessive && !is_value {
                phrase.kind = Some(kind.kind.clone());
                phrase.is_sure = true;
                taken.push(kind.at);
            }
        }
        // A cue inside a mention already names it.
        ask.kinds.retain(|kind| !taken.contains(&kind.at));
    }

    /// Whether words are values that narrow a kind, not a name: "offline devices".
    pub(super) fn is_value(&self, kind: &Kind, text: &str) -> bool {
        let Some(offer) = self.list_of(kind) else { return false };
        let mut words = text.split_whitespace();
        words.all(|word| offer.slots.iter().any(|slot| slot.is_filtered_by(&word.to_lowercase())))
    }

    /// Fields asked for by other words: "who owns", "how tall".
    fn take_fields(&self, ask: &mut Ask, parts: &[Part]) {
        let words: Vec<(usize, &str)> = parts
            .iter()
            .enumerate()
            .flat_map(|(at, part)| part.lower.split_whitespace().map(move |word| (at, word)))
            .collect();
        let mut index = 0;
        while index < words.len() {
            let rest = words[index..].iter().map(|(_, word)| *word);
            let own = |at: usize| {
                matches!(parts[at].role, Role::Name { .. } | Role::Quoted | Role::Kind { .. })
            };
            let field = self.language.field(rest).filter(|_| !own(words[index].0));
            match field.filter(|(field, count)| self.is_field(field, *count, words[index].1)) {
                Some((field, count)) => {
                    ask.fields.push(field.to_owned());
                    let covered: Vec<usize> =
                        words[index..index + count].iter().map(|(at, _)| *at).collect();
                    ask.phrases.retain(|phrase| {
                        let whole = phrase.text.split_whitespace().count() <= count;
                        !(covered.contains(&phrase.at) && whole)
                    });
                    index += count;
                }
                None => index += 1,
            }
        }
        ask.fields.dedup();
    }
}

impl Scene<'_> {
    /// Whether words that may name a field do: one that is a value of a parameter does not ("high"), and one that only
    /// relates things does where a tool has such a parameter ("assigned").
    fn is_field(&self, field: &str, words: usize, first: &str) -> bool {
        let slots = || self.offers.iter().flat_map(|offer| &offer.slots);
        let is_value = words == 1 && slots().any(|slot| slot.shape.choice(first).is_some());
        let relates = self.language.is(Class::Relates, first);
        !is_value && (!relates || slots().any(|slot| slot.name() == field))
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn phrase(part: &Part, role: &Role, at: usize) -> Phrase {
    let (kind, is_sure, id) = match role {
        Role::Name { kind, is_sure, id } => (kind.clone(), *is_sure, id.clone()),
        _ => (None, false, None),
    };
    Phrase {
        text: part.text.trim_matches(['"', '\'', '`']).to_owned(),
        kind,
        is_sure,
        id,
        placed: None,
        negated: false,
        picks: *role == Role::Pick,
        is_literal: matches!(role, Role::Literal(_)),
        is_quoted: *role == Role::Quoted,
        span: part.span,
        at,
    }
}
