//! A pack's guidance for choosing between tools.
//!
//! Guidance is text for a model, and words and name prefixes for the offline chooser. It adjusts a ranking and
//! never hides a tool.

use super::words_of_identifier;

#[derive(Debug, Clone, PartialEq)]
pub struct Guidance {
    pub pack: String,
    /// Lower-case words or phrases that make it apply.
    pub when: Vec<String>,
    /// Words or phrases that keep it from applying.
    pub unless: Vec<String>,
    /// Prefixes of tool names to prefer.
    pub prefer: Vec<String>,
    /// Prefixes of tool names to avoid.
    pub avoid: Vec<String>,
    pub text: String,
}

impl Guidance {
    /// Whether it applies to a message in the format of [`padded`].
    pub(super) fn applies(&self, padded: &str) -> bool {
        let holds = |phrase: &String| padded.contains(&format!(" {phrase} "));
        self.when.iter().any(holds) && !self.unless.iter().any(holds)
    }
}

/// The guidance that applies to a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Steering<'a> {
    pub guidance: Vec<&'a Guidance>,
}

impl Steering<'_> {
    /// How much more often a tool is preferred than avoided; negative means avoid.
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

/// The message in lower case, its words separated by single spaces, with a space at both ends.
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
