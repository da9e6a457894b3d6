//! The verb that a message or a tool's name begins with, where it asks for a change.

use crate::lexicon::{self, Class};
use crate::pack::words_of_identifier;

pub use crate::lexicon::Family;

/// What a message's leading verb asks for.
pub fn of_message(message: &str) -> Option<Family> {
    let language = lexicon::of(message);
    let lower = message.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let leading = words.into_iter().find(|word| !language.is(Class::Filler, word))?;
    language.family(leading).filter(|family| !family.reads())
}

/// What a tool's verb does.
pub fn of_tool(tool: &str) -> Option<Family> {
    family(words_of_identifier(tool).first()?)
}

/// What a verb asks for.
pub fn family(verb: &str) -> Option<Family> {
    lexicon::english().family(verb).filter(|family| !family.reads())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tools_verb_and_a_messages_verb_are_of_one_family_or_not() {
        assert_eq!(of_message("Kindly drop it"), of_tool("delete_device"));
        assert_eq!(of_message("move sw1 to rack 2"), of_tool("update_device"));
        assert_ne!(of_message("add sw1"), of_tool("delete_device"));
        assert_eq!(of_message("which devices were removed?"), None);
    }
}
