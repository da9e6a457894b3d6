//! Guarantees about erasing, and about checking an intact store.

use bytes::Bytes;
use throughline_engine::store::{Erased, Expected, Found, Kind, StoreError};

use super::fixture::Fixture;
use super::{Broken, CheckResult, same};

pub(super) async fn erasing_counts_and_removes_everything(fixture: Fixture) -> CheckResult {
    let key = fixture.key("gone");
    let first = fixture.create(&key, "12345", &["1", "22"]).await?;
    fixture.commit(&key, Expected::At(first), "123", &["333"]).await?;
    let erased = fixture.store.erase(&key).await?;
    same!((erased.heads, erased.entries), (1, 3), "heads and entries");
    same!(erased.bytes, 9, "bytes of head and entries");
    same!(erased.left > 0, !erased.notes.is_empty(), "what is left, and what is said of it");
    same!(erased.records >= 1, true, "records");
    same!(fixture.store.head(&key, None).await?, Found::Missing, "head");
    same!(fixture.store.head(&key, Some(first)).await?, Found::Missing, "head of a known version");
    same!(fixture.log(&key).await?, Vec::<Bytes>::new(), "entries");
    let listed = fixture.list_all(&key.scope, Kind::Session, 10).await?;
    same!(listed.len(), 0, "threads listed");
    let mut after = None;
    loop {
        let page = fixture.store.scan(after.as_ref(), 1000).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key.clone());
        same!(page.iter().any(|listed| listed.key == key), false, "the scan returns it");
    }
    Ok(())
}

pub(super) async fn erasing_again_finds_nothing(fixture: Fixture) -> CheckResult {
    let key = fixture.key("again");
    same!(fixture.store.erase(&key).await?, Erased::default(), "erasing what never was");
    fixture.create(&key, "1", &["1"]).await?;
    fixture.store.erase(&key).await?;
    same!(fixture.store.erase(&key).await?, Erased::default(), "erasing what was erased");
    Ok(())
}

pub(super) async fn erasing_one_thread_leaves_the_others(fixture: Fixture) -> CheckResult {
    let keys = [
        fixture.key("a"),
        fixture.key("ab"),
        fixture.key_in(fixture.scope("", "ada"), Kind::Preset, "a"),
        fixture.key_in(fixture.scope("", "bob"), Kind::Session, "a"),
    ];
    for key in &keys {
        fixture.create(key, "1", &["1", "2"]).await?;
    }
    fixture.store.erase(&keys[0]).await?;
    for key in &keys[1..] {
        same!(fixture.head(key).await?.entries, 2, "the length of {key}");
        let log = vec![Bytes::from("1"), Bytes::from("2")];
        same!(fixture.log(key).await?, log, "the log of {key}");
    }
    Ok(())
}

pub(super) async fn a_recreated_thread_is_not_the_old_one(fixture: Fixture) -> CheckResult {
    let key = fixture.key("anew");
    let old = fixture.create(&key, "old", &["old"]).await?;
    fixture.store.erase(&key).await?;
    let new = fixture.create(&key, "new", &["new"]).await?;
    same!(new.number, 1, "the new thread's number");
    same!(new.incarnation == old.incarnation, false, "the incarnations are the same");
    match fixture.commit(&key, Expected::At(old), "x", &["x"]).await {
        Err(StoreError::Conflict { .. }) => {}
        other => return Err(Broken(format!("a commit at the old incarnation answered {other:?}"))),
    }
    match fixture.store.head(&key, Some(old)).await? {
        Found::Head(head) => same!(head.version, new, "the head"),
        other => return Err(Broken(format!("the old incarnation answered {other:?}"))),
    }
    same!(fixture.log(&key).await?, vec![Bytes::from("new")], "the log");
    Ok(())
}

pub(super) async fn check_finds_a_sound_store_sound(fixture: Fixture) -> CheckResult {
    let key = fixture.key("sound");
    fixture.create(&key, "1", &["1", "2"]).await?;
    fixture.store.ping().await?;
    let report = fixture.store.check().await?;
    same!(report.problems, Vec::<String>::new(), "problems");
    same!(report.threads >= 1 && report.entries >= 2, true, "what was read: {report:?}");
    Ok(())
}
