//! Input from a program: one message per line, plain responses, no colours or spinners.
//!
//! A failed line is reported and the rest continues; the exit code shows that something failed.

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::command::{self, Line};
use super::screen::ShownOn;
use super::talk::{Ended, Talk};
use crate::cli::output;
use crate::failure::Failure;

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Runs until the input ends.
pub(super) async fn run(talk: &mut Talk, form: Form) -> Result<(), Failure> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut wrong = 0_u64;
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line?,
            _ = tokio::signal::ctrl_c() => None,
        };
        let goes_on = match line.as_deref().map(Line::read) {
            None | Some(Line::Quit) => false,
            Some(line) => match act(talk, line, form).await {
                Ok(goes_on) => goes_on,
                Err(failure) => {
                    wrong += 1;
                    complain(&failure, form)?;
                    true
                }
            },
        };
        if !goes_on {
            break;
        }
    }
    match wrong {
        0 => Ok(()),
        1 => Err(Failure::new("one line failed", "see the errors above")),
        many => {
            let what = format!("{many} lines failed");
            Err(Failure::new(what, "see the errors above"))
        }
    }
}

/// Reports a failed line, on standard error or as a JSON object.
fn complain(failure: &Failure, form: Form) -> Result<(), Failure> {
    if form == Form::Json {
        return output::line(failure.json());
    }
    eprintln!("error: {}", output::plain(&failure.message));
    if let Some(hint) = &failure.hint {
        eprintln!("hint: {}", output::plain(hint));
    }
    Ok(())
}

/// Runs a line; returns `false` when the conversation is over.
async fn act(talk: &mut Talk, line: Line, form: Form) -> Result<bool, Failure> {
    let place = if form == Form::Json { ShownOn::Nowhere } else { ShownOn::Pipe };
    match line {
        Line::Empty | Line::Quit => {}
        Line::Message(message) => {
            let ended = talk.say(message, place).await?;
            return told(talk, &ended, form).await;
        }
        Line::Decide(approve) => {
            let waiting = talk.waiting().await?;
            if waiting.is_empty() {
                return Err(Failure::new("no tool call waits for approval", "say something first"));
            }
            for call in waiting {
                let ended = talk.decide(&call.id, approve, place).await?;
                if !told(talk, &ended, form).await? {
                    return Ok(false);
                }
            }
        }
        Line::Unknown(word) => {
            return Err(Failure::new(format!("there is no command {word}"), "/help lists them"));
        }
        line => output::line(answer(talk, line).await?.trim_end())?,
    }
    Ok(true)
}

/// Prints the outcome of a turn; returns `false` when the conversation is over.
pub(super) async fn told(talk: &Talk, ended: &Ended, form: Form) -> Result<bool, Failure> {
    let told = match ended {
        Ended::Left => return Ok(false),
        Ended::Stopped => json!({"session": talk.session(), "stopped": true}),
        Ended::Turn(reply) => match reply["turn"].as_u64() {
            Some(turn) if form == Form::Json => {
                json!({"session": reply["conversation_id"], "turn": talk.turn(turn).await?})
            }
            _ => json!({
                "session": reply["conversation_id"], "awaiting_approval": reply["awaiting_approval"],
            }),
        },
    };
    if form == Form::Json {
        output::line(told)?;
    }
    Ok(true)
}

/// The response of a command that is not a turn.
pub(super) async fn answer(talk: &mut Talk, line: Line) -> Result<String, Failure> {
    Ok(match line {
        Line::Context => talk.context().await?,
        Line::Entities => {
            let entities = talk.entities().await?;
            let none = "this session has no entities yet".to_owned();
            if entities.is_empty() { none } else { entities.join("\n") }
        }
        Line::Pin(None) => {
            let items = talk.items().await?;
            let shown = items.iter().map(|(item, pinned)| {
                let mark = if *pinned { "*" } else { " " };
                let about = output::brief(&output::field(item, "description"), 60);
                format!("{mark} {} — {about}", output::item(item))
            });
            shown.collect::<Vec<_>>().join("\n")
        }
        Line::Pin(Some(name)) => format!("{} is in this session", talk.pin(&name).await?),
        Line::Persona(None) => talk.presets().await?.join("\n"),
        Line::Persona(Some(preset)) => format!("{} from now on", talk.persona(&preset).await?),
        Line::Session => talk.session().unwrap_or("no session yet").to_owned(),
        Line::New => {
            talk.begin_anew();
            "a new session".into()
        }
        Line::Help => command::help(),
        Line::Unknown(word) => format!("there is no command {word}\n{}", command::help()),
        Line::Empty | Line::Message(_) | Line::Decide(_) | Line::Quit => String::new(),
    })
}
