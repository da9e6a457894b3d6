//! Measures the cost of a turn on Redis and S3: time and bytes at 100 and at 10,000 turns, and a race of writers,
//! compared with the approach of the seeds, "read all, append, write all". `cargo build --release --workspace
//! --bins --examples`, then `target/release/examples/remote_cost [race]`; `race` runs only the race.
//!
//! Needs the servers of `scripts/setup/stores.sh`, and the binary of the same build.

mod naive;
mod race;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{Change, Expected, Key, Kind, Scope, Store, Version};
use throughline_store::redis::{RedisOptions, RedisStore};
use throughline_store::s3::{S3Options, S3Store};
use throughline_testkit::fault_proxy::{FaultProxy, Speaks};
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::s3_server::{S3Server, environment, url_at};
use throughline_testkit::seeded::Seeded;
use throughline_testkit::served::Launch;

/// Lengths at which turns are measured.
const LENGTHS: [u64; 2] = [100, 10_000];
/// Number of turns measured at each length.
const MEASURED: u64 = 300;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let redis = RedisServer::start().await;
    let weed = S3Server::weed().await;
    let only_race = std::env::args().nth(1).as_deref() == Some("race");
    if !only_race {
        lengths(redis.as_ref(), weed.as_ref()).await?;
    }
    println!("\n| writers race | turns | turns/s | lost | doubled | naive turns/s | naive lost |");
    println!("|---|---|---|---|---|---|---|");
    if let Some(server) = &redis {
        let naive = naive::Redis::open(server.port).await?;
        race::compare("redis", &Launch::new(binary()?, server.url()), &naive).await?;
    }
    if let Some(server) = &weed {
        let mut launch = Launch::new(binary()?, server.url("cost", "race"));
        launch.environment.extend(environment());
        // Opening the store creates the bucket.
        drop(s3_at(server.port, "deflate").await?);
        race::compare("s3", &launch, &naive::S3::open(server.port)?).await?;
    }
    Ok(())
}

/// The server binary of the same build.
fn binary() -> Result<PathBuf, Failure> {
    let here = std::env::current_exe()?;
    let folder =
        here.parent().and_then(Path::parent).ok_or("the example is not in a build folder")?;
    let binary = folder.join("throughline");
    let missing = || format!("{} is missing: build it first", binary.display());
    if binary.is_file() { Ok(binary) } else { Err(missing().into()) }
}

async fn lengths(redis: Option<&RedisServer>, weed: Option<&S3Server>) -> Result<(), Failure> {
    println!(
        "| backend | append @100 ms p50 | @10,000 | ratio | bytes sent a turn @100 | @10,000 |"
    );
    println!("|---|---|---|---|---|---|");
    if let Some(server) = redis {
        let proxy = FaultProxy::start(server.port, Speaks::Tcp).await;
        cost("redis", redis_at(server.port).await?, redis_at(proxy.port).await?, &proxy).await?;
    }
    if let Some(server) = weed {
        let proxy = FaultProxy::start(server.port, Speaks::Http).await;
        for compression in ["deflate", "none"] {
            let direct = s3_at(server.port, compression).await?;
            let counted = s3_at(proxy.port, compression).await?;
            cost(&format!("s3, {compression}"), direct, counted, &proxy).await?;
        }
    }
    Ok(())
}

async fn redis_at(port: u16) -> Result<Arc<dyn Store>, Failure> {
    let options = RedisOptions::from_url(&format!("redis://127.0.0.1:{port}"))?;
    Ok(Arc::new(RedisStore::open(options).await?))
}

async fn s3_at(port: u16, compression: &str) -> Result<Arc<dyn Store>, Failure> {
    let url = format!("{}&compression={compression}", url_at(port, "cost", ""));
    let options = S3Options::from_url(&url)?.with_environment(environment());
    Ok(Arc::new(S3Store::open(options).await?))
}

/// Fills one thread turn by turn and measures time directly, bytes through the proxy.
async fn cost(
    name: &str,
    direct: Arc<dyn Store>,
    counted: Arc<dyn Store>,
    proxy: &FaultProxy,
) -> Result<(), Failure> {
    let key = key(&format!("cost-{}", name.replace([',', ' '], "-")));
    let mut words = Seeded::new(1);
    let mut version: Option<Version> = None;
    let (mut times, mut sizes) = (Vec::new(), Vec::new());
    let mut turns = 0;
    for length in LENGTHS {
        while turns < length {
            turns += 1;
            version = Some(append(&*direct, &key, version, turn(&mut words)).await?);
        }
        let mut taken = Vec::new();
        for _ in 0..MEASURED {
            let change = turn(&mut words);
            let start = Instant::now();
            version = Some(append(&*direct, &key, version, change).await?);
            taken.push(start.elapsed());
        }
        taken.sort();
        times.push(taken[taken.len() / 2]);
        // The other store must cache the thread's state before its bytes are counted.
        version = Some(append(&*counted, &key, version, turn(&mut words)).await?);
        let before = proxy.counts().sent_bytes.load(Ordering::Relaxed);
        for _ in 0..MEASURED {
            version = Some(append(&*counted, &key, version, turn(&mut words)).await?);
        }
        sizes.push((proxy.counts().sent_bytes.load(Ordering::Relaxed) - before) / MEASURED);
        turns += 2 * MEASURED + 1;
    }
    let ratio = times[1].as_secs_f64() / times[0].as_secs_f64();
    let (first, last) = (milliseconds(times[0]), milliseconds(times[1]));
    println!("| {name} | {first} | {last} | {ratio:.2} | {} | {} |", sizes[0], sizes[1]);
    Ok(())
}

async fn append(
    store: &dyn Store,
    key: &Key,
    version: Option<Version>,
    change: Change,
) -> Result<Version, Failure> {
    let expected = version.map_or(Expected::Absent, Expected::At);
    Ok(store.commit(key, expected, change).await?)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1000.0)
}

fn key(id: &str) -> Key {
    let scope = Scope {
        tenant: TenantId::new("bench").expect("letters"),
        user: UserId::new("bench").expect("letters"),
    };
    Key { scope, kind: Kind::Session, id: ThreadId::new(id).expect("letters and hyphens") }
}

/// One turn: a head of 600 characters, an exchange of 200 and 800.
fn turn(words: &mut Seeded) -> Change {
    Change {
        at: Timestamp::now(),
        head: text(words, 600),
        append: vec![text(words, 1000)],
        overwrite: Vec::new(),
        expires_at: None,
        write_id: uuid::Uuid::now_v7(),
    }
}

/// Text of this length that compresses about as well as prose.
fn text(words: &mut Seeded, length: usize) -> Bytes {
    let mut text = String::new();
    while text.len() < length {
        let number = words.below(40) * words.below(40);
        text.push_str(&format!("{:x} ", number.wrapping_mul(0x9e37_79b9) & 0xff_ffff));
    }
    text.truncate(length);
    Bytes::from(text)
}
