//! What a turn costs, counted: allocations, against a budget.
//!
//! A count is the same on every machine, unlike a time. What costs a twentieth more than its budget fails; whoever
//! saves as much lowers the budget, so that the next cost is seen.

use std::cell::Cell;

use throughline_engine::creation::NewSession;
use throughline_engine::engine::{HistoryQuery, Order};
use throughline_engine::request::TurnInput;
use throughline_engine::turn::RecordedTurn;

use crate::bench::{Bench, bench, session};

/// Turns before anything is counted, and how often it is then done.
const TURNS: u64 = 120;
const COUNTED: u64 = 40;

/// Allocations of one piece of work.
const APPEND: u64 = 1_345;
const PREPARE: u64 = 5_700;
const TAIL: u64 = 9;

const NAMES: [&str; 5] = ["Maria Chen", "Project Falcon", "core-07", "Berlin", "Initech"];

fn exchange(number: u64) -> RecordedTurn {
    let (who, what) = (NAMES[number as usize % 5], NAMES[(number as usize / 5 + 1) % 5]);
    RecordedTurn {
        message: format!("Move {what} to rack {number} before {who} asks for it on Monday."),
        reply: format!(
            "{what} is in rack {number} now; {who} was told, and the {number} tickets are closed."
        ),
        ..RecordedTurn::default()
    }
}

async fn record(bench: &Bench, number: u64) {
    bench.engine.record(&bench.caller, &session(), exchange(number)).await.unwrap();
}

async fn prepare(bench: &Bench, number: u64) {
    let message =
        format!("Which tickets did {} close for rack {number}?", NAMES[number as usize % 5]);
    let input = TurnInput { message, budget_tokens: Some(4_000), ..TurnInput::default() };
    bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
}

async fn tail(bench: &Bench, _: u64) {
    let query = HistoryQuery { limit: 20, order: Order::Descending, from: None };
    bench.engine.history(&bench.caller, &session(), query).await.unwrap();
}

/// Fails where `work` allocates more or clearly less often than `budget` says.
fn check(what: &str, budget: u64, work: impl AsyncFn(&Bench, u64)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = runtime.block_on(async {
        let bench = bench().start().await;
        let new = NewSession { id: Some(session()), ..NewSession::default() };
        bench.engine.create_session(&bench.caller, new).await.unwrap();
        for number in 0..TURNS {
            record(&bench, number).await;
        }
        // What is loaded and compiled on first use is not counted.
        for number in TURNS..TURNS + 8 {
            work(&bench, number).await;
        }
        bench
    });
    let next = Cell::new(TURNS + 8);
    let counted = allocation_counter::measure(|| {
        runtime.block_on(async {
            for _ in 0..COUNTED {
                work(&bench, next.replace(next.get() + 1)).await;
            }
        });
    });
    let each = counted.count_total / COUNTED;
    println!("{what}: {each} allocations, {} bytes", counted.bytes_total / COUNTED);
    let (most, least) = (budget + budget / 20, budget - budget / 5);
    assert!(each <= most, "{what} allocates {each} times; its budget is {budget}");
    assert!(each >= least, "{what} allocates {each} times: lower its budget of {budget}");
}

#[test]
fn an_append_stays_within_its_budget() {
    check("an append", APPEND, record);
}

#[test]
fn a_prepare_stays_within_its_budget() {
    check("a prepare", PREPARE, prepare);
}

#[test]
fn the_last_turns_stay_within_their_budget() {
    check("the last 20 turns", TAIL, tail);
}
