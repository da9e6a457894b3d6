//! Full-text search across sessions, with SQLite's FTS5.
//!
//! A file of its own beside the store (or memory), because it is derived: it is written without waiting
//! for the disk, thrown away when it is damaged or of another version, and rebuilt from the logs. It
//! keeps the texts, because FTS5 needs them to take words out again when a session is erased.
//!
//! Invariant: words of an erased session are not in the file any more (FTS5 `secure-delete`,
//! SQLite `secure_delete`, an emptied WAL).

mod query;
mod schema;
mod search;
mod update;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;
use throughline_engine::id::SessionId;
use throughline_engine::index::{Document, Hit, Index, Position, Query};
use throughline_engine::store::{Result, Scope, StoreError};

use crate::open::{OpenOptions, StoreUrl};
use crate::sqlite::fault::{Outcome, translate};
use crate::sqlite::worker::Workers;

/// The index of a store: a file beside a local store, memory for all others.
pub async fn open_index(url: &StoreUrl, options: &OpenOptions) -> Result<Arc<dyn Index>> {
    let index = SqliteIndex::open(place_of(url, options), options.busy_wait).await?;
    #[cfg(feature = "sabotage")]
    let index = SqliteIndex {
        ignores_scopes: options.sabotage == Some(crate::sabotage::Sabotage::IgnoreScopes),
        ..index
    };
    Ok(Arc::new(index))
}

/// The file of a store's index; `None` where it is in memory and lives as long as the process.
pub fn place_of(url: &StoreUrl, options: &OpenOptions) -> Option<PathBuf> {
    match (&options.index_path, url) {
        (Some(path), _) => Some(path.clone()),
        (None, StoreUrl::Sqlite(path)) => Some(path.with_extension("index.db")),
        (None, StoreUrl::Files(folder)) => Some(beside(folder)),
        (None, StoreUrl::Memory | StoreUrl::Redis(_) | StoreUrl::S3(_)) => None,
    }
}

/// A folder of files holds threads only, so its index lies next to it.
fn beside(folder: &Path) -> PathBuf {
    let mut name = folder.components().as_path().as_os_str().to_owned();
    name.push(".index.db");
    name.into()
}

/// Words of sessions in an FTS5 table.
#[derive(Debug)]
pub struct SqliteIndex {
    place: PathBuf,
    writer: Workers,
    /// Absent in memory, where the writer's connection is the only one.
    reader: Option<Workers>,
    #[cfg(feature = "sabotage")]
    ignores_scopes: bool,
}

impl SqliteIndex {
    /// Opens the file, or an index in memory where none is named.
    pub async fn open(path: Option<PathBuf>, busy: Duration) -> Result<Self> {
        tokio::task::spawn_blocking(move || Self::open_blocking(path, busy))
            .await
            .unwrap_or_else(|error| Err(unavailable(Path::new("the index"), &error.to_string())))
    }

    fn open_blocking(path: Option<PathBuf>, busy: Duration) -> Result<Self> {
        let (place, writing, reading) = match path {
            None => (PathBuf::from("memory"), schema::in_memory()?, None),
            Some(path) => {
                let writing = schema::in_file(&path, busy)?;
                let reading = schema::reader(&path, busy)?;
                (path, writing, Some(reading))
            }
        };
        let start = |connection| {
            Workers::start("index", vec![connection])
                .map_err(|error| unavailable(&place, &error.to_string()))
        };
        let reader = reading.map(start).transpose()?;
        let writer = start(writing)?;
        Ok(Self {
            place,
            writer,
            reader,
            #[cfg(feature = "sabotage")]
            ignores_scopes: false,
        })
    }

    async fn run<T: Send + 'static>(
        &self,
        workers: &Workers,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        workers
            .run(work)
            .await
            .ok_or_else(|| unavailable(&self.place, "its thread has ended"))?
            .map_err(|error| translate(&self.place, Outcome::Unchanged, &error))
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.run(self.reader.as_ref().unwrap_or(&self.writer), work).await
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
        let work = move |connection: &mut Connection| {
            update::put(connection, &scope, &session, &documents, position)
        };
        self.run(&self.writer, work).await
    }

    async fn position(&self, scope: &Scope, session: &SessionId) -> Result<Option<Position>> {
        let (scope, session) = (scope.clone(), session.clone());
        self.read(move |connection| search::position(connection, &scope, &session)).await
    }

    async fn positions(
        &self,
        scope: &Scope,
        sessions: &[SessionId],
    ) -> Result<Vec<Option<Position>>> {
        let (scope, sessions) = (scope.clone(), sessions.to_vec());
        let each = move |connection: &mut Connection| {
            sessions.iter().map(|session| search::position(connection, &scope, session)).collect()
        };
        self.read(each).await
    }

    async fn remove_session(&self, scope: &Scope, session: &SessionId) -> Result<u64> {
        let (scope, session) = (scope.clone(), session.clone());
        let work =
            move |connection: &mut Connection| update::remove(connection, &scope, Some(&session));
        self.run(&self.writer, work).await
    }

    async fn remove_scope(&self, scope: &Scope) -> Result<u64> {
        let scope = scope.clone();
        let work = move |connection: &mut Connection| update::remove(connection, &scope, None);
        self.run(&self.writer, work).await
    }

    async fn search(&self, query: &Query) -> Result<Vec<Hit>> {
        let query = query.clone();
        #[cfg(feature = "sabotage")]
        if self.ignores_scopes {
            return self.read(move |connection| search::search_everyone(connection, &query)).await;
        }
        self.read(move |connection| search::search(connection, &query)).await
    }

    async fn clear(&self) -> Result<()> {
        self.run(&self.writer, update::clear).await
    }
}
