//! Lines from a program: one message each, plain answers, no colours and no spinners.

use serde_json::json;
use throughline_engine::turn::TurnOutcome;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::command::{self, Line};
use super::screen::Place;
use super::talk::{Ended, Talk};
use crate::cli::output;
use crate::failure::Failure;
use crate::http::conversations::turn::TurnBrief;

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Talks until the input ends.
pub async fn run(talk: &mut Talk, form: Form) -> Result<(), Failure> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line?,
            _ = tokio::signal::ctrl_c() => None,
        };
        let Some(line) = line else { return Ok(()) };
        match Line::read(&line) {
            Line::Quit => return Ok(()),
            line => {
                if !act(talk, line, form).await? {
                    return Ok(());
                }
            }
        }
    }
}

/// Does what a line asks; `false` when the conversation is over.
async fn act(talk: &mut Talk, line: Line, form: Form) -> Result<bool, Failure> {
    let place = if form == Form::Json { Place::Nowhere } else { Place::Pipe };
    match line {
        Line::Empty | Line::Quit => {}
        Line::Message(message) => {
            let ended = talk.say(message, place).await?;
            return told(&ended, form);
        }
        Line::Decide(approve) => {
            let waiting = talk.waiting().await?;
            if waiting.is_empty() {
                return Err(Failure::new("no tool call waits for approval", "say something first"));
            }
            for call in waiting {
                let ended = talk.decide(call.id, approve, place).await?;
                if !told(&ended, form)? {
                    return Ok(false);
                }
            }
        }
        line => output::line(answer(talk, line).await?.trim_end())?,
    }
    Ok(true)
}

fn told(ended: &Ended, form: Form) -> Result<bool, Failure> {
    let Ended::Turn(outcome) = ended else { return Ok(false) };
    if form == Form::Json {
        let told = match outcome.as_ref() {
            TurnOutcome::Finished { session, record, .. } => json!({
                "session": session.head.id, "turn": TurnBrief::from(record.as_ref()),
            }),
            TurnOutcome::Paused { session, pending } => json!({
                "session": session.head.id, "awaiting_approval": pending.awaited,
            }),
        };
        output::line(told.to_string())?;
    }
    Ok(true)
}

/// What a command that is no turn answers.
pub async fn answer(talk: &mut Talk, line: Line) -> Result<String, Failure> {
    Ok(match line {
        Line::Context => talk.context().await?,
        Line::Entities => {
            let entities = talk.entities().await?;
            let none = "nothing was named yet".to_owned();
            if entities.is_empty() { none } else { entities.join("\n") }
        }
        Line::Pin(None) => {
            let items = talk.items().await?;
            let shown = items.iter().map(|(item, pinned)| {
                let mark = if *pinned { "*" } else { " " };
                format!("{mark} {} — {}", item.item, output::brief(&item.description, 60))
            });
            shown.collect::<Vec<_>>().join("\n")
        }
        Line::Pin(Some(name)) => format!("{} is in this conversation", talk.pin(&name).await?),
        Line::Persona(None) => talk.presets().await?.join("\n"),
        Line::Persona(Some(preset)) => format!("{} from now on", talk.persona(&preset).await?),
        Line::Session => talk.session().map_or("no session yet".into(), ToString::to_string),
        Line::New => {
            talk.begin_anew();
            "a new conversation".into()
        }
        Line::Help => command::help(),
        Line::Unknown(word) => format!("there is no command {word}\n{}", command::help()),
        Line::Empty | Line::Message(_) | Line::Decide(_) | Line::Quit => String::new(),
    })
}
