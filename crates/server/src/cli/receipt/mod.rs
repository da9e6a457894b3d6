//! `throughline receipt`: what the model saw, and two of them compared.

mod compare;
pub mod readable;

use clap::{Args, Subcommand};
use serde::Serialize;
use throughline_engine::receipt::Receipt;
use throughline_engine::session::record::CallRecord;

use super::local::{Local, Who, session_id};
use super::{Settings, output};
use crate::assemble::IfAbsent;
use crate::failure::Failure;

/// Flags of `receipt`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ReceiptCommand {
    #[command(flatten)]
    who: Who,
    #[command(subcommand)]
    verb: Option<Verb>,
    /// The session.
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
        /// What to compare.
        #[arg(required = true, num_args = 2..=3)]
        what: Vec<String>,
    },
}

impl ReceiptCommand {
    /// Does it.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let local = Local::open(settings, &self.who, IfAbsent::Refuse).await?;
        let json = self.who.json;
        let done = match (self.verb, self.session, self.turn) {
            (Some(Verb::Diff { what }), ..) => compare::run(&local, &what, json).await,
            (None, Some(session), Some(turn)) => show(&local, &session, turn, json).await,
            _ => Err(Failure::wrong_use(
                "a session and a turn are needed",
                "throughline receipt SESSION TURN",
            )),
        };
        local.close().await;
        done
    }
}

/// A receipt as JSON, with the calls of its turn.
#[derive(Serialize)]
struct WithCalls<'a> {
    #[serde(flatten)]
    receipt: &'a Receipt,
    calls: &'a [CallRecord],
}

async fn show(local: &Local, session: &str, turn: u64, json: bool) -> Result<(), Failure> {
    let id = session_id(session)?;
    let receipt = local.engine.receipt(&local.caller, &id, turn).await?;
    let (_, record) = local.engine.turn(&local.caller, &id, turn).await?;
    if json {
        return output::json(&WithCalls { receipt: &receipt, calls: &record.calls });
    }
    output::line(readable::receipt(&receipt, &record.calls).trim_end())
}
