//! Seeded plans on all five backends at once.

use std::sync::Arc;

use throughline_store::files::Files;
use throughline_store::memory::Memory;
use throughline_store::s3::S3Store;
use throughline_store::sqlite::Sqlite;
use throughline_store::url::BUSY_WAIT;
use throughline_testkit::redis_server::{RedisCluster, RedisServer};
use throughline_testkit::s3_server::S3Server;
use throughline_testkit::twins::{Twin, run};

/// Plans of each run; `THROUGHLINE_TWIN_SEEDS` asks for more, `THROUGHLINE_TWIN_SEED` for one.
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
        Twin::new("memory", Arc::new(Memory::new())),
        Twin::new("sqlite", Arc::new(sqlite)),
        Twin::new("files", Arc::new(files)),
        Twin::new("redis", Arc::new(super::redis::open(&redis.url()).await.unwrap())),
        Twin::new("redis cluster", Arc::new(super::redis::open(&cluster.url()).await.unwrap())),
        Twin::new("s3", Arc::new(S3Store::open(settings).await.unwrap())),
    ];
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("THROUGHLINE_TWIN_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("THROUGHLINE_TWIN_SEEDS").unwrap_or(SEEDS),
    };
    for seed in seeds {
        if let Err(difference) = run(&mut twins, seed, STEPS).await {
            panic!("{difference}");
        }
    }
}
