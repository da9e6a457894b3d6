//! `throughline chat`: a conversation in the terminal, or through a pipe.
//!
//! The engine holds the conversation; this module handles input and output.
//!
//! # Layout
//!
//! - [`talk`]: one conversation. [`command`]: slash commands. [`screen`]: output, with Markdown by
//!   [`markdown`]. [`ask`]: a single message.
//! - [`terminal`]: input from a person. [`piped`]: input from a program. [`completion`]: the Tab key.

mod ask;
mod command;
mod completion;
mod markdown;
mod piped;
mod screen;
mod talk;
mod terminal;

use std::io::IsTerminal;

use clap::Args;

use super::Settings;
use super::api::{Api, Wait};
use super::local::Identity;
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;
pub(super) use ask::Ask;
use talk::Talk;

/// Arguments of `chat`.
#[derive(Debug, Args)]
pub(super) struct Chat {
    #[command(flatten)]
    who: Identity,
    /// The session to continue, or the id of a new one [default: a new session]. A generated id may be shortened.
    session: Option<String>,
    /// The agent of a new session.
    #[arg(long)]
    agent: Option<String>,
    /// Also start the demo inventory, and talk to an agent that uses it.
    #[arg(long)]
    demo: bool,
}

impl Chat {
    /// Runs until the input ends.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let demo = Demo::by(self.demo);
        let api = Api::open(settings, &self.who, demo, IfAbsent::Create, Wait::Briefly).await?;
        let mut talk = Talk::begin(api, self.session, self.agent).await?;
        let done = if settings.json {
            piped::run(&mut talk, piped::Form::Json).await
        } else if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
            terminal::run(&mut talk, demo).await
        } else {
            piped::run(&mut talk, piped::Form::Text).await
        };
        talk.close().await;
        done
    }
}
