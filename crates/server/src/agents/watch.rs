//! Watches the folder of agents while the server runs.

use std::sync::Arc;
use std::time::Duration;

use throughline_engine::agent::{Agent, AgentBook};
use throughline_engine::engine::Engine;
use throughline_engine::id::AgentName;
use tokio_util::sync::CancellationToken;

use super::AgentFolder;

/// Agents that are not in the folder, and the default agent.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// Agent of sessions that name none.
    pub default: AgentName,
    /// Agents besides those in the folder.
    pub agents: Vec<Agent>,
}

/// Reads the folder once, and logs its problems.
pub fn look(folder: &mut AgentFolder, fixed: &Fixed) -> (AgentBook, bool) {
    let reading = folder.look();
    for problem in &reading.problems {
        if reading.changed {
            tracing::warn!(agents.problem = problem, "an agent file has a problem");
        }
    }
    let agents = fixed.agents.iter().cloned().chain(reading.agents);
    let book = AgentBook::new(fixed.default.clone(), agents).with_problems(reading.problems);
    (book, reading.changed)
}

/// Reads the folder at an interval until `stop`, and passes changes to the engine.
pub async fn watch(
    engine: Arc<Engine>,
    mut folder: AgentFolder,
    fixed: Fixed,
    every: Duration,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        let looked = tokio::task::spawn_blocking({
            let fixed = fixed.clone();
            move || {
                let (book, changed) = look(&mut folder, &fixed);
                (folder, book, changed)
            }
        });
        let Ok((returned, book, changed)) = looked.await else { return };
        folder = returned;
        if changed {
            tracing::info!(agents = book.all().count(), "agents reloaded");
            engine.replace_agents(book);
        }
    }
}
