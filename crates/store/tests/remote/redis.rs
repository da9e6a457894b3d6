//! Redis, alone and as a cluster, on real servers.

use std::sync::Arc;

use throughline_engine::store::{Durability, Store, StoreError};
use throughline_store::conformance;
use throughline_store::redis::{RedisOptions, RedisStore};
use throughline_testkit::redis_server::{RedisCluster, RedisServer};

pub async fn open(url: &str) -> Result<RedisStore, StoreError> {
    RedisStore::open(RedisOptions::from_url(url).expect("a test's URL is well formed")).await
}

#[tokio::test]
async fn redis_conforms() {
    let Some(server) = RedisServer::start().await else { return };
    let store = open(&server.url()).await.unwrap();
    assert_eq!(store.facts().durability, Durability::Fsync);
    conformance::check_all(Arc::new(store)).await;
}

#[tokio::test]
async fn a_redis_cluster_conforms() {
    let Some(cluster) = RedisCluster::start().await else { return };
    let store = open(&cluster.url()).await.unwrap();
    conformance::check_all(Arc::new(store)).await;
}
