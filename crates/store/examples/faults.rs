//! Injects a thousand faults per backend and counts the entries: `cargo run --example faults [FAULTS] [redis|s3]`.
//!
//! Needs the servers of `scripts/setup/stores.sh`. Fails if anything acknowledged was lost or doubled, or anything
//! denied was written.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use throughline_store::redis::{RedisOptions, RedisStore};
use throughline_store::s3::{S3Options, S3Store};
use throughline_testkit::fault_proxy::{
    Fault, FaultPlan, FaultProxy, HTTP_FAULTS, Speaks, TCP_FAULTS,
};
use throughline_testkit::fault_run::{FaultReport, FaultRun, run};
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::s3_server::{S3Server, environment, url_at};

const FAULTS: u64 = 1000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let faults = std::env::args().nth(1).map_or(Ok(FAULTS), |text| text.parse())?;
    let only = std::env::args().nth(2);
    let wanted = |backend: &str| only.as_deref().is_none_or(|only| only == backend);
    println!(
        "| backend | faults | acknowledged | lost | doubled | denied but written | conflicts | unknown, applied / not | own writes recognised | share | s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut clean = true;
    if wanted("redis")
        && let Some(server) = RedisServer::start().await
    {
        let proxy = FaultProxy::start(server.port, Speaks::Tcp).await;
        let options = RedisOptions::from_url(&format!("redis://127.0.0.1:{}", proxy.port))?;
        let store = Arc::new(RedisStore::open(options).await?);
        let start = Instant::now();
        let report = run(store.clone(), &proxy, &fault_run(&TCP_FAULTS, faults)).await;
        clean &= report.is_clean();
        print("redis", &report, store.own_writes_recognised(), start.elapsed());
    }
    if wanted("s3")
        && let Some(server) = S3Server::weed().await
    {
        let proxy = FaultProxy::start(server.port, Speaks::Http).await;
        let options = S3Options::from_url(&url_at(proxy.port, "faults", ""))?;
        let store = Arc::new(S3Store::open(options.with_environment(environment())).await?);
        let start = Instant::now();
        let report = run(store.clone(), &proxy, &fault_run(&HTTP_FAULTS, faults)).await;
        clean &= report.is_clean();
        print("s3", &report, store.own_writes_recognised(), start.elapsed());
        let hidden = proxy.counts().hidden_successes.load(Ordering::Relaxed);
        println!("\ns3: the proxy hid {hidden} conditional writes that had succeeded");
    }
    if clean { Ok(()) } else { Err("entries were lost, doubled or denied".into()) }
}

fn fault_run(choices: &[Fault], faults: u64) -> FaultRun {
    let weather = FaultPlan { seed: 42, permille: 200, faults: choices.to_vec() };
    FaultRun { weather, faults, writers: 8, threads: 4 }
}

/// `share` is the share of applied writes with a lost or false reply that were recognised.
fn print(backend: &str, report: &FaultReport, recognised: u64, time: Duration) {
    let FaultReport { faults, acknowledged, lost, doubled, denied, conflicts, .. } = report;
    let (applied, absent) = (report.unknown_applied, report.unknown_absent);
    let share = 100.0 * recognised as f64 / (recognised + applied).max(1) as f64;
    println!(
        "| {backend} | {faults} | {acknowledged} | {lost} | {doubled} | {denied} | {conflicts} | {applied} / {absent} | {recognised} | {share:.1} % | {:.0} |",
        time.as_secs_f64()
    );
}
