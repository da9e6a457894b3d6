//! Runs writers behind a faulty proxy and counts what became of their entries.
//!
//! Each writer does what the engine does: read the head, commit at its version. It records the replies. Afterwards,
//! without faults, the logs are read and compared with them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use jiff::Timestamp;
use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{Change, Expected, Found, Key, Kind, Scope, Store, StoreError};
use uuid::Uuid;

use crate::fault_proxy::{FaultPlan, FaultProxy};

/// Size and faults of a run.
#[derive(Debug, Clone)]
pub struct FaultRun {
    /// Which requests fail, and how.
    pub weather: FaultPlan,
    /// The run ends after this many faults.
    pub faults: u64,
    /// Number of concurrent writers.
    pub writers: u64,
    /// Number of threads that they share.
    pub threads: u64,
}

/// What became of the entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultReport {
    /// Faults met.
    pub faults: u64,
    /// Entries that the store acknowledged.
    pub acknowledged: u64,
    /// Commits that lost to another writer.
    pub conflicts: u64,
    /// Commits that failed and changed nothing.
    pub failed: u64,
    /// Commits with an unknown outcome that were not applied.
    pub unknown_absent: u64,
    /// Commits with an unknown outcome that were applied.
    pub unknown_applied: u64,
    /// Acknowledged entries missing from the log: must be 0.
    pub lost: u64,
    /// Entries duplicated in the log: must be 0.
    pub doubled: u64,
    /// Entries in the log although the store denied writing them: must be 0.
    pub denied: u64,
}

impl FaultReport {
    /// Whether nothing acknowledged was lost or doubled, and nothing denied was written.
    pub fn is_clean(&self) -> bool {
        (self.lost, self.doubled, self.denied) == (0, 0, 0)
    }
}

/// What a writer was told about an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answered {
    Done,
    Conflict,
    Failed,
    Unknown,
}

/// Runs the writers until there have been enough faults, then counts.
pub async fn run(store: Arc<dyn Store>, proxy: &FaultProxy, run: &FaultRun) -> FaultReport {
    let keys: Vec<Key> = (0..run.threads).map(|number| key(run.weather.seed, number)).collect();
    for key in &keys {
        let made = store.commit(key, Expected::Absent, change("0".into())).await;
        made.expect("in calm weather a thread can be made");
    }
    let before = proxy.counts().faults.load(Ordering::Relaxed);
    let faults = || proxy.counts().faults.load(Ordering::Relaxed) - before;
    proxy.set(run.weather.clone());
    let writers = (0..run.writers).map(|writer| {
        let (store, keys) = (Arc::clone(&store), &keys);
        async move {
            let mut told = Vec::new();
            let mut number = 0;
            while faults() < run.faults {
                let entry = format!("{writer}.{number}");
                let key = &keys[(number % keys.len() as u64) as usize];
                told.push((entry.clone(), append(&*store, key, entry).await));
                number += 1;
            }
            told
        }
    });
    let told: Vec<(String, Answered)> =
        futures::future::join_all(writers).await.into_iter().flatten().collect();
    proxy.calm();
    let mut report = count(&*store, &keys, &told).await;
    report.faults = faults();
    report
}

async fn append(store: &dyn Store, key: &Key, entry: String) -> Answered {
    let head = match store.head(key, None).await {
        Ok(Found::Head(head)) => head,
        // Nothing was sent to be written.
        _ => return Answered::Failed,
    };
    match store.commit(key, Expected::At(head.version), change(entry)).await {
        Ok(_) => Answered::Done,
        Err(StoreError::Conflict { .. }) => Answered::Conflict,
        Err(StoreError::Unavailable { outcome_unknown: true, .. }) => Answered::Unknown,
        Err(_) => Answered::Failed,
    }
}

async fn count(store: &dyn Store, keys: &[Key], told: &[(String, Answered)]) -> FaultReport {
    let mut found: HashMap<Bytes, u64> = HashMap::new();
    for key in keys {
        let log = store.entries(key, 0..u64::MAX).await.expect("in calm weather a log can be read");
        for entry in log {
            *found.entry(entry).or_default() += 1;
        }
    }
    let mut report = FaultReport::default();
    for (entry, told) in told {
        let times = found.get(entry.as_bytes()).copied().unwrap_or_default();
        report.doubled += u64::from(times > 1);
        let present = u64::from(times > 0);
        match told {
            Answered::Done => {
                report.acknowledged += 1;
                report.lost += 1 - present;
            }
            Answered::Conflict => {
                report.conflicts += 1;
                report.denied += present;
            }
            Answered::Failed => {
                report.failed += 1;
                report.denied += present;
            }
            Answered::Unknown => {
                report.unknown_applied += present;
                report.unknown_absent += 1 - present;
            }
        }
    }
    report
}

fn key(seed: u64, number: u64) -> Key {
    let tenant = TenantId::new(format!("faults-{}", Uuid::now_v7().simple()));
    let scope = Scope {
        tenant: tenant.expect("made of letters and digits"),
        user: UserId::new(format!("seed-{seed}")).expect("made of letters and digits"),
    };
    let id = ThreadId::new(format!("thread-{number}")).expect("made of letters and digits");
    Key { scope, kind: Kind::Session, id }
}

fn change(entry: String) -> Change {
    Change {
        at: Timestamp::now(),
        head: Bytes::from(format!("head of {entry}")),
        append: vec![Bytes::from(entry)],
        overwrite: Vec::new(),
        expires_at: None,
        write_id: Uuid::now_v7(),
    }
}
