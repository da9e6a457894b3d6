//! Values that a message leaves to the conversation: the folder of a file, the path that "it" is, the repository
//! that every tool of a server needs.
//!
//! Invariant: such a value was an argument of an earlier call, or is a name that a listing of such a path showed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::ask::Pointer;
use super::offer::{Means, Offer, Slot};
use super::point::Meant;
use super::read::{Literal, Part, Role};
use super::scene::Scene;
use crate::entity::Number;
use crate::lexicon::{self, Class};
use crate::pack::{Kind, words_of_identifier};
use crate::session::dialogue::{Thing, Want};
use crate::session::record::{CallRecord, TurnRecord};
use crate::tool::ToolDefinition;

/// Tools of one server from which on a parameter that all of them need is one of the conversation.
const SHARING_MIN: usize = 3;
/// Names that are kept of what was listed.
const NAMES_MAX: usize = 500;
/// Maximum bytes of a line that is a path.
const PATH_BYTES_MAX: usize = 300;
/// Maximum words of a file's name.
const PATH_WORDS_MAX: usize = 8;

/// Names of files that were listed or used, with their paths, the newest first.
pub(super) fn seen(recent: &[Arc<TurnRecord>]) -> Vec<(String, String)> {
    let calls = recent.iter().rev().flat_map(|turn| turn.calls.iter().rev());
    calls.filter(|call| !super::back::has_failed(call)).flat_map(named_in).take(NAMES_MAX).collect()
}

/// The paths that a text consists of, one on each line.
pub(super) fn printed(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_path = |line: &&str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        line.len() <= PATH_BYTES_MAX
            && !line.contains(": ")
            && super::fit::has_ending(line)
            && (first == *line || first.contains('/'))
            && line.split_whitespace().count() <= PATH_WORDS_MAX
    };
    if lines.iter().all(is_path) { lines } else { Vec::new() }
}

/// A file as a thing of a kind.
pub(super) fn file(kind: &Kind, path: &str) -> Thing {
    let mut thing = super::find::bare(kind, path);
    thing.keys.insert("path".into(), path.into());
    thing
}

fn named_in(call: &CallRecord) -> Vec<(String, String)> {
    let english = lexicon::english();
    let given = call.arguments.as_object().into_iter().flatten();
    let is_path = |key: &str, text: &str| {
        let mut words = words_of_identifier(key).into_iter();
        let named = words.any(|word| english.is(Class::SlotPath, &word));
        text.starts_with('/') || named && !text.contains(char::is_whitespace)
    };
    let texts = given.filter_map(|(key, value)| Some((key, value.as_str()?)));
    let paths = texts.filter(|(key, text)| is_path(key, text)).map(|(_, text)| text);
    let paths: Vec<&str> = paths.collect();
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let mut found: Vec<(String, String)> =
        paths.iter().map(|path| (name(path), (*path).to_owned())).collect();
    let printed = call.output.iter().flat_map(|output| printed(output.plain_text()));
    found.extend(printed.map(|path| (name(path), path.to_owned())));
    let words = words_of_identifier(&call.tool.name);
    if let ([folder], Some(output), true) =
        (paths.as_slice(), &call.output, words.iter().any(|word| english.is(Class::Folder, word)))
    {
        let entries = entries(output.plain_text(), folder);
        found.extend(entries.into_iter().map(|entry| (entry.label.clone(), path_of(&entry))));
    }
    found
}

/// What the listing of a folder shows to be in it: the names that have an ending or are marked as folders.
pub(super) fn entries(text: &str, folder: &str) -> Vec<Thing> {
    let folder = folder.trim_end_matches('/');
    let entry = |line: &str| {
        let line = line.trim();
        let is_folder = line.starts_with("[DIR] ");
        let name = line.split_once("] ").map_or(line, |(_, name)| name);
        // Sizes follow in a column of their own.
        let name = name.split_once("  ").map_or(name, |(name, _)| name).trim();
        let named = !name.is_empty() && !name.contains('/') && (name.contains('.') || is_folder);
        let kind = Kind::new(if is_folder { "directory" } else { "file" });
        let thing = file(&kind, &format!("{folder}/{name}"));
        named.then(|| Thing { label: name.to_owned(), ..thing })
    };
    text.lines().filter_map(entry).collect()
}

fn path_of(thing: &Thing) -> String {
    thing.keys.get("path").and_then(Value::as_str).unwrap_or(&thing.label).to_owned()
}

/// The words of the tools that take paths, in the singular.
pub(super) fn words(offers: &[Offer]) -> BTreeSet<String> {
    let takes = |offer: &&Offer| offer.slots.iter().any(|slot| slot.means == Means::Path);
    let words = offers.iter().filter(takes).flat_map(|offer| {
        let slots = offer.slots.iter().flat_map(|slot| &slot.words);
        offer.words.iter().chain(slots).cloned()
    });
    words.collect()
}

/// Whether a path begins at the root or says where it begins.
fn is_whole(path: &str) -> bool {
    path.starts_with(['/', '~', '.', '\\']) || path.contains(":\\")
}

/// Gives tools the value of a parameter that every tool of their server needs, from the last call to it.
pub(super) fn recall(offers: &mut [Offer], tools: &[ToolDefinition], recent: &[Arc<TurnRecord>]) {
    for offer in offers {
        let server = offer.tool.tool.server.clone();
        for slot in &mut offer.slots {
            if !is_context(tools, &server, slot) {
                continue;
            }
            if let Some(value) = last_value(recent, &server, slot.name()) {
                offer.fixed.insert(slot.name().to_owned(), value.clone());
                slot.shape.required = false;
            }
        }
    }
}

/// Whether every tool of a server needs a parameter, so that it says nothing about what is wanted.
fn is_context(tools: &[ToolDefinition], server: &str, slot: &Slot) -> bool {
    let own = tools.iter().filter(|tool| tool.tool.server == server);
    let needs = |schema: &Value| {
        let needed = schema.get("required").and_then(Value::as_array);
        needed.is_some_and(|needed| needed.iter().any(|name| name == slot.name()))
    };
    slot.means == Means::Path
        && own.clone().count() >= SHARING_MIN
        && own.clone().all(|tool| needs(&tool.input_schema))
}

/// What a parameter was in the last call to a server.
fn last_value<'r>(recent: &'r [Arc<TurnRecord>], server: &str, name: &str) -> Option<&'r Value> {
    let calls = recent.iter().rev().flat_map(|turn| turn.calls.iter().rev());
    let own = |call: &&CallRecord| call.ok() && call.tool.server == server;
    calls.filter(own).find_map(|call| call.arguments.get(name))
}

impl Scene<'_> {
    /// The parts with what the conversation knows in the place of names without folders and of references.
    pub(super) fn completed(&self, parts: Vec<Part>) -> Vec<Part> {
        let last = self.last_path().filter(|_| self.dialogue.open.is_none());
        let mut completed: Vec<Part> = Vec::new();
        let all = parts.clone();
        let mut named = 0;
        for (at, mut part) in parts.into_iter().enumerate() {
            if at < named {
                continue;
            }
            if let Some((count, role)) = self.latest(&all, at) {
                part.span.end = all[at + count - 1].span.end;
                part.text = self.message[part.span.start..part.span.end].to_owned();
                (part.role, part.lower) = (role, part.text.to_lowercase());
                named = at + count;
                completed.push(part);
                continue;
            }
            let meant = self.files_meant(&all, at).or_else(|| self.file_picked(&all, at));
            if let Some((count, paths)) = meant {
                named = at + count;
                let file = |text: String| {
                    let (lower, role) = (text.to_lowercase(), Role::Literal(Literal::Path));
                    Part { lower, text, role, ..part.clone() }
                };
                completed.extend(paths.into_iter().map(file));
                continue;
            }
            match &part.role {
                Role::Literal(Literal::Path) if !is_whole(&part.text) => {
                    let first = part.text.split_whitespace().next().unwrap_or_default();
                    let known = self.files.iter().find(|(name, _)| *name == part.text);
                    let called = |(name, _): &&(String, String)| name == first;
                    let short = |(name, _): &&(String, String)| {
                        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
                        part.text.contains(' ') && stem.eq_ignore_ascii_case(first)
                    };
                    let known = known.or_else(|| self.files.iter().find(called));
                    let known = known.or_else(|| self.files.iter().find(short));
                    // "the notes folder", which nothing has shown: its name.
                    let last = part.text.split_whitespace().next_back().unwrap_or_default();
                    let folder = lexicon::english().is(Class::Folder, &last.to_lowercase());
                    let said = if folder { first.to_owned() } else { part.text.clone() };
                    part.text = known.map_or(said, |(_, path)| path.clone());
                }
                Role::Literal(Literal::Zone) => {
                    let zone = super::zones::zone_of(&part.text).map(str::to_owned);
                    part.text = zone.unwrap_or_else(|| capitalised(&part.text));
                }
                Role::Literal(Literal::Date) => {
                    let days = super::dates::days_of(&part.text, self.language, self.today);
                    let day = days.and_then(super::dates::Days::single);
                    part.text = day.map_or(part.text, |day| day.to_string());
                }
                Role::Literal(Literal::Time) => {
                    part.text = super::zones::clock(&part.text).unwrap_or(part.text);
                }
                // "what time is it": no file.
                Role::Pointer { number: Number::One, kinds: None, .. }
                    if !all.iter().any(|part| self.language.is(Class::FieldTime, &part.lower)) =>
                {
                    if let Some(path) = &last {
                        (part.role, part.text) = (Role::Literal(Literal::Path), path.clone());
                    }
                }
                // "log a call with her": the person who was spoken of.
                Role::Filler | Role::Content
                    if self.language.is(Class::Person, &part.lower) && self.knows_person() =>
                {
                    let (number, kinds) = (Number::One, None);
                    part.role = Role::Pointer { number, kinds, is_possessive: false };
                }
                // "the last 2 commits", where nothing was listed: a number.
                Role::Pointer { number: Number::Counted { count, .. }, kinds, .. }
                    if !self.lists_any(kinds.as_deref())
                        && self.says_number(&part.lower, *count) =>
                {
                    let (count, kind) =
                        (*count, kinds.as_ref().and_then(|kinds| kinds.first().cloned()));
                    let words: Vec<String> =
                        part.lower.split_whitespace().map(str::to_owned).collect();
                    let last = words.len().saturating_sub(1);
                    for (at, word) in words.into_iter().enumerate() {
                        let is_number = self.says_number(&word, count);
                        let role = match &kind {
                            _ if is_number => Role::Number,
                            Some(kind) if at == last => {
                                Role::Kind { kind: kind.clone(), many: true, narrower: None }
                            }
                            _ => Role::Filler,
                        };
                        let lower = if is_number { count.to_string() } else { word };
                        let text = if is_number { lower.clone() } else { part.text.clone() };
                        completed.push(Part { role, lower, text, ..part.clone() });
                    }
                    continue;
                }
                _ => {}
            }
            completed.push(part);
        }
        completed
    }

    /// The listed files that a reference means, and its number of parts: "both standups".
    fn files_meant(&self, parts: &[Part], at: usize) -> Option<(usize, Vec<String>)> {
        let Role::Pointer { number, kinds, is_possessive: false } = &parts[at].role else {
            return None;
        };
        let path = |thing: &Thing| thing.keys.get("path")?.as_str().map(str::to_owned);
        let listed = self.listed();
        if self.dialogue.open.is_some()
            || listed.is_empty()
            || !listed.iter().all(|t| path(t).is_some())
        {
            return None;
        }
        let (number, kinds, span) = (*number, kinds.clone(), parts[at].span);
        let pointer = Pointer { number, kinds, is_possessive: false, span, at };
        let Meant::Things(things) = self.meant(&pointer) else { return None };
        if !things.iter().all(|thing| path(thing).is_some()) {
            return None;
        }
        let english = lexicon::english();
        let noun = parts.get(at + 1).filter(|next| {
            let word = english.singular(&next.lower);
            let named = |thing: &Thing| thing.label.to_lowercase().contains(&word);
            next.role == Role::Content && things.iter().all(named)
        });
        Some((1 + usize::from(noun.is_some()), things.iter().filter_map(path).collect()))
    }

    /// Whether what was spoken of last is a person.
    fn knows_person(&self) -> bool {
        let person = |thing: &Thing| {
            let words = words_of_identifier(thing.kind.as_str());
            let mut names = thing.label.split_whitespace().peekable();
            let capital = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
            let named = thing.label.contains(' ') && names.all(capital);
            named || words.iter().any(|word| lexicon::english().is(Class::PersonKind, word))
        };
        self.dialogue.focus.first().is_some_and(person)
    }

    /// Whether things of one of these kinds were listed.
    fn lists_any(&self, kinds: Option<&[Kind]>) -> bool {
        let fits = |thing: &Thing| kinds.is_none_or(|kinds| kinds.contains(&thing.kind));
        self.listed().iter().any(fits)
    }

    /// Whether one of the words is a number, in digits or letters.
    fn says_number(&self, words: &str, number: usize) -> bool {
        // "the second one" has no number.
        let spelt = |word: &str| {
            self.language.cardinal(word) == Some(number) && !self.language.is(Class::One, word)
        };
        let is = |word: &str| word.parse() == Ok(number) || spelt(word);
        words.split_whitespace().any(is)
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
    pub(super) fn is_context(&self, offer: &Offer, slot: &Slot) -> bool {
        is_context(self.tools, &offer.tool.tool.server, slot)
    }

    /// What the parameter was in the last call to its server.
    pub(super) fn context_value(&self, offer: &Offer, slot: &Slot) -> Option<Value> {
        let known = last_value(self.recent, &offer.tool.tool.server, slot.name());
        known.filter(|_| self.is_context(offer, slot)).cloned()
    }

    /// The latest thing of a kind, where a server has a name for it: the last commit is "HEAD".
    fn latest(&self, parts: &[Part], at: usize) -> Option<(usize, Role)> {
        let name = |kind: &Kind| {
            let id = Some(self.known(kind)?.latest.clone()?);
            Some(Role::Name { kind: Some(kind.clone()), is_sure: true, id })
        };
        match &parts[at].role {
            Role::Pointer { number: Number::Counted { from: 0, count: 1 }, kinds, .. } => {
                let [kind] = kinds.as_deref()? else { return None };
                // "the last 1 commit" is a list of one.
                let counted = self.says_number(&parts[at].lower, 1);
                Some((1, name(kind).filter(|_| !counted)?))
            }
            Role::Content | Role::Filler => {
                let latest = self.language.is(Class::Latest, &parts[at].lower)
                    && self.language.ordinal(&parts[at].lower).is_none_or(|place| place == 0);
                let Role::Kind { kind, many: false, .. } = &parts.get(at + 1)?.role else {
                    return None;
                };
                latest.then(|| name(kind)).flatten().map(|role| (2, role))
            }
            _ => None,
        }
    }

    /// Whether the user's own words hold the folder of a path.
    pub(super) fn is_folder_named(&self, path: &str) -> bool {
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
