//! The default store: one SQLite file.
//!
//! WAL with `synchronous=FULL`, one writer thread with group commit ([`writer`]), a few reader threads
//! ([`worker`]) and connections for short queries ([`idle`]). Erased content is overwritten and the WAL
//! truncated. It is not a general SQL layer: the tables in [`schema`] are private to this module.
//!
//! Invariant: a file that is foreign, newer or truncated is refused and left untouched.

mod apply;
mod backup;
mod check;
pub(crate) mod fault;
mod idle;
mod in_use;
pub(crate) mod inspect;
mod read;
mod row;
pub(crate) mod schema;
pub(crate) mod scrub;
mod stored;
pub(crate) mod worker;
mod writer;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use rusqlite::{Connection, OpenFlags};
use throughline_engine::store::{
    Change, CheckReport, Durability, Erased, Expected, Found, Key, Kind, ListedThread, Page,
    Result, Scope, Store, StoreError, StoreFacts, Version,
};
use tokio::sync::oneshot;

use crate::damage::Damage;
use crate::disk;
use crate::limit::check_sizes;
use crate::open_lock::OpenLock;
use crate::replace::{self, StoreLock};
pub use backup::{Copied, CopyProgress};

use apply::Failure;
use fault::{Outcome, translate};
use idle::IdleConnections;
use schema::Purpose;
use worker::Workers;
use writer::{Commit, Erasure, Request, Writer};

/// Attempts to open a file that is being replaced.
const ATTEMPTS_MAX: usize = 5;
/// Reader connections, each with its own thread.
const READERS: usize = 3;
/// Connections for short queries on the caller's thread.
const IDLE_CONNECTIONS: usize = 4;
/// Maximum number of entries read by a short query.
const SHORT_QUERY_ENTRIES_MAX: usize = 32;

/// Threads in an SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    busy: Duration,
    idle: IdleConnections,
    readers: Workers,
    writer: Writer,
    notes: Vec<String>,
    damage: Damage,
    open_lock: OpenLock,
}

impl Sqlite {
    /// Opens the file, creating it and its folder if missing. `busy` is how long to wait for another
    /// process that is writing.
    pub async fn open(path: impl Into<PathBuf>, busy: Duration) -> Result<Self> {
        let path = path.into();
        let what = path.display().to_string();
        tokio::task::spawn_blocking(move || Self::open_blocking(path, busy))
            .await
            .unwrap_or_else(|error| Err(unavailable(what, &error.to_string(), Outcome::Unchanged)))
    }

    fn open_blocking(path: PathBuf, busy: Duration) -> Result<Self> {
        refuse_old_library(&path, rusqlite::version_number())?;
        let failed = |error: &std::io::Error| inspect::unreadable(&path, error);
        for _ in 0..ATTEMPTS_MAX {
            let kept = replace::finish_switch(&path).map_err(|error| failed(&error))?;
            let before = replace::inode(&path).map_err(|error| failed(&error))?;
            let opened = Self::open_once(path.clone(), busy, kept)?;
            // A restore may have replaced the file while we waited for its lock.
            if before.is_none()
                || before == replace::inode(&path).map_err(|error| failed(&error))?
            {
                replace::discard(&path).map_err(|error| failed(&error))?;
                return Ok(opened);
            }
        }
        Err(unavailable(path.display().to_string(), "it keeps being replaced", Outcome::Unchanged))
    }

    fn open_once(path: PathBuf, busy: Duration, kept: Option<PathBuf>) -> Result<Self> {
        inspect::prepare(&path, schema::SIGNATURE, |connection| {
            schema::create_tables(&path, connection)
        })?;
        let writing = schema::connect(&path, Purpose::Write, busy)?;
        let reading = (0..READERS)
            .map(|_| schema::connect(&path, Purpose::Read, busy))
            .collect::<Result<Vec<_>>>()?;
        let idle = (0..IDLE_CONNECTIONS)
            .map(|_| schema::connect(&path, Purpose::Read, busy))
            .collect::<Result<Vec<_>>>()?;
        let idle = IdleConnections::new(idle)
            .map_err(|error| translate(&path, Outcome::Unchanged, &error))?;
        let readers = Workers::start("store-reader", reading)
            .map_err(|error| inspect::unreadable(&path, &error))?;
        let writer = Writer::start(path.clone(), writing, busy)?;
        let mut notes = vec![
            format!("SQLite {}", rusqlite::version()),
            format!("schema version {}", schema::VERSION),
            "WAL, synchronous=FULL, secure_delete".into(),
        ];
        notes.extend(kept.map(|kept| replace::finished(&kept)));
        let open_lock = OpenLock::take(&disk::beside(&path, "-open"));
        let damage = Damage::default();
        Ok(Self { path, busy, idle, readers, writer, notes, damage, open_lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Locks the file exclusively until the returned lock is dropped; fails while another connection has it
    /// open. A file that is damaged or not a database is not locked.
    pub async fn lock_exclusively(path: impl Into<PathBuf>) -> Result<StoreLock> {
        let path = path.into();
        let what = path.display().to_string();
        tokio::task::spawn_blocking(move || in_use::lock_exclusively(&path))
            .await
            .unwrap_or_else(|error| Err(unavailable(what, &error.to_string(), Outcome::Unchanged)))
    }

    /// Copies the current state of the store to a new file, while it is in use. The copy is verified
    /// before it gets its name.
    pub async fn backup_to(
        &self,
        to: impl Into<PathBuf>,
        progress: impl Fn(CopyProgress) + Send + 'static,
    ) -> Result<Copied> {
        Self::copy(&self.path, to, self.busy, progress).await
    }

    /// Like [`Self::backup_to`], for a store that is not open, such as a backup being restored.
    pub async fn copy(
        from: impl Into<PathBuf>,
        to: impl Into<PathBuf>,
        busy: Duration,
        progress: impl Fn(CopyProgress) + Send + 'static,
    ) -> Result<Copied> {
        let (from, to) = (from.into(), to.into());
        let what = to.display().to_string();
        tokio::task::spawn_blocking(move || backup::copy(&from, &to, busy, &progress))
            .await
            .unwrap_or_else(|error| Err(unavailable(what, &error.to_string(), Outcome::Unchanged)))
    }

    /// Counts the threads in a database that is not open, such as a backup.
    pub fn threads_in(path: &Path) -> Result<u64> {
        let fail = |error: rusqlite::Error| translate(path, Outcome::Unchanged, &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
        let count =
            connection.query_row("SELECT count(*) FROM thread", [], |row| row.get::<_, i64>(0));
        Ok(count.map_err(fail)?.unsigned_abs())
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> std::result::Result<T, Failure> + Send + 'static,
    ) -> Result<T> {
        match self.readers.run(move |connection| work(connection)).await {
            Some(answer) => self.translated(answer),
            None => Err(self.thread_ended(Outcome::Unchanged)),
        }
    }

    fn translated<T>(&self, answer: std::result::Result<T, Failure>) -> Result<T> {
        answer.map_err(|failure| match failure {
            Failure::Store(error) => error,
            Failure::Sqlite(error) => translate(&self.path, Outcome::Unchanged, &error),
        })
    }

    async fn write<T>(
        &self,
        request: Request,
        answered: oneshot::Receiver<Result<T>>,
    ) -> Result<T> {
        self.writer.send(request).await.ok_or_else(|| self.thread_ended(Outcome::Unchanged))?;
        answered.await.map_err(|_| self.thread_ended(Outcome::Unknown))?
    }

    fn thread_ended(&self, outcome: Outcome) -> StoreError {
        unavailable(self.path.display().to_string(), "its worker thread has ended", outcome)
    }
}

fn unavailable(what: String, reason: &str, outcome: Outcome) -> StoreError {
    let outcome_unknown = outcome == Outcome::Unknown;
    StoreError::Unavailable { what, reason: reason.into(), outcome_unknown }
}

fn refuse_old_library(path: &Path, number: i32) -> Result<()> {
    if number >= schema::LIBRARY_MIN {
        return Ok(());
    }
    Err(StoreError::Refused {
        what: path.display().to_string(),
        reason: format!(
            "SQLite {number} is older than {} and may lose writes",
            schema::LIBRARY_MIN
        ),
        hint: "build with the bundled SQLite".into(),
    })
}

#[async_trait]
impl Store for Sqlite {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        if let Some(answer) = self.idle.try_query(|connection| read::head(connection, key, known)) {
            return self.damage.record_error(key, self.translated(answer));
        }
        let named = key.clone();
        let answer = self.read(move |connection| read::head(connection, &named, known)).await;
        self.damage.record_error(key, answer)
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        let named = key.clone();
        let answer = self.read(move |connection| read::entries(connection, &named, range)).await;
        self.damage.record_error(key, answer)
    }

    async fn entries_at(&self, key: &Key, numbers: &[u64]) -> Result<Vec<Bytes>> {
        if numbers.len() <= SHORT_QUERY_ENTRIES_MAX
            && let Some(answer) =
                self.idle.try_query(|connection| read::entries_at(connection, key, numbers))
        {
            return self.damage.record_error(key, self.translated(answer));
        }
        let (named, numbers) = (key.clone(), numbers.to_vec());
        let answer =
            self.read(move |connection| read::entries_at(connection, &named, &numbers)).await;
        self.damage.record_error(key, answer)
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        check_sizes(key, &change)?;
        let (answer, answered) = oneshot::channel();
        let overwrites = !change.overwrite.is_empty();
        let request = Request::Commit(Commit { key: key.clone(), expected, change, answer });
        let committed = self.damage.record_error(key, self.write(request, answered).await)?;
        if overwrites {
            // The damage may be gone now; if not, the next read finds it again.
            self.damage.forget(key);
        }
        Ok(committed)
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        let (asked, again) = ((scope.clone(), page.clone()), (scope.clone(), page));
        let listed = self.read(move |connection| read::list(connection, &asked.0, kind, &asked.1));
        if let Some(listed) = listed.await? {
            return Ok(listed);
        }
        // The index is derived from the table. With a damaged one, threads would be missing from every listing.
        tracing::warn!(store.path = %self.path.display(), "an index of the store is damaged and is rebuilt");
        let (answer, answered) = oneshot::channel();
        self.write(Request::Reindex { answer }, answered).await?;
        let (scope, page) = again;
        let listed = self.read(move |connection| read::list(connection, &scope, kind, &page));
        listed.await?.ok_or_else(|| StoreError::Damaged {
            what: self.path.display().to_string(),
            reason: "an index does not match its table; restore a backup".into(),
        })
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        let after = after.cloned();
        self.read(move |connection| read::scan(connection, after.as_ref(), limit)).await
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        let erased = self.erase_all(std::slice::from_ref(key)).await?;
        Ok(erased.into_iter().next().unwrap_or_default())
    }

    async fn erase_all(&self, keys: &[Key]) -> Result<Vec<Erased>> {
        let (answer, answered) = oneshot::channel();
        let request = Request::Erase(Erasure { keys: keys.to_vec(), answer });
        let erased = self.write(request, answered).await?;
        keys.iter().for_each(|key| self.damage.forget(key));
        Ok(erased)
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            backend: "sqlite",
            location: self.path.display().to_string(),
            durability: Durability::Fsync,
            many_writers: true,
            damaged: self.damage.count(),
            notes: self.notes.clone(),
        }
    }

    fn is_alone(&self) -> bool {
        self.open_lock.is_alone()
    }

    async fn ping(&self) -> Result<()> {
        self.read(read::ping).await
    }

    async fn probe_write(&self) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        self.write(Request::Probe { answer }, answered).await
    }

    async fn check(&self) -> Result<CheckReport> {
        self.read(check::check).await
    }
}
