//! `throughline chat`: a conversation in the terminal, or through a pipe.
//!
//! The engine does the talking; here is only what a person types and sees.
//!
//! # Layout
//!
//! - [`talk`]: one conversation. [`command`]: what begins with a slash. [`screen`]: what is shown.
//! - [`terminal`]: lines from a person. [`piped`]: lines from a program. [`completion`]: the Tab key.

mod command;
mod completion;
mod piped;
mod screen;
mod talk;
mod terminal;

use std::io::IsTerminal;

use clap::Args;
use throughline_engine::id::AgentName;

use super::Settings;
use super::local::{Local, Who, invalid, session_id};
use crate::assemble::Demo;
use crate::failure::Failure;
use talk::Talk;

/// Flags of `chat`.
#[derive(Debug, Args)]
pub struct Chat {
    #[command(flatten)]
    who: Who,
    /// The session to go on with, or a new one of that id; a new one when absent.
    session: Option<String>,
    /// The agent of a new session.
    #[arg(long)]
    agent: Option<String>,
    /// Also start the demo inventory, and talk to an agent that uses it.
    #[arg(long)]
    demo: bool,
}

impl Chat {
    /// Talks until the input ends.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let demo = Demo::by(self.demo);
        let session = self.session.as_deref().map(session_id).transpose()?;
        let agent = self.agent.map(AgentName::new).transpose().map_err(invalid)?;
        let local = Local::with(settings.load()?, &self.who, demo).await?;
        let known = local.engine.agents().get(agent.as_ref());
        if let Err(error) = known {
            local.close().await;
            return Err(error.into());
        }
        let mut talk = Talk::new(local, session, agent);
        let done = if self.who.json {
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
