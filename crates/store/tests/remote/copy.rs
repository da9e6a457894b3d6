//! Copying everything from one store to another.

use std::sync::Arc;

use bytes::Bytes;
use jiff::{Timestamp, ToSpan as _};
use throughline_engine::id::{SessionId, TenantId, ThreadId, UserId};
use throughline_engine::session::SessionHead;
use throughline_engine::store::{Change, Expected, Found, Key, Kind, Page, Scope, Store, Version};
use throughline_store::copy::{Compare, CopyReport, copy};
use throughline_store::memory::Memory;
use throughline_store::s3::S3Store;
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::s3_server::S3Server;

pub(crate) fn key(user: &str, id: &str) -> Key {
    let scope = Scope { tenant: TenantId::new("t").unwrap(), user: UserId::new(user).unwrap() };
    Key { scope, kind: Kind::Session, id: ThreadId::new(id).unwrap() }
}

pub(crate) fn change(second: i64, head: &str, append: &[&str]) -> Change {
    Change {
        at: Timestamp::from_second(1_790_000_000 + second).unwrap(),
        head: Bytes::from(head.to_owned()),
        append: append.iter().map(|text| Bytes::from((*text).to_owned())).collect(),
        overwrite: Vec::new(),
        expires_at: None,
        write_id: uuid::Uuid::now_v7(),
    }
}

async fn copied(from: &dyn Store, to: &dyn Store, compare: Compare) -> CopyReport {
    let mut seen = 0;
    let report = copy(from, to, compare, |_| seen += 1).await.unwrap();
    assert_eq!(seen, report.threads(), "every thread is reported once");
    report
}

fn counts(report: &CopyReport) -> (u64, u64, u64, u64) {
    (report.copied, report.caught_up, report.same, report.entries)
}

async fn filled() -> (Arc<Memory>, Vec<Version>) {
    let store = Arc::new(Memory::new());
    let mut versions = Vec::new();
    for number in 0..5_i64 {
        let entries: Vec<String> =
            (0..number * 100).map(|entry| format!("{number}.{entry}")).collect();
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let made = change(number, "first", &entries);
        let made = store.commit(&key("u", &format!("s{number}")), Expected::Absent, made).await;
        versions.push(made.unwrap());
    }
    (store, versions)
}

/// A first copy, a second with nothing to do, a third that catches up, and a repair.
async fn check(to: &dyn Store) {
    let (from, versions) = filled().await;
    let first = copied(&*from, to, Compare::Quickly).await;
    assert_eq!((counts(&first), first.problems), ((5, 0, 0, 1000), vec![]));
    assert_eq!(first.only_in_target, 0, "what was copied is in both");
    let second = copied(&*from, to, Compare::Everything).await;
    assert_eq!(counts(&second), (0, 0, 5, 0));

    let more = change(9, "second", &["more"]);
    from.commit(&key("u", "s4"), Expected::At(versions[4]), more).await.unwrap();
    let erased = Change { overwrite: vec![(7, Bytes::new())], ..change(10, "erased", &[]) };
    from.commit(&key("u", "s2"), Expected::At(versions[2]), erased).await.unwrap();
    let third = copied(&*from, to, Compare::Quickly).await;
    // The thread with an erased entry is no longer a prefix of its source, so it is copied anew.
    assert_eq!(counts(&third), (1, 1, 3, 201));
    assert_eq!(to.entries(&key("u", "s2"), 7..8).await.unwrap(), [Bytes::new()]);
    assert_eq!(to.entries(&key("u", "s4"), 400..401).await.unwrap(), [Bytes::from("more")]);
    let newest = to.list(&key("u", "x").scope, Kind::Session, Page { limit: 1, after: None }).await;
    assert_eq!(newest.unwrap()[0].key.id.as_str(), "s2", "times of change are carried over");

    let Found::Head(head) = to.head(&key("u", "s1"), None).await.unwrap() else {
        panic!("missing")
    };
    let strange = change(1, "first", &["strange"]);
    to.commit(&key("u", "s1"), Expected::At(head.version), strange).await.unwrap();
    to.commit(&key("u", "extra"), Expected::Absent, change(0, "", &[])).await.unwrap();
    let fourth = copied(&*from, to, Compare::Quickly).await;
    assert_eq!((counts(&fourth), fourth.only_in_target), ((1, 0, 4, 100), 1));
}

/// Copies expiry, deletion and every kind of thread, except derived ones.
#[tokio::test]
async fn everything_goes_along_with_its_expiry() {
    let Some(redis) = RedisServer::start().await else { return };
    let to = super::redis::open(&redis.url()).await.unwrap();
    let from = Memory::new();
    for kind in Kind::ALL.into_iter().filter(|kind| !kind.is_derived()) {
        let thread = Key { kind, ..key("kinds", "x") };
        from.commit(&thread, Expected::Absent, change(0, kind.as_str(), &[])).await.unwrap();
    }
    let derived = key("kinds", "x").derived();
    from.commit(&derived, Expected::Absent, change(0, "index", &[])).await.unwrap();
    let now = Timestamp::now();
    let mut head = SessionHead::new(SessionId::new("expiring").unwrap(), now);
    head.expires_at = Some(now + 48.hours());
    head.deleted_at = Some(now);
    let purged_at = head.purge_at().unwrap();
    let expiring = key("kinds", "expiring");
    let bytes = Bytes::from(serde_json::to_vec(&head).unwrap());
    let made = Change { head: bytes.clone(), ..change(0, "", &["turn"]) };
    from.commit(&expiring, Expected::Absent, made).await.unwrap();
    let report = copied(&from, &to, Compare::Quickly).await;
    let kinds = Kind::ALL.iter().filter(|kind| !kind.is_derived()).count() as u64;
    assert_eq!((report.copied, report.problems), (kinds + 1, vec![]));
    for kind in Kind::ALL.into_iter().filter(|kind| !kind.is_derived()) {
        let thread = Key { kind, ..key("kinds", "x") };
        let Found::Head(found) = to.head(&thread, None).await.unwrap() else {
            panic!("{thread} is missing")
        };
        assert_eq!(found.bytes, kind.as_str());
    }
    assert_eq!(to.head(&derived, None).await.unwrap(), Found::Missing, "made again, not copied");
    let Found::Head(found) = to.head(&expiring, None).await.unwrap() else { panic!("missing") };
    assert_eq!(found.bytes, bytes, "with the time of its deletion");
    let left: i64 =
        super::redis::ask(redis.port, &["PTTL", &format!("session:{{{expiring}}}")]).await;
    let promised = purged_at.as_millisecond() - Timestamp::now().as_millisecond();
    assert!((promised - 60_000..=promised + 1000).contains(&left), "{left} is not {promised}");
}

#[tokio::test]
async fn a_copy_into_memory_is_whole_and_catches_up() {
    check(&Memory::new()).await;
}

#[tokio::test]
async fn a_copy_into_redis_and_s3_is_whole_and_catches_up() {
    let Some(redis) = RedisServer::start().await else { return };
    check(&super::redis::open(&redis.url()).await.unwrap()).await;
    let Some(weed) = S3Server::weed().await else { return };
    check(&S3Store::open(super::s3::options(&weed.url("copy", ""))).await.unwrap()).await;
}
