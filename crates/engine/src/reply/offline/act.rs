//! All actions besides listing and showing: selects the tool whose name matches the message best.
//!
//! Invariant: a tool is called only if its parameters and name cover every content word.

use std::collections::BTreeSet;

use serde_json::Value;

use super::ask::Ask;
use super::narrow::can;
use super::offer::{Means, Offer, Slot};
use super::read::{Literal, Part, Role};
use super::rows;
use super::scene::{Flow, Said, Scene};
use crate::lexicon::{self, Family, Say};
use crate::reply::wording;
use crate::search::words::stems;
use crate::session::dialogue::{Missing, Query, RowAt, SHOWN_MAX, Spoken, Thing, Want};
use crate::weights;

/// Maximum bytes of a text that only says that there is nothing.
const NONE_BYTES_MAX: usize = 200;
/// Words that start an SQL statement.
const SQL_VERBS: [&str; 9] =
    ["select", "insert", "update", "delete", "with", "create", "drop", "alter", "pragma"];
/// Words of which such a statement has one.
const SQL_WORDS: [&str; 6] = ["from", "into", "table", "set", "values", "index"];

impl Scene<'_> {
    /// A message that is an SQL statement, for a tool that takes one.
    pub fn statement(&self) -> Flow<Option<Said>> {
        let takes = |offer: &&Offer| offer.slots.iter().any(|slot| slot.means == Means::Sql);
        let offers: Vec<&Offer> = self.offers.iter().filter(takes).collect();
        // "run this: select …"
        let after = self.message.find(": ").unwrap_or_default();
        let begin = |part: &&Part| part.span.start >= after;
        let led = self.parts.iter().filter(begin).take(1);
        let begins = self.parts.iter().take(2).chain(led).find(|part| {
            let first = part.lower.split_whitespace().next().unwrap_or_default();
            SQL_VERBS.contains(&first)
        });
        let Some(part) = begins.filter(|_| !offers.is_empty()) else { return Ok(None) };
        let text = self.message[part.span.start..].trim();
        let lower = text.to_lowercase();
        if !SQL_WORDS.iter().any(|word| lower.split_whitespace().any(|said| said == *word)) {
            return Ok(None);
        }
        let verb = stems(lower.split_whitespace().next().unwrap_or_default());
        let reads = verb == stems("select") || verb == stems("with") || verb == stems("pragma");
        let named = |offer: &&&Offer| {
            verb.iter().all(|word| offer.described.contains(word)) && offer.reads == reads
        };
        let Some(offer) =
            offers.iter().find(named).or_else(|| offers.iter().find(|o| o.reads == reads))
        else {
            return Ok(None);
        };
        let Some(slot) = offer.slots.iter().find(|slot| slot.means == Means::Sql) else {
            return Ok(None);
        };
        let mut arguments = offer.fixed.clone();
        super::schema::put(&mut arguments, &slot.shape.path, text.into());
        let want = Want::Act(offer.family.unwrap_or(Family::Show));
        let call = Some((offer.tool.tool.clone(), arguments));
        self.carry_out(Query { want, call, ..Query::default() }, true).map(Some)
    }

    /// Whether the words name a tool that neither lists nor shows things, completely.
    pub fn is_command(&self, ask: &Ask, parts: &[Part]) -> bool {
        let Some((_, offer)) = self.fitting(ask, parts) else { return false };
        let special = !offer.lists() && !offer.shows_one();
        let said = said_words(parts);
        let (mut hits, mut all) = (0, 0);
        for noun in offer.nouns() {
            all += 1;
            hits += usize::from(said.contains(noun));
        }
        let own = |text: &str| self.is_own_word(offer, &text.to_lowercase());
        let accounted = ask.phrases.iter().all(|phrase| {
            phrase.is_literal || own(&phrase.text) || takes_value(offer, &phrase.text)
        });
        special && hits > 0 && (hits == all || accounted)
    }

    /// Whether a message starts with a tool's name: "close item 4" for `close_item`.
    pub fn begins_command(&self, parts: &[Part]) -> bool {
        let first = parts.iter().find(|part| part.role != Role::Filler);
        let lead = first.and_then(|part| part.lower.split_whitespace().next()).unwrap_or_default();
        let said = said_words(parts);
        self.offers.iter().any(|offer| {
            let leads = offer.words.first().is_some_and(|word| word == lead);
            leads && offer.words.iter().skip(1).any(|word| said.contains(word))
        })
    }

    /// Whether a tool takes every content word as a number or a choice: "37 celsius in kelvin".
    pub fn is_valued(&self, ask: &Ask) -> bool {
        ask.kinds.is_empty()
            && self.offers.iter().filter(|offer| offer.reads).any(|offer| {
                let chosen = ask.phrases.iter().filter(|phrase| is_choice(offer, &phrase.text));
                chosen.count() > 1 && ask.phrases.iter().all(|p| takes_value(offer, &p.text))
            })
    }

    /// Runs the tool that matches the message best, or asks for what is missing.
    pub fn act(&self, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        let Some((score, offer)) = self.fitting(ask, parts) else { return Ok(None) };
        if score < weights::TOOL_MIN {
            return Ok(None);
        }
        let filled = match self.fill(offer, ask, parts)? {
            Ok(filled) => filled,
            Err(said) => return Ok(Some(*said)),
        };
        let family =
            offer.family.unwrap_or(if offer.reads { Family::Show } else { Family::Change });
        let mut query =
            Query { want: Want::Act(family), kind: offer.kind.clone(), ..Query::default() };
        query.call = Some((offer.tool.tool.clone(), filled.arguments));
        if !filled.left.is_empty() {
            let left = filled.left.join("\", \"");
            let name = offer.words.join(" ");
            let text = self.say(Say::NotUnderstood, &[("understood", &name), ("left", &left)]);
            return Ok(Some(self.asked(text, query, Missing::Words, Vec::new())));
        }
        if family == Family::Change && !filled.changes && !offer.reads && offer.slots.len() > 1 {
            let own = |slot: &&Slot| !matches!(slot.means, Means::Own(_));
            let open: Vec<String> = offer.slots.iter().filter(own).map(Slot::shown).collect();
            let what = format!("the new value ({})", open.join(", "));
            let text = self.say(Say::NeedsSlot, &[("what", &what)]);
            return Ok(Some(self.asked(text, query, Missing::Words, Vec::new())));
        }
        self.carry_out(query, filled.is_vouched_for).map(Some)
    }

    /// The tool whose name, parameters and description match the words best, and its score.
    fn fitting(&self, ask: &Ask, parts: &[Part]) -> Option<(f32, &Offer)> {
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
        let said = said_words(parts);
        let first = parts.iter().find(|part| part.role != Role::Filler);
        let lead = first.and_then(|part| part.lower.split_whitespace().next()).unwrap_or_default();
        let english = lexicon::english();
        let leads = offer.words.iter().any(|word| *word == lead || *word == english.singular(lead));
        let mut score = match ask.verb {
            Some((family, at)) => {
                let verb = parts[at].lower.as_str();
                let exact = offer.words.iter().any(|word| word == verb);
                let slot = !family.reads()
                    && offer.slots.iter().any(|slot| slot.words.iter().any(|w| w == verb));
                let fits = if family.reads() { offer.reads } else { exact || can(offer, family) };
                if !fits {
                    return None;
                }
                match offer.family {
                    _ if slot || exact => weights::TOOL_VERB_EXACT,
                    Some(own) if own == family => weights::TOOL_VERB,
                    Some(own) if own.reads() && family.reads() => weights::TOOL_VERB_OTHER,
                    _ => weights::TOOL_VERB_NEAR,
                }
            }
            None if leads => weights::TOOL_VERB,
            None if offer.reads => 0.0,
            None => return None,
        };
        let nouns: Vec<&String> = offer.nouns().collect();
        let hits = nouns.iter().filter(|noun| said.contains(**noun)).count();
        let kind = offer.kind.as_ref();
        let named_kind = kind.is_some_and(|kind| {
            ask.kinds.iter().any(|word| word.kind == *kind)
                || ask.phrases.iter().any(|phrase| phrase.kind.as_ref() == Some(kind))
        });
        let other_kind = ask.kinds.iter().any(|word| {
            let own = self.is_own_word(offer, &parts[word.at].lower);
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
            slot.words.iter().any(|word| said.contains(word) && !nouns.contains(&word))
                || ask.fields.iter().any(|field| field == slot.name())
        });
        let described = said
            .iter()
            .filter(|word| stems(word).iter().all(|stem| offer.described.contains(stem)));
        let literals = self.literals(offer, ask, parts)?
            + ask.phrases.iter().filter(|phrase| is_choice(offer, &phrase.text)).count();
        // Listing an unknown kind is not a search for it.
        let lists = matches!(ask.verb, Some((Family::List, _)));
        if lists && offer.family == Some(Family::Find) && hits == 0 && !named_kind {
            return None;
        }
        if hits == 0 && !named_kind && !(focused && points) && literals == 0 && !leads {
            let slot = ask.verb.is_some_and(|(_, at)| {
                offer
                    .slots
                    .iter()
                    .any(|slot| slot.words.iter().any(|word| *word == parts[at].lower))
            });
            if !slot && score < weights::TOOL_VERB_EXACT {
                return None;
            }
        }
        // What is created, changed or removed must be mentioned.
        let changes = ask.verb.is_some_and(|(family, _)| !family.reads());
        if changes && hits == 0 && !named_kind && !focused && !nouns.is_empty() {
            score -= weights::TOOL_NOUN;
        }
        score += hits as f32 * weights::TOOL_NOUN;
        score -= (nouns.len() - hits) as f32 * weights::TOOL_NOUN_UNSAID;
        let about = named_kind && hits == 0 || focused && (points || hits == 0);
        score += if about { weights::TOOL_NOUN } else { 0.0 };
        // Among tools with the exact verb, one whose parameters are mentioned counts as named.
        let exact = ask.verb.is_some_and(|(_, at)| offer.words.contains(&parts[at].lower));
        let (needed, other): (Vec<&Slot>, Vec<&Slot>) =
            slots_said.take(3).partition(|slot| exact && slot.shape.required);
        score += needed.len() as f32 * weights::TOOL_NOUN + other.len() as f32 * weights::TOOL_SLOT;
        score += described.count().min(3) as f32 * weights::TOOL_DESCRIBED;
        score += literals as f32 * weights::TOOL_NOUN;
        let required = offer.slots.iter().filter(|slot| slot.shape.required);
        let values = ask.phrases.len() + ask.pointers.len();
        let open = required.count().saturating_sub(values).min(1);
        Some(score - open as f32 * weights::TOOL_NOUN)
    }

    /// The number of literals the tool takes; `None` if it does not take one of them.
    fn literals(&self, offer: &Offer, ask: &Ask, parts: &[Part]) -> Option<usize> {
        let mut taken = 0;
        for phrase in ask.phrases.iter().filter(|phrase| phrase.is_literal) {
            let Role::Literal(literal) = parts.get(phrase.at)?.role else { continue };
            let takes = |slot: &&Slot| takes_literal(offer, slot, literal);
            offer.slots.iter().find(takes)?;
            taken += 1;
        }
        Some(taken)
    }

    /// Calls the tool of a query, or asks for what is missing.
    pub fn carry_out(&self, query: Query, is_vouched_for: bool) -> Flow<Said> {
        let Some((tool, arguments)) = query.call.clone() else { return Ok(self.lost()) };
        let Some(offer) = self.offer(&tool) else { return Ok(self.lost()) };
        let given = |slot: &Slot| super::schema::get(&arguments, &slot.shape.path).is_some();
        if let Some(slot) = offer.slots.iter().find(|slot| slot.shape.required && !given(slot)) {
            return Ok(self.needs(query, slot));
        }
        let (at, record) = self.call(&offer.tool, arguments.clone(), is_vouched_for)?;
        if !record.ok() {
            return Ok(self.failed(record));
        }
        let json = record.output.as_ref().and_then(rows::json_of);
        let json = json.as_deref();
        let rows = json.and_then(rows::rows);
        let mut said = Said {
            text: wording::result(record),
            dialogue: self.dialogue.clone(),
            ..Said::default()
        };
        let mut shown: Vec<Thing> = Vec::new();
        if let Some(kind) = &offer.kind {
            let known = self.known(kind);
            let thing =
                |row: &Value, at| Some(Thing { row: Some(at), ..rows::thing(row, kind, known)? });
            match &rows {
                Some((rows, _)) => {
                    let things = rows.iter().take(SHOWN_MAX).enumerate();
                    shown.extend(
                        things.filter_map(|(row, value)| {
                            thing(value, RowAt { turn: 0, call: at, row })
                        }),
                    );
                }
                None => {
                    let at = RowAt { turn: 0, call: at, row: 0 };
                    if let Some(one) = json.and_then(|json| thing(json, at)) {
                        said.dialogue.focus_on(one);
                    }
                }
            }
        }
        let hollow = |value: &Value| value.as_array().is_some_and(Vec::is_empty) || value.is_null();
        let holds = |object: &serde_json::Map<String, Value>| {
            !object.is_empty() && object.values().all(hollow)
        };
        let searches = matches!(offer.family, Some(Family::Find | Family::List));
        let text = record.output.as_ref().map_or("", |output| output.text.as_str());
        let says_none =
            searches && rows.is_none() && text.len() <= NONE_BYTES_MAX && lexicon::says_none(text);
        let empty = says_none
            || rows.is_some_and(|(rows, _)| rows.is_empty())
            || json.and_then(Value::as_object).is_some_and(holds);
        if empty && offer.reads {
            let with: Vec<String> = arguments
                .iter()
                .map(|(key, value)| format!("{} {}", rows::spoken(key), rows::shown(value)))
                .collect();
            let filters =
                if with.is_empty() { String::new() } else { format!(" ({})", with.join(", ")) };
            let kinds = wording::subject(&tool.name);
            said.text = self.say(Say::NoneMatch, &[("kinds", &kinds), ("filters", &filters)]);
        }
        said.dialogue.open = None;
        said.dialogue.speak(Spoken { turn: 0, query, shown, count: None });
        Ok(said)
    }

    /// The question for a missing parameter.
    pub fn needs(&self, query: Query, slot: &Slot) -> Said {
        let family = match query.want {
            Want::Act(family) if !family.reads() => "new ",
            _ => "",
        };
        let kind = query.kind.as_ref().map(|kind| self.noun(kind, false)).unwrap_or_default();
        let own = matches!(slot.means, Means::Own(_))
            || slot.words == ["name"]
            || slot.words == ["title"];
        let what = match own && !kind.is_empty() {
            true if matches!(slot.means, Means::Own(_)) => {
                format!("the {} of the {kind}", slot.shown())
            }
            true => format!("the {} of the {family}{kind}", slot.shown()),
            false => format!("the {}", slot.shown()),
        };
        let mut text = self.say(Say::NeedsSlot, &[("what", &what)]);
        if !slot.shape.choices.is_empty() {
            let choices = self.say(Say::Possible, &[("choices", &slot.shape.choices_shown())]);
            text = format!("{text} {choices}");
        }
        self.asked(text, query, Missing::Slot(slot.path()), Vec::new())
    }
}

/// Whether a phrase is a choice of a parameter.
fn is_choice(offer: &Offer, text: &str) -> bool {
    offer.slots.iter().any(|slot| slot.shape.choice(text).is_some())
}

/// Whether a phrase is a choice of a parameter, or a number and a parameter takes numbers.
fn takes_value(offer: &Offer, text: &str) -> bool {
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

/// The words of a message in the singular.
fn said_words(parts: &[Part]) -> BTreeSet<String> {
    let english = lexicon::english();
    let words = parts
        .iter()
        .filter(|part| !matches!(part.role, Role::Literal(_) | Role::Quoted | Role::Name { .. }));
    let words = words.flat_map(|part| part.lower.split(|c: char| !c.is_alphanumeric()));
    words
        .filter(|word| !word.is_empty())
        .flat_map(|word| [word.to_owned(), english.singular(word)])
        .collect()
}
