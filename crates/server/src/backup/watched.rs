//! A store that logs every erasure beside the backups and applies it to the kept copies.
//!
//! All erasures pass through it, whether by REST, MCP, the command line or expiry, so that none is left out of
//! the log.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use throughline_engine::life::life_of;
use throughline_engine::sabotage::{self, Switch};
use throughline_engine::session::TurnStatus;
use throughline_engine::store::{
    Change, CheckReport, Erased, Expected, Found, Key, Kind, ListedThread, Page, Result, Scope,
    Store, StoreError, StoreFacts, Version,
};
use throughline_engine::tombstone::{Tombstone, tombstone_of};
use throughline_store::disk;

use super::erasures::{Erasure, ErasureLog};
use super::kept::KeptCopies;

/// Wraps a store with an erasure log.
pub struct ErasureLoggingStore {
    inner: Arc<dyn Store>,
    log: ErasureLog,
    kept: Arc<KeptCopies>,
}

impl ErasureLoggingStore {
    /// Logs the erasures of `inner` to `log`, and applies them to the `kept` copies.
    pub fn new(inner: Arc<dyn Store>, log: ErasureLog, kept: Arc<KeptCopies>) -> Self {
        Self { inner, log, kept }
    }

    fn note(&self, erasures: &[Erasure]) -> Result<()> {
        if sabotage::is(Switch::ForgetErasures) || erasures.is_empty() {
            return Ok(());
        }
        self.log.add(erasures).map_err(|error| self.cannot_note(&error))
    }

    /// Logs and applies the erasures in changes before they are made: a logged erasure that fails is repeated, while an
    /// unlogged one would come back with a backup.
    async fn before(&self, changes: &[(&Key, &Change)]) -> Result<()> {
        let erasures = changes.iter().map(|(key, change)| (*key, erasure_of(key, change)));
        let erasures: Vec<(&Key, Erasure)> =
            erasures.filter_map(|(key, erasure)| Some((key, erasure?))).collect();
        let noted: Vec<Erasure> = erasures.iter().map(|(_, erasure)| erasure.clone()).collect();
        self.note(&noted)?;
        for (key, erasure) in erasures.iter().filter(|(_, it)| !it.turns.is_empty()) {
            self.kept.erase_turns(key, erasure.life, &erasure.turns).await?;
        }
        Ok(())
    }

    fn cannot_note(&self, error: &std::io::Error) -> StoreError {
        let what = self.log.path().display().to_string();
        let reason = format!("cannot log erasures: {error}");
        match disk::is_full(error) {
            true => StoreError::Full { what, reason },
            false => StoreError::Unavailable { what, reason, outcome_unknown: false },
        }
    }
}

/// Whether an overwritten record was erased, rather than only stripped of other data. An unreadable one counts
/// as erased.
fn is_erased(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Status {
        #[serde(default)]
        status: TurnStatus,
    }
    serde_json::from_slice(bytes).map_or(true, |found: Status| found.status == TurnStatus::Erased)
}

/// The erasure in a commit, if any.
fn erasure_of(key: &Key, change: &Change) -> Option<Erasure> {
    if key.kind == Kind::Tombstone {
        let tombstone: Tombstone = serde_json::from_slice(&change.head).ok()?;
        // The last life, unless this erasure is of an unknown one.
        let known = tombstone.unknown_at() != Some(tombstone.at);
        let life = tombstone.lives.last().copied().filter(|_| known);
        return Some(Erasure {
            key: tombstone.key,
            at: change.at,
            life,
            turns: Default::default(),
        });
    }
    let erased = change.overwrite.iter().filter(|(_, bytes)| is_erased(bytes));
    let turns: BTreeSet<u64> = erased.map(|(entry, _)| entry + 1).collect();
    (!turns.is_empty()).then(|| Erasure {
        key: tombstone_of(key),
        at: change.at,
        life: life_of(key, &change.head),
        turns,
    })
}

#[async_trait]
impl Store for ErasureLoggingStore {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        self.inner.head(key, known).await
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        self.inner.entries(key, range).await
    }

    async fn entries_at(&self, key: &Key, numbers: &[u64]) -> Result<Vec<Bytes>> {
        self.inner.entries_at(key, numbers).await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        self.before(&[(key, &change)]).await?;
        self.inner.commit(key, expected, change).await
    }

    async fn commit_all(&self, changes: Vec<(Key, Expected, Change)>) -> Vec<Result<Version>> {
        let noted: Vec<_> = changes.iter().map(|(key, _, change)| (key, change)).collect();
        match self.before(&noted).await {
            Ok(()) => self.inner.commit_all(changes).await,
            Err(error) => changes.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        self.inner.list(scope, kind, page).await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        self.inner.scan(after, limit).await
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        // Copies first: a failed erasure is repeated as long as the store knows the thread.
        let copies = self.kept.erase(key).await?;
        let mut erased = self.inner.erase(key).await?;
        erased.records += copies;
        Ok(erased)
    }

    async fn erase_all(&self, keys: &[Key]) -> Result<Vec<Erased>> {
        let mut copies = Vec::with_capacity(keys.len());
        for key in keys {
            copies.push(self.kept.erase(key).await?);
        }
        let mut erased = self.inner.erase_all(keys).await?;
        erased.iter_mut().zip(copies).for_each(|(erased, copies)| erased.records += copies);
        Ok(erased)
    }

    fn facts(&self) -> StoreFacts {
        self.inner.facts()
    }

    fn is_alone(&self) -> bool {
        self.inner.is_alone()
    }

    async fn ping(&self) -> Result<()> {
        self.inner.ping().await
    }

    async fn probe_write(&self) -> Result<()> {
        self.inner.probe_write().await?;
        self.log.prepare().map_err(|error| self.cannot_note(&error))
    }

    async fn check(&self) -> Result<CheckReport> {
        self.inner.check().await
    }
}
