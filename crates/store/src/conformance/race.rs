//! Guarantees about concurrent callers.
//!
//! Writers do what the engine does: read the head, commit at its version, retry on conflict.

use bytes::Bytes;
use futures::future::try_join_all;
use throughline_engine::store::{Expected, Found, Key, StoreError, Version};

use super::fixture::{Fixture, change};
use super::{Broken, CheckResult, same};

const CREATORS: usize = 16;
const WRITERS: usize = 64;
const ENTRIES_EACH: usize = 2;
const ATTEMPTS_MAX: usize = 20_000;
const PAIRS: u64 = 40;

pub(super) async fn one_of_many_creators_wins(fixture: Fixture) -> CheckResult {
    let key = fixture.key("created");
    let tasks = (0..CREATORS).map(|creator| {
        let (fixture, key) = (fixture.clone(), key.clone());
        tokio::spawn(async move {
            let text = creator.to_string();
            match fixture.create(&key, &text, &[&text]).await {
                Ok(version) => Ok(Some((text, version))),
                Err(StoreError::Conflict { .. }) => Ok(None),
                Err(error) => Err(Broken::from(error)),
            }
        })
    });
    let mut winners: Vec<(String, Version)> = Vec::new();
    for answer in finished(tasks).await? {
        winners.extend(answer?);
    }
    same!(winners.len(), 1, "creators that were told they had won");
    let (text, version) = winners.remove(0);
    let head = fixture.head(&key).await?;
    same!((head.version, head.entries), (version, 1), "version and length");
    same!(head.bytes, Bytes::from(text.clone()), "the winner's head");
    same!(fixture.log(&key).await?, vec![Bytes::from(text)], "the winner's entry");
    Ok(())
}

pub(super) async fn no_entry_of_sixty_four_writers_is_lost_or_doubled(
    fixture: Fixture,
) -> CheckResult {
    let key = fixture.key("busy");
    let first = fixture.create(&key, "0", &[]).await?;
    let tasks = (0..WRITERS).map(|writer| {
        let (fixture, key) = (fixture.clone(), key.clone());
        tokio::spawn(async move {
            let mut done = Vec::new();
            for number in 0..ENTRIES_EACH {
                let entry = format!("{writer}.{number}");
                done.push((entry.clone(), append_after_reading(&fixture, &key, &entry).await?));
            }
            Ok::<_, Broken>(done)
        })
    });
    let mut acknowledged = Vec::new();
    for answer in finished(tasks).await? {
        acknowledged.extend(answer?);
    }
    acknowledged.sort_by_key(|(_, version)| version.number);
    let total = (WRITERS * ENTRIES_EACH) as u64;
    let versions: Vec<u64> = acknowledged.iter().map(|(_, version)| version.number).collect();
    same!(versions, (2..=total + 1).collect::<Vec<_>>(), "the acknowledged versions");
    let expected: Vec<Bytes> = acknowledged.into_iter().map(|(entry, _)| entry.into()).collect();
    same!(fixture.log(&key).await?, expected, "the log, in the order of the versions");
    let head = fixture.head(&key).await?;
    same!(head.version, Version { number: total + 1, ..first }, "the last version");
    same!(head.entries, total, "length");
    same!(head.bytes, Bytes::from(total.to_string()), "the count that each writer raised by one");
    Ok(())
}

/// Increments the count in the head and appends, retrying on conflict.
async fn append_after_reading(
    fixture: &Fixture,
    key: &Key,
    entry: &str,
) -> Result<Version, Broken> {
    for _ in 0..ATTEMPTS_MAX {
        let head = fixture.head(key).await?;
        let count: u64 =
            std::str::from_utf8(&head.bytes)
                .ok()
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| Broken(format!("the head holds {:?}, not a count", head.bytes)))?;
        let raised = (count + 1).to_string();
        match fixture.commit(key, Expected::At(head.version), &raised, &[entry]).await {
            Ok(version) => return Ok(version),
            Err(StoreError::Conflict { .. }) => tokio::task::yield_now().await,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Broken(format!("no commit of {entry} succeeded in {ATTEMPTS_MAX} attempts")))
}

pub(super) async fn a_reader_never_sees_half_a_commit(fixture: Fixture) -> CheckResult {
    let key = fixture.key("halves");
    let mut at = fixture.create(&key, "0", &[]).await?;
    let reader = tokio::spawn({
        let (fixture, key) = (fixture.clone(), key.clone());
        async move {
            loop {
                let head = fixture.head(&key).await?;
                same!(head.bytes, Bytes::from(head.entries.to_string()), "head and length");
                same!(head.entries % 2, 0, "entries that come in pairs");
                let log = fixture.store.entries(&key, 0..head.entries).await?;
                same!(log.len() as u64, head.entries, "entries that the head counts");
                if head.entries == 2 * PAIRS {
                    return Ok::<_, Broken>(());
                }
            }
        }
    });
    for pair in 1..=PAIRS {
        let count = (2 * pair).to_string();
        at = fixture.commit(&key, Expected::At(at), &count, &["1", "2"]).await?;
    }
    reader.await.map_err(|error| Broken(error.to_string()))?
}

pub(super) async fn writers_of_different_threads_do_not_disturb_each_other(
    fixture: Fixture,
) -> CheckResult {
    let tasks = (0..CREATORS).map(|writer| {
        let fixture = fixture.clone();
        tokio::spawn(async move {
            let key = fixture.key(&format!("own-{writer}"));
            let mut at = fixture.create(&key, "0", &["0"]).await?;
            for number in 1..5_u32 {
                let text = number.to_string();
                // No conflicts: nobody else writes here.
                let next = change(&text, &[&text]);
                at = fixture.store.commit(&key, Expected::At(at), next).await?;
            }
            let log: Vec<Bytes> = (0..5).map(|number: u32| number.to_string().into()).collect();
            same!(fixture.log(&key).await?, log, "the log of {key}");
            same!(fixture.store.head(&key, Some(at)).await? == Found::Missing, false, "missing");
            Ok::<_, Broken>(())
        })
    });
    for answer in finished(tasks).await? {
        answer?;
    }
    Ok(())
}

async fn finished<T>(
    tasks: impl Iterator<Item = tokio::task::JoinHandle<T>>,
) -> Result<Vec<T>, Broken> {
    try_join_all(tasks).await.map_err(|error| Broken(format!("a task failed: {error}")))
}
