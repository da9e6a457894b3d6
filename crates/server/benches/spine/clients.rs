//! Several clients at once: how fast, and whether anything is lost.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::json;
use throughline_testkit::crash::{self, ledger};
use tokio::runtime::Runtime;

use super::bench::{Bench, Size, disk, exchange};
use super::table::Report;

/// Clients at once.
const CLIENTS: u64 = 8;

/// Throughput on own sessions and on one, and the count of what many writers leave.
pub(crate) fn measure(runtime: &Runtime, size: &Size, report: &mut Report) {
    let bench = Bench::start(runtime, &[]);
    let own = throughput(&bench, size.turns_each, |client| format!("own-{client}"));
    let same = throughput(&bench, size.turns_each, |_| "same".into());
    let rate = 1_000.0 / disk().0;
    report.say("Turns a second, beside this disk's fdatasync rate in the same run:");
    let rows = [
        vec!["8 clients, 8 sessions".into(), format!("{own:.0}")],
        vec!["8 clients, one session".into(), format!("{same:.0}")],
        vec!["fdatasync, one after the other".into(), format!("{rate:.0}")],
    ];
    report.table(&["", "a second"], &rows);
    let mut rows = Vec::new();
    for writers in [8, 64] {
        rows.push(race(runtime, &bench, writers));
    }
    report.say("Writers at once on one session:");
    report.table(&["writers", "acknowledged", "there", "wrong"], &rows);
}

fn throughput(bench: &Bench, turns_each: u64, session: impl Fn(u64) -> String) -> f64 {
    let mut wire = bench.wire();
    let mut sessions: Vec<String> = (0..CLIENTS).map(&session).collect();
    sessions.dedup();
    for session in sessions {
        wire.post("/api/v1/conversations", &json!({ "id": session }));
    }
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let path = format!("/api/v1/conversations/{}/turns", session(client));
            scope.spawn(move || {
                let mut wire = bench.wire();
                for number in 0..turns_each {
                    wire.post(&path, &exchange(client * turns_each + number));
                }
            });
        }
    });
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let turns = (CLIENTS * turns_each) as f64;
    turns / begin.elapsed().as_secs_f64()
}

fn race(runtime: &Runtime, bench: &Bench, writers: u64) -> Vec<String> {
    let http = reqwest::Client::new();
    let session = format!("race-{writers}");
    let (sent, history) = runtime.block_on(async {
        bench.served.create(&http, &session).await;
        let servers = std::slice::from_ref(&bench.served);
        let sent = crash::write_together(servers, &session, writers, 640 / writers).await;
        (sent, bench.served.history(&http, &session).await)
    });
    let acknowledged = sent.iter().flatten().filter(|one| one.told.is_some()).count();
    let there = history.len();
    let wrong = ledger::compare(&sent, &BTreeMap::from([(session, history)]));
    vec![writers.to_string(), acknowledged.to_string(), there.to_string(), wrong.len().to_string()]
}
