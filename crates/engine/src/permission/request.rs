//! Whether a message asks for what it names. Used without a model, because ranking tools cannot distinguish
//! "delete vlan 12" from "do not delete vlan 12".
//!
//! Invariant: in doubt the answer is no, which costs a question.

use serde_json::Value;

use super::fold::fold;
use super::words::{english, languages};
use crate::lexicon::{self, Class, Language};

/// Words that make a change hypothetical, wherever they are.
const CONDITIONS: [&str; 4] = ["if", "whether", "falls", "wenn"];

/// Words that make a question a request.
const ADDRESSES: [&str; 14] = [
    "you", "please", "du", "sie", "ihr", "bitte", "vous", "tu", "usted", "puedes", "lei", "puoi",
    "voce", "pode",
];

/// How far after a negation its verb may be.
const NEGATED_WORDS: usize = 3;

/// Why a message does not ask for the change that its words would make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// "do not delete it"
    Forbids,
    /// "should I delete it?"
    Deliberates,
    /// "delete all except 12"
    Excepts,
    /// "delete 12 or 13"
    Alternatives,
}

/// Whether a message, apart from the values that a call takes from it, speaks against the call.
pub(crate) fn doubt(message: &str, arguments: &Value) -> Option<Doubt> {
    let mut rest = message.replace('’', "'").to_lowercase();
    remove_values(&mut rest, arguments);
    let words: Vec<&str> = rest
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let spoken = [lexicon::english(), lexicon::of(message)];
    let starts = |class: Class, at: usize| {
        let begins = |language: &&Language| language.starts(class, words[at..].iter().copied());
        spoken.iter().find_map(begins)
    };
    let changes = |word: &&str| {
        let family = |language: &&Language| language.family(word);
        spoken.iter().filter_map(family).any(|family| !family.reads())
    };
    let lead = words.iter().take_while(|word| {
        spoken.iter().any(|language| language.is(Class::Filler, word)) && !changes(word)
    });
    let first = (0..=lead.count()).find(|at| starts(Class::Deliberates, *at).is_some());
    // "Lösche ich es?"
    let asks_oneself = matches!(words.get(1), Some(&("ich" | "wir"))) && message.contains('?');
    if first.is_some() || asks_oneself {
        return Some(Doubt::Deliberates);
    }
    let forbids = |at: usize| {
        let after = words[at + 1..].iter().take(NEGATED_WORDS).any(changes);
        let before = at > 0 && changes(&words[at - 1]);
        // "no wait, delete 3 instead" answers what was said before; "a device without a rack" leaves nothing out.
        let answers = at == 0 && starts(Class::No, at).is_some();
        let is_plain = negates(words[at]) && !answers && starts(Class::Except, at).is_none();
        is_plain && (after || before || at + 1 == words.len())
    };
    if (0..words.len()).any(forbids) {
        return Some(Doubt::Forbids);
    }
    let all = (0..words.len()).any(|at| starts(Class::Every, at).is_some());
    let excepts = |at: usize| {
        let negative = |count: usize| words[at..at + count].iter().any(|word| negates(word));
        let leaves_out = starts(Class::Except, at).is_some_and(|count| all || !negative(count));
        leaves_out || all && starts(Class::But, at).is_some()
    };
    if (0..words.len()).any(excepts) {
        return Some(Doubt::Excepts);
    }
    (0..words.len()).any(|at| starts(Class::Or, at).is_some()).then_some(Doubt::Alternatives)
}

/// Removes the texts of a call from a message in lower case.
fn remove_values(message: &mut String, value: &Value) {
    match value {
        Value::String(text) => {
            let text = text.to_lowercase();
            if let Some(at) = message.find(&text).filter(|_| text.contains(' ')) {
                message.replace_range(at..at + text.len(), " ");
            }
        }
        Value::Array(values) => values.iter().for_each(|value| remove_values(message, value)),
        Value::Object(map) => map.values().for_each(|value| remove_values(message, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a message is a plain request: without negation, condition, or question about the state of things.
pub(crate) fn asks_plainly(message: &str) -> bool {
    let folded = fold(message);
    let words: Vec<&str> = folded
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let question = words.first().is_some_and(|first| english().is("questions", first));
    let asks =
        message.trim_end().ends_with('?') && !words.iter().any(|word| ADDRESSES.contains(word));
    !question && !asks && !words.iter().any(|word| negates(word) || CONDITIONS.contains(word))
}

/// Whether a word says no, in any language.
pub(crate) fn negates(word: &str) -> bool {
    english().is("negations", word) || languages().iter().any(|language| language.negates(word))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Doubt, asks_plainly, doubt};

    #[track_caller]
    fn check(message: &str, arguments: &Value, expected: Option<Doubt>) {
        assert_eq!(doubt(message, arguments), expected, "{message}");
    }

    #[test]
    fn weighing_forbidding_excepting_and_alternatives_speak_against_a_change() {
        let one = json!({"id": 12});
        for (expected, messages) in [
            (
                Doubt::Deliberates,
                [
                    "Should I delete patient 12?",
                    "so, may we cancel 12?",
                    "Soll ich Patient 12 löschen?",
                    "Lösche ich Patient 12 oder nicht?",
                ],
            ),
            (
                Doubt::Forbids,
                [
                    "do not delete patient 12",
                    "Don’t you ever delete 12",
                    "Bitte lösche Patient 12 nicht.",
                    "lösche keine Aufgaben",
                ],
            ),
            (
                Doubt::Excepts,
                [
                    "delete all patients except 12",
                    "delete every patient but 12",
                    "cancel all appointments without 12",
                    "lösche alle Patienten außer 12",
                ],
            ),
            (
                Doubt::Alternatives,
                [
                    "cancel appointment 12 or 13",
                    "cancel one of the appointments 12 and 13",
                    "delete either 12 or 13",
                    "Bitte lösche Patient 12 oder 13",
                ],
            ),
        ] {
            messages.iter().for_each(|message| check(message, &one, Some(expected)));
        }
    }

    #[test]
    fn what_a_value_says_is_no_doubt() {
        let named = |name: &str| json!({"name": name, "tags": ["x"]});
        for (message, name) in [
            ("add a task: buy milk or bread", "buy milk or bread"),
            ("create a note called do not delete this", "do not delete this"),
            ("please delete patient 12", "12"),
            ("could you add a task called all but one", "all but one"),
            ("create a device without a rack", "a device"),
            ("no wait, delete task 3 instead", "3"),
            ("lösche Patient 12", "12"),
        ] {
            check(message, &named(name), None);
        }
    }

    #[test]
    fn a_negation_a_condition_and_a_question_are_no_request() {
        for message in [
            "delete vlan 12",
            "please cancel my subscription",
            "can you remove the device where the fan is broken?",
            "lösche vlan 12",
        ] {
            assert!(asks_plainly(message), "{message}");
        }
        for message in [
            "do not delete vlan 12 yet",
            "Don’t cancel it",
            "what happens if I cancel my subscription?",
            "how do I delete a vlan",
            "lösche vlan 12 nicht",
            "delete vlan 12?",
            "cancel it if nobody uses it",
        ] {
            assert!(!asks_plainly(message), "{message}");
        }
    }
}
