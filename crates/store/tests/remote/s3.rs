//! S3 on real servers.

use std::sync::Arc;

use bytes::Bytes;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::signer::{SignedUrlOptions, Signer as _};
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use throughline_engine::store::{Change, Expected, Store, StoreError};
use throughline_store::conformance;
use throughline_store::s3::{S3Options, S3Store};
use throughline_store::url::{OpenOptions, StoreUrl, Variables};
use throughline_testkit::s3_server::{self, ACCESS_KEY, S3Server, SECRET_KEY};

use super::copy::{change, key};

/// Options for a private store on a test server.
pub(crate) fn options(url: &str) -> S3Options {
    let options = S3Options::from_url(url).expect("a test's URL is well formed");
    options.with_environment(s3_server::environment())
}

#[tokio::test]
async fn s3_conforms() {
    let Some(server) = S3Server::weed().await else { return };
    let store = S3Store::open(options(&server.url("sessions", "usual"))).await.unwrap();
    assert!(store.facts().many_writers);
    conformance::check_all(Arc::new(store)).await;
    // Tails of two entries: all checks again, with segments and indexes.
    let mut small = options(&server.url("sessions", "small/tails"));
    small.tail_entries_max = 2;
    let store = Arc::new(S3Store::open(small).await.unwrap());
    conformance::check_all(store.clone()).await;
    let raw = raw(&server, "sessions");
    an_erased_entry_leaves_no_byte_behind(&store, &raw).await;
    what_a_stopped_writer_left_is_found_and_erased(&store, &raw).await;
    a_damaged_object_is_named(&store, &raw).await;
    old_versions_are_erased_too(&server).await;
}

/// The bucket itself, to inspect its objects.
fn raw(server: &S3Server, bucket: &str) -> AmazonS3 {
    AmazonS3Builder::new()
        .with_endpoint(format!("http://127.0.0.1:{}", server.port))
        .with_allow_http(true)
        .with_bucket_name(bucket)
        .with_access_key_id(ACCESS_KEY)
        .with_secret_access_key(SECRET_KEY)
        .build()
        .unwrap()
}

/// All objects whose path contains `part`.
async fn objects(raw: &AmazonS3, part: &str) -> Vec<(Path, Bytes)> {
    use futures::TryStreamExt as _;
    let all: Vec<_> = raw.list(None).try_collect().await.unwrap();
    let mut found = Vec::new();
    for meta in all.into_iter().filter(|meta| meta.location.as_ref().contains(part)) {
        let bytes = raw.get(&meta.location).await.unwrap().bytes().await.unwrap();
        found.push((meta.location, bytes));
    }
    found
}

async fn an_erased_entry_leaves_no_byte_behind(store: &S3Store, raw: &AmazonS3) {
    let session = key("overwritten", "s");
    let mut version = store.commit(&session, Expected::Absent, change(0, "", &[])).await.unwrap();
    for number in 0..40 {
        let text = format!("entry-{number}-end");
        let next = change(number, "", &[&text]);
        version = store.commit(&session, Expected::At(version), next).await.unwrap();
    }
    let blank = |place: u64| (place, Bytes::from_static(b"blank"));
    let overwrite = vec![blank(0), blank(20), blank(39)];
    let erased = Change { overwrite, ..change(99, "", &[]) };
    store.commit(&session, Expected::At(version), erased).await.unwrap();
    let log = store.entries(&session, 0..99).await.unwrap();
    for (number, entry) in log.iter().enumerate() {
        let kept = format!("entry-{number}-end");
        let promised = if [0, 20, 39].contains(&number) { "blank" } else { kept.as_str() };
        assert_eq!(entry, promised, "entry {number}");
    }
    for (path, bytes) in objects(raw, "overwritten!").await {
        let text = String::from_utf8_lossy(&bytes);
        for gone in ["entry-0-end", "entry-20-end", "entry-39-end"] {
            assert!(!text.contains(gone), "{path} still holds {gone}");
        }
    }
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

async fn what_a_stopped_writer_left_is_found_and_erased(store: &S3Store, raw: &AmazonS3) {
    let session = key("orphan", "s");
    store.commit(&session, Expected::Absent, change(0, "", &["x"])).await.unwrap();
    let name = "0000beef-0-1-2-01a1deb55ab6764c8eadcfe7bd43a211";
    let orphan = Path::from(format!("small/tails/segments/t!/orphan!/session!/s!/{name}"));
    raw.put(&orphan, Bytes::from_static(b"half a commit").into()).await.unwrap();
    let report = store.check().await.unwrap();
    assert_eq!(report.problems, [format!("object {orphan} belongs to no thread")]);
    let erased = store.erase(&session).await.unwrap();
    assert_eq!((erased.heads, erased.records, erased.left), (1, 2, 0));
    assert_eq!(objects(raw, "orphan!").await, []);
}

async fn a_damaged_object_is_named(store: &S3Store, raw: &AmazonS3) {
    let session = key("damaged", "s");
    let mut version = store.commit(&session, Expected::Absent, change(0, "", &[])).await.unwrap();
    for number in 0..6 {
        let next = change(number, "", &["entry"]);
        version = store.commit(&session, Expected::At(version), next).await.unwrap();
    }
    let segments = objects(raw, "segments/t!/damaged!").await;
    let (path, bytes) = segments.first().expect("tails of two are sealed");
    let mut damaged = bytes.to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    raw.put(path, damaged.into()).await.unwrap();
    let report = store.check().await.unwrap();
    assert_eq!(report.problems, [format!("object {path} is damaged: hash mismatch")]);
    raw.delete(path).await.unwrap();
    let report = store.check().await.unwrap();
    assert_eq!(report.problems, [format!("object {path} is damaged: it is missing")]);
    store.erase(&session).await.unwrap();
}

async fn old_versions_are_erased_too(server: &S3Server) {
    let settings = options(&server.url("versioned", ""));
    drop(S3Store::open(settings.clone()).await.unwrap());
    let raw = raw(server, "versioned");
    let on = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
    let answer = bucket_request(&raw, reqwest::Method::PUT, "versioning", on).await;
    assert!(answer.status().is_success(), "{answer:?}");
    let store = S3Store::open(settings).await.unwrap();
    let (session, other) = (key("u", "s"), key("u", "s2"));
    store.commit(&other, Expected::Absent, change(0, "", &["other"])).await.unwrap();
    let mut version = store.commit(&session, Expected::Absent, change(0, "", &[])).await.unwrap();
    for number in 0..5 {
        let next = change(number, "", &["entry"]);
        version = store.commit(&session, Expected::At(version), next).await.unwrap();
    }
    let erased = store.erase(&session).await.unwrap();
    assert_eq!((erased.heads, erased.entries, erased.left), (1, 5, 0));
    let listing = bucket_request(&raw, reqwest::Method::GET, "versions", "").await;
    let listing = listing.text().await.unwrap();
    assert!(!listing.contains("session!/s<"), "versions are left: {listing}");
    assert_eq!(store.entries(&other, 0..9).await.unwrap(), [Bytes::from("other")]);
}

async fn bucket_request(
    raw: &AmazonS3,
    method: reqwest::Method,
    query: &str,
    body: &str,
) -> reqwest::Response {
    let signed = SignedUrlOptions::default().with_query([(query.to_owned(), String::new())]);
    let minute = std::time::Duration::from_secs(60);
    let url = raw.signed_url_opts(method.clone(), &Path::default(), minute, &signed).await.unwrap();
    let client = reqwest::Client::new();
    client.request(method, url).body(body.to_owned()).send().await.unwrap()
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

#[tokio::test]
async fn who_only_reads_makes_no_bucket() {
    let Some(server) = S3Server::weed().await else { return };
    let url: StoreUrl = server.url("mistyped", "").parse().unwrap();
    let variables = Variables(s3_server::environment().to_vec());
    let mut options = OpenOptions { create: false, variables, ..OpenOptions::default() };
    for _ in 0..2 {
        let refused = throughline_store::open(&url, &options).await.map(drop).unwrap_err();
        assert!(refused.to_string().contains("the bucket does not exist"), "{refused}");
    }
    options.create = true;
    let store = throughline_store::open(&url, &options).await.unwrap();
    store.probe_write().await.unwrap();
    assert_eq!(store.scan(None, 9).await.unwrap(), []);
}
