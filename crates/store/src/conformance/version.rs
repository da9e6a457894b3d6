//! Promises about heads and versions.

use bytes::Bytes;
use jiff::ToSpan;
use throughline_engine::store::{Change, Expected, Found, Key, Kind, StoreError, Version};

use super::ground::{Ground, change, time};
use super::{Broken, PromiseResult, same};

pub(super) async fn a_thread_that_is_not_there_is_missing(ground: Ground) -> PromiseResult {
    let key = ground.key("nobody");
    same!(ground.store.head(&key, None).await?, Found::Missing, "head");
    let known = Version { number: 1, incarnation: 7 };
    same!(ground.store.head(&key, Some(known)).await?, Found::Missing, "head with a known version");
    same!(ground.log(&key).await?, Vec::<Bytes>::new(), "entries");
    Ok(())
}

pub(super) async fn a_head_and_its_entries_appear_together(ground: Ground) -> PromiseResult {
    let key = ground.key("one");
    let first = ground.create(&key, r#"{"turns":2}"#, &[r#""a""#, r#""b""#]).await?;
    same!(first.number, 1, "the first version");
    let head = ground.head(&key).await?;
    same!((head.version, head.entries), (first, 2), "version and length");
    same!(head.bytes, Bytes::from(r#"{"turns":2}"#), "the head");
    same!(ground.log(&key).await?, vec![Bytes::from(r#""a""#), Bytes::from(r#""b""#)], "the log");
    let second = ground.commit(&key, Expected::At(first), r#"{"turns":3}"#, &[r#""c""#]).await?;
    let head = ground.head(&key).await?;
    same!((head.version, head.entries), (second, 3), "version and length after the second");
    same!(ground.store.entries(&key, 2..3).await?, vec![Bytes::from(r#""c""#)], "the third entry");
    Ok(())
}

pub(super) async fn a_stale_version_is_refused_and_changes_nothing(
    ground: Ground,
) -> PromiseResult {
    let key = ground.key("stale");
    let first = ground.create(&key, "1", &["1"]).await?;
    let second = ground.commit(&key, Expected::At(first), "2", &["2"]).await?;
    let foreign = Version { incarnation: second.incarnation.wrapping_add(1), ..second };
    let ahead = Version { number: second.number + 1, ..second };
    for wrong in [first, foreign, ahead] {
        let answer = ground.commit(&key, Expected::At(wrong), "9", &["9", "9"]).await;
        refused(&key, answer, Some(second))?;
    }
    let head = ground.head(&key).await?;
    same!((head.version, head.entries), (second, 2), "version and length");
    same!(head.bytes, Bytes::from("2"), "the head");
    same!(ground.log(&key).await?, vec![Bytes::from("1"), Bytes::from("2")], "the log");
    Ok(())
}

pub(super) async fn creating_what_exists_is_refused(ground: Ground) -> PromiseResult {
    let key = ground.key("twice");
    let first = ground.create(&key, "1", &["1"]).await?;
    refused(&key, ground.create(&key, "2", &["2"]).await, Some(first))?;
    same!(ground.head(&key).await?.bytes, Bytes::from("1"), "the head");
    same!(ground.log(&key).await?, vec![Bytes::from("1")], "the log");
    Ok(())
}

pub(super) async fn changing_what_does_not_exist_is_refused(ground: Ground) -> PromiseResult {
    let key = ground.key("never");
    let wanted = Version { number: 1, incarnation: 1 };
    refused(&key, ground.commit(&key, Expected::At(wanted), "1", &["1"]).await, None)?;
    same!(ground.store.head(&key, None).await?, Found::Missing, "head");
    same!(ground.log(&key).await?, Vec::<Bytes>::new(), "entries");
    Ok(())
}

pub(super) async fn versions_count_from_one_without_gaps(ground: Ground) -> PromiseResult {
    let key = ground.key("counted");
    let first = ground.create(&key, "0", &[]).await?;
    let mut at = first;
    for round in 2..=5 {
        at = ground.commit(&key, Expected::At(at), "0", &["1"]).await?;
        let promised = Version { number: round, incarnation: first.incarnation };
        same!(at, promised, "commit {round}");
    }
    same!(ground.head(&key).await?.version, at, "the head's version");
    Ok(())
}

pub(super) async fn a_known_version_is_answered_as_unchanged_or_in_full(
    ground: Ground,
) -> PromiseResult {
    let key = ground.key("known");
    let first = ground.create(&key, "1", &[]).await?;
    match ground.store.head(&key, Some(first)).await? {
        Found::Unchanged => {}
        Found::Head(head) => same!(head.version, first, "the head in full"),
        Found::Missing => return Err(Broken("a thread that exists is missing".into())),
    }
    let second = ground.commit(&key, Expected::At(first), "2", &[]).await?;
    let other = Version { incarnation: second.incarnation.wrapping_add(1), ..second };
    for known in [first, other] {
        match ground.store.head(&key, Some(known)).await? {
            Found::Head(head) => same!(head.version, second, "a head that is not the known one"),
            seen => return Err(Broken(format!("saw {seen:?} for another version than known"))),
        }
    }
    Ok(())
}

pub(super) async fn one_key_is_not_another(ground: Ground) -> PromiseResult {
    // Names that a careless join or a case-blind comparison would take for each other.
    let keys = [
        ground.key("a"),
        ground.key("A"),
        ground.key("a.b"),
        ground.key("a_b"),
        ground.key("a-b"),
        ground.key("head.json"),
        ground.key(&"x".repeat(128)),
        ground.key_in(ground.scope("", "ada"), Kind::Preset, "a"),
        ground.key_in(ground.scope("", "bob"), Kind::Session, "a"),
        ground.key_in(ground.scope("", "ada-session"), Kind::Session, "a"),
        ground.key_in(ground.scope("-other", "ada"), Kind::Session, "a"),
        ground.key_in(ground.scope("", "damaged"), Kind::ApiKey, "locks"),
    ];
    for (number, key) in keys.iter().enumerate() {
        ground.create(key, &number.to_string(), &[&format!("{number}0")]).await?;
    }
    for (number, key) in keys.iter().enumerate() {
        same!(ground.head(key).await?.bytes, Bytes::from(number.to_string()), "the head of {key}");
        let log = vec![Bytes::from(format!("{number}0"))];
        same!(ground.log(key).await?, log, "the log of {key}");
    }
    Ok(())
}

pub(super) async fn an_expiry_is_accepted(ground: Ground) -> PromiseResult {
    let key = ground.key("expiring");
    let expires_at = Some(jiff::Timestamp::now() + 24.hours());
    let made = Change { expires_at, ..change("1", &["1"]) };
    let first = ground.store.commit(&key, Expected::Absent, made).await?;
    let kept = Change { at: time(1), ..change("2", &["2"]) };
    ground.store.commit(&key, Expected::At(first), kept).await?;
    same!(ground.head(&key).await?.entries, 2, "length");
    Ok(())
}

/// A conflict; the current version may be left out, but if it is told it is the right one.
fn refused(key: &Key, answer: Result<Version, StoreError>, at: Option<Version>) -> PromiseResult {
    match answer {
        Err(StoreError::Conflict { key: named, current }) => {
            same!(&named, key, "the key in the conflict");
            if current.is_some() {
                same!(current, at, "the version in the conflict");
            }
            Ok(())
        }
        other => Err(Broken(format!("{key}: saw {other:?}, promised a conflict"))),
    }
}
