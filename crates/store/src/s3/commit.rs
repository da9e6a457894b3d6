//! Commits atomically: first writes objects that nobody refers to yet, then conditionally replaces the head.
//!
//! After a failed condition or a lost reply the head is read again, and its write ids tell whether our own write
//! succeeded. If that cannot be determined, the error says so: `outcome_unknown`.
//!
//! Invariant: `Conflict` is returned only if this change has not been and will not be applied.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use throughline_engine::store::{Change, Expected, Key, Result, StoreError, Version};

use crate::limit;

use super::head_object::{HeadObject, WRITE_IDS_KEPT};
use super::objects::{Put, WriteCondition};
use super::{S3Store, Tagged};

/// A prepared commit.
struct Attempt {
    next: HeadObject,
    when: WriteCondition,
    /// Sealed objects written for it.
    written: Vec<String>,
}

/// The outcome of our write, according to the current head.
enum Outcome {
    /// It succeeded.
    Own(Version),
    /// It is not applied yet and can be retried under this condition.
    Open(WriteCondition),
    /// Another write won.
    Lost(Option<Version>),
    /// Too many commits followed to tell.
    Unknown,
}

impl S3Store {
    pub(super) async fn commit_change(
        &self,
        key: &Key,
        expected: Expected,
        change: &Change,
    ) -> Result<Version> {
        limit::check_sizes(key, change)?;
        let base = match expected {
            // Overwriting entries of a missing thread is refused, but a conflict comes first.
            Expected::Absent if self.conditional && change.overwrite.is_empty() => None,
            Expected::Absent => match self.fresh_head(key).await? {
                None => None,
                current => return Err(conflict(key, current)),
            },
            Expected::At(version) => match self.base(key, version).await? {
                Ok(base) => Some(base),
                Err(current) => return Err(conflict(key, current)),
            },
        };
        let mut written = Vec::new();
        let attempt = match self.prepare(key, base.as_deref(), change, &mut written).await {
            Ok(attempt) => attempt,
            Err(error) => {
                self.remove_nodes(key, &written).await;
                return Err(error);
            }
        };
        self.replace_head(key, expected, change, attempt).await
    }

    /// The head at `version`, from the cache or from the store.
    async fn base(
        &self,
        key: &Key,
        version: Version,
    ) -> Result<std::result::Result<Arc<Tagged>, Option<Arc<Tagged>>>> {
        let cached = self.heads.get(key).filter(|head| self.conditional && head.etag.is_some());
        if let Some(head) = cached {
            let now = head.object.version;
            if now == version {
                return Ok(Ok(head));
            }
            // Versions of one incarnation only grow, so one older than the cached head is stale.
            if now.incarnation == version.incarnation && now.number > version.number {
                return Ok(Err(Some(head)));
            }
        }
        let current = self.fresh_head(key).await?;
        Ok(match current {
            Some(head) if head.object.version == version => Ok(head),
            current => Err(current),
        })
    }

    /// Builds the next head object. Seals the tail if it exceeds its limit, except in a thread's first commit: so
    /// sealed objects exist only after the thread had a head, which erasing relies on.
    async fn prepare(
        &self,
        key: &Key,
        base: Option<&Tagged>,
        change: &Change,
        written: &mut Vec<String>,
    ) -> Result<Attempt> {
        let (mut next, when) = match base {
            None => (empty_head(change), WriteCondition::Absent),
            Some(base) => {
                let when =
                    base.etag.clone().map_or(WriteCondition::Always, WriteCondition::Matches);
                (base.object.clone(), when)
            }
        };
        next.version.number += 1;
        next.changed_at = change.at;
        next.head = change.head.clone();
        next.writes.push(change.write_id);
        let surplus = next.writes.len().saturating_sub(WRITE_IDS_KEPT);
        next.writes.drain(..surplus);
        if !next.garbage.is_empty() {
            next.garbage = self.remove_nodes(key, &next.garbage).await;
        }
        self.overwrite(key, &mut next, change, written).await?;
        next.tail.extend(change.append.iter().cloned());
        let over = next.tail_bytes() > self.options.tail_bytes_max
            || next.tail.len() > self.options.tail_entries_max;
        if over && base.is_some() && !next.tail.is_empty() {
            let entries = std::mem::take(&mut next.tail);
            let incarnation = next.version.incarnation;
            self.tree.seal(key, incarnation, &mut next.roots, entries, written).await?;
        }
        Ok(Attempt { next, when, written: std::mem::take(written) })
    }

    async fn overwrite(
        &self,
        key: &Key,
        next: &mut HeadObject,
        change: &Change,
        written: &mut Vec<String>,
    ) -> Result<()> {
        if change.overwrite.is_empty() {
            return Ok(());
        }
        let changes: BTreeMap<u64, Bytes> = change.overwrite.iter().cloned().collect();
        if let Some((beyond, _)) = changes.range(next.entries()..).next() {
            return Err(limit::no_such_entry(key, *beyond));
        }
        let sealed = next.sealed();
        for (at, bytes) in changes.range(sealed..) {
            if let Some(entry) = next.tail.get_mut((at - sealed) as usize) {
                *entry = bytes.clone();
            }
        }
        let incarnation = next.version.incarnation;
        let mut garbage = std::mem::take(&mut next.garbage);
        for place in 0..next.roots.len() {
            let root = next.roots[place].clone();
            next.roots[place] = self
                .tree
                .overwrite(key, incarnation, root, &changes, written, &mut garbage)
                .await?;
        }
        next.garbage = garbage;
        Ok(())
    }

    async fn replace_head(
        &self,
        key: &Key,
        expected: Expected,
        change: &Change,
        attempt: Attempt,
    ) -> Result<Version> {
        let Attempt { next, mut when, written } = attempt;
        let path = self.layout.head(key);
        let bytes = next.encode(self.options.compression);
        let mut pauses = self.objects.pauses();
        let mut unclear = false;
        loop {
            let put = self.objects.put_once(&path, bytes.clone(), &when).await;
            let reason = match put.map_err(|error| self.after_unclear(error, unclear))? {
                Put::Done(etag) => return Ok(self.committed(key, next, etag, change).await),
                Put::Refused => "the store refused a write whose condition holds".into(),
                Put::Unclear(reason) => {
                    unclear = true;
                    reason
                }
            };
            // The condition may have failed because our own write succeeded, and so may a lost reply: check at
            // once, while our write id is still among the recent ones.
            match self.own_outcome(key, expected, change, unclear).await {
                Ok(Outcome::Open(again)) => when = again,
                Ok(Outcome::Own(version)) => {
                    self.recognised.fetch_add(1, Ordering::Relaxed);
                    self.finish_erasing(key, change, &next.garbage).await;
                    return Ok(version);
                }
                Ok(Outcome::Lost(current)) => {
                    self.remove_nodes(key, &written).await;
                    return Err(StoreError::Conflict { key: key.clone(), current });
                }
                Ok(Outcome::Unknown) => {
                    let reason = format!(
                        "{reason}; too many commits followed to tell whether this one was applied"
                    );
                    return Err(self.objects.unavailable(reason, true));
                }
                Err(error) => return Err(self.objects.unavailable(error.to_string(), true)),
            }
            match pauses.next() {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(self.objects.unavailable(reason, unclear)),
            }
        }
    }

    /// A clear failure after an unclear attempt leaves the outcome unknown.
    fn after_unclear(&self, error: StoreError, unclear: bool) -> StoreError {
        match unclear {
            false => error,
            true => self.objects.unavailable(error.to_string(), true),
        }
    }

    /// Reads the head again and determines whose write won.
    async fn own_outcome(
        &self,
        key: &Key,
        expected: Expected,
        change: &Change,
        unclear: bool,
    ) -> Result<Outcome> {
        // The cached copy must not be used here.
        self.heads.invalidate(key);
        let current = self.fresh_head(key).await?;
        let own = current.as_ref().and_then(|head| head.object.version_made_by(change.write_id));
        if let Some(version) = own {
            return Ok(Outcome::Own(version));
        }
        Ok(match (expected, current) {
            (Expected::Absent, None) => Outcome::Open(WriteCondition::Absent),
            (Expected::At(version), Some(head)) if head.object.version == version => Outcome::Open(
                head.etag.clone().map_or(WriteCondition::Always, WriteCondition::Matches),
            ),
            (_, None) if unclear => Outcome::Unknown,
            (_, None) => Outcome::Lost(None),
            (expected, Some(head)) => {
                let now = head.object.version;
                let (number, same_incarnation) = match expected {
                    Expected::Absent => (0, true),
                    Expected::At(version) => {
                        (version.number, version.incarnation == now.incarnation)
                    }
                };
                let recognisable =
                    same_incarnation && now.number.saturating_sub(number) <= WRITE_IDS_KEPT as u64;
                match unclear && !recognisable {
                    true => Outcome::Unknown,
                    false => Outcome::Lost(Some(now)),
                }
            }
        })
    }

    async fn committed(
        &self,
        key: &Key,
        next: HeadObject,
        etag: Option<String>,
        change: &Change,
    ) -> Version {
        let version = next.version;
        let garbage = next.garbage.clone();
        match etag {
            Some(_) => self.heads.insert(key.clone(), Arc::new(Tagged { object: next, etag })),
            None => self.heads.invalidate(key),
        }
        self.finish_erasing(key, change, &garbage).await;
        version
    }

    /// After an erasure, removes the objects that contained the old bytes, and old versions. What cannot be removed
    /// now is listed in the head, and the next commit tries again.
    async fn finish_erasing(&self, key: &Key, change: &Change, garbage: &[String]) {
        if change.overwrite.is_empty() {
            return;
        }
        self.remove_nodes(key, garbage).await;
        if self.versioned
            && let Err(error) = self.remove_old_versions(key).await
        {
            tracing::warn!(thread = %key, %error, "old object versions could not be removed");
        }
    }

    /// Removes sealed objects that no head refers to; returns those that could not be removed. They are orphans: a
    /// check reports them and erasing removes them.
    async fn remove_nodes(&self, key: &Key, names: &[String]) -> Vec<String> {
        let mut left = Vec::new();
        for name in names {
            if let Err(error) = self.objects.delete(&self.layout.node(key, name)).await {
                tracing::warn!(thread = %key, object = name, %error, "an object could not be removed");
                left.push(name.clone());
            }
        }
        left
    }
}

/// The error for a thread that is not at the expected version, before anything was sent.
fn conflict(key: &Key, current: Option<Arc<Tagged>>) -> StoreError {
    let current = current.map(|head| head.object.version);
    StoreError::Conflict { key: key.clone(), current }
}

fn empty_head(change: &Change) -> HeadObject {
    HeadObject {
        version: Version { number: 0, incarnation: limit::new_incarnation() },
        changed_at: change.at,
        head: Bytes::new(),
        tail: Vec::new(),
        roots: Vec::new(),
        writes: Vec::new(),
        garbage: Vec::new(),
    }
}
