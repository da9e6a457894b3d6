//! `session erase`: asks first, and prints the counted receipt.

use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal, Write};

use clap::Args;
use serde_json::json;

use crate::cli::local::{Local, session_id};
use crate::cli::output;
use crate::failure::Failure;

/// Flags of `session erase`.
#[derive(Debug, Args)]
pub struct Erase {
    /// The session.
    session: String,
    /// Erase only the content of this turn; may be given several times.
    #[arg(long, value_name = "TURN")]
    turn: Vec<u64>,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
}

impl Erase {
    /// Does it.
    pub async fn run(self, local: &Local, json: bool) -> Result<(), Failure> {
        let id = session_id(&self.session)?;
        let what = match (self.turn.len(), local.engine.session(&local.caller, &id).await) {
            (0, Ok(loaded)) => format!("session {id} with its {} turns", loaded.head.turns),
            // It cannot be read, or is gone and has left copies.
            (0, Err(_)) => format!("what is left of session {id}"),
            (count, _) => format!("the content of {count} turns of session {id}"),
        };
        if !self.yes {
            confirm(&what)?;
        }
        if !self.turn.is_empty() {
            let turns: BTreeSet<u64> = self.turn.into_iter().collect();
            let erased = local.engine.erase_turns(&local.caller, &id, &turns).await?;
            if json {
                return output::json(&json!({
                    "session": id, "erased_turns": erased.turns, "forgotten_memories": erased.facts,
                }));
            }
            output::line(format!("erased the content of {} turns of session {id}", erased.turns))?;
            return match erased.facts {
                0 => Ok(()),
                facts => output::line(format!("forgot {facts} memories gathered from them")),
            };
        }
        let receipt = local.engine.erase(&local.caller, &id).await?;
        if json {
            return output::json(&receipt);
        }
        output::line(format!("erased session {}", receipt.session))?;
        let stored = receipt.stored;
        output::table(
            ["", ""],
            [
                ["heads".into(), stored.heads.to_string()],
                ["turns".into(), stored.entries.to_string()],
                ["records".into(), stored.records.to_string()],
                ["bytes".into(), stored.bytes.to_string()],
                ["index documents".into(), receipt.index_documents.to_string()],
                ["memories".into(), receipt.facts.to_string()],
                ["left behind".into(), stored.left.to_string()],
                ["tombstone".into(), receipt.tombstone],
            ],
        )?;
        stored.notes.iter().try_for_each(output::line)
    }
}

/// Asks; where nobody can answer, it is wrong use.
pub fn confirm(what: &str) -> Result<(), Failure> {
    if !std::io::stdin().is_terminal() {
        let message = format!("erasing {what} was not confirmed");
        return Err(Failure::wrong_use(message, "add --yes where nobody can be asked"));
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
