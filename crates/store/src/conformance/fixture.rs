//! The fixture of a check: a store, and a tenant that nobody else uses.
//!
//! Helpers for the steps that the checks share; it checks nothing itself.

use std::sync::Arc;

use bytes::Bytes;
use jiff::{Timestamp, ToSpan};
use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{
    Change, Expected, Found, Head, Key, Kind, ListedThread, Page, PageMark, Result, Scope, Store,
    Version,
};
use uuid::Uuid;

use super::Broken;

/// A store with a private tenant.
#[derive(Clone)]
pub struct Fixture {
    pub store: Arc<dyn Store>,
    tenant: String,
}

impl Fixture {
    /// A fixture with a new tenant.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, tenant: format!("conformance-{}", Uuid::now_v7().simple()) }
    }

    /// A scope of the tenant; `suffix` makes another private tenant.
    pub fn scope(&self, suffix: &str, user: &str) -> Scope {
        let tenant = TenantId::new(format!("{}{suffix}", self.tenant));
        Scope {
            tenant: tenant.expect("made of letters and digits"),
            user: UserId::new(user).expect("the suite names users by the rule"),
        }
    }

    pub fn key_in(&self, scope: Scope, kind: Kind, id: &str) -> Key {
        Key { scope, kind, id: ThreadId::new(id).expect("the suite names threads by the rule") }
    }

    /// The key of a session.
    pub fn key(&self, id: &str) -> Key {
        self.key_in(self.scope("", "ada"), Kind::Session, id)
    }

    /// Commits at time 0.
    pub async fn commit(
        &self,
        key: &Key,
        expected: Expected,
        head: &str,
        append: &[&str],
    ) -> Result<Version> {
        self.store.commit(key, expected, change(head, append)).await
    }

    /// Creates a thread at time 0.
    pub async fn create(&self, key: &Key, head: &str, append: &[&str]) -> Result<Version> {
        self.commit(key, Expected::Absent, head, append).await
    }

    /// Creates a thread at time `second`.
    pub async fn create_at(&self, key: &Key, second: i64) -> Result<Version> {
        let change = Change { at: time(second), ..change("{}", &["1"]) };
        self.store.commit(key, Expected::Absent, change).await
    }

    /// The head, which must exist.
    pub async fn head(&self, key: &Key) -> Result<Head, Broken> {
        match self.store.head(key, None).await? {
            Found::Head(head) => Ok(head),
            other => Err(Broken(format!("{key}: saw {other:?}, expected a head"))),
        }
    }

    /// The whole log.
    pub async fn log(&self, key: &Key) -> Result<Vec<Bytes>> {
        self.store.entries(key, 0..u64::MAX).await
    }

    /// A complete listing, read in pages of `limit`.
    pub async fn list_all(
        &self,
        scope: &Scope,
        kind: Kind,
        limit: usize,
    ) -> Result<Vec<ListedThread>> {
        let mut all: Vec<ListedThread> = Vec::new();
        loop {
            let after = all.last().map(mark);
            let page = self.store.list(scope, kind, Page { limit, after }).await?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }
}

/// The cursor of the page after `listed`.
pub(super) fn mark(listed: &ListedThread) -> PageMark {
    PageMark { changed_at: listed.changed_at, id: listed.key.id.clone() }
}

/// The time `second`, with a fraction to detect rounding.
pub(super) fn time(second: i64) -> Timestamp {
    let start = Timestamp::from_second(1_790_000_000).expect("a time in 2026");
    start + second.seconds() + 123_456.microseconds()
}

/// A change at time 0.
pub(super) fn change(head: &str, append: &[&str]) -> Change {
    Change {
        at: time(0),
        head: Bytes::copy_from_slice(head.as_bytes()),
        append: append.iter().map(|text| Bytes::copy_from_slice(text.as_bytes())).collect(),
        overwrite: Vec::new(),
        expires_at: None,
        write_id: Uuid::now_v7(),
    }
}
