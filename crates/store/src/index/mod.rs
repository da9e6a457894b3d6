//! Full-text search across sessions, with SQLite's FTS5.
//!
//! The index is a separate file beside the store (or in memory), because it is derived data: it is written
//! without fsync, many turns at a time, discarded when it is damaged or has another version, and rebuilt from
//! the logs. It stores words, not texts; snippets are cut from the texts in the log.
//!
//! Several connections read; one writes and never waits for them. A slow search is interrupted. (An index in
//! memory uses one connection for both.)
//!
//! Invariant: words of an erased session are no longer in the file (FTS5 merge, SQLite `secure_delete`, truncated
//! WAL); a search sees everything that was put before it began.
//!
//! # Layout
//!
//! - [`words`], [`language`]: tokenisation. [`query`]: query parsing. [`snippet`]: excerpts.
//! - [`schema`], [`update`], [`search`]: the tables. [`pending`]: documents not written yet.

mod language;
mod pending;
mod query;
mod schema;
mod search;
mod snippet;
mod update;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rusqlite::Connection;
use throughline_engine::id::SessionId;
use throughline_engine::index::{Document, Hit, Index, Position, Query, Snippet};
use throughline_engine::store::{Result, Scope, StoreError};

use pending::{AfterAdd, Pending, Put};

use crate::reserve::Reserve;
use crate::sqlite::fault::{Outcome, translate};
use crate::sqlite::worker::Workers;
use crate::url::{OpenOptions, StoreUrl};

/// Opens the index of a store: a file for a local store, memory for a remote one.
pub async fn open_index(url: &StoreUrl, options: &OpenOptions) -> Result<Arc<dyn Index>> {
    let reserve = match url {
        StoreUrl::Sqlite(store) | StoreUrl::Files(store) => Some(Reserve::of_store(store)),
        StoreUrl::Memory | StoreUrl::Redis(_) | StoreUrl::S3(_) => None,
    };
    Ok(Arc::new(SqliteIndex::open_with(index_path(url, options), options, reserve).await?))
}

/// The file of a store's index; `None` if it is in memory.
pub fn index_path(url: &StoreUrl, options: &OpenOptions) -> Option<PathBuf> {
    match (&options.index_path, url) {
        (Some(path), _) => Some(path.clone()),
        (None, StoreUrl::Sqlite(path)) => Some(path.with_extension("index.db")),
        (None, StoreUrl::Files(folder)) => Some(beside(folder)),
        (None, StoreUrl::Memory | StoreUrl::Redis(_) | StoreUrl::S3(_)) => None,
    }
}

/// The folder of a files store contains only threads, so its index is beside it.
fn beside(folder: &Path) -> PathBuf {
    let mut name = folder.components().as_path().as_os_str().to_owned();
    name.push(".index.db");
    name.into()
}

/// Read-only connections.
const READERS: usize = 3;
/// How long documents wait for others before they are written.
const BATCH_DELAY: Duration = Duration::from_secs(2);

/// An index in FTS5 tables.
#[derive(Debug)]
pub struct SqliteIndex(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    place: PathBuf,
    writer: Workers,
    /// `None` in memory, where the writer's connection is the only one.
    readers: Option<Workers>,
    pending: Pending,
    /// Held while pending documents are written, so that nobody reads in between.
    writing: tokio::sync::Mutex<()>,
    search_time_max: Duration,
    /// The room of the store, for removals.
    reserve: Option<Reserve>,
    #[cfg(feature = "sabotage")]
    ignores_scopes: bool,
}

impl SqliteIndex {
    /// Opens the index in a file, or creates one in memory.
    pub async fn open(path: Option<PathBuf>, options: &OpenOptions) -> Result<Self> {
        Self::open_with(path, options, None).await
    }

    async fn open_with(
        path: Option<PathBuf>,
        options: &OpenOptions,
        reserve: Option<Reserve>,
    ) -> Result<Self> {
        let (busy, search_time_max) = (options.busy_wait, options.search_time_max);
        #[cfg(feature = "sabotage")]
        let ignores_scopes = options.sabotage == Some(crate::sabotage::Sabotage::IgnoreScopes);
        let opening = || async {
            let path = path.clone();
            let opened = tokio::task::spawn_blocking(move || connections(path, busy)).await;
            opened.unwrap_or_else(|e| Err(unavailable(Path::new("the index"), &e.to_string())))
        };
        let (place, writer, readers) = match &reserve {
            Some(reserve) => reserve.with_room(opening).await?,
            None => opening().await?,
        };
        let start = |connections: Vec<Connection>| {
            Workers::start("index", connections)
                .map_err(|error| unavailable(&place, &error.to_string()))
        };
        let readers = if readers.is_empty() { None } else { Some(start(readers)?) };
        Ok(Self(Arc::new(Parts {
            writer: start(vec![writer])?,
            place,
            readers,
            pending: Pending::default(),
            writing: tokio::sync::Mutex::default(),
            search_time_max,
            reserve,
            #[cfg(feature = "sabotage")]
            ignores_scopes,
        })))
    }
}

/// Returns the location of the index, the writer's connection and those of the readers.
fn connections(
    path: Option<PathBuf>,
    busy: Duration,
) -> Result<(PathBuf, Connection, Vec<Connection>)> {
    let Some(path) = path else {
        return Ok((PathBuf::from("memory"), schema::in_memory()?, Vec::new()));
    };
    let writer = schema::in_file(&path, busy)?;
    let readers: Result<_> = (0..READERS).map(|_| schema::reader(&path, busy)).collect();
    Ok((path, writer, readers?))
}

impl Parts {
    async fn run<T: Send + 'static>(
        &self,
        workers: &Workers,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        workers
            .run(work)
            .await
            .ok_or_else(|| unavailable(&self.place, "its worker thread has ended"))?
            .map_err(|error| self.fault(&error))
    }

    fn fault(&self, error: &rusqlite::Error) -> StoreError {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => {
                let most = self.search_time_max.as_secs();
                let reason =
                    format!("the search took longer than {most} seconds; try less common words");
                unavailable(&self.place, &reason)
            }
            _ => translate(&self.place, Outcome::Unchanged, error),
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.run(self.readers.as_ref().unwrap_or(&self.writer), work).await
    }

    /// Writes all pending documents, waiting for a write already in progress.
    async fn write_pending(&self) -> Result<()> {
        let _writing = self.writing.lock().await;
        let puts = self.pending.take();
        if puts.is_empty() {
            return Ok(());
        }
        self.run(&self.writer, move |connection| update::put_all(connection, &puts)).await
    }

    /// Runs `work`, which removes something, on the writer's connection, after writing pending documents. On a full
    /// disk it has the room of the reserve.
    async fn remove<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Connection) -> rusqlite::Result<T> + Clone + Send + 'static,
    ) -> Result<T> {
        let removing = || async {
            self.write_pending().await?;
            self.run(&self.writer, work.clone()).await
        };
        match &self.reserve {
            Some(reserve) => reserve.with_room(removing).await,
            None => removing().await,
        }
    }
}

impl Drop for Parts {
    /// Writes pending documents before the writer thread ends.
    fn drop(&mut self) {
        let puts = self.pending.take();
        self.writer.enqueue(move |connection| {
            if let Err(error) = update::put_all(connection, &puts) {
                tracing::debug!(%error, "the last documents were not indexed");
            }
        });
    }
}

fn unavailable(place: &Path, reason: &str) -> StoreError {
    StoreError::Unavailable {
        what: format!("index {}", place.display()),
        reason: reason.to_owned(),
        outcome_unknown: false,
    }
}

#[async_trait]
impl Index for SqliteIndex {
    async fn put(
        &self,
        scope: &Scope,
        session: &SessionId,
        documents: Vec<Document>,
        position: Position,
    ) -> Result<()> {
        let (scope, session) = (scope.clone(), session.clone());
        match self.0.pending.add(Put { scope, session, documents, position }) {
            AfterAdd::Wait => {}
            AfterAdd::WriteNow => self.0.write_pending().await?,
            AfterAdd::WriteSoon => {
                let parts = Arc::downgrade(&self.0);
                tokio::spawn(async move {
                    tokio::time::sleep(BATCH_DELAY).await;
                    let Some(parts) = parts.upgrade() else { return };
                    if let Err(error) = parts.write_pending().await {
                        tracing::warn!(%error, "documents could not be indexed");
                    }
                });
            }
        }
        Ok(())
    }

    async fn position(&self, scope: &Scope, session: &SessionId) -> Result<Option<Position>> {
        let positions = self.positions(scope, std::slice::from_ref(session)).await?;
        Ok(positions.into_iter().next().flatten())
    }

    async fn positions(
        &self,
        scope: &Scope,
        sessions: &[SessionId],
    ) -> Result<Vec<Option<Position>>> {
        // In this order: what is written in between is seen by the second read.
        let waiting: Vec<Option<Position>> =
            sessions.iter().map(|session| self.0.pending.position(scope, session)).collect();
        if waiting.iter().all(Option::is_some) {
            return Ok(waiting);
        }
        let (scope, sessions) = (scope.clone(), sessions.to_vec());
        let each = move |connection: &mut Connection| {
            sessions.iter().map(|session| search::position(connection, &scope, session)).collect()
        };
        let written: Vec<Option<Position>> = self.0.read(each).await?;
        Ok(waiting.into_iter().zip(written).map(|(waiting, written)| waiting.or(written)).collect())
    }

    async fn remove_session(&self, scope: &Scope, session: &SessionId) -> Result<u64> {
        let (scope, session) = (scope.clone(), session.clone());
        self.0.remove(move |connection| update::remove(connection, &scope, Some(&session))).await
    }

    async fn remove_scope(&self, scope: &Scope) -> Result<u64> {
        let scope = scope.clone();
        self.0.remove(move |connection| update::remove(connection, &scope, None)).await
    }

    async fn search(&self, query: &Query) -> Result<Vec<Hit>> {
        let deadline = Instant::now() + self.0.search_time_max;
        match self.0.write_pending().await {
            // What was not written is indexed again as soon as there is room; the rest can be found.
            Err(error @ StoreError::Full { .. }) => tracing::warn!(%error, "the index is behind"),
            written => written?,
        }
        let query = query.clone();
        #[cfg(feature = "sabotage")]
        if self.0.ignores_scopes {
            return self.0.read(move |c| search::search_everyone(c, &query)).await;
        }
        let work = move |connection: &Connection| search::search(connection, &query);
        self.0.read(move |connection| search::with_deadline(connection, deadline, work)).await
    }

    async fn snippets(&self, query: &Query, texts: Vec<String>) -> Result<Vec<Snippet>> {
        let query = query.clone();
        let cutting = tokio::task::spawn_blocking(move || {
            let parsed = query::parse(&query.text, query.words);
            texts.iter().map(|text| snippet::cut(text, parsed.as_ref())).collect()
        });
        cutting.await.map_err(|error| unavailable(&self.0.place, &error.to_string()))
    }

    async fn clear(&self) -> Result<()> {
        self.0.remove(update::clear).await
    }
}
