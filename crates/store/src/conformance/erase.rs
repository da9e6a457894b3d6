//! Promises about erasing, and about a store that is sound.

use bytes::Bytes;
use throughline_engine::store::{Erased, Expected, Found, Kind, StoreError};

use super::ground::Ground;
use super::{Broken, PromiseResult, same};

pub(super) async fn erasing_counts_and_removes_everything(ground: Ground) -> PromiseResult {
    let key = ground.key("gone");
    let first = ground.create(&key, "12345", &["1", "22"]).await?;
    ground.commit(&key, Expected::At(first), "123", &["333"]).await?;
    let erased = ground.store.erase(&key).await?;
    same!((erased.heads, erased.entries), (1, 3), "heads and entries");
    same!(erased.bytes, 9, "bytes of head and entries");
    same!(erased.left > 0, !erased.notes.is_empty(), "what is left, and what is said of it");
    same!(erased.records >= 1, true, "records");
    same!(ground.store.head(&key, None).await?, Found::Missing, "head");
    same!(ground.store.head(&key, Some(first)).await?, Found::Missing, "head of a known version");
    same!(ground.log(&key).await?, Vec::<Bytes>::new(), "entries");
    let listed = ground.list_all(&key.scope, Kind::Session, 10).await?;
    same!(listed.len(), 0, "threads listed");
    let mut after = None;
    loop {
        let page = ground.store.scan(after.as_ref(), 1000).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key.clone());
        same!(page.iter().any(|listed| listed.key == key), false, "the scan meets it");
    }
    Ok(())
}

pub(super) async fn erasing_again_finds_nothing(ground: Ground) -> PromiseResult {
    let key = ground.key("again");
    same!(ground.store.erase(&key).await?, Erased::default(), "erasing what never was");
    ground.create(&key, "1", &["1"]).await?;
    ground.store.erase(&key).await?;
    same!(ground.store.erase(&key).await?, Erased::default(), "erasing what was erased");
    Ok(())
}

pub(super) async fn erasing_one_thread_leaves_the_others(ground: Ground) -> PromiseResult {
    let keys = [
        ground.key("a"),
        ground.key("ab"),
        ground.key_in(ground.scope("", "ada"), Kind::Preset, "a"),
        ground.key_in(ground.scope("", "bob"), Kind::Session, "a"),
    ];
    for key in &keys {
        ground.create(key, "1", &["1", "2"]).await?;
    }
    ground.store.erase(&keys[0]).await?;
    for key in &keys[1..] {
        same!(ground.head(key).await?.entries, 2, "the length of {key}");
        let log = vec![Bytes::from("1"), Bytes::from("2")];
        same!(ground.log(key).await?, log, "the log of {key}");
    }
    Ok(())
}

pub(super) async fn a_thread_made_anew_is_not_the_old_one(ground: Ground) -> PromiseResult {
    let key = ground.key("anew");
    let old = ground.create(&key, "old", &["old"]).await?;
    ground.store.erase(&key).await?;
    let new = ground.create(&key, "new", &["new"]).await?;
    same!(new.number, 1, "the new thread's number");
    same!(new.incarnation == old.incarnation, false, "the incarnations are the same");
    match ground.commit(&key, Expected::At(old), "x", &["x"]).await {
        Err(StoreError::Conflict { .. }) => {}
        other => return Err(Broken(format!("a commit on the old life answered {other:?}"))),
    }
    match ground.store.head(&key, Some(old)).await? {
        Found::Head(head) => same!(head.version, new, "the head"),
        other => return Err(Broken(format!("the old life is known as {other:?}"))),
    }
    same!(ground.log(&key).await?, vec![Bytes::from("new")], "the log");
    Ok(())
}

pub(super) async fn check_finds_a_sound_store_sound(ground: Ground) -> PromiseResult {
    let key = ground.key("sound");
    ground.create(&key, "1", &["1", "2"]).await?;
    ground.store.ping().await?;
    let report = ground.store.check().await?;
    same!(report.problems, Vec::<String>::new(), "problems");
    same!(report.threads >= 1 && report.entries >= 2, true, "what was read: {report:?}");
    Ok(())
}
