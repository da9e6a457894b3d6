//! The verb that a message begins with, and what it is done to: "Add C++ and Python to the survey".
//!
//! Verbs that ask for the same kind of change form a family; a tool's verb is the first word of its name.
//! English only, and only the imperative at the start: anything else says nothing here.

use crate::pack::words_of_identifier;

/// Kinds of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Something is made.
    Create,
    /// Something is put into something that exists.
    Add,
    /// Something goes.
    Remove,
    /// Something becomes different.
    Change,
}

impl Family {
    /// Whether a tool cannot be what is asked for: what is to be added or removed is not answered by
    /// looking, nor by doing the opposite.
    pub fn excludes(self, changes: bool, tool: Option<Self>) -> bool {
        match self {
            Self::Add => !changes || tool == Some(Self::Remove),
            Self::Remove => !changes || matches!(tool, Some(Self::Add | Self::Create)),
            Self::Create | Self::Change => false,
        }
    }
}

const FAMILIES: [(Family, &[&str]); 4] = [
    (Family::Create, &["create", "make", "build", "generate", "draft", "register", "provision"]),
    (Family::Add, &["add", "append", "insert", "include", "attach", "select", "allocate"]),
    (
        Family::Remove,
        &["remove", "delete", "drop", "deselect", "detach", "exclude", "unselect", "erase"],
    ),
    (
        Family::Change,
        &[
            "update",
            "set",
            "change",
            "modify",
            "edit",
            "patch",
            "move",
            "rename",
            "replace",
            "assign",
            "enable",
            "disable",
            "mark",
            "put",
            "switch",
            "decommission",
        ],
    ),
];

/// Words before the verb that only make a message polite.
const POLITE: [&str; 12] =
    ["please", "can", "could", "would", "you", "kindly", "now", "then", "and", "also", "hey", "ok"];
/// Words that end what the verb is done to.
const ENDS: [&str; 9] = ["to", "from", "into", "in", "on", "for", "of", "with", "as"];
/// Words that name nothing by themselves.
const EMPTY: [&str; 16] = [
    "it",
    "them",
    "this",
    "that",
    "these",
    "those",
    "one",
    "another",
    "something",
    "more",
    "new",
    "all",
    "both",
    "a",
    "an",
    "the",
];
/// Words of one thing at most.
const THING_WORDS_MAX: usize = 4;

/// The family of a message's leading verb.
pub fn of_message(message: &str) -> Option<Family> {
    leading(message).and_then(|(verb, _)| family(&verb))
}

/// The new name in "rename the workflow Backup to Nightly copy".
pub fn new_name(message: &str) -> Option<&str> {
    let (verb, rest) = leading(message)?;
    let (_, name) = rest.rsplit_once(" to ").filter(|_| verb == "rename")?;
    let name = name.trim_matches(['"', '\'', '`', '.', '!', '?', ' ']);
    (!name.is_empty()).then_some(name)
}

/// The family of a tool's verb.
pub fn of_tool(tool: &str) -> Option<Family> {
    family(words_of_identifier(tool).first()?)
}

/// The things that a message adds or removes, where the tool does the same and none of `nouns` is one:
/// "C++" and "Python", but not "answers".
pub fn things(message: &str, tool: &str, nouns: &[String]) -> Vec<String> {
    let Some((verb, rest)) = leading(message) else { return Vec::new() };
    let kept = matches!(family(&verb), Some(Family::Add | Family::Remove));
    if !kept || family(&verb) != of_tool(tool) {
        return Vec::new();
    }
    let clause = rest.split(['?', '!', '\n', ';']).next().unwrap_or_default();
    let mut words: Vec<&str> = Vec::new();
    let mut ended = false;
    for word in clause.split_whitespace() {
        if ENDS.contains(&word.to_lowercase().as_str()) {
            ended = true;
            break;
        }
        words.push(word);
    }
    // Without a preposition nothing tells where the thing ends: "add the device core-sw-01".
    if !ended {
        return Vec::new();
    }
    let phrase = words.join(" ");
    let parts = phrase.split(',').flat_map(|part| part.split(" and "));
    parts.filter_map(|part| thing(part, nouns)).collect()
}

/// One thing without its article; none where the words only say of what type it is.
fn thing(part: &str, nouns: &[String]) -> Option<String> {
    let part = part.trim().trim_start_matches("and ").trim_matches(['"', '\'', '`', ' ']);
    let words: Vec<&str> = part.split_whitespace().collect();
    let said = |word: &&&str| {
        let word = word.to_lowercase();
        !EMPTY.contains(&word.as_str()) && !nouns.contains(&word)
    };
    let own: Vec<&str> = words.iter().filter(said).copied().collect();
    let named = !own.is_empty() && words.len() <= THING_WORDS_MAX;
    named.then(|| own.join(" ").trim_matches(['"', '\'', '`', '.']).to_owned())
}

/// The first word that is not only polite, in lower case, and what follows it.
fn leading(message: &str) -> Option<(String, &str)> {
    let mut rest = message.trim_start();
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        if end == 0 {
            return None;
        }
        let word = rest[..end].to_lowercase();
        let after = rest[end..].trim_start_matches([',', ':']).trim_start();
        if !POLITE.contains(&word.as_str()) {
            return Some((word, after));
        }
        rest = after;
    }
}

/// The family of a verb.
pub fn family(verb: &str) -> Option<Family> {
    FAMILIES.iter().find(|(_, verbs)| verbs.contains(&verb)).map(|(family, _)| *family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, tool: &str, expected: &[&str]) {
        let nouns = ["answer".to_owned(), "answers".to_owned(), "survey".to_owned()];
        assert_eq!(things(message, tool, &nouns), expected, "{message:?}");
    }

    #[test]
    fn what_is_added_stands_between_the_verb_and_the_place() {
        check("Add C++ to the survey of project 123", "add_survey_answers", &["C++"]);
        check("please add C++, Go and Rust to project 1", "add_answers", &["C++", "Go", "Rust"]);
        check("Could you add the \"Python 3\" answer to it?", "add_answers", &["Python 3"]);
        check("remove Java from the survey", "remove_answer", &["Java"]);
    }

    #[test]
    fn what_names_nothing_or_asks_for_something_else_adds_nothing() {
        check("Add an answer to the survey", "add_answers", &[]);
        check("add it to the survey", "add_answers", &[]);
        check("remove Java from the survey", "add_answers", &[]);
        check("show C++ in the survey", "add_answers", &[]);
        check("add the answer C++", "add_answers", &[]);
    }

    #[test]
    fn the_new_name_stands_at_the_end() {
        assert_eq!(new_name("rename workflow Go to Work to \"Way home\"."), Some("Way home"));
        assert_eq!(new_name("move sw1 to rack 2"), None);
    }

    #[test]
    fn a_tools_verb_and_a_messages_verb_are_of_one_family_or_not() {
        assert_eq!(of_message("Kindly drop it"), of_tool("delete_device"));
        assert_eq!(of_message("move sw1 to rack 2"), of_tool("update_device"));
        assert_ne!(of_message("add sw1"), of_tool("delete_device"));
        assert_eq!(of_message("which devices were removed?"), None);
    }
}
