//! What memory costs when a server comes to it first, and later: of a user's other sessions, and of one long session.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use throughline_testkit::served::Served;
use tokio::runtime::Runtime;

use super::bench::{Bench, disk, host_of, launch, words};
use super::resources::{resident, spread};
use super::table::{Report, Times, megabytes, ms};
use super::wire::Wire;

/// Turns of a session of a user who has many.
const TURNS_EACH: u64 = 50;
/// Turns of the long session.
const TURNS_LONG: u64 = 10_000;
/// Questions after the first one.
const SAMPLES: u64 = 200;
/// How long to wait for what is stored in the background.
const STORED_WITHIN: Duration = Duration::from_secs(600);

/// All of it.
pub(crate) fn measure(runtime: &Runtime, report: &mut Report) {
    let rows: Vec<Vec<String>> = [10, 100, 1_000].map(|count| across(runtime, count)).into();
    report.say("Memory across a user's sessions of 50 turns each: `prepare` of a new session over HTTP, first after a start and then with another question each time, in milliseconds; resident memory for it, and the store on disk with everything derived, in MB; fdatasync at the same time.");
    let columns =
        ["sessions", "first", "then p50", "then p99", "resident", "on disk", "fdatasync p50"];
    report.table(&columns, &rows);
    let (first, second, p50) = long(runtime);
    report.say(&format!(
        "`prepare` of a session of {TURNS_LONG} turns: {} ms for the first one after a start, {} ms for the second, then {} ms p50.",
        ms(first),
        ms(second),
        ms(p50)
    ));
}

fn across(runtime: &Runtime, sessions: u64) -> Vec<String> {
    let bench = Bench::start(runtime, &[]);
    spread(&bench, sessions, |wire, session| {
        let id = format!("other-{session}");
        wire.post("/api/v1/conversations", &json!({ "id": id }));
        for turn in 0..TURNS_EACH {
            let path = format!("/api/v1/conversations/{id}/turns");
            wire.post(&path, &exchange(session * TURNS_EACH + turn));
        }
    });
    wait_until_stored(&mut bench.wire());
    let (served, folder) = restarted(runtime, bench);
    let mut wire = Wire::to(&host_of(&served));
    // What the first request of a server costs in any case.
    ask(&mut wire, "alone", json!({ "memory": "session" }), 0);
    let before = resident(&served);
    let first = ask(&mut wire, "first", json!({}), 1);
    let after = resident(&served);
    let mut times = Times::default();
    for number in 0..SAMPLES {
        times.add(ask(&mut wire, &format!("then-{number}"), json!({}), number + 2));
    }
    let on_disk: u64 = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    vec![
        sessions.to_string(),
        ms(milliseconds(first)),
        ms(times.percentile(50)),
        ms(times.percentile(99)),
        megabytes(after.saturating_sub(before)),
        megabytes(on_disk),
        ms(disk().0),
    ]
}

fn long(runtime: &Runtime) -> (f64, f64, f64) {
    let bench = Bench::start(runtime, &[]);
    let mut wire = bench.wire();
    wire.post("/api/v1/conversations", &json!({ "id": "long" }));
    for turn in 0..TURNS_LONG {
        wire.post("/api/v1/conversations/long/turns", &exchange(turn));
    }
    wait_until_stored(&mut wire);
    drop(wire);
    let (served, _folder) = restarted(runtime, bench);
    let mut wire = Wire::to(&host_of(&served));
    ask(&mut wire, "alone", json!({ "memory": "session" }), 0);
    let mut question = |number| {
        let body = json!({ "message": words(number, 80), "budget_tokens": 4_000 });
        wire.post("/api/v1/conversations/long/prepare", &body).took
    };
    let (first, second) = (question(1), question(2));
    let mut times = Times::default();
    (3..100).for_each(|number| times.add(question(number)));
    (milliseconds(first), milliseconds(second), times.percentile(50))
}

/// Asks in a new session.
fn ask(wire: &mut Wire, id: &str, settings: Value, number: u64) -> Duration {
    wire.post("/api/v1/conversations", &json!({ "id": id, "settings": settings }));
    let message = format!("What was it with part{} on shelf{}?", number % 3_001, number % 211);
    wire.post(&format!("/api/v1/conversations/{id}/prepare"), &json!({ "message": message })).took
}

/// An exchange with words of which some are rare.
fn exchange(number: u64) -> Value {
    let rare = format!("part{} shelf{} order{}", number % 3_001, number % 211, number);
    json!({
        "message": format!("{} {rare}", words(number, 120)),
        "reply": words(number + 7, 240),
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "no runtime thread, and a busy wait would be measured"
)]
fn wait_until_stored(wire: &mut Wire) {
    let begin = Instant::now();
    while wire.get("/api/v1/memory/stats").json()["jobs_waiting"] != 0 {
        assert!(begin.elapsed() < STORED_WITHIN, "the background does not come to its end");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// The server started again on the same store.
fn restarted(runtime: &Runtime, bench: Bench) -> (Served, TempDir) {
    let Bench { mut served, folder, .. } = bench;
    served.kill();
    (runtime.block_on(Served::start(&launch(&folder, &[]))), folder)
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}
