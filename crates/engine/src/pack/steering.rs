//! What a pack says about choosing between tools.
//!
//! Guidance is text for a model and, at the same time, words and name prefixes for the offline
//! chooser. It nudges a ranking; it never hides a tool.

use super::words_of_identifier;

/// One piece of advice.
#[derive(Debug, Clone, PartialEq)]
pub struct Guidance {
    /// The pack it comes from.
    pub pack: String,
    /// Words or phrases that make it apply, in lower case.
    pub when: Vec<String>,
    /// Words or phrases that keep it from applying.
    pub unless: Vec<String>,
    /// Beginnings of tool names to prefer.
    pub prefer: Vec<String>,
    /// Beginnings of tool names to avoid.
    pub avoid: Vec<String>,
    /// The advice in words.
    pub text: String,
}

impl Guidance {
    /// Whether it applies to a message, given in lower case with its words separated by one space
    /// and a space at both ends.
    pub(super) fn applies(&self, padded: &str) -> bool {
        let holds = |phrase: &String| padded.contains(&format!(" {phrase} "));
        self.when.iter().any(holds) && !self.unless.iter().any(holds)
    }
}

/// What the guidance that applies to a message wants.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Steering<'a> {
    /// The guidance that applies.
    pub guidance: Vec<&'a Guidance>,
}

impl Steering<'_> {
    /// How much more often a tool is preferred than avoided: negative to avoid it.
    pub fn weight(&self, tool: &str) -> i32 {
        let words = words_of_identifier(tool).join("_");
        let named = |beginnings: &[String]| {
            beginnings.iter().any(|beginning| {
                words.starts_with(beginning.as_str()) || words.contains(&format!("_{beginning}"))
            })
        };
        let weigh = |guidance: &&Guidance| {
            i32::from(named(&guidance.prefer)) - i32::from(named(&guidance.avoid))
        };
        self.guidance.iter().map(weigh).sum()
    }
}

/// A message as [`Guidance::applies`] wants it.
pub(super) fn padded(message: &str) -> String {
    let mut padded = String::from(" ");
    for word in message.to_lowercase().split(|letter: char| !letter.is_alphanumeric()) {
        if !word.is_empty() {
            padded.push_str(word);
            padded.push(' ');
        }
    }
    padded
}
