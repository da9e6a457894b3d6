//! `session erase`: asks for confirmation, and prints what was erased.

use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal, Write};

use clap::Args;
use serde_json::json;

use crate::cli::api::{Api, Call, Named};
use crate::cli::output::{self, field};
use crate::failure::Failure;

/// Arguments of `session erase`.
#[derive(Debug, Args)]
pub(super) struct Erase {
    /// The session's id; a unique prefix is enough unless --yes is given.
    session: String,
    /// Erase only the content of this turn; may be given several times.
    #[arg(long, value_name = "TURN", value_parser = clap::value_parser!(u64).range(1..))]
    turn: Vec<u64>,
    /// Do not ask for confirmation. Requires the complete id.
    #[arg(long, short)]
    yes: bool,
}

impl Erase {
    /// Runs the command.
    pub(super) async fn run(self, api: &Api, json: bool) -> Result<(), Failure> {
        let id = api.id(Named::Session, &self.session).await?;
        if self.yes && id != self.session {
            let what = format!("{} is only a prefix of {id}", self.session);
            return Err(Failure::wrong_use(what, "with --yes, type the complete id"));
        }
        let head = api.json(Call::get(&["conversations", &id])).await;
        let what = match (self.turn.len(), &head) {
            (0, Ok(head)) => format!("session {id} with its {} turns", field(head, "turns")),
            // It is unreadable, or erased already with copies left.
            (0, Err(_)) => format!("what is left of session {id}"),
            (count, _) => format!("the content of {count} turns of session {id}"),
        };
        if !self.yes {
            confirm(&what)?;
        }
        if !self.turn.is_empty() {
            return erase_turns(api, &id, self.turn.into_iter().collect(), json).await;
        }
        let erased = api.json(Call::delete(&["conversations", &id, "permanent"])).await;
        let receipt = match erased {
            Err(failure) if failure.code == "no_session" => {
                return Err(unknown(api, &id, failure).await);
            }
            erased => erased?,
        };
        if json {
            return output::json(&receipt);
        }
        output::line(format!("erased session {}", field(&receipt, "session_id")))?;
        let row = |title: &str, name: &str| [title.to_owned(), field(&receipt, name)];
        output::table(
            ["", ""],
            [
                row("heads", "heads"),
                row("turns", "turns"),
                row("records", "records"),
                row("bytes", "bytes"),
                row("index documents", "index_documents"),
                row("memories", "memories"),
                row("left behind", "left"),
                row("tombstone", "tombstone"),
            ],
        )?;
        output::list(&receipt, "notes")
            .iter()
            .filter_map(|note| note.as_str())
            .try_for_each(output::line)
    }
}

/// The failure for a session that does not exist, or for a prefix.
async fn unknown(api: &Api, typed: &str, failure: Failure) -> Failure {
    match api.id(Named::Session, typed).await {
        Ok(whole) if whole != typed => {
            let what = format!("{typed} is only a prefix of {whole}");
            Failure::wrong_use(what, "with --yes, type the complete id")
        }
        Ok(_) => failure,
        Err(several) => several,
    }
}

/// Erases turns one by one, the last first: if one does not exist, none is erased.
async fn erase_turns(api: &Api, id: &str, turns: BTreeSet<u64>, json: bool) -> Result<(), Failure> {
    let (mut erased, mut memories) = (0, 0);
    for turn in turns.iter().rev().map(u64::to_string) {
        let call = Call::delete(&["conversations", id, "turns", &turn]).with("confirm", &turn);
        let receipt = api.json(call).await?;
        erased += receipt["turns"].as_u64().unwrap_or(0);
        memories += receipt["memories"].as_u64().unwrap_or(0);
    }
    if json {
        return output::json(&json!({
            "session": id, "erased_turns": erased, "forgotten_memories": memories,
        }));
    }
    output::line(format!("erased the content of {erased} turns of session {id}"))?;
    match memories {
        0 => Ok(()),
        memories => output::line(format!("forgot {memories} memories extracted from them")),
    }
}

/// Asks for confirmation; without a terminal that is wrong use.
pub(crate) fn confirm(what: &str) -> Result<(), Failure> {
    if !std::io::stdin().is_terminal() {
        let message = format!("erasing {what} was not confirmed");
        return Err(Failure::wrong_use(message, "add --yes to skip the question"));
    }
    eprint!("Erase {what}? This cannot be undone. Type yes: ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if answer.trim().eq_ignore_ascii_case("yes") {
        Ok(())
    } else {
        Err(Failure::new("nothing was erased", "type yes in full to erase"))
    }
}
