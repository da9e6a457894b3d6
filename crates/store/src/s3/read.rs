//! Reads heads, entries and listings.
//!
//! Every read is validated by the store: a head is requested with the ETag of the cached copy, which is used only
//! on "not modified". Listings read the start of each head with a new ETag; they are ordered by the time in the
//! head, never by the store's clock.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::ObjectMeta;
use throughline_engine::store::{Key, Kind, ListedThread, Page, Result, Scope, StoreError};

use crate::limit::PAGE_THREADS_MAX;

use super::frame;
use super::head_object::{HeadObject, Summary};
use super::objects::ReadOutcome;
use super::{S3Store, Tagged};

/// Heads fetched concurrently for a listing.
const FETCHES_AT_ONCE: usize = 16;
/// Attempts to read while erasures replace the segments.
const READ_TRIES_MAX: usize = 5;

impl S3Store {
    /// Returns the current head object.
    pub(super) async fn fresh_head(&self, key: &Key) -> Result<Option<Arc<Tagged>>> {
        let cached = self.heads.get(key);
        let known = cached.as_ref().and_then(|head| head.etag.as_deref());
        let path = self.layout.head(key);
        match (self.objects.get(&path, known, None).await?, cached) {
            (ReadOutcome::Missing, _) => {
                self.heads.invalidate(key);
                Ok(None)
            }
            (ReadOutcome::Unchanged, Some(head)) => Ok(Some(head)),
            (ReadOutcome::Unchanged, None) => Err(StoreError::Damaged {
                what: format!("object {path}"),
                reason: "the store replied \"not modified\" to an unconditional request".into(),
            }),
            (ReadOutcome::Object { bytes, etag }, _) => {
                let object = HeadObject::decode(&bytes).map_err(|reason| StoreError::Damaged {
                    what: format!("object {path}"),
                    reason,
                })?;
                let head = Arc::new(Tagged { object, etag });
                self.heads.insert(key.clone(), Arc::clone(&head));
                Ok(Some(head))
            }
        }
    }

    pub(super) async fn read_entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let mut tries = 0;
        loop {
            let Some(head) = self.fresh_head(key).await? else { return Ok(Vec::new()) };
            let object = &head.object;
            match self.tree.read(key, &object.roots, &range).await {
                Ok(mut entries) => {
                    let from = range.start.saturating_sub(object.sealed()) as usize;
                    let to = range.end.saturating_sub(object.sealed()) as usize;
                    let to = to.min(object.tail.len());
                    entries.extend_from_slice(object.tail.get(from..to).unwrap_or_default());
                    return Ok(entries);
                }
                // An erasure may remove a segment between the two reads.
                Err(StoreError::Damaged { .. }) if tries < READ_TRIES_MAX => {
                    let before = head.object.version;
                    let now = self.fresh_head(key).await?;
                    tries = match now {
                        Some(head) if head.object.version == before => READ_TRIES_MAX,
                        _ => tries + 1,
                    };
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) async fn list_newest(
        &self,
        scope: &Scope,
        kind: Kind,
        page: Page,
    ) -> Result<Vec<ListedThread>> {
        let prefix = self.layout.heads_of(scope, kind);
        let found = self.objects.list(&prefix, None, usize::MAX).await?;
        let mut rows = self.rows(found).await?;
        let place = |row: &ListedThread| (std::cmp::Reverse(row.changed_at), row.key.id.clone());
        rows.sort_by_key(place);
        if let Some(mark) = page.after {
            let mark = (std::cmp::Reverse(mark.changed_at), mark.id);
            rows.retain(|row| place(row) > mark);
        }
        rows.truncate(page.limit.min(PAGE_THREADS_MAX));
        Ok(rows)
    }

    pub(super) async fn scan_in_order(
        &self,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<ListedThread>> {
        let mut after = after.map(|key| self.layout.head(key));
        let limit = limit.min(PAGE_THREADS_MAX);
        let mut rows = Vec::new();
        // Heads may vanish between listing and reading, so continue until the page is full.
        while rows.len() < limit {
            let wanted = limit - rows.len();
            let found = self.objects.list(&self.layout.heads(), after.as_ref(), wanted).await?;
            let Some(last) = found.last() else { break };
            after = Some(last.location.clone());
            rows.extend(self.rows(found).await?);
        }
        Ok(rows)
    }

    async fn rows(&self, found: Vec<ObjectMeta>) -> Result<Vec<ListedThread>> {
        let rows = futures::stream::iter(found)
            .map(|meta| self.row(meta))
            .buffered(FETCHES_AT_ONCE)
            .try_collect::<Vec<_>>();
        Ok(rows.await?.into_iter().flatten().collect())
    }

    async fn row(&self, meta: ObjectMeta) -> Result<Option<ListedThread>> {
        let Some(key) = self.layout.key_of_head(&meta.location) else { return Ok(None) };
        let tag = meta.e_tag.clone().map(|etag| (meta.location.to_string(), etag));
        if let Some(summary) = tag.as_ref().and_then(|tag| self.summaries.get(tag)) {
            return Ok(Some(summary.listed(key)));
        }
        let _lock = self.read_lock(&key).await;
        // Servers without conditional requests were found to lack ranges, too.
        let long = self.conditional && meta.size > frame::LINE_BYTES_USUAL;
        let mut first_bytes = long.then_some(frame::LINE_BYTES_USUAL);
        loop {
            let got = self.objects.get(&meta.location, None, first_bytes).await?;
            let ReadOutcome::Object { bytes, etag } = got else { return Ok(None) };
            let facts = frame::facts_of::<Summary>(&bytes);
            let damaged =
                |reason| StoreError::Damaged { what: format!("object {}", meta.location), reason };
            match facts.map_err(damaged)? {
                Some(summary) => {
                    if let Some(etag) = etag {
                        self.summaries.insert((meta.location.to_string(), etag), summary.clone());
                    }
                    return Ok(Some(summary.listed(key)));
                }
                None if first_bytes.take().is_none() => {
                    return Err(damaged("it has no first line".into()));
                }
                None => {}
            }
        }
    }
}
