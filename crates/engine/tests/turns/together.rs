//! Many writers of one session at once: their turns share commits, and each is written exactly once.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::join_all;
use throughline_engine::creation::NewSession;
use throughline_engine::error::Error;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::store::{
    Change, CheckReport, Erased, Expected, Found, Key, Kind, ListedThread, Page, Result, Scope,
    Store, StoreFacts, Version,
};
use throughline_engine::turn::{Recorded, RecordedTurn};
use throughline_store::memory::Memory;
use tokio::sync::Semaphore;

use crate::bench::{Bench, bench, session};

/// More than a writer needs until it waits for another one.
const POLLS: usize = 50;

/// A store whose commits take their time, and can be held up.
struct Slow {
    inner: Memory,
    commits: AtomicU64,
    gate: Semaphore,
}

impl Slow {
    fn new() -> Arc<Self> {
        let gate = Semaphore::new(1000);
        Arc::new(Self { inner: Memory::new(), commits: AtomicU64::new(0), gate })
    }
}

#[async_trait]
impl Store for Slow {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        tokio::task::yield_now().await;
        self.inner.head(key, known).await
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        self.inner.entries(key, range).await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        self.commits.fetch_add(1, Ordering::Relaxed);
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        let _passed = self.gate.acquire().await.unwrap();
        self.inner.commit(key, expected, change).await
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        self.inner.list(scope, kind, page).await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        self.inner.scan(after, limit).await
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        self.inner.erase(key).await
    }

    fn facts(&self) -> StoreFacts {
        self.inner.facts()
    }

    async fn ping(&self) -> Result<()> {
        self.inner.ping().await
    }

    async fn check(&self) -> Result<CheckReport> {
        self.inner.check().await
    }
}

async fn started(store: &Arc<Slow>) -> Bench {
    let bench = bench().on(store.clone()).start().await;
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    // A second copy finds it made.
    let _ = bench.engine.create_session(&bench.caller, new).await;
    bench
}

async fn record(bench: &Bench, message: String, key: Option<&str>) -> Result<Recorded, Error> {
    let key = key.map(|key| RequestKey::new(key, message.as_bytes()));
    let reply = "ok".into();
    let said = RecordedTurn { message, reply, key, ..RecordedTurn::default() };
    bench.engine.record(&bench.caller, &session(), said).await.map(|(recorded, _)| recorded)
}

/// The messages in the order of the log, read by another engine, which has nothing in memory.
async fn log(store: &Arc<Slow>) -> Vec<String> {
    let bench = started(store).await;
    let export = bench.engine.export(&bench.caller, &session()).await.unwrap();
    let turns = export.turns.iter().enumerate().map(|(place, turn)| {
        assert_eq!(turn.turn, place as u64 + 1, "turns are numbered without gaps");
        turn.message.clone()
    });
    turns.collect()
}

#[tokio::test]
async fn turns_that_wait_at_the_same_time_are_written_together() {
    let store = Slow::new();
    let bench = started(&store).await;
    let before = store.commits.load(Ordering::Relaxed);
    let writers = (0..40).map(|number| record(&bench, format!("m{number}"), None));
    let recorded: Vec<Recorded> = join_all(writers).await.into_iter().map(Result::unwrap).collect();
    let commits = store.commits.load(Ordering::Relaxed) - before;
    assert!(commits <= 3, "{commits} commits for 40 turns that came at once");
    let log = log(&store).await;
    assert_eq!(log.len(), 40);
    for (number, recorded) in recorded.into_iter().enumerate() {
        let place = usize::try_from(recorded.turn).unwrap() - 1;
        assert_eq!(log[place], format!("m{number}"), "each is where its writer was told");
    }
}

#[tokio::test]
async fn two_copies_that_write_together_lose_and_double_nothing() {
    let store = Slow::new();
    let copies = [started(&store).await, started(&store).await];
    let writers = (0..60).map(|number| {
        let copy = &copies[number % 2];
        async move {
            for round in 0..3 {
                record(copy, format!("{round}.{number}"), None).await.unwrap();
            }
        }
    });
    join_all(writers).await;
    let mut found = log(&store).await;
    assert_eq!(found.len(), 180);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 180, "some turns are there twice");
}

#[tokio::test]
async fn a_key_that_comes_twice_at_once_makes_one_turn_with_one_answer() {
    let store = Slow::new();
    let copies = [started(&store).await, started(&store).await];
    let writers = (0..40).map(|number| {
        let (copy, key) = (&copies[number % 3 % 2], format!("k{}", number / 2));
        async move { record(copy, format!("m{}", number / 2), Some(&key)).await.unwrap() }
    });
    let answers = join_all(writers).await;
    for pair in answers.chunks(2) {
        assert_eq!((pair[0].turn, pair[0].version), (pair[1].turn, pair[1].version));
        assert_ne!(pair[0].repeated(), pair[1].repeated(), "one made it, the other found it");
    }
    assert_eq!(log(&store).await.len(), 20);
}

#[tokio::test]
async fn what_everybody_has_given_up_is_not_written_later() {
    let store = Slow::new();
    let bench = started(&store).await;
    let closed = store.gate.acquire_many(1000);
    let closed = closed.await.unwrap();
    let mut first = Box::pin(record(&bench, "first".into(), None));
    let mut second = Box::pin(record(&bench, "second".into(), None));
    let mut third = Box::pin(record(&bench, "third".into(), None));
    // The first is being written, the others wait behind it.
    for writer in [&mut first, &mut second, &mut third] {
        for _ in 0..POLLS {
            assert!(futures::poll!(&mut *writer).is_pending());
        }
    }
    drop(closed);
    while futures::poll!(&mut first).is_pending() {}
    // The second applies its turn and leaves it for the third; then both go away.
    for _ in 0..POLLS {
        assert!(futures::poll!(&mut second).is_pending());
    }
    drop(second);
    drop(third);
    record(&bench, "fourth".into(), None).await.unwrap();
    assert_eq!(log(&store).await, ["first", "fourth"]);
}
