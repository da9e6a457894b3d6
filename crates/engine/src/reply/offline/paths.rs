//! Values that a message leaves to the conversation: the folder of a file, the path that "it" is, the repository
//! that every tool of a server needs.
//!
//! Invariant: such a value was an argument of an earlier call, or is a name that a listing of such a path showed.

use std::sync::Arc;

use serde_json::Value;

use super::offer::{Means, Offer, Slot};
use super::read::{Literal, Part, Role};
use super::scene::Scene;
use crate::entity::Number;
use crate::lexicon::{self, Class};
use crate::pack::words_of_identifier;
use crate::session::dialogue::Want;
use crate::session::record::{CallRecord, TurnRecord};

/// Tools of one server from which on a parameter that all of them need is one of the conversation.
const SHARING_MIN: usize = 3;
/// Names that are kept of what was listed.
const NAMES_MAX: usize = 500;

/// Names of files that were listed or used, with their paths, the newest first.
pub(super) fn seen(recent: &[Arc<TurnRecord>]) -> Vec<(String, String)> {
    let calls = recent.iter().rev().flat_map(|turn| turn.calls.iter().rev());
    calls.filter(|call| call.ok()).flat_map(named_in).take(NAMES_MAX).collect()
}

fn named_in(call: &CallRecord) -> Vec<(String, String)> {
    let given = call.arguments.as_object().into_iter().flat_map(|given| given.values());
    let paths: Vec<&str> = given.filter_map(Value::as_str).filter(|t| t.starts_with('/')).collect();
    let named = |path: &str| Some((path.rsplit_once('/')?.1.to_owned(), path.to_owned()));
    let mut found: Vec<(String, String)> = paths.iter().filter_map(|path| named(path)).collect();
    let english = lexicon::english();
    let words = words_of_identifier(&call.tool.name);
    if let ([folder], Some(output), true) =
        (paths.as_slice(), &call.output, words.iter().any(|word| english.is(Class::Folder, word)))
    {
        let folder = folder.trim_end_matches('/');
        let lines = output.text.lines().map(|line| line.split_once("] ").map_or(line, |l| l.1));
        let names = lines.map(str::trim).filter(|name| name.contains('.') && !name.contains('/'));
        found.extend(names.map(|name| (name.to_owned(), format!("{folder}/{name}"))));
    }
    found
}

/// Whether a path begins at the root or says where it begins.
fn is_whole(path: &str) -> bool {
    path.starts_with(['/', '~', '.', '\\']) || path.contains(":\\")
}

impl Scene<'_> {
    /// The parts with what the conversation knows in the place of names without folders and of references.
    pub fn completed(&self, parts: Vec<Part>) -> Vec<Part> {
        let last = self.last_path().filter(|_| self.dialogue.open.is_none());
        let mut completed: Vec<Part> = Vec::new();
        for mut part in parts {
            match &part.role {
                Role::Literal(Literal::Path) if !is_whole(&part.text) => {
                    let known = self.files.iter().find(|(name, _)| *name == part.text);
                    part.text = known.map_or(part.text, |(_, path)| path.clone());
                }
                Role::Literal(Literal::Zone) => part.text = capitalised(&part.text),
                Role::Pointer { number: Number::One, kinds: None, .. } => {
                    if let Some(path) = &last {
                        (part.role, part.text) = (Role::Literal(Literal::Path), path.clone());
                    }
                }
                // "the last 2 commits", where nothing was listed: a number.
                Role::Pointer { number: Number::Counted { count, .. }, .. }
                    if self.listed().is_empty()
                        && part.text.contains(|c: char| c.is_ascii_digit()) =>
                {
                    let words: Vec<String> =
                        part.lower.split_whitespace().map(str::to_owned).collect();
                    let count = count.to_string();
                    for word in words.iter().filter(|word| **word != count) {
                        let lower = word.clone();
                        completed.push(Part { role: Role::Filler, lower, ..part.clone() });
                    }
                    (part.role, part.lower) = (Role::Number, count.clone());
                    part.text = count;
                }
                _ => {}
            }
            completed.push(part);
        }
        completed
    }

    /// The one path of the last call, where nothing else has been spoken of since.
    fn last_path(&self) -> Option<String> {
        let query = &self.dialogue.spoken.first()?.query;
        let (Want::Act(_), Some((tool, arguments))) = (query.want, &query.call) else {
            return None;
        };
        let offer = self.offer(tool)?;
        let slots = offer.slots.iter().filter(|slot| slot.means == Means::Path);
        let mut paths = slots.filter_map(|slot| arguments.get(slot.name())?.as_str());
        let only = paths.next().filter(|_| paths.next().is_none())?;
        Some(only.to_owned())
    }

    /// Whether every tool of a server needs a parameter, so that it says nothing about what is wanted.
    pub fn is_context(&self, offer: &Offer, slot: &Slot) -> bool {
        let own = self.tools.iter().filter(|tool| tool.tool.server == offer.tool.tool.server);
        let needs = |schema: &Value| {
            let needed = schema.get("required").and_then(Value::as_array);
            needed.is_some_and(|needed| needed.iter().any(|name| name == slot.name()))
        };
        slot.means == Means::Path
            && own.clone().count() >= SHARING_MIN
            && own.clone().all(|tool| needs(&tool.input_schema))
    }

    /// What the parameter was in the last call to its server.
    pub fn context_value(&self, offer: &Offer, slot: &Slot) -> Option<Value> {
        let calls = self.recent.iter().rev().flat_map(|turn| turn.calls.iter().rev());
        let own = |call: &&CallRecord| call.ok() && call.tool.server == offer.tool.tool.server;
        let known = calls.filter(own).find_map(|call| call.arguments.get(slot.name()));
        known.filter(|_| self.is_context(offer, slot)).cloned()
    }

    /// Whether the user's own words hold the folder of a path.
    pub fn is_folder_named(&self, path: &str) -> bool {
        let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
        self.message.contains(folder)
            || self.recent.iter().any(|turn| turn.message.contains(folder))
    }
}

/// "america/new_york" as zones are written.
fn capitalised(zone: &str) -> String {
    let mut written = String::new();
    let mut begins = true;
    for letter in zone.chars() {
        match begins {
            true => written.extend(letter.to_uppercase()),
            false => written.push(letter),
        }
        begins = matches!(letter, '/' | '_');
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_written_with_capitals() {
        assert_eq!(capitalised("america/new_york"), "America/New_York");
        assert_eq!(capitalised("UTC"), "UTC");
    }
}
