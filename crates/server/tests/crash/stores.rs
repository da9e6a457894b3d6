//! The stores that the tests run on.

use throughline_testkit::redis_server::{RedisCluster, RedisServer};
use throughline_testkit::s3_server::{self, S3Server};
use throughline_testkit::served::Launch;

/// The binary under test.
const BINARY: &str = env!("CARGO_BIN_EXE_throughline");

/// A store, and what must live as long as it is used.
pub(crate) struct TestStore {
    /// How to serve it.
    pub launch: Launch,
    _keeps: Box<dyn Send>,
}

/// SQLite in a fresh folder.
pub(crate) fn sqlite() -> TestStore {
    local("sqlite", "throughline.db")
}

/// Files in a fresh folder.
pub(crate) fn files() -> TestStore {
    local("files", "conversations")
}

fn local(kind: &str, name: &str) -> TestStore {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("{kind}:{}", folder.path().join(name).display());
    TestStore { launch: Launch::new(BINARY, url), _keeps: Box::new(folder) }
}

/// A Redis of its own.
pub(crate) async fn redis() -> Option<TestStore> {
    let redis = RedisServer::start().await?;
    Some(TestStore { launch: Launch::new(BINARY, redis.url()), _keeps: Box::new(redis) })
}

/// A Redis cluster of three.
pub(crate) async fn redis_cluster() -> Option<TestStore> {
    let cluster = RedisCluster::start().await?;
    Some(TestStore { launch: Launch::new(BINARY, cluster.url()), _keeps: Box::new(cluster) })
}

/// An S3 server of its own.
pub(crate) async fn s3() -> Option<TestStore> {
    let s3 = S3Server::weed().await?;
    let mut launch = Launch::new(BINARY, s3.url("conversations", "crash"));
    launch.environment.extend(s3_server::environment());
    Some(TestStore { launch, _keeps: Box::new(s3) })
}
