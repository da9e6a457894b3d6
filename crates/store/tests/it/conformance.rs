//! Runs the conformance suite on every local backend.

use std::sync::Arc;

use throughline_store::conformance::check_all;
use throughline_store::files::Files;
use throughline_store::memory::Memory;
use throughline_store::sqlite::Sqlite;
use throughline_store::url::BUSY_WAIT;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_conforms() {
    check_all(Arc::new(Memory::new())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sqlite_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path().join("deep/store.db"), BUSY_WAIT).await.unwrap();
    check_all(Arc::new(store)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn files_conform() {
    let folder = tempfile::tempdir().unwrap();
    let store = Files::open(folder.path().join("deep/conversations")).await.unwrap();
    check_all(Arc::new(store)).await;
}
