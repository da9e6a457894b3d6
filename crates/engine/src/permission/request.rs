//! Whether a message asks for what it names. Used without a model, because ranking tools cannot distinguish
//! "delete vlan 12" from "do not delete vlan 12".
//!
//! Invariant: in doubt the answer is no, which costs a question.

use super::fold::fold;
use super::words::{english, languages};

/// Words that make a change hypothetical, wherever they are.
const CONDITIONS: [&str; 4] = ["if", "whether", "falls", "wenn"];

/// Whether a message is a plain request: without negation, condition, or question about the state of things.
pub(crate) fn asks_plainly(message: &str) -> bool {
    let folded = fold(message);
    let words: Vec<&str> = folded
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let question = words.first().is_some_and(|first| english().is("questions", first));
    !question && !words.iter().any(|word| negates(word) || CONDITIONS.contains(word))
}

/// Whether a word says no, in any language.
pub(crate) fn negates(word: &str) -> bool {
    english().is("negations", word) || languages().iter().any(|language| language.negates(word))
}

#[cfg(test)]
mod tests {
    use super::asks_plainly;

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
            "cancel it if nobody uses it",
        ] {
            assert!(!asks_plainly(message), "{message}");
        }
    }
}
