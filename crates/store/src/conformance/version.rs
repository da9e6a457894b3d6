//! Guarantees about heads and versions.

use bytes::Bytes;
use jiff::ToSpan;
use throughline_engine::store::{Change, Expected, Found, Key, Kind, StoreError, Version};

use super::fixture::{Fixture, change, time};
use super::{Broken, CheckResult, same};

pub(super) async fn a_thread_that_is_not_there_is_missing(fixture: Fixture) -> CheckResult {
    let key = fixture.key("nobody");
    same!(fixture.store.head(&key, None).await?, Found::Missing, "head");
    let known = Version { number: 1, incarnation: 7 };
    same!(
        fixture.store.head(&key, Some(known)).await?,
        Found::Missing,
        "head with a known version"
    );
    same!(fixture.log(&key).await?, Vec::<Bytes>::new(), "entries");
    Ok(())
}

pub(super) async fn a_head_and_its_entries_appear_together(fixture: Fixture) -> CheckResult {
    let key = fixture.key("one");
    let first = fixture.create(&key, r#"{"turns":2}"#, &[r#""a""#, r#""b""#]).await?;
    same!(first.number, 1, "the first version");
    let head = fixture.head(&key).await?;
    same!((head.version, head.entries), (first, 2), "version and length");
    same!(head.bytes, Bytes::from(r#"{"turns":2}"#), "the head");
    same!(fixture.log(&key).await?, vec![Bytes::from(r#""a""#), Bytes::from(r#""b""#)], "the log");
    let second = fixture.commit(&key, Expected::At(first), r#"{"turns":3}"#, &[r#""c""#]).await?;
    let head = fixture.head(&key).await?;
    same!((head.version, head.entries), (second, 3), "version and length after the second");
    same!(fixture.store.entries(&key, 2..3).await?, vec![Bytes::from(r#""c""#)], "the third entry");
    Ok(())
}

pub(super) async fn a_stale_version_is_refused_and_changes_nothing(
    fixture: Fixture,
) -> CheckResult {
    let key = fixture.key("stale");
    let first = fixture.create(&key, "1", &["1"]).await?;
    let second = fixture.commit(&key, Expected::At(first), "2", &["2"]).await?;
    let foreign = Version { incarnation: second.incarnation.wrapping_add(1), ..second };
    let ahead = Version { number: second.number + 1, ..second };
    for wrong in [first, foreign, ahead] {
        let answer = fixture.commit(&key, Expected::At(wrong), "9", &["9", "9"]).await;
        refused(&key, answer, Some(second))?;
    }
    let head = fixture.head(&key).await?;
    same!((head.version, head.entries), (second, 2), "version and length");
    same!(head.bytes, Bytes::from("2"), "the head");
    same!(fixture.log(&key).await?, vec![Bytes::from("1"), Bytes::from("2")], "the log");
    Ok(())
}

pub(super) async fn creating_what_exists_is_refused(fixture: Fixture) -> CheckResult {
    let key = fixture.key("twice");
    let first = fixture.create(&key, "1", &["1"]).await?;
    refused(&key, fixture.create(&key, "2", &["2"]).await, Some(first))?;
    same!(fixture.head(&key).await?.bytes, Bytes::from("1"), "the head");
    same!(fixture.log(&key).await?, vec![Bytes::from("1")], "the log");
    Ok(())
}

pub(super) async fn changing_what_does_not_exist_is_refused(fixture: Fixture) -> CheckResult {
    let key = fixture.key("never");
    let wanted = Version { number: 1, incarnation: 1 };
    refused(&key, fixture.commit(&key, Expected::At(wanted), "1", &["1"]).await, None)?;
    same!(fixture.store.head(&key, None).await?, Found::Missing, "head");
    same!(fixture.log(&key).await?, Vec::<Bytes>::new(), "entries");
    Ok(())
}

pub(super) async fn versions_count_from_one_without_gaps(fixture: Fixture) -> CheckResult {
    let key = fixture.key("counted");
    let first = fixture.create(&key, "0", &[]).await?;
    let mut at = first;
    for round in 2..=5 {
        at = fixture.commit(&key, Expected::At(at), "0", &["1"]).await?;
        let expected = Version { number: round, incarnation: first.incarnation };
        same!(at, expected, "commit {round}");
    }
    same!(fixture.head(&key).await?.version, at, "the head's version");
    Ok(())
}

pub(super) async fn a_known_version_is_answered_as_unchanged_or_in_full(
    fixture: Fixture,
) -> CheckResult {
    let key = fixture.key("known");
    let first = fixture.create(&key, "1", &[]).await?;
    match fixture.store.head(&key, Some(first)).await? {
        Found::Unchanged => {}
        Found::Head(head) => same!(head.version, first, "the head in full"),
        Found::Missing => return Err(Broken("a thread that exists is missing".into())),
    }
    let second = fixture.commit(&key, Expected::At(first), "2", &[]).await?;
    let other = Version { incarnation: second.incarnation.wrapping_add(1), ..second };
    for known in [first, other] {
        match fixture.store.head(&key, Some(known)).await? {
            Found::Head(head) => same!(head.version, second, "a head that is not the known one"),
            seen => return Err(Broken(format!("saw {seen:?} for another version than known"))),
        }
    }
    Ok(())
}

pub(super) async fn one_key_is_not_another(fixture: Fixture) -> CheckResult {
    // Ids that careless concatenation or case-insensitive comparison would confuse.
    let keys = [
        fixture.key("a"),
        fixture.key("A"),
        fixture.key("a.b"),
        fixture.key("a_b"),
        fixture.key("a-b"),
        fixture.key("head.json"),
        fixture.key(&"x".repeat(128)),
        fixture.key_in(fixture.scope("", "ada"), Kind::Preset, "a"),
        fixture.key_in(fixture.scope("", "bob"), Kind::Session, "a"),
        fixture.key_in(fixture.scope("", "ada-session"), Kind::Session, "a"),
        fixture.key_in(fixture.scope("-other", "ada"), Kind::Session, "a"),
        fixture.key_in(fixture.scope("", "damaged"), Kind::ApiKey, "locks"),
    ];
    for (number, key) in keys.iter().enumerate() {
        fixture.create(key, &number.to_string(), &[&format!("{number}0")]).await?;
    }
    for (number, key) in keys.iter().enumerate() {
        same!(fixture.head(key).await?.bytes, Bytes::from(number.to_string()), "the head of {key}");
        let log = vec![Bytes::from(format!("{number}0"))];
        same!(fixture.log(key).await?, log, "the log of {key}");
    }
    Ok(())
}

pub(super) async fn an_expiry_is_accepted(fixture: Fixture) -> CheckResult {
    let key = fixture.key("expiring");
    let expires_at = Some(jiff::Timestamp::now() + 24.hours());
    let made = Change { expires_at, ..change("1", &["1"]) };
    let first = fixture.store.commit(&key, Expected::Absent, made).await?;
    let kept = Change { at: time(1), ..change("2", &["2"]) };
    fixture.store.commit(&key, Expected::At(first), kept).await?;
    same!(fixture.head(&key).await?.entries, 2, "length");
    Ok(())
}

/// Expects a conflict; it may omit the current version, but must not state a wrong one.
fn refused(key: &Key, answer: Result<Version, StoreError>, at: Option<Version>) -> CheckResult {
    match answer {
        Err(StoreError::Conflict { key: named, current }) => {
            same!(&named, key, "the key in the conflict");
            if current.is_some() {
                same!(current, at, "the version in the conflict");
            }
            Ok(())
        }
        other => Err(Broken(format!("{key}: saw {other:?}, expected a conflict"))),
    }
}
