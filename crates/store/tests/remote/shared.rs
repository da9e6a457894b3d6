//! The cache shared by server instances, on a real Redis, single and as a cluster.

use std::time::Duration;

use bytes::Bytes;
use throughline_engine::shared::{SessionFigures, SharedCache};
use throughline_engine::store::{Store, StoreError};
use throughline_store::redis::{RedisOptions, RedisShared, RedisStore};
use throughline_testkit::redis_server::{RedisCluster, RedisServer};

use super::copy::key;
use super::redis::ask;

const HOUR: Duration = Duration::from_secs(3_600);
const NAME: &str = "device:0123456789abcdef";

/// A cache that waits: on a loaded machine a synced write takes longer than the timeout of a product's cache.
async fn open(url: &str) -> RedisShared {
    let mut options = RedisOptions::from_url(url).unwrap();
    options.cache_timeout = Duration::from_secs(60);
    RedisShared::open(options).await.unwrap()
}

/// Holds on one server and on a cluster: visible to the other instance, to no other user, and forgotten completely.
async fn check(url: &str) {
    let (one, other) = (open(url).await, open(url).await);
    let (ann, bob) = (key("ann", "x").scope, key("bob", "x").scope);
    let value = Bytes::from_static(b"found");
    assert_eq!(other.get(&ann, NAME).await.unwrap(), None);
    one.put(&ann, NAME, value.clone(), HOUR).await.unwrap();
    one.put(&ann, "site:1", value.clone(), HOUR).await.unwrap();
    one.put(&bob, "site:1", Bytes::from_static(b"bob's"), HOUR).await.unwrap();
    assert_eq!(other.get(&ann, NAME).await.unwrap(), Some(value));
    assert_eq!(other.get(&bob, NAME).await.unwrap(), None, "it is not his");
    other.forget(&ann).await.unwrap();
    for name in [NAME, "site:1"] {
        assert_eq!(one.get(&ann, name).await.unwrap(), None);
    }
    assert!(one.get(&bob, "site:1").await.unwrap().is_some(), "his stays");
}

#[tokio::test]
async fn what_one_copy_shares_another_finds_and_no_other_user() {
    let Some(server) = RedisServer::start().await else { return };
    check(&server.url()).await;
    // Nothing stays forever: the value, its name, and the set of names all expire.
    let shared = open(&server.url()).await;
    let scope = key("ann", "x").scope;
    shared.put(&scope, NAME, Bytes::from_static(b"x"), HOUR).await.unwrap();
    shared.put(&scope, "brief", Bytes::from_static(b"x"), Duration::from_millis(1)).await.unwrap();
    for name in ["entity_index:{t/ann}".to_owned(), format!("entity_index:{{t/ann}}:{NAME}")] {
        let left: i64 = ask(server.port, &["TTL", &name]).await;
        assert!((60..=3_600).contains(&left), "an hour is left of {name}, not {left} s");
    }
    while shared.get(&scope, "brief").await.unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    shared.put(&scope, "next", Bytes::from_static(b"x"), HOUR).await.unwrap();
    let names: Vec<String> = ask(server.port, &["ZRANGE", "entity_index:{t/ann}", "0", "-1"]).await;
    assert_eq!(names, [NAME, "next"], "the name of what expired is gone");
}

#[tokio::test]
async fn figures_of_a_session_are_there_for_an_hour_and_go_with_it() {
    let Some(server) = RedisServer::start().await else { return };
    let session = key("ann", "s");
    let shared = open(&server.url()).await;
    shared.publish(&session, SessionFigures { context_tokens: 1_204, entities: 3 }).await.unwrap();
    let names = ["context_size", "entity_count"];
    let names = names.map(|name| format!("metrics:{name}:{{t/ann/session/s}}"));
    for (name, figure) in names.iter().zip([1_204, 3]) {
        assert_eq!(ask::<i64>(server.port, &["GET", name]).await, figure, "{name}");
        let left: i64 = ask(server.port, &["TTL", name]).await;
        assert!((60..=3_600).contains(&left), "an hour is left of {name}, not {left} s");
    }
    let store = RedisStore::open(RedisOptions::from_url(&server.url()).unwrap()).await.unwrap();
    store.erase(&session).await.unwrap();
    let left: i64 = ask(server.port, &["EXISTS", &names[0], &names[1]]).await;
    assert_eq!(left, 0, "they are erased with the session");
}

#[tokio::test]
async fn a_server_that_is_slow_is_not_waited_for() {
    let Some(server) = RedisServer::start().await else { return };
    let mut options = RedisOptions::from_url(&server.url()).unwrap();
    options.cache_timeout = Duration::from_millis(1);
    let shared = RedisShared::open(options).await.unwrap();
    let paused: String = ask(server.port, &["CLIENT", "PAUSE", "60000", "ALL"]).await;
    assert_eq!(paused, "OK");
    let asked = shared.get(&key("ann", "x").scope, NAME).await;
    assert!(matches!(asked, Err(StoreError::Unavailable { .. })), "{asked:?}");
}

#[tokio::test]
async fn a_cluster_shares_as_one_server_does() {
    let Some(cluster) = RedisCluster::start().await else { return };
    check(&cluster.url()).await;
}

#[tokio::test]
async fn a_server_that_is_gone_is_a_failure_soon_and_found_again_later() {
    let Some(mut server) = RedisServer::start().await else { return };
    let shared = open(&server.url()).await;
    let scope = key("ann", "x").scope;
    shared.put(&scope, NAME, Bytes::from_static(b"x"), HOUR).await.unwrap();
    server.peer.kill();
    let asked = shared.get(&scope, NAME).await;
    assert!(matches!(asked, Err(StoreError::Unavailable { .. })), "{asked:?}");
    server.restart().await;
    let found = shared.get(&scope, NAME).await.unwrap();
    assert_eq!(found, Some(Bytes::from_static(b"x")));
}
