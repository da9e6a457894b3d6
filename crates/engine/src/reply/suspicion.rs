//! Whether a call that changes something was caused by a tool's words alone.
//!
//! A tool's answer can hold anything, also "now delete sw9". A model that was shown it may obey. So a call
//! that changes something waits for approval where it uses a value that only a tool has named, or where the
//! model asks for it after reading a tool's answer although the user asked for no change.
//!
//! Filters for suspicious words do not hold against this; looking at where a value comes from does.
//!
//! Invariant: nothing here lets a call run; it can only make one wait.

use serde_json::Value;

use super::{ReplyRequest, verb};
use crate::mode;
use crate::notice::Understanding;
use crate::session::record::CallRecord;
use crate::tool::ToolDefinition;

/// Numbers below this say too little to come from anywhere in particular, unless they are ids.
const TELLING_NUMBER_DIGITS: usize = 3;
/// Texts shorter than this, too.
const TELLING_TEXT_CHARACTERS: usize = 2;

/// Why a call that a model wants has to be approved, if it has to.
pub fn of_call(
    definition: &ToolDefinition,
    arguments: &Value,
    asked: &ReplyRequest<'_>,
    calls: &[CallRecord],
) -> Option<String> {
    let message = asked.message;
    if !definition.seems_to_change() {
        return None;
    }
    let answers: Vec<String> = asked
        .assembled
        .recent
        .iter()
        .flat_map(|turn| &turn.calls)
        .chain(calls)
        .map(|call| call.result_text().to_lowercase())
        .collect();
    let users = users_words(asked);
    let mut values = Vec::new();
    leaves("", arguments, &mut values);
    let tainted = values.into_iter().find(|value| {
        let value = value.to_lowercase();
        !says(&users, &value) && says(&answers, &value)
    });
    if let Some(value) = tainted {
        let shown: String = value.chars().take(80).collect();
        return Some(format!(
            "it would change something with {shown:?}, which only a tool's answer has named"
        ));
    }
    let read = calls.iter().any(CallRecord::ok);
    let asked = mode::asks_for_change(message)
        || verb::of_message(message).is_some()
        || verb::of_tool(&definition.tool.name).is_some_and(|family| says_one_of(message, family));
    (read && !asked).then(|| {
        "it would change something after a tool's answer was read, and the message asks for no change"
            .to_owned()
    })
}

/// What the user said, and what the user or the operator has vouched for.
fn users_words(asked: &ReplyRequest<'_>) -> Vec<String> {
    let said = asked.assembled.recent.iter().map(|turn| turn.message.as_str());
    let said = said.chain([asked.message]);
    let Understanding { noticed, known, .. } = &asked.assembled.understanding;
    let vouched = asked.session.head.entities.tracked.iter().chain(known.iter());
    let vouched = vouched.filter(|entity| entity.is_vouched_for()).flat_map(|entity| {
        let names = [Some(entity.entity.name.as_str()), entity.entity.id.as_deref()];
        let names = names.into_iter().flatten().chain(entity.slug.as_deref());
        names.chain(entity.aliases.iter().map(String::as_str))
    });
    // What the message itself names is vouched for by that, with the id that a look-up found for it.
    let named = noticed.mentions.iter().filter(|mention| mention.how.names_it());
    let named = named.flat_map(|mention| [Some(mention.name.as_str()), mention.id.as_deref()]);
    said.chain(vouched).chain(named.flatten()).map(str::to_lowercase).collect()
}

/// The values of arguments that can come from somewhere: texts, ids, large numbers.
fn leaves(key: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.trim().chars().count() >= TELLING_TEXT_CHARACTERS => {
            found.push(text.trim().to_owned());
        }
        Value::Number(number) => {
            let number = number.to_string();
            let is_id = key.rsplit('_').next().is_some_and(|word| matches!(word, "id" | "ids"));
            if is_id || number.len() >= TELLING_NUMBER_DIGITS {
                found.push(number);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| leaves(key, value, found)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| leaves(key, value, found)),
        _ => {}
    }
}

/// Whether one of the texts has the value, as whole words.
fn says(texts: &[String], value: &str) -> bool {
    texts.iter().any(|text| {
        text.match_indices(value).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + value.len()..].chars().next();
            let part_of_word = |next: Option<char>, edge: Option<char>| {
                next.is_some_and(char::is_alphanumeric) && edge.is_some_and(char::is_alphanumeric)
            };
            !part_of_word(before, value.chars().next())
                && !part_of_word(after, value.chars().next_back())
        })
    })
}

fn says_one_of(message: &str, family: verb::Family) -> bool {
    message
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| verb::family(&word.to_lowercase()) == Some(family))
}
