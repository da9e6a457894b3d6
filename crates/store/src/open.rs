//! Opens a store by its URL.
//!
//! Invariant: a local store is never created where traces show that one existed before.

use std::sync::Arc;

use throughline_engine::shared::SharedCache;
use throughline_engine::store::{Result, Store, StoreError};

use crate::files::{self, Files};
use crate::memory::Memory;
use crate::redis::{RedisOptions, RedisShared, RedisStore};
use crate::replace::{self, StoreLock};
use crate::reserve::ReservingStore;
use crate::s3::{S3Options, S3Store};
use crate::sqlite::Sqlite;
use crate::url::{OpenOptions, StoreUrl};
use crate::{disk, index};

/// Locks a local store exclusively; fails while another process has it open. Does nothing for other stores.
pub async fn lock_exclusively(url: &StoreUrl) -> Result<StoreLock> {
    match url {
        StoreUrl::Sqlite(path) => Sqlite::lock_exclusively(path).await,
        StoreUrl::Files(root) => Files::lock_exclusively(root).await,
        StoreUrl::Memory | StoreUrl::Redis(_) | StoreUrl::S3(_) => Ok(StoreLock::none()),
    }
}

/// Returns whether the store exists. Remote stores always count as existing: only opening one can tell.
pub fn exists(url: &StoreUrl) -> Result<bool> {
    let (path, there) = match url {
        StoreUrl::Sqlite(path) => (path, path.clone()),
        StoreUrl::Files(root) => (root, root.join(files::MARKER)),
        StoreUrl::Memory | StoreUrl::Redis(_) | StoreUrl::S3(_) => return Ok(true),
    };
    // An interrupted restore may have to be finished first.
    replace::finish_switch(path).map_err(|error| StoreError::Unavailable {
        what: url.to_string(),
        reason: error.to_string(),
        outcome_unknown: false,
    })?;
    Ok(there.metadata().is_ok_and(|found| found.len() > 0))
}

/// Refuses to create a store, or to report it as absent, where traces show that one existed before.
fn refuse_lost(url: &StoreUrl, options: &OpenOptions) -> Result<()> {
    let (StoreUrl::Sqlite(path) | StoreUrl::Files(path)) = url else { return Ok(()) };
    if exists(url)? {
        return Ok(());
    }
    let beside = [disk::beside(path, "-wal"), disk::beside(path, ".restoring")];
    let mut traces = beside.iter().chain(&options.traces).filter(|trace| trace.exists()).cloned();
    let kept = || replace::kept(path).pop();
    let index = || index::index_path(url, options).filter(|index| index.exists());
    let Some(trace) = traces.next().or_else(kept).or_else(index) else { return Ok(()) };
    let trace = trace.display();
    Err(StoreError::Refused {
        what: url.to_string(),
        reason: format!("the store is missing, but {trace} shows that there was one"),
        hint: format!("restore it with throughline restore; to start afresh, move {trace} away"),
    })
}

/// Opens the store, creating it if it does not exist.
pub async fn open(url: &StoreUrl, options: &OpenOptions) -> Result<Arc<dyn Store>> {
    refuse_lost(url, options)?;
    let store: Arc<dyn Store> = match url {
        StoreUrl::Memory => Arc::new(Memory::new()),
        StoreUrl::Sqlite(path) => {
            let open = || Sqlite::open(path, options.busy_wait);
            Arc::new(ReservingStore::open(path, open).await?)
        }
        StoreUrl::S3(url) => {
            let settings = S3Options::from_url(url)?;
            let mut settings = settings.with_environment(options.variables.0.iter().cloned());
            settings.create_bucket &= options.create;
            Arc::new(S3Store::open(settings).await?)
        }
        StoreUrl::Files(path) => Arc::new(ReservingStore::open(path, || Files::open(path)).await?),
        StoreUrl::Redis(url) => Arc::new(RedisStore::open(RedisOptions::from_url(url)?).await?),
    };
    #[cfg(feature = "sabotage")]
    let store = match options.sabotage {
        Some(sabotage) => crate::sabotage::apply(store, sabotage).await?,
        None => store,
    };
    Ok(store)
}

/// Opens the cache that server instances share through the store; only Redis has one.
pub async fn open_shared(url: &StoreUrl) -> Result<Option<Arc<dyn SharedCache>>> {
    match url {
        StoreUrl::Redis(url) => {
            Ok(Some(Arc::new(RedisShared::open(RedisOptions::from_url(url)?).await?)))
        }
        StoreUrl::Memory | StoreUrl::Sqlite(_) | StoreUrl::Files(_) | StoreUrl::S3(_) => Ok(None),
    }
}
