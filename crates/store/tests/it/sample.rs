//! Keys and changes for tests.

use bytes::Bytes;
use jiff::Timestamp;
use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{
    Change, Expected, Found, Key, Kind, Scope, Store, StoreError, Version,
};

pub(crate) fn scope(user: &str) -> Scope {
    Scope { tenant: TenantId::new("acme").unwrap(), user: UserId::new(user).unwrap() }
}

pub(crate) fn key(id: &str) -> Key {
    Key { scope: scope("ada"), kind: Kind::Session, id: ThreadId::new(id).unwrap() }
}

pub(crate) fn change(head: &str, append: &[&str]) -> Change {
    Change {
        at: Timestamp::from_second(1_790_000_000).unwrap(),
        head: Bytes::copy_from_slice(head.as_bytes()),
        append: append.iter().map(|text| Bytes::copy_from_slice(text.as_bytes())).collect(),
        overwrite: Vec::new(),
        expires_at: None,
        write_id: uuid::Uuid::now_v7(),
    }
}

/// Appends at the current version, creating the thread if it is missing.
pub(crate) async fn append(store: &dyn Store, key: &Key, entries: &[&str]) -> Version {
    loop {
        let expected = match store.head(key, None).await.unwrap() {
            Found::Head(head) => Expected::At(head.version),
            _ => Expected::Absent,
        };
        match store.commit(key, expected, change("{\"of\":\"a test\"}", entries)).await {
            Ok(version) => return version,
            Err(StoreError::Conflict { .. }) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

pub(crate) async fn log(store: &dyn Store, key: &Key) -> Vec<String> {
    let entries = store.entries(key, 0..u64::MAX).await.unwrap();
    entries.iter().map(|entry| String::from_utf8_lossy(entry).into_owned()).collect()
}
