//! Conversations without a model, with servers that nobody here wrote: the number of right turns has a floor, and no
//! turn is wrong.
//!
//! The servers' tools and answers were recorded; `conversations/README.md` says how. Not here: the transport, and
//! the servers themselves.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

#[path = "conversations/judge.rs"]
mod judge;
#[path = "conversations/recorded.rs"]
mod recorded;

use std::collections::BTreeMap;

use judge::{Came, Case, Verdict, judge};
use recorded::{Bench, read};
use serde::Deserialize;
use throughline_engine::session::record::TurnStatus;
use throughline_engine::turn::TurnOutcome;

#[derive(Deserialize)]
struct Conversation {
    name: String,
    servers: Vec<String>,
    turns: Vec<Case>,
}

#[tokio::test]
async fn conversations_written_before_the_code_was_read() {
    // What the server answers to it holds more than the row allows.
    check("blind", 82, &["search the nodes for cello"]).await;
}

#[tokio::test]
async fn further_conversations() {
    check("further", 101, &[]).await;
}

/// Plays a set of conversations: at least `right_min` turns are right, and none is wrong but these.
async fn check(set: &str, right_min: usize, known_wrong: &[&str]) {
    let conversations: Vec<Conversation> = read(&format!("{set}.json"));
    let (mut tally, mut told, mut wrong) = (BTreeMap::new(), Vec::new(), Vec::new());
    for conversation in &conversations {
        let bench = Bench::start(set, &conversation.name, &conversation.servers).await;
        for case in &conversation.turns {
            let came = play(&bench, case).await;
            let (verdict, why) = judge(case, &came);
            *tally.entry(verdict).or_insert(0_usize) += 1;
            if verdict != Verdict::Right {
                told.push(format!(
                    "{verdict:?} {why}: {} > {}\n    {came}",
                    conversation.name, case.say
                ));
            }
            if verdict == Verdict::Wrong && !known_wrong.contains(&case.say.as_str()) {
                wrong.push(case.say.clone());
            }
        }
        for call in bench.tools.unrecorded() {
            told.push(format!("unrecorded: {} > {call}", conversation.name));
        }
    }
    println!("{}\n{set}: {tally:?}", told.join("\n"));
    assert!(wrong.is_empty(), "{wrong:#?}");
    let right = tally.get(&Verdict::Right).copied().unwrap_or_default();
    assert!(right >= right_min, "{right} turns are right, less than {right_min}");
}

async fn play(bench: &Bench, case: &Case) -> Came {
    match bench.query(&case.say).await {
        TurnOutcome::Finished { record, .. } => Came {
            text: record.reply.clone(),
            success: record.status != TurnStatus::Failed,
            ran: record.calls.iter().map(|c| (c.tool.name.clone(), c.arguments.clone())).collect(),
            waits: Vec::new(),
        },
        TurnOutcome::Paused { pending, .. } => {
            let call = |awaited: &throughline_engine::session::pending::AwaitedCall| {
                (awaited.tool.name.clone(), awaited.arguments.clone())
            };
            let waits = pending.awaited.iter().map(call).collect();
            if case.is_approved() {
                bench.approve(&pending).await;
            }
            Came {
                text: String::new(),
                success: false,
                ran: pending
                    .calls
                    .iter()
                    .map(|c| (c.tool.name.clone(), c.arguments.clone()))
                    .collect(),
                waits,
            }
        }
    }
}
