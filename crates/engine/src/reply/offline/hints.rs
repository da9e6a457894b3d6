//! Values that only the descriptions of a server's tools name: "Get items in 'backlog' status", "Create a new issue,
//! todo or epic".
//!
//! Invariant: such a value is recognised where it is said; a parameter takes others as well.

use serde_json::Value;

use super::offer::{Offer, Slot};
use super::schema::Form;
use crate::lexicon::{self, Class, Family};

/// Values from which on words after a verb are an enumeration.
const ENUMERATED_MIN: usize = 2;

/// Gives the parameters of each server the values that its descriptions name.
pub(super) fn give(offers: &mut [Offer]) {
    let mut found: Vec<(String, String, String)> = Vec::new();
    for offer in offers.iter() {
        let server = &offer.tool.tool.server;
        for (value, beside) in quoted(&offer.tool.description) {
            found.extend(beside.into_iter().map(|word| (server.clone(), word, value.clone())));
        }
        if let Some(slot) = sort_of(offer) {
            let last = slot.words.last().cloned().unwrap_or_default();
            let values = enumerated(&offer.tool.description).into_iter();
            found.extend(values.map(|value| (server.clone(), last.clone(), value)));
        }
    }
    // The values that another tool of the server lists for a parameter of the same name.
    let listed: Vec<(String, String, Vec<Value>)> = offers
        .iter()
        .flat_map(|offer| offer.slots.iter().map(move |slot| (offer, slot)))
        .filter(|(_, slot)| slot.shape.form == Form::Text && slot.shape.choices.len() > 1)
        .map(|(offer, slot)| {
            let server = offer.tool.tool.server.clone();
            (server, slot.name().to_owned(), slot.shape.choices.clone())
        })
        .collect();
    for offer in offers {
        let server = offer.tool.tool.server.clone();
        for slot in offer.slots.iter_mut().filter(|slot| is_open(slot)) {
            let own = slot.name().to_owned();
            let same = listed.iter().filter(|(of, name, _)| *of == server && *name == own);
            for value in same.flat_map(|(.., values)| values) {
                if !slot.shape.hints.contains(value) {
                    slot.shape.hints.push(value.clone());
                }
            }
        }
        for slot in offer.slots.iter_mut().filter(|slot| is_open(slot)) {
            let last = slot.words.last().cloned().unwrap_or_default();
            let own = found.iter().filter(|(of, word, _)| *of == server && *word == last);
            for (.., value) in own {
                let value = Value::from(value.as_str());
                if !slot.shape.hints.contains(&value) {
                    slot.shape.hints.push(value);
                }
            }
        }
    }
}

/// Whether a parameter takes any text.
fn is_open(slot: &Slot) -> bool {
    slot.shape.form == Form::Text && slot.shape.choices.is_empty() && !slot.shape.many
}

/// The parameter for the sort of what a tool makes.
fn sort_of(offer: &Offer) -> Option<&Slot> {
    let makes = matches!(offer.family, Some(Family::Create | Family::Add));
    let is_sort = |slot: &&Slot| {
        let last = slot.words.last();
        is_open(slot) && last.is_some_and(|word| lexicon::english().is(Class::SlotSort, word))
    };
    offer.slots.iter().filter(|_| makes).find(is_sort)
}

/// Quoted words, each with the words before and after it.
fn quoted(description: &str) -> Vec<(String, Vec<String>)> {
    let parts: Vec<&str> = description.split('\'').collect();
    let is_value = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    let word = |text: Option<&str>| {
        let text = text?.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        (!text.is_empty()).then_some(text)
    };
    let mut found = Vec::new();
    for at in (1..parts.len().saturating_sub(1)).step_by(2) {
        let (before, after) = (parts[at - 1], parts[at + 1]);
        if is_value(parts[at]) && before.ends_with([' ', '(']) {
            let beside = [
                word(before.split_whitespace().next_back()),
                word(after.split_whitespace().next()),
            ];
            found.push((parts[at].to_owned(), beside.into_iter().flatten().collect()));
        }
    }
    found
}

/// What a description says that can be made, where it is several: "Create a new issue, todo, or epic for …".
fn enumerated(description: &str) -> Vec<String> {
    let english = lexicon::english();
    let sentence = description.split(['.', ':', ';']).next().unwrap_or_default().to_lowercase();
    let mut words = sentence.split_whitespace();
    if words.next().is_none_or(|verb| english.family(verb).is_none()) {
        return Vec::new();
    }
    let small = |word: &&str| {
        let word = word.trim_end_matches(',');
        [Class::A, Class::The, Class::Leading].iter().any(|class| english.is(*class, word))
    };
    let rest: Vec<&str> = words.skip_while(small).collect();
    let ends = |word: &&&str| !english.is(Class::Placing, word);
    let text = rest.iter().take_while(ends).copied().collect::<Vec<_>>().join(" ");
    let values = text.split(',').flat_map(|part| part.split(" or "));
    let values = values.map(|value| value.trim().trim_start_matches("or ").trim());
    let single = |value: &&str| !value.is_empty() && value.chars().all(char::is_alphanumeric);
    let values: Vec<String> = values.filter(single).map(str::to_owned).collect();
    if values.len() < ENUMERATED_MIN { Vec::new() } else { values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_from_descriptions() {
        let said =
            enumerated("Create a new issue, todo, epic,\n   or diary entry for the project.");
        assert_eq!(said, ["issue", "todo", "epic"]);
        assert!(enumerated("Create a contact.").is_empty());
        let said = quoted("Get items in 'backlog' status - a member's queue.");
        assert_eq!(said, [("backlog".to_owned(), vec!["in".to_owned(), "status".to_owned()])]);
    }
}
