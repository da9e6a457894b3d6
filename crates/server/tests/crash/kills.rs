//! What was acknowledged is there, exactly once and in order, whenever the server is killed.

use throughline_testkit::crash::{self, CrashPlan};
use throughline_testkit::trust;

use crate::stores::{self, TestStore};

/// Any number will do; the same number repeats the run.
const SEED: u64 = 20_261_115;

async fn check(store: &TestStore, servers: u64, kills: u64) {
    let (seed, kills) = (trust::seed(SEED), trust::times(kills));
    let short = CrashPlan::short(store.launch.clone(), seed);
    let report = crash::run(&CrashPlan { servers, kills, ..short }).await;
    eprintln!("seed {seed}: {report:?}");
    let on = store.launch.store.split(':').next().unwrap();
    trust::settle("kills under load", on, report.kills, &report.wrong);
    assert!(report.acknowledged >= kills, "nothing was under way: {report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_what_it_acknowledged_when_the_server_is_killed() {
    check(&stores::sqlite(), 1, 4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_what_it_acknowledged_when_two_servers_are_killed() {
    check(&stores::sqlite(), 2, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_keep_what_they_acknowledged_when_the_server_is_killed() {
    check(&stores::files(), 1, 4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_keeps_what_it_acknowledged_when_two_servers_are_killed() {
    if let Some(store) = stores::redis().await {
        check(&store, 2, 3).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_keeps_what_it_acknowledged_when_two_servers_are_killed() {
    if let Some(store) = stores::s3().await {
        check(&store, 2, 2).await;
    }
}
