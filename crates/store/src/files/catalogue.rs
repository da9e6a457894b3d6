//! What is known of every head without reading it again.
//!
//! A listing must not read every log, nor every head. The catalogue remembers what each head said and
//! the stamp of the file that said it; a listing looks at the stamps only and reads the heads that
//! another process has replaced.
//!
//! Invariant: a card is used only while its stamp is that of the file in place.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::{Mutex, MutexGuard};

use throughline_engine::store::{Key, Kind, ListedThread, Result, Scope};

use super::fault::translate;
use super::head::{HeadFile, NoHead, Stamp};
use super::layout::{HEAD, Layout, Strays, thread_ids};

/// Cards by key.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    cards: Mutex<HashMap<Key, Card>>,
}

#[derive(Debug)]
struct Card {
    listed: ListedThread,
    stamp: Stamp,
}

impl Catalogue {
    fn cards(&self) -> MutexGuard<'_, HashMap<Key, Card>> {
        // A card is replaced whole, so a panic elsewhere leaves none half-written.
        self.cards.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Notes what a head says.
    pub(super) fn note(&self, key: &Key, head: &HeadFile, stamp: Stamp) -> ListedThread {
        let listed = ListedThread {
            key: key.clone(),
            version: head.version,
            entries: head.entries,
            changed_at: head.changed_at,
        };
        self.cards().insert(key.clone(), Card { listed: listed.clone(), stamp });
        listed
    }

    /// Forgets a thread.
    pub(super) fn forget(&self, key: &Key) {
        self.cards().remove(key);
    }

    /// The thread as it is now; `None` when it is gone, or damaged, which is reported.
    pub(super) fn look_up(&self, layout: &Layout, key: &Key) -> Result<Option<ListedThread>> {
        let folder = layout.thread(key);
        match std::fs::metadata(folder.join(HEAD)) {
            Ok(metadata) => {
                let stamp = Stamp::of(&metadata);
                if let Some(card) = self.cards().get(key).filter(|card| card.stamp == stamp) {
                    return Ok(Some(card.listed.clone()));
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(translate(folder.display(), &error)),
        }
        match HeadFile::read(&folder, key) {
            Ok((head, stamp)) => Ok(Some(self.note(key, &head, stamp))),
            Err(NoHead::Missing) => {
                self.forget(key);
                Ok(None)
            }
            Err(NoHead::Damaged(reason)) => {
                tracing::warn!(thread = %key, reason, "a damaged thread is left out of a listing");
                Ok(None)
            }
            Err(NoHead::Failed(error)) => Err(translate(folder.display(), &error)),
        }
    }

    /// Every thread of a scope and kind, in no order.
    pub(super) fn all(
        &self,
        layout: &Layout,
        scope: &Scope,
        kind: Kind,
    ) -> Result<Vec<ListedThread>> {
        let place = layout.place(scope, kind);
        let ids = thread_ids(&place, &mut Strays::new())
            .map_err(|error| translate(place.display(), &error))?;
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            found.extend(self.look_up(layout, &Key { scope: scope.clone(), kind, id })?);
        }
        Ok(found)
    }
}
