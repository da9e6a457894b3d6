//! The crash driver: load over HTTP, SIGKILL at seeded moments, restart, and count.
//!
//! Half of the clients have their own session, the other half share one. A kill is timed by a number of acknowledged
//! turns plus some microseconds, so that kills hit every part of a commit. After each restart, everything ever
//! acknowledged is compared with what exists, and some clients repeat their unanswered turn under its idempotency key.
//!
//! (A kill does not affect the page cache: this says nothing about power loss.)

pub mod ledger;
mod load;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::Notify;

use crate::seeded::Seeded;
use crate::served::{Launch, Served};
use ledger::Sent;
use load::{Client, Round};

/// The session that several clients share.
const SHARED: &str = "shared";
/// Timeout of a request, after which a client considers the server gone.
const REQUEST_MAX: Duration = Duration::from_secs(60);
/// Maximum time between the last awaited acknowledgement and the kill, in microseconds.
const JITTER_MAX: u64 = 3_000;
/// Maximum number of reported findings.
const FINDINGS_MAX: usize = 20;

/// A crash test.
#[derive(Debug, Clone)]
pub struct CrashPlan {
    /// The server.
    pub launch: Launch,
    /// Determines every moment.
    pub seed: u64,
    /// Number of kills.
    pub kills: u64,
    /// Number of clients; half of them share a session.
    pub clients: u64,
    /// Number of servers on the same store; clients are spread over them.
    pub servers: u64,
    /// Maximum number of acknowledged turns before a kill.
    pub turns_max: u64,
}

impl CrashPlan {
    /// A test of a few seconds.
    pub fn short(launch: Launch, seed: u64) -> Self {
        Self { launch, seed, kills: 4, clients: 8, servers: 1, turns_max: 120 }
    }
}

/// The result of a crash test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrashReport {
    pub kills: u64,
    /// Turns acknowledged.
    pub acknowledged: u64,
    /// Turns in progress at a kill.
    pub unanswered: u64,
    /// Of those, turns that had been written nevertheless.
    pub unanswered_there: u64,
    /// Turns repeated under their key.
    pub repeated: u64,
    /// Responses that were neither a success nor a lost connection.
    pub refused: u64,
    /// What is wrong: must be empty.
    pub wrong: Vec<String>,
}

pub async fn run(plan: &CrashPlan) -> CrashReport {
    let mut seeded = Seeded::new(plan.seed);
    let mut report = CrashReport::default();
    let mut clients: Vec<Client> = (0..plan.clients).map(|number| client(plan, number)).collect();
    let http = http();
    let mut servers = start(plan).await;
    let mut sessions: Vec<String> = clients.iter().map(|c| c.session.clone()).collect();
    sessions.sort();
    sessions.dedup();
    for session in &sessions {
        servers[0].create(&http, session).await;
    }
    for _ in 0..plan.kills {
        let round = round(1 + seeded.below(plan.turns_max));
        one_round(&mut clients, &mut servers, &round, &mut seeded, &mut report.wrong).await;
        report.kills += 1;
        servers = start(plan).await;
        let histories = histories(&servers[0], &http, &sessions).await;
        count_unanswered(&clients, &histories, &mut report);
        let sent: Vec<_> = clients.iter().map(|client| client.sent.clone()).collect();
        report.wrong.extend(ledger::compare(&sent, &histories));
        report.acknowledged += round.acknowledged.load(Ordering::Relaxed);
        if !report.wrong.is_empty() {
            break;
        }
        let before = round.acknowledged.load(Ordering::Relaxed);
        let base = servers[0].url("");
        for client in &mut clients {
            let unanswered = client.sent.last().is_some_and(|last| last.told.is_none());
            if unanswered && seeded.happens(600) {
                report.repeated += 1;
                client.send_last(&base, &round).await;
            }
        }
        report.acknowledged += round.acknowledged.load(Ordering::Relaxed) - before;
        report.refused += round.refused.load(Ordering::Relaxed);
    }
    let histories = histories(&servers[0], &http, &sessions).await;
    let sent: Vec<_> = clients.into_iter().map(|client| client.sent).collect();
    report.wrong.extend(ledger::compare(&sent, &histories));
    report.wrong.truncate(FINDINGS_MAX);
    report
}

/// Lets `writers`, spread over `servers`, write turns into one session concurrently; returns what each was
/// told.
pub async fn write_together(
    servers: &[Served],
    session: &str,
    writers: u64,
    turns_each: u64,
) -> Vec<Vec<Sent>> {
    let (http, round) = (http(), round(u64::MAX));
    let writing = servers.iter().cycle().zip(0..writers).map(|(server, number)| {
        let (session, http) = (session.to_owned(), http.clone());
        let name = format!("writer {number} of {session}");
        let mut client = Client { name, session, sent: Vec::new(), http };
        let (base, round) = (server.url(""), &round);
        async move {
            for _ in 0..turns_each {
                assert!(client.write(&base, round).await, "a server is gone: {}", server.log_end());
            }
            client.sent
        }
    });
    join_all(writing).await
}

/// Lets the clients write until there are enough acknowledgements, then kills the servers.
async fn one_round(
    clients: &mut [Client],
    servers: &mut [Served],
    round: &Round,
    seeded: &mut Seeded,
    wrong: &mut Vec<String>,
) {
    let bases: Vec<String> = servers.iter().map(|server| server.url("")).collect();
    let writing = clients.iter_mut().enumerate().map(|(number, client)| {
        let base = &bases[(number / 2) % bases.len()];
        client.write_until_gone(base, round)
    });
    let mut writing = Box::pin(join_all(writing));
    let jitter = Duration::from_micros(seeded.below(JITTER_MAX));
    tokio::select! {
        _ = &mut writing => wrong.push(format!("a server ended by itself: {}", servers[0].log_end())),
        () = async { round.reached.notified().await; tokio::time::sleep(jitter).await } => {
            for server in servers.iter_mut() {
                server.kill();
            }
            writing.await;
        }
    }
}

fn round(enough: u64) -> Round {
    Round {
        acknowledged: AtomicU64::new(0),
        refused: AtomicU64::new(0),
        enough,
        reached: Notify::new(),
    }
}

/// Even clients write to their own session, odd ones to the shared one.
fn client(plan: &CrashPlan, number: u64) -> Client {
    let session = if number.is_multiple_of(2) { format!("own-{number}") } else { SHARED.into() };
    let name = format!("client {number} of {}", plan.seed);
    Client { name, session, sent: Vec::new(), http: http() }
}

fn http() -> reqwest::Client {
    let built = reqwest::Client::builder().timeout(REQUEST_MAX).no_proxy().build();
    built.expect("a plain client can be built")
}

async fn start(plan: &CrashPlan) -> Vec<Served> {
    let mut servers = Vec::new();
    for _ in 0..plan.servers.max(1) {
        servers.push(Served::start(&plan.launch).await);
    }
    servers
}

type Histories = BTreeMap<String, Vec<(u64, String)>>;

async fn histories(server: &Served, http: &reqwest::Client, sessions: &[String]) -> Histories {
    let mut histories = BTreeMap::new();
    for session in sessions {
        histories.insert(session.clone(), server.history(http, session).await);
    }
    histories
}

fn count_unanswered(clients: &[Client], histories: &Histories, report: &mut CrashReport) {
    for last in clients.iter().filter_map(|client| client.sent.last()) {
        if last.told.is_none() {
            report.unanswered += 1;
            let there = histories.get(&last.session).into_iter().flatten();
            report.unanswered_there += u64::from(there.clone().any(|(_, m)| *m == last.message));
        }
    }
}
