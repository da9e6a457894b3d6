//! Slash commands.

use throughline_engine::turn::{Approval, Remember};

/// Approves a call and allows its tool for the rest of the session.
pub(super) const ALLOW: Approval = Approval { approve: true, remember: Some(Remember::Session) };

/// Commands and their descriptions, for `/help` and Tab.
pub(super) const COMMANDS: [(&str, &str); 11] = [
    ("/context", "what the model saw on the last turn, and why"),
    ("/entities", "the entities of this session"),
    ("/pin", "add a rule, reference or tool: /pin ITEM; alone it lists them"),
    ("/persona", "use the persona of a preset: /persona PRESET; alone it lists them"),
    ("/approve", "run the tool call that waits for approval"),
    ("/allow", "run it, and allow that tool for the rest of this session"),
    ("/refuse", "do not let it run"),
    ("/session", "the id of this session"),
    ("/new", "start a new session"),
    ("/help", "this list"),
    ("/quit", "leave; also Ctrl-D"),
];

/// A typed line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Nothing.
    Empty,
    Message(String),
    /// Show the last receipt.
    Context,
    /// List the entities.
    Entities,
    /// Add an item, or list them.
    Pin(Option<String>),
    /// Use a preset, or list them.
    Persona(Option<String>),
    /// Decide the pending calls.
    Decide(Approval),
    /// Show the session's id.
    Session,
    /// Start a new session.
    New,
    /// List the commands.
    Help,
    /// Leave.
    Quit,
    /// An unknown command.
    Unknown(String),
}

impl Line {
    /// Parses a line.
    pub(super) fn read(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::Empty;
        }
        if !text.starts_with('/') {
            return Self::Message(text.to_owned());
        }
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(str::to_owned);
        match word {
            "/context" => Self::Context,
            "/entities" => Self::Entities,
            "/pin" => Self::Pin(rest),
            "/persona" => Self::Persona(rest),
            "/approve" => Self::Decide(true.into()),
            "/allow" => Self::Decide(ALLOW),
            "/refuse" => Self::Decide(false.into()),
            "/session" => Self::Session,
            "/new" => Self::New,
            "/help" | "/?" => Self::Help,
            "/quit" | "/exit" => Self::Quit,
            // A path or a fraction is part of a message.
            word if word[1..].contains('/') => Self::Message(text.to_owned()),
            word => Self::Unknown(word.to_owned()),
        }
    }
}

/// The list of commands as text.
pub(super) fn help() -> String {
    let lines = COMMANDS.map(|(name, what)| format!("  {name:<10} {what}"));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_is_a_command_unless_it_is_a_path() {
        assert_eq!(Line::read("  "), Line::Empty);
        assert_eq!(Line::read(" hi "), Line::Message("hi".into()));
        assert_eq!(Line::read("/pin rule short"), Line::Pin(Some("rule short".into())));
        assert_eq!(Line::read("/pin"), Line::Pin(None));
        assert_eq!(Line::read("/etc/hosts is wrong"), Line::Message("/etc/hosts is wrong".into()));
        assert_eq!(Line::read("/nope x"), Line::Unknown("/nope".into()));
    }

    #[test]
    fn every_command_of_the_help_is_understood() {
        for (name, _) in COMMANDS {
            assert!(!matches!(Line::read(name), Line::Unknown(_) | Line::Message(_)), "{name}");
        }
    }
}
