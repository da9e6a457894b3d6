//! Listings by a user's set, and the scan over all keys.
//!
//! The set is only a hint: every row is read from its thread. On a single server its scores are exact. On a
//! cluster a score may be later than the thread's time (if a commit was announced and then lost), never
//! earlier; so rows are collected until no remaining one can precede the last row of the page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt as _, TryStreamExt as _};
use throughline_engine::id::ThreadId;
use throughline_engine::store::{Key, Kind, ListedThread, Page, Result, Scope};

use super::commit::GRACE_MS;
use super::{RedisStore, damaged, parse, version};
use crate::limit::PAGE_THREADS_MAX;

/// Ids fetched from a set at a time.
const NAMES_AT_ONCE: usize = 256;
/// Threads read concurrently.
const ROWS_AT_ONCE: usize = 64;
/// `COUNT` hint for SCAN.
const SCAN_COUNT: usize = 1000;

/// Which ids without a thread are removed from a user's set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Forget {
    /// After a listing: all except those whose threads may not be written yet.
    UnlessAnnounced,
    /// After an erasure: all.
    Always,
}

impl RedisStore {
    pub(super) async fn list_newest(
        &self,
        scope: &Scope,
        kind: Kind,
        page: Page,
    ) -> Result<Vec<ListedThread>> {
        let limit = page.limit.min(PAGE_THREADS_MAX);
        let set = self.keys.set(scope, kind);
        let top = match &page.after {
            Some(mark) if !self.connection.is_cluster() => {
                mark.changed_at.as_microsecond().to_string()
            }
            _ => "+inf".into(),
        };
        let mut rows: BTreeMap<(Reverse<jiff::Timestamp>, ThreadId), ListedThread> =
            BTreeMap::new();
        let mut gone = Vec::new();
        let mut offset = 0;
        if limit == 0 {
            return Ok(Vec::new());
        }
        loop {
            let mut command = redis::cmd("ZREVRANGEBYSCORE");
            command.arg(&set).arg(&top).arg("-inf").arg("WITHSCORES");
            command.arg("LIMIT").arg(offset).arg(NAMES_AT_ONCE);
            let names: Vec<(String, f64)> = self.connection.query(&command).await?;
            let Some((_, lowest)) = names.last() else { break };
            let lowest = *lowest as i64;
            offset += names.len();
            let ids = names.into_iter().filter_map(|(name, _)| ThreadId::new(name).ok());
            let keys: Vec<Key> = ids.map(|id| Key { scope: scope.clone(), kind, id }).collect();
            for (key, row) in self.rows(keys).await? {
                match row {
                    Some(row) => drop(rows.insert((Reverse(row.changed_at), key.id), row)),
                    None => gone.push(key.id),
                }
            }
            if let Some(mark) = &page.after {
                rows.retain(|place, _| *place > (Reverse(mark.changed_at), mark.id.clone()));
            }
            let last_kept = rows.keys().nth(limit.saturating_sub(1));
            if last_kept.is_some_and(|(Reverse(time), _)| time.as_microsecond() > lowest) {
                break;
            }
        }
        self.forget(scope, kind, &gone, Forget::UnlessAnnounced).await?;
        Ok(rows.into_values().take(limit).collect())
    }

    /// Removes the ids of missing threads from a user's set.
    pub(super) async fn forget(
        &self,
        scope: &Scope,
        kind: Kind,
        ids: &[ThreadId],
        forget: Forget,
    ) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let names = [self.keys.set(scope, kind), self.keys.announced(scope, kind)];
        let always = if forget == Forget::Always { "1" } else { "0" };
        let mut call = self.scripts.forget.call(&names).arg(GRACE_MS.to_string()).arg(always);
        for id in ids {
            call = call.arg(id.as_str());
        }
        let _: i64 = self.connection.run(&call).await?.value;
        Ok(())
    }

    pub(super) async fn scan_in_order(
        &self,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<ListedThread>> {
        let limit = limit.min(PAGE_THREADS_MAX);
        let mut after = after.cloned();
        let mut rows = Vec::new();
        // Threads may expire between the two reads, so continue until the page is full.
        while rows.len() < limit {
            let keys = self.next_keys(after.as_ref(), limit - rows.len()).await?;
            let Some(last) = keys.last() else { break };
            after = Some(last.clone());
            let found = self.rows(keys).await?;
            rows.extend(found.into_iter().filter_map(|(_, row)| row));
        }
        Ok(rows)
    }

    /// The first `limit` keys after `after`. SCAN is unordered, so this visits every key.
    async fn next_keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>> {
        let mut first: BTreeSet<Key> = BTreeSet::new();
        for node in self.connection.primaries().await? {
            let mut cursor = "0".to_owned();
            loop {
                let mut command = redis::cmd("SCAN");
                command.arg(&cursor).arg("MATCH").arg(self.keys.pattern());
                command.arg("COUNT").arg(SCAN_COUNT);
                let (next, names): (String, Vec<String>) =
                    self.connection.query_node(node.as_ref(), &command).await?;
                for key in names.iter().filter_map(|name| self.keys.parse(name)) {
                    if after.is_none_or(|after| key > *after) {
                        first.insert(key);
                    }
                    if first.len() > limit {
                        first.pop_last();
                    }
                }
                cursor = next;
                if cursor == "0" {
                    break;
                }
            }
        }
        Ok(first.into_iter().collect())
    }

    /// The row of each thread; `None` if it is gone.
    async fn rows(&self, keys: Vec<Key>) -> Result<Vec<(Key, Option<ListedThread>)>> {
        futures::stream::iter(keys)
            .map(|key| async { Ok((key.clone(), self.row(key).await?)) })
            .buffered(ROWS_AT_ONCE)
            .try_collect()
            .await
    }

    pub(super) async fn row(&self, key: Key) -> Result<Option<ListedThread>> {
        let thread = self.keys.thread(&key);
        let mut command = redis::cmd("HMGET");
        command.arg(&thread).arg(&["version", "incarnation", "entries", "changed_at"]);
        let fields: Vec<Option<Vec<u8>>> = self.connection.query(&command).await?;
        if fields.iter().all(Option::is_none) {
            return Ok(None);
        }
        let fields: Option<Vec<Vec<u8>>> = fields.into_iter().collect();
        let Some([number, incarnation, entries, changed_at]) = fields.as_deref() else {
            return Err(damaged(&thread, "it lacks fields of a thread"));
        };
        Ok(Some(ListedThread {
            version: version(&thread, number, incarnation)?,
            entries: parse(&thread, "entries", entries)?,
            changed_at: parse(&thread, "changed_at", changed_at)?,
            key,
        }))
    }
}
