//! Prompts: creating a personality, and reviewing conversations.

use rmcp::model::{
    ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;

const CREATOR: &str = include_str!("prompts/personality-creator.md");
const SUMMARY: &str = include_str!("prompts/context-summary.md");
/// Longest argument, in characters.
const ARGUMENT_CHARACTERS_MAX: usize = 4_000;

struct Known {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    text: &'static str,
    arguments: &'static [(&'static str, &'static str)],
}

const PROMPTS: [Known; 2] = [
    Known {
        name: "personality-creator",
        title: "Create a personality",
        description: "Writes a system prompt and settings for a new personality",
        text: CREATOR,
        arguments: &[
            ("role", "The role, such as: patient mathematics tutor"),
            ("traits", "Key traits, such as: precise, warm, never in a hurry"),
            ("scenario", "The situation in which it will be used"),
        ],
    },
    Known {
        name: "context-summary",
        title: "Summarise a context",
        description: "Summarises the conversations with a context",
        text: SUMMARY,
        arguments: &[
            ("contextName", "The context's name"),
            ("personality", "Its character"),
            ("interactionCount", "How many exchanges there were, 1 or more"),
            ("timeSpan", "From when to when"),
        ],
    },
];

/// All prompts.
pub fn all() -> Vec<Prompt> {
    PROMPTS
        .iter()
        .map(|known| {
            let arguments = known.arguments.iter().map(|(name, description)| {
                PromptArgument::new(*name).with_description(*description).with_required(true)
            });
            Prompt::new(known.name, Some(known.description), Some(arguments.collect()))
                .with_title(known.title)
        })
        .collect()
}

/// A prompt with its arguments filled in.
pub fn get(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    let Some(known) = PROMPTS.iter().find(|known| known.name == name) else {
        let names = PROMPTS.map(|known| known.name).join(", ");
        let message = format!("there is no prompt {name}; known: {names}");
        return Err(ErrorData::invalid_params(message, None));
    };
    let mut text = known.text.trim_end().to_owned();
    for (argument, _) in known.arguments {
        let value = arguments.and_then(|arguments| arguments.get(*argument));
        let value = filled_in(argument, value)?;
        text = text.replace(&format!("{{{argument}}}"), &value);
    }
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(known.description))
}

fn filled_in(name: &str, value: Option<&Value>) -> Result<String, ErrorData> {
    let text = match value {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => return Err(invalid(name, "it must be text")),
        None => return Err(invalid(name, "it is missing")),
    };
    if text.is_empty() || text.chars().count() > ARGUMENT_CHARACTERS_MAX {
        let count = text.chars().count();
        return Err(invalid(
            name,
            &format!("{count} characters is outside 1-{ARGUMENT_CHARACTERS_MAX}"),
        ));
    }
    if name == "interactionCount" && !text.parse::<u64>().is_ok_and(|count| count >= 1) {
        return Err(invalid(name, &format!("{text:?} is not a whole number from 1")));
    }
    Ok(text)
}

fn invalid(name: &str, reason: &str) -> ErrorData {
    ErrorData::invalid_params(format!("{name} is not valid: {reason}"), None)
}
