//! Measures the cost of a durable append as a session grows, next to the cost of a bare fsync.
//!
//! `cargo run --release -p throughline-store --example append_cost [FOLDER] [KIND]`
//!
//! For SQLite and files: the median time to append a 1 KB turn at 10, 100, 1,000 and 10,000 entries, to read the
//! last 20, and the disk space of 1,000 sessions of 50 turns. It asserts nothing.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{Change, Expected, Key, Kind, Scope, Store, StoreError, Version};
use throughline_store::{OpenOptions as StoreOptions, StoreUrl, open};

type Outcome<T> = Result<T, Box<dyn Error>>;

const TURN_BYTES: usize = 1024;
const HEAD_BYTES: usize = 600;
const LENGTHS: [u64; 4] = [10, 100, 1_000, 10_000];
const SAMPLES: usize = 200;
const SESSIONS: usize = 1_000;
const TURNS_EACH: usize = 50;
const WRITERS: usize = 64;

#[tokio::main]
async fn main() -> Outcome<()> {
    let base = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = base.join(format!("append-cost-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = measure(&folder).await;
    fs::remove_dir_all(&folder)?;
    measured
}

async fn measure(folder: &Path) -> Outcome<()> {
    println!("{:<34} {:>10}", "what", "median µs");
    print("4 KiB appended + fdatasync", raw_sync(&folder.join("raw"), Place::Append)?);
    print("4 KiB overwritten + fdatasync", raw_sync(&folder.join("raw2"), Place::Overwrite)?);
    let only = std::env::args().nth(2);
    for kind in ["sqlite", "files"] {
        if only.as_deref().is_some_and(|only| only != kind) {
            continue;
        }
        let url: StoreUrl = format!("{kind}:{}", folder.join(kind).display()).parse()?;
        let store = open(&url, &StoreOptions::default()).await?;
        growth(store.as_ref(), kind).await?;
        many_writers(&store, kind).await?;
        drop(store);
        let url: StoreUrl =
            format!("{kind}:{}", folder.join(format!("{kind}-disk")).display()).parse()?;
        disk_use(&url, folder, kind).await?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Append,
    Overwrite,
}

fn raw_sync(path: &Path, place: Place) -> Outcome<Duration> {
    let mut file = File::create(path)?;
    let block = [7_u8; 4096];
    if place == Place::Overwrite {
        file.write_all(&block)?;
        file.sync_all()?;
    }
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        let started = Instant::now();
        if place == Place::Overwrite {
            file.seek(SeekFrom::Start(0))?;
        }
        file.write_all(&block)?;
        file.sync_data()?;
        samples.push(started.elapsed());
    }
    Ok(median(samples))
}

async fn growth(store: &dyn Store, kind: &str) -> Outcome<()> {
    for target in LENGTHS {
        let key = key(&format!("grow-{kind}-{target}"));
        let first = change(usize::try_from(target)?);
        let mut version = store.commit(&key, Expected::Absent, first).await?;
        let mut samples = Vec::new();
        for _ in 0..SAMPLES {
            let (next, change) = (Expected::At(version), change(1));
            let started = Instant::now();
            version = store.commit(&key, next, change).await?;
            samples.push(started.elapsed());
        }
        let length = target + SAMPLES as u64;
        print(&format!("{kind}: append at {target}"), median(samples));
        let mut samples = Vec::new();
        for _ in 0..SAMPLES {
            let started = Instant::now();
            store.entries(&key, length - 20..length).await?;
            samples.push(started.elapsed());
        }
        print(&format!("{kind}: read of the last 20 at {target}"), median(samples));
    }
    Ok(())
}

/// Appends from concurrent callers, each to its own sessions, which grow in turn as in real use.
async fn append_together(
    store: &Arc<dyn Store>,
    name: &'static str,
    sessions: usize,
) -> Outcome<()> {
    let tasks: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                let mut versions: BTreeMap<usize, Version> = BTreeMap::new();
                for _ in 0..TURNS_EACH {
                    for session in (writer..sessions).step_by(WRITERS) {
                        let key = key(&format!("{name}-{session}"));
                        let at =
                            versions.get(&session).map_or(Expected::Absent, |v| Expected::At(*v));
                        versions.insert(session, store.commit(&key, at, change(1)).await?);
                    }
                }
                Ok::<(), StoreError>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

async fn many_writers(store: &Arc<dyn Store>, kind: &str) -> Outcome<()> {
    let started = Instant::now();
    append_together(store, "many", WRITERS).await?;
    let turns = (WRITERS * TURNS_EACH) as f64;
    println!(
        "{kind}: {WRITERS} writers, turns/s {:>17.0}",
        turns / started.elapsed().as_secs_f64()
    );
    Ok(())
}

async fn disk_use(url: &StoreUrl, folder: &Path, kind: &str) -> Outcome<()> {
    let store = open(url, &StoreOptions::default()).await?;
    append_together(&store, "disk", SESSIONS).await?;
    drop(store);
    let bytes = size(&folder.join(format!("{kind}-disk")))?;
    println!("{kind}: {SESSIONS} x {TURNS_EACH} turns, MB {:>16.1}", bytes as f64 / 1e6);
    Ok(())
}

fn size(path: &Path) -> Outcome<u64> {
    if !path.is_dir() {
        return Ok(fs::metadata(path)?.len());
    }
    let mut total = 0;
    for entry in fs::read_dir(path)? {
        total += size(&entry?.path())?;
    }
    Ok(total)
}

fn key(id: &str) -> Key {
    Key {
        scope: Scope {
            tenant: TenantId::new("acme").expect("a valid name"),
            user: UserId::new("ada").expect("a valid name"),
        },
        kind: Kind::Session,
        id: ThreadId::new(id).expect("a valid name"),
    }
}

fn change(entries: usize) -> Change {
    let text = |bytes: usize| Bytes::from(format!("{{\"text\":\"{}\"}}", "x".repeat(bytes - 11)));
    Change {
        at: Timestamp::now(),
        head: text(HEAD_BYTES),
        append: (0..entries).map(|_| text(TURN_BYTES)).collect(),
        overwrite: Vec::new(),
        expires_at: None,
        write_id: uuid::Uuid::now_v7(),
    }
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}

fn print(what: &str, duration: Duration) {
    println!("{what:<34} {:>10.0}", duration.as_secs_f64() * 1e6);
}
