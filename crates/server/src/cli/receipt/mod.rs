//! `throughline receipt`: what the model saw on a turn, or a comparison of two turns.

mod compare;
pub(super) mod readable;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::api::{Api, Call, Named};
use super::local::Identity;
use super::{Settings, output};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;

/// Arguments of `receipt`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct ReceiptCommand {
    #[command(flatten)]
    who: Identity,
    #[command(subcommand)]
    verb: Option<Verb>,
    /// The session's id or a unique prefix.
    #[arg(required = true)]
    session: Option<String>,
    /// The turn, counted from 1.
    #[arg(required = true)]
    turn: Option<u64>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Compare two receipts: SESSION:TURN SESSION:TURN, or SESSION TURN TURN.
    Diff {
        /// The turns to compare.
        #[arg(required = true, num_args = 2..=3)]
        what: Vec<String>,
    },
}

impl ReceiptCommand {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let json = settings.json;
        let act = async |api: &Api| match (self.verb, self.session, self.turn) {
            (Some(Verb::Diff { what }), ..) => compare::run(api, &what, json).await,
            (None, Some(session), Some(turn)) => show(api, &session, turn, json).await,
            _ => Err(Failure::wrong_use(
                "a session and a turn are required",
                "throughline receipt SESSION TURN",
            )),
        };
        Api::during(settings, &self.who, Demo::Without, IfAbsent::Refuse, act).await
    }
}

async fn show(api: &Api, session: &str, turn: u64, json: bool) -> Result<(), Failure> {
    let id = api.id(Named::Session, session).await?;
    let receipt = of_turn(api, &id, turn).await?;
    if json {
        return output::json(&receipt);
    }
    output::line(readable::receipt(&output::read(receipt)?).trim_end())
}

/// The receipt of a turn.
pub(super) async fn of_turn(api: &Api, id: &str, turn: u64) -> Result<Value, Failure> {
    api.json(Call::get(&["conversations", id, "turns", &turn.to_string(), "context"])).await
}
