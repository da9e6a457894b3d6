//! The conformance suite detects a store that breaks a guarantee.

use std::sync::Arc;
use std::time::Duration;

use throughline_engine::id::SessionId;
use throughline_engine::index::{Document, Part, Position, Query, Words};
use throughline_engine::store::Version;
use throughline_store::conformance::broken_guarantees;
use throughline_store::index::open_index;
use throughline_store::sabotage::Sabotage;
use throughline_store::{OpenOptions, StoreUrl, open};

use crate::sample::scope;

async fn broken_by(sabotage: Sabotage) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let url: StoreUrl =
        format!("sqlite:{}", folder.path().join("store.db").display()).parse().unwrap();
    let options = OpenOptions { sabotage: Some(sabotage), ..OpenOptions::default() };
    let store = open(&url, &options).await.unwrap();
    let names = broken_guarantees(Arc::clone(&store)).await;
    names.iter().map(|name| name.split(':').next().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_that_ignores_versions_is_noticed() {
    let broken = broken_by(Sabotage::IgnoreVersions).await;
    for guarantee in [
        "a_stale_version_is_refused_and_changes_nothing",
        "creating_what_exists_is_refused",
        "one_of_many_creators_wins",
        "no_entry_of_sixty_four_writers_is_lost_or_doubled",
        "a_recreated_thread_is_not_the_old_one",
    ] {
        assert!(
            broken.iter().any(|name| name == guarantee),
            "{guarantee} was not noticed: {broken:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_listing_without_its_scope_is_noticed() {
    let broken = broken_by(Sabotage::IgnoreScopes).await;
    let guarantee = "a_listing_stays_in_its_scope_and_kind";
    assert!(broken.iter().any(|name| name == guarantee), "not noticed: {broken:?}");
}

/// Why the crash test is needed: as long as the process lives, nothing shows.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_that_holds_commits_back_looks_sound_until_it_is_killed() {
    let broken = broken_by(Sabotage::HoldBack(Duration::from_millis(200))).await;
    assert_eq!(broken, Vec::<String>::new());
}

#[tokio::test]
async fn a_search_without_its_scope_is_noticed() {
    for (sabotage, seen) in [(None, 0), (Some(Sabotage::IgnoreScopes), 1)] {
        let options = OpenOptions { sabotage, ..OpenOptions::default() };
        let index = open_index(&StoreUrl::Memory, &options).await.unwrap();
        let document = Document { turn: 1, part: Part::Message, text: "a secret".into() };
        let at = Position { version: Version { number: 1, incarnation: 1 }, entries: 1 };
        let session = SessionId::new("s").unwrap();
        index.put(&scope("ada"), &session, vec![document], at).await.unwrap();
        let (words, limit, offset) = (Words::All, 10, 0);
        let query = Query { scope: scope("bob"), text: "secret".into(), words, limit, offset };
        assert_eq!(index.search(&query).await.unwrap().len(), seen);
    }
}
