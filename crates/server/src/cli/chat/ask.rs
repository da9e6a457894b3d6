//! `throughline ask`: sends one message and exits with the result of the turn.

use std::io::IsTerminal;

use clap::Args;

use super::piped::{self, Form};
use super::screen::ShownOn;
use super::talk::{Ended, Talk};
use crate::assemble::{Demo, IfAbsent};
use crate::cli::Settings;
use crate::cli::api::{Api, Wait};
use crate::cli::local::Identity;
use crate::failure::Failure;

/// Arguments of `ask`.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    who: Identity,
    /// The message to send.
    #[arg(required = true)]
    message: Vec<String>,
    /// The session to continue, or the id of a new one [default: a new session].
    #[arg(long)]
    session: Option<String>,
    /// The agent of a new session.
    #[arg(long)]
    agent: Option<String>,
    /// Also start the demo inventory, and ask an agent that uses it.
    #[arg(long)]
    demo: bool,
}

impl Ask {
    /// Runs the command.
    pub(crate) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let demo = Demo::by(self.demo);
        let api =
            Api::open(settings, &self.who, demo, IfAbsent::Create, Wait::UntilStarted).await?;
        let mut talk = Talk::begin(api, self.session, self.agent).await?;
        let (place, form) = match (settings.json, std::io::stdout().is_terminal()) {
            (true, _) => (ShownOn::Nowhere, Form::Json),
            (false, true) => (ShownOn::Terminal, Form::Text),
            (false, false) => (ShownOn::Pipe, Form::Text),
        };
        let done = say(&mut talk, self.message.join(" "), place, form).await;
        talk.close().await;
        done
    }
}

async fn say(talk: &mut Talk, message: String, place: ShownOn, form: Form) -> Result<(), Failure> {
    let ended = talk.say(message, place).await?;
    piped::told(talk, &ended, form).await?;
    let id = talk.session().unwrap_or_default();
    match &ended {
        Ended::Turn(reply) if reply["status"] == "failed" => {
            let what = reply["error"]["message"].as_str().unwrap_or("the turn failed");
            Err(Failure::new(
                what,
                "the message is stored; check the models with throughline doctor",
            )
            .coded("turn_failed"))
        }
        Ended::Turn(reply) if reply["status"] == "awaiting_approval" => {
            let hint = format!("throughline chat {id}, then /approve or /refuse");
            Err(Failure::new("a tool call waits for approval", hint).coded("awaiting_approval"))
        }
        Ended::Turn(_) => Ok(()),
        Ended::Stopped | Ended::Left => Err(Failure::new("the turn was stopped", "ask again")),
    }
}
