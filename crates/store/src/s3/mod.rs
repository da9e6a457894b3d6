//! Threads in an S3-compatible bucket, for concurrent writers.
//!
//! A thread is one head object, replaced only conditionally, and immutable objects with the older part of its
//! log. There are no locks or leases, and no decision depends on a clock: the store's conditional write is the only
//! arbiter, and [`probe`] verifies on opening that it works.
//!
//! - [`options`]: the URL. [`layout`]: object names. [`frame`], [`head_object`], [`node`]: formats.
//! - [`objects`], [`bucket`]: requests. [`log_tree`]: the sealed part of a log.
//! - [`commit`], [`read`], [`erase`], [`check`], [`probe`]: the store's operations.
//!
//! Invariant: an object that a head refers to was written completely before that head.

mod bucket;
mod check;
mod commit;
mod erase;
mod frame;
mod head_object;
mod layout;
mod log_tree;
mod node;
mod objects;
pub mod options;
pub mod probe;
mod read;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use moka::sync::Cache;
use throughline_engine::store::{
    Change, CheckReport, Durability, Erased, Expected, Found, Key, Kind, ListedThread, Page,
    Result, Scope, Store, StoreError, StoreFacts, Version,
};

use bucket::Bucket;
use head_object::{HeadObject, Summary};
use layout::Layout;
use log_tree::LogTree;
use objects::Objects;
pub use options::{Compression, S3Credentials, S3Options};

/// Maximum size of cached head objects.
const HEAD_CACHE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Maximum number of cached listing rows.
const SUMMARY_CACHE_ROWS_MAX: u64 = 100_000;
/// Number of in-process locks that all threads share.
const LOCKS: usize = 256;

/// A bucket that has been probed.
pub struct S3Store {
    options: S3Options,
    objects: Arc<Objects>,
    bucket: Bucket,
    layout: Layout,
    tree: LogTree,
    heads: Cache<Key, Arc<Tagged>>,
    summaries: Cache<(String, String), Summary>,
    locks: Vec<tokio::sync::Mutex<()>>,
    /// Whether the probe found that conditional writes work under contention.
    conditional: bool,
    /// Whether the bucket keeps old versions of objects.
    versioned: bool,
    facts: StoreFacts,
    /// Commits that turned out to be done although the condition failed or the reply was lost.
    recognised: AtomicU64,
}

/// A head object with its ETag.
#[derive(Debug)]
struct Tagged {
    object: HeadObject,
    etag: Option<String>,
}

impl S3Store {
    /// Opens the bucket, creating it if that is allowed, and probes it.
    pub async fn open(options: S3Options) -> Result<Self> {
        options.require_keys()?;
        let objects = Arc::new(Objects::new(&options)?);
        let bucket = Bucket::new(objects.client.clone(), &options)?;
        let layout = Layout::new(&options.prefix);
        let mut notes = Vec::new();
        if bucket.ensure(options.create_bucket).await? {
            notes.push(format!("bucket {} was created", options.bucket));
        }
        let versioning = bucket.versioning().await?;
        notes.push(match &versioning {
            Some(status) => format!("object versioning: {status}; erasing removes old versions"),
            None => "object versioning: off".into(),
        });
        let found = probe::run(&objects, &layout).await?;
        notes.push(found.to_string());
        if !found.is_reliable() && !options.single_writer {
            return Err(StoreError::Refused {
                what: options.location(),
                reason: format!("it is not safe for more than one writer: {found}"),
                hint:
                    "use a store with conditional writes, or run a single instance with single_writer=true"
                        .into(),
            });
        }
        let durability = durability(&options, &mut notes);
        let tree = LogTree::new(Arc::clone(&objects), layout.clone(), options.compression);
        let facts = StoreFacts {
            backend: "s3",
            location: options.location(),
            durability,
            many_writers: found.is_reliable() && !options.single_writer,
            damaged: 0,
            notes,
        };
        let weigh = |_: &Key, head: &Arc<Tagged>| {
            let bytes = head.object.head.len() + head.object.tail_bytes() + 1024;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        Ok(Self {
            objects,
            bucket,
            layout,
            tree,
            heads: Cache::builder().max_capacity(HEAD_CACHE_BYTES_MAX).weigher(weigh).build(),
            summaries: Cache::new(SUMMARY_CACHE_ROWS_MAX),
            locks: (0..LOCKS).map(|_| tokio::sync::Mutex::new(())).collect(),
            conditional: found.is_reliable(),
            versioned: versioning.is_some(),
            facts,
            options,
            recognised: AtomicU64::new(0),
        })
    }

    /// Number of commits that were recognised as done although the condition failed or the reply was lost.
    pub fn own_writes_recognised(&self) -> u64 {
        self.recognised.load(Ordering::Relaxed)
    }
}

/// S3 offers no way to query the durability of a write: Amazon's is known, others have to be stated.
fn durability(options: &S3Options, notes: &mut Vec<String>) -> Durability {
    if let Some(stated) = options.durability {
        notes.push(format!("durability {stated}: as stated in the URL"));
        return stated;
    }
    let amazon = options.endpoint.as_deref().is_none_or(|url| url.contains(".amazonaws.com"));
    if amazon {
        notes.push(
            "durability replicated: Amazon S3 replies after several copies are stored".into(),
        );
        return Durability::Replicated;
    }
    notes.push("durability buffered: unknown for this server; state it with durability=…".into());
    Durability::Buffered
}

#[async_trait]
impl Store for S3Store {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        let _lock = self.read_lock(key).await;
        let Some(head) = self.fresh_head(key).await? else { return Ok(Found::Missing) };
        match known == Some(head.object.version) {
            true => Ok(Found::Unchanged),
            false => Ok(Found::Head(head.object.to_head())),
        }
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        let _lock = self.read_lock(key).await;
        self.read_entries(key, range).await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        // For efficiency, not correctness: only one task of this process at a time contacts the server about a
        // thread, and the others learn from the cache that they are too late.
        let _turn = self.lock(key).lock().await;
        self.commit_change(key, expected, &change).await
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        self.list_newest(scope, kind, page).await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        self.scan_in_order(after, limit).await
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        let _turn = self.lock(key).lock().await;
        self.erase_thread(key).await
    }

    fn facts(&self) -> StoreFacts {
        self.facts.clone()
    }

    async fn ping(&self) -> Result<()> {
        self.objects.list(&self.layout.probe("none"), None, 1).await.map(|_| ())
    }

    async fn probe_write(&self) -> Result<()> {
        if self.versioned {
            // Every probe would remain as a version.
            return self.ping().await;
        }
        let path = self.layout.probe("write");
        self.objects.put_fresh(&path, Bytes::from_static(b"probe\n")).await?;
        self.objects.delete(&path).await
    }

    async fn check(&self) -> Result<CheckReport> {
        self.check_all().await
    }
}

impl S3Store {
    fn lock(&self, key: &Key) -> &tokio::sync::Mutex<()> {
        use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
        &self.locks[(hash % LOCKS as u64) as usize]
    }

    /// Takes a read lock only if the store lacks conditional writes, because such a server may also expose
    /// partial writes.
    async fn read_lock(&self, key: &Key) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        match self.conditional {
            true => None,
            false => Some(self.lock(key).lock().await),
        }
    }
}
