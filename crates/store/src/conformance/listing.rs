//! Promises about listings and scans.

use throughline_engine::store::{Change, Expected, Key, Kind, ListedThread, Page};

use super::ground::{Ground, change, time};
use super::{PromiseResult, same};

fn ids(listed: &[ListedThread]) -> Vec<String> {
    listed.iter().map(|listed| listed.key.id.to_string()).collect()
}

pub(super) async fn the_most_recently_changed_comes_first(ground: Ground) -> PromiseResult {
    let scope = ground.scope("", "ada");
    let old = ground.create_at(&ground.key("old"), 1).await?;
    ground.create_at(&ground.key("middle"), 2).await?;
    ground.create_at(&ground.key("new"), 3).await?;
    let all = ground.list_all(&scope, Kind::Session, 10).await?;
    same!(ids(&all), vec!["new", "middle", "old"], "the listing");
    let touch = Change { at: time(4), ..change("{}", &["2", "3"]) };
    let version = ground.store.commit(&ground.key("old"), Expected::At(old), touch).await?;
    let all = ground.list_all(&scope, Kind::Session, 10).await?;
    same!(ids(&all), vec!["old", "new", "middle"], "the listing after a change");
    let promised =
        ListedThread { key: ground.key("old"), version, entries: 3, changed_at: time(4) };
    same!(all[0], promised, "what the listing says");
    Ok(())
}

pub(super) async fn pages_have_no_gap_and_no_repeat(ground: Ground) -> PromiseResult {
    let scope = ground.scope("", "ada");
    let mut promised = Vec::new();
    for number in 0..23_i64 {
        let id = format!("s{number:02}");
        // Every third shares its time with its neighbours.
        ground.create_at(&ground.key(&id), number / 3).await?;
        promised.push((-(number / 3), id));
    }
    promised.sort();
    let promised: Vec<String> = promised.into_iter().map(|(_, id)| id).collect();
    for limit in [1, 2, 4, 22, 23, 24] {
        let seen = ids(&ground.list_all(&scope, Kind::Session, limit).await?);
        same!(seen, promised, "pages of {limit}");
    }
    Ok(())
}

pub(super) async fn equal_times_are_ordered_by_id(ground: Ground) -> PromiseResult {
    for id in ["b", "C", "a", "A-1", "10", "9"] {
        ground.create_at(&ground.key(id), 5).await?;
    }
    let all = ground.list_all(&ground.scope("", "ada"), Kind::Session, 10).await?;
    same!(ids(&all), vec!["10", "9", "A-1", "C", "a", "b"], "the listing");
    Ok(())
}

pub(super) async fn a_listing_stays_in_its_scope_and_kind(ground: Ground) -> PromiseResult {
    let places = [
        (ground.scope("", "ada"), Kind::Session),
        (ground.scope("", "ada"), Kind::Preset),
        (ground.scope("", "ad"), Kind::Session),
        (ground.scope("", "ada2"), Kind::Session),
        (ground.scope("2", "ada"), Kind::Session),
    ];
    for (number, (scope, kind)) in places.iter().enumerate() {
        let key = ground.key_in(scope.clone(), *kind, &format!("of-{number}"));
        ground.create_at(&key, 0).await?;
    }
    for (number, (scope, kind)) in places.iter().enumerate() {
        let seen = ids(&ground.list_all(scope, *kind, 10).await?);
        same!(seen, vec![format!("of-{number}")], "threads of {scope:?} {kind:?}");
    }
    Ok(())
}

pub(super) async fn a_page_of_nothing_is_empty(ground: Ground) -> PromiseResult {
    let scope = ground.scope("", "ada");
    let page = |limit| Page { limit, after: None };
    let nothing: Vec<ListedThread> = Vec::new();
    same!(ground.store.list(&scope, Kind::Job, page(10)).await?, nothing, "an empty place");
    ground.create_at(&ground.key("one"), 0).await?;
    same!(ground.store.list(&scope, Kind::Session, page(0)).await?, nothing, "a limit of 0");
    same!(ground.store.scan(None, 0).await?, nothing, "a scan with a limit of 0");
    let seen = ground.store.list(&scope, Kind::Session, page(usize::MAX)).await?;
    same!(ids(&seen), vec!["one"], "a limit without end");
    Ok(())
}

pub(super) async fn a_scan_meets_every_thread_once_in_key_order(ground: Ground) -> PromiseResult {
    let mut promised: Vec<Key> = Vec::new();
    for (suffix, user) in [("", "ada"), ("", "Bob"), ("-x", "ada"), (".x", "a"), ("", "ada.b")] {
        for kind in [Kind::Session, Kind::ApiKey, Kind::Tombstone] {
            for id in ["b", "a", "Z", "a-1", "a.1"] {
                promised.push(ground.key_in(ground.scope(suffix, user), kind, id));
            }
        }
    }
    for (second, key) in promised.iter().enumerate() {
        ground.create_at(key, -(second as i64)).await?;
    }
    promised.sort();
    for limit in [7, 15, 1000] {
        let mut seen: Vec<Key> = Vec::new();
        let mut after: Option<Key> = None;
        loop {
            let page = ground.store.scan(after.as_ref(), limit).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            seen.extend(page.into_iter().map(|listed| listed.key));
        }
        // Others may use the store too; their keys must be in order, ours must be complete.
        same!(seen.is_sorted_by(|a, b| a < b), true, "keys in order, none twice, pages of {limit}");
        seen.retain(|key| promised.contains(key));
        same!(seen, promised, "our keys in pages of {limit}");
    }
    Ok(())
}
