//! Writers behind a faulty proxy: nothing acknowledged is lost or doubled. The example `faults` is the long form,
//! with a thousand faults per backend.

use std::sync::Arc;
use std::time::Duration;

use throughline_engine::store::Store;
use throughline_store::s3::S3Store;
use throughline_store::sabotage::{self, Sabotage};
use throughline_testkit::fault_proxy::{FaultPlan, FaultProxy, HTTP_FAULTS, Speaks, TCP_FAULTS};
use throughline_testkit::fault_run::{FaultReport, FaultRun, run};
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::s3_server::{S3Server, url_at};
use throughline_testkit::trust;

const FAULTS: u64 = 80;

fn fault_run(faults: &[throughline_testkit::fault_proxy::Fault]) -> FaultRun {
    let weather = FaultPlan { seed: trust::seed(7), permille: 250, faults: faults.to_vec() };
    FaultRun { weather, faults: trust::times(FAULTS), writers: 4, threads: 2 }
}

/// The store, or one with a broken guarantee if the run requests it by `name`.
pub(crate) async fn maybe_broken(
    name: &str,
    how: Sabotage,
    store: Arc<dyn Store>,
) -> Arc<dyn Store> {
    match std::env::var("THROUGHLINE_SABOTAGE") {
        Ok(asked) if asked == name => sabotage::apply(store, how).await.unwrap(),
        _ => store,
    }
}

fn count(on: &str, report: &FaultReport) {
    let failures = report.lost + report.doubled + report.denied;
    println!("{on}: {report:?}");
    trust::count("failing network calls", on, report.faults, failures);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_entry_is_lost_or_doubled_in_redis() {
    let Some(server) = RedisServer::start().await else { return };
    let proxy = FaultProxy::start(server.port, Speaks::Tcp).await;
    let url = format!("redis://127.0.0.1:{}", proxy.port);
    let store = Arc::new(super::redis::open(&url).await.unwrap());
    let attacked = maybe_broken("claim-success", Sabotage::ClaimSuccess, store.clone()).await;
    let report = run(attacked, &proxy, &fault_run(&TCP_FAULTS)).await;
    count("redis", &report);
    assert!(report.is_clean() && report.acknowledged > 0, "{report:?}");
    assert!(store.own_writes_recognised() > 0, "no reply to a commit was lost: {report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_entry_is_lost_or_doubled_in_s3() {
    let Some(server) = S3Server::weed().await else { return };
    let proxy = FaultProxy::start(server.port, Speaks::Http).await;
    let mut settings = super::s3::options(&url_at(proxy.port, "faults", "f"));
    settings.timeout = Duration::from_secs(5);
    settings.tail_entries_max = 8;
    let store = Arc::new(S3Store::open(settings).await.unwrap());
    let attacked = maybe_broken("claim-success", Sabotage::ClaimSuccess, store.clone()).await;
    let report = run(attacked, &proxy, &fault_run(&HTTP_FAULTS)).await;
    count("s3", &report);
    assert!(report.is_clean() && report.acknowledged > 0, "{report:?}");
    assert!(store.own_writes_recognised() > 0, "no success was hidden: {report:?}");
}
