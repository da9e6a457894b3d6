//! S3 on real servers.

use std::sync::Arc;

use throughline_engine::store::{Store, StoreError};
use throughline_store::conformance;
use throughline_store::s3::{S3Options, S3Store};
use throughline_testkit::s3_server::{self, S3Server};

/// Settings for a store of one's own on a test server.
pub fn options(url: &str) -> S3Options {
    let options = S3Options::from_url(url).expect("a test's URL is well formed");
    options.with_environment(s3_server::environment())
}

#[tokio::test]
async fn s3_conforms() {
    let Some(server) = S3Server::weed().await else { return };
    let store = S3Store::open(options(&server.url("sessions", "usual"))).await.unwrap();
    assert!(store.facts().many_writers);
    conformance::check_all(Arc::new(store)).await;
    // Tails of two entries: every promise again, with segments and indexes in play.
    let mut small = options(&server.url("sessions", "small/tails"));
    small.tail_entries_max = 2;
    let store = S3Store::open(small).await.unwrap();
    conformance::check_all(Arc::new(store)).await;
}

#[tokio::test]
async fn a_server_that_ignores_conditions_is_refused_for_many_writers() {
    let Some(server) = S3Server::rclone().await else { return };
    let mut settings = options(&server.url("sessions", "p"));
    let Err(StoreError::Refused { what, reason, .. }) = S3Store::open(settings.clone()).await
    else {
        panic!("a store without conditional writes was accepted for many writers");
    };
    assert!(what.contains("sessions") && reason.contains("writers won"), "{what}: {reason}");
    settings.single_writer = true;
    let store = S3Store::open(settings).await.unwrap();
    assert!(!store.facts().many_writers);
    conformance::check_all(Arc::new(store)).await;
}
