//! Erases a thread: its head, all its objects, and old versions if the bucket keeps them.
//!
//! The head is removed first, so that the condition of a concurrent writer fails. Objects of a thread recreated
//! under the same key meanwhile are spared: its head is read after the objects are listed, and a thread's first
//! commit never seals.

use std::sync::Arc;

use throughline_engine::store::{Erased, Key, Result};

use super::node::Node;
use super::{S3Store, Tagged};

impl S3Store {
    pub(super) async fn erase_thread(&self, key: &Key) -> Result<Erased> {
        let mut erased = Erased::default();
        if let Some(head) = self.fresh_head(key).await? {
            self.count(key, &head, &mut erased).await;
            self.objects.delete(&self.layout.head(key)).await?;
            erased.heads = 1;
            erased.records = 1;
        }
        self.heads.invalidate(key);
        let segments = self.layout.segments_of(key);
        let found = self.objects.list(&segments, None, usize::MAX).await?;
        let current = match found.is_empty() {
            true => None,
            false => self.fresh_head(key).await?.map(|head| head.object.version.incarnation),
        };
        for meta in found {
            let name = meta.location.filename().unwrap_or_default();
            if current.is_some() && Node::incarnation(name) == current {
                continue;
            }
            match self.objects.delete(&meta.location).await {
                Ok(()) => erased.records += 1,
                Err(error) => {
                    tracing::warn!(thread = %key, object = name, %error, "could not be erased");
                    erased.left += 1;
                }
            }
        }
        self.tree.forget();
        if self.versioned {
            erased.left += self.remove_all_versions(key).await?;
        }
        if erased.left > 0 {
            let note = "some objects remain: a retention rule or missing permissions protect them";
            erased.notes.push(note.into());
        }
        Ok(erased)
    }

    /// Counts entries and bytes for the report. Unreadable objects are not counted, but removed all the same.
    async fn count(&self, key: &Key, head: &Arc<Tagged>, erased: &mut Erased) {
        let object = &head.object;
        erased.entries = object.entries();
        erased.bytes = (object.head.len() + object.tail_bytes()) as u64;
        if let Ok(sealed) = self.tree.read(key, &object.roots, &(0..object.sealed())).await {
            erased.bytes += sealed.iter().map(|entry| entry.len() as u64).sum::<u64>();
        }
    }

    /// Removes all versions except the current one; returns how many remain.
    pub(super) async fn remove_old_versions(&self, key: &Key) -> Result<u64> {
        self.remove_versions(key, false).await
    }

    async fn remove_all_versions(&self, key: &Key) -> Result<u64> {
        self.remove_versions(key, true).await
    }

    async fn remove_versions(&self, key: &Key, current_too: bool) -> Result<u64> {
        let head = self.layout.head(key);
        let segments = format!("{}/", self.layout.segments_of(key));
        let mut left = 0;
        let mut versions = self.bucket.versions(head.as_ref()).await?;
        // The prefix of a head's name also matches other threads.
        versions.retain(|version| version.key == head.as_ref());
        versions.extend(self.bucket.versions(&segments).await?);
        let current = match current_too {
            true => self.fresh_head(key).await?.map(|head| head.object.version.incarnation),
            false => None,
        };
        for version in versions {
            let name = version.key.rsplit('/').next().unwrap_or_default();
            let spared = version.is_latest
                && (!current_too || (current.is_some() && version.key == head.as_ref()));
            if spared || (current.is_some() && Node::incarnation(name) == current) {
                continue;
            }
            if !self.bucket.delete_version(&version).await? {
                left += 1;
            }
        }
        Ok(left)
    }
}
