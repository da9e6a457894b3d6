//! Guarantees about listings and scans.

use throughline_engine::store::{Change, Expected, Key, Kind, ListedThread, Page};

use super::fixture::{Fixture, change, time};
use super::{CheckResult, same};

fn ids(listed: &[ListedThread]) -> Vec<String> {
    listed.iter().map(|listed| listed.key.id.to_string()).collect()
}

pub(super) async fn the_most_recently_changed_comes_first(fixture: Fixture) -> CheckResult {
    let scope = fixture.scope("", "ada");
    let old = fixture.create_at(&fixture.key("old"), 1).await?;
    fixture.create_at(&fixture.key("middle"), 2).await?;
    fixture.create_at(&fixture.key("new"), 3).await?;
    let all = fixture.list_all(&scope, Kind::Session, 10).await?;
    same!(ids(&all), vec!["new", "middle", "old"], "the listing");
    let touch = Change { at: time(4), ..change("{}", &["2", "3"]) };
    let version = fixture.store.commit(&fixture.key("old"), Expected::At(old), touch).await?;
    let all = fixture.list_all(&scope, Kind::Session, 10).await?;
    same!(ids(&all), vec!["old", "new", "middle"], "the listing after a change");
    let expected =
        ListedThread { key: fixture.key("old"), version, entries: 3, changed_at: time(4) };
    same!(all[0], expected, "what the listing says");
    Ok(())
}

pub(super) async fn pages_have_no_gap_and_no_repeat(fixture: Fixture) -> CheckResult {
    let scope = fixture.scope("", "ada");
    let mut expected = Vec::new();
    for number in 0..23_i64 {
        let id = format!("s{number:02}");
        // Groups of three share the same time.
        fixture.create_at(&fixture.key(&id), number / 3).await?;
        expected.push((-(number / 3), id));
    }
    expected.sort();
    let expected: Vec<String> = expected.into_iter().map(|(_, id)| id).collect();
    for limit in [1, 2, 4, 22, 23, 24] {
        let seen = ids(&fixture.list_all(&scope, Kind::Session, limit).await?);
        same!(seen, expected, "pages of {limit}");
    }
    Ok(())
}

pub(super) async fn equal_times_are_ordered_by_id(fixture: Fixture) -> CheckResult {
    for id in ["b", "C", "a", "A-1", "10", "9"] {
        fixture.create_at(&fixture.key(id), 5).await?;
    }
    let all = fixture.list_all(&fixture.scope("", "ada"), Kind::Session, 10).await?;
    same!(ids(&all), vec!["10", "9", "A-1", "C", "a", "b"], "the listing");
    Ok(())
}

pub(super) async fn a_listing_stays_in_its_scope_and_kind(fixture: Fixture) -> CheckResult {
    let places = [
        (fixture.scope("", "ada"), Kind::Session),
        (fixture.scope("", "ada"), Kind::Preset),
        (fixture.scope("", "ad"), Kind::Session),
        (fixture.scope("", "ada2"), Kind::Session),
        (fixture.scope("2", "ada"), Kind::Session),
    ];
    for (number, (scope, kind)) in places.iter().enumerate() {
        let key = fixture.key_in(scope.clone(), *kind, &format!("of-{number}"));
        fixture.create_at(&key, 0).await?;
    }
    for (number, (scope, kind)) in places.iter().enumerate() {
        let seen = ids(&fixture.list_all(scope, *kind, 10).await?);
        same!(seen, vec![format!("of-{number}")], "threads of {scope:?} {kind:?}");
    }
    Ok(())
}

pub(super) async fn a_page_of_nothing_is_empty(fixture: Fixture) -> CheckResult {
    let scope = fixture.scope("", "ada");
    let page = |limit| Page { limit, after: None };
    let nothing: Vec<ListedThread> = Vec::new();
    same!(fixture.store.list(&scope, Kind::Job, page(10)).await?, nothing, "an empty place");
    fixture.create_at(&fixture.key("one"), 0).await?;
    same!(fixture.store.list(&scope, Kind::Session, page(0)).await?, nothing, "a limit of 0");
    same!(fixture.store.scan(None, 0).await?, nothing, "a scan with a limit of 0");
    let seen = fixture.store.list(&scope, Kind::Session, page(usize::MAX)).await?;
    same!(ids(&seen), vec!["one"], "a limit without end");
    Ok(())
}

pub(super) async fn a_scan_returns_every_thread_once_in_key_order(fixture: Fixture) -> CheckResult {
    let mut expected: Vec<Key> = Vec::new();
    for (suffix, user) in [("", "ada"), ("", "Bob"), ("-x", "ada"), (".x", "a"), ("", "ada.b")] {
        for kind in [Kind::Session, Kind::ApiKey, Kind::Tombstone] {
            for id in ["b", "a", "Z", "a-1", "a.1"] {
                expected.push(fixture.key_in(fixture.scope(suffix, user), kind, id));
            }
        }
    }
    for (second, key) in expected.iter().enumerate() {
        fixture.create_at(key, -(second as i64)).await?;
    }
    expected.sort();
    for limit in [7, 15, 1000] {
        let mut seen: Vec<Key> = Vec::new();
        let mut after: Option<Key> = None;
        loop {
            let page = fixture.store.scan(after.as_ref(), limit).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            seen.extend(page.into_iter().map(|listed| listed.key));
        }
        // Others may use the store too; their keys must be in order, ours must be complete.
        same!(seen.is_sorted_by(|a, b| a < b), true, "keys in order, none twice, pages of {limit}");
        seen.retain(|key| expected.contains(key));
        same!(seen, expected, "our keys in pages of {limit}");
    }
    Ok(())
}
