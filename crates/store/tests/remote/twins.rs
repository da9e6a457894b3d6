//! Seeded plans on all five backends in parallel.

use std::sync::Arc;

use throughline_store::files::Files;
use throughline_store::memory::Memory;
use throughline_store::s3::S3Store;
use throughline_store::sabotage::Sabotage;
use throughline_store::sqlite::Sqlite;
use throughline_store::url::BUSY_WAIT;
use throughline_testkit::redis_server::{RedisCluster, RedisServer};
use throughline_testkit::s3_server::S3Server;
use throughline_testkit::trust;
use throughline_testkit::twins::{Twin, run};

use super::faults::maybe_broken;

/// Number of plans per run.
const SEEDS: u64 = 12;
const STEPS: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_backends_and_a_cluster_answer_alike() {
    let Some(redis) = RedisServer::start().await else { return };
    let Some(cluster) = RedisCluster::start().await else { return };
    let Some(weed) = S3Server::weed().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(folder.path().join("store.db"), BUSY_WAIT).await.unwrap();
    let files = Files::open(folder.path().join("files")).await.unwrap();
    let mut settings = super::s3::options(&weed.url("twins", "t"));
    // Short tails, so that the plans reach segments and indexes.
    settings.tail_entries_max = 3;
    let mut twins = [
        Twin::new(
            "memory",
            maybe_broken("ignore-versions", Sabotage::IgnoreVersions, Arc::new(Memory::new()))
                .await,
        ),
        Twin::new("sqlite", Arc::new(sqlite)),
        Twin::new("files", Arc::new(files)),
        Twin::new("redis", Arc::new(super::redis::open(&redis.url()).await.unwrap())),
        Twin::new("redis cluster", Arc::new(super::redis::open(&cluster.url()).await.unwrap())),
        Twin::new("s3", Arc::new(S3Store::open(settings).await.unwrap())),
    ];
    let (first, plans) = (trust::seed(0), trust::times(SEEDS));
    let mut wrong = Vec::new();
    for seed in first..first + plans {
        wrong.extend(run(&mut twins, seed, STEPS).await.err());
        if !wrong.is_empty() {
            break;
        }
    }
    trust::settle(
        "twins",
        "memory, sqlite, files, redis, cluster, s3",
        plans * STEPS as u64,
        &wrong,
    );
}
