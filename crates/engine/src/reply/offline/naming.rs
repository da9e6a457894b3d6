//! The words of a tool's name, and the verb of its description.
//!
//! Invariant: a verb of a description counts only where the name has none.

use crate::lexicon::{self, Class, Family};
use crate::pack::words_of_identifier;
use crate::search::words::stems;
use crate::tool::ToolDefinition;

/// Tools of one server from which on a word that all their names begin with is no part of what they do.
const SHARING_MIN: usize = 3;

/// The word with which the names of all tools of a server begin, where most say something else besides: `git_log`.
pub(super) fn shared_word(tool: &ToolDefinition, tools: &[ToolDefinition]) -> Option<String> {
    let first = words_of_identifier(&tool.tool.name).into_iter().next()?;
    let own = tools.iter().filter(|other| other.tool.server == tool.tool.server);
    let names: Vec<Vec<String>> = own.map(|other| words_of_identifier(&other.tool.name)).collect();
    let english = lexicon::english();
    let says = |name: &&Vec<String>| name.iter().skip(1).any(|w| english.family(w).is_none());
    // "Convert between units": what it begins with is its verb.
    let verb = stems(tool.description.split(|c: char| !c.is_alphanumeric()).next().unwrap_or(""));
    let shared = names.len() >= SHARING_MIN
        && verb != stems(&first)
        && names.iter().all(|name| name.first() == Some(&first) && name.len() > 1)
        && names.iter().filter(says).count() * 2 > names.len();
    shared.then_some(first)
}

/// The words of a tool's name without the one that all names of its server have.
pub(super) fn own_words(tool: &ToolDefinition, tools: &[ToolDefinition]) -> Vec<String> {
    let mut words = words_of_identifier(&tool.tool.name);
    if shared_word(tool, tools).is_some() {
        words.remove(0);
    }
    words
}

/// What a tool is about whose name is a verb only, on a server with several such tools: "List Redis keys matching a
/// pattern" is about keys.
pub(super) fn described_noun(tool: &ToolDefinition, tools: &[ToolDefinition]) -> Option<String> {
    let english = lexicon::english();
    let is_verb = |tool: &ToolDefinition| {
        let words = words_of_identifier(&tool.tool.name);
        words.len() == 1 && english.family(&words[0]).is_some()
    };
    let own = tools.iter().filter(|other| other.tool.server == tool.tool.server);
    if !is_verb(tool) || own.filter(|other| is_verb(other)).count() < SHARING_MIN {
        return None;
    }
    let words = tool.description.split_whitespace().skip(1);
    let says = |word: &&str| {
        let lower = word.to_lowercase();
        let small = [Class::Placing, Class::In, Class::From, Class::Of, Class::With, Class::To];
        word.chars().all(char::is_alphabetic)
            && !small.iter().any(|class| english.is(*class, &lower))
            && !lower.ends_with("ing")
            && lower != "by"
    };
    let noun = words.take_while(says).last()?.to_lowercase();
    (!english.is(Class::Filler, &noun)).then(|| english.singular(&noun))
}

/// Whether a description says that something new is made, whatever its verb: "Open a new ticket".
pub(super) fn makes_new(tool: &ToolDefinition) -> bool {
    let english = lexicon::english();
    let mut words = tool.description.split_whitespace().skip(1).map(str::to_lowercase);
    let next = words.next().unwrap_or_default();
    let noun = if english.is(Class::A, &next) { words.next().unwrap_or_default() } else { next };
    noun == "new"
}

/// The verb with which a description begins: "Switches branches".
pub(super) fn described_verb(tool: &ToolDefinition) -> Option<(String, Family)> {
    let first = tool.description.split(|c: char| !c.is_alphanumeric()).find(|w| !w.is_empty())?;
    let (first, english) = (first.to_lowercase(), lexicon::english());
    let verb = [first.clone(), english.singular(&first)];
    verb.into_iter().find_map(|verb| Some((verb.clone(), english.family(&verb)?)))
}
