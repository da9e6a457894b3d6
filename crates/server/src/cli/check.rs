//! `throughline check`: verifies a store, or names what is damaged.
//!
//! The store reads all its data; then every session is read through the engine, and requests are rebuilt from
//! their receipts. Repairs nothing.

use clap::Args;
use serde::Serialize;
use throughline_engine::access::{Caller, Grants};
use throughline_engine::engine::{Engine, HistoryQuery, Order};
use throughline_engine::error::Error;
use throughline_engine::piece::Source;
use throughline_engine::store::{Key, Kind};

use super::{Settings, output};
use crate::assemble::{self, Demo, IfAbsent};
use crate::failure::Failure;

/// Threads per listing.
const STRETCH: usize = 200;
/// Turns per page.
const TURNS_AT_ONCE: u64 = 256;

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// How many of the newest requests per session to rebuild from their receipts.
    #[arg(long, default_value_t = 2)]
    requests: usize,
}

/// What was read, and what is wrong.
#[derive(Debug, Default, Serialize)]
struct Found {
    threads: u64,
    entries: u64,
    sessions: u64,
    turns: u64,
    requests_rebuilt: u64,
    problems: Vec<String>,
    notes: Vec<String>,
}

impl Check {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let config = settings.load_for(IfAbsent::Refuse)?;
        let store = assemble::store(&config).await?;
        let place = store.facts().location;
        let report = store.check().await?;
        let mut found = Found {
            threads: report.threads,
            entries: report.entries,
            problems: report.problems,
            notes: report.notes,
            ..Found::default()
        };
        // If the engine cannot start, that is one more problem, not the end of the check.
        match assemble::engine(&config, store, Demo::Without).await {
            Ok(assembled) => {
                look(&assembled.engine, self.requests, &mut found).await;
                assembled.servers.shutdown().await;
            }
            Err(error) => found.problems.push(format!("the sessions were not read: {error}")),
        }
        if settings.json {
            output::json(&found)?;
        } else {
            output::line(format!(
                "read {} threads with {} entries; {} sessions with {} turns, {} requests rebuilt",
                found.threads, found.entries, found.sessions, found.turns, found.requests_rebuilt
            ))?;
            for note in &found.notes {
                output::line(format!("note: {}", output::plain(note)))?;
            }
            for problem in &found.problems {
                output::line(format!("wrong: {}", output::plain(problem)))?;
            }
        }
        match found.problems.len() {
            0 => Ok(()),
            count => Err(Failure::new(
                format!("{place} is not sound: {count} problems"),
                "repair sessions of a file store with throughline repair; otherwise restore the newest backup",
            )),
        }
    }
}

/// Reads every session through the engine.
async fn look(engine: &Engine, requests: usize, found: &mut Found) {
    let counter = output::counter("sessions read:");
    let store = engine.store();
    let mut after: Option<Key> = None;
    loop {
        let listed = match store.scan(after.as_ref(), STRETCH).await {
            Ok(listed) => listed,
            Err(error) => {
                found.problems.push(format!("cannot list more threads: {error}"));
                break;
            }
        };
        let Some(last) = listed.last() else { break };
        after = Some(last.key.clone());
        for listed in listed.iter().filter(|listed| listed.key.kind == Kind::Session) {
            counter.inc(1);
            found.sessions += 1;
            if let Err(error) = session(engine, &listed.key, requests, found).await {
                found.problems.push(format!("{}: {error}", listed.key));
            }
        }
    }
    counter.finish_and_clear();
}

async fn session(
    engine: &Engine,
    key: &Key,
    requests: usize,
    found: &mut Found,
) -> throughline_engine::error::Result<()> {
    let owner = Caller { scope: key.scope.clone(), grants: Grants::Read };
    let id = key.id.clone().into();
    let head = engine.session(&owner, &id).await?.head;
    let mut next = Some(1);
    let (mut read, mut sample) = (0, Vec::new());
    let mut quotes_others = false;
    while let Some(from) = next.filter(|from| *from <= head.turns) {
        let query =
            HistoryQuery { limit: TURNS_AT_ONCE, order: Order::Ascending, from: Some(from) };
        let page = engine.history(&owner, &id, query).await?;
        read += page.turns.len() as u64;
        for turn in &page.turns {
            if let Some(receipt) = &turn.receipt {
                sample.push(turn.turn);
                quotes_others |= receipt.pieces.iter().any(|piece| {
                    matches!(piece.source, Source::Fact { .. } | Source::Elsewhere { .. })
                });
            }
        }
        next = page.next;
    }
    found.turns += read;
    if read != head.turns {
        let counts = head.turns;
        found.problems.push(format!("{key}: the head counts {counts} turns, the log has {read}"));
    }
    // A request that quotes an erased turn cannot be rebuilt; that is not damage.
    if head.erased_turns > 0 {
        return Ok(());
    }
    for turn in sample.into_iter().rev().take(requests) {
        match engine.request(&owner, &id, turn).await {
            Ok(_) => found.requests_rebuilt += 1,
            // A memory was forgotten, or another session erased.
            Err(Error::NotKept { .. }) if quotes_others => {}
            Err(error) => found.problems.push(format!("{key}: turn {turn}: {error}")),
        }
    }
    Ok(())
}
