//! Reads without locks.
//!
//! A head is replaced atomically, so it is always consistent. A log may be rewritten or erased between reading
//! the head and reading the log; the head has then changed as well, and both are read again.

use std::ops::Range;

use bytes::Bytes;
use throughline_engine::store::{Found, Head, Key, ListedThread, Result, StoreError, Version};

use super::Shared;
use super::damage::blocked_id;
use super::fault::translate;
use super::head::{HeadError, HeadFile};
use super::layout::{Layout, Strays, places_in, thread_ids};
use super::log;
use crate::limit::PAGE_THREADS_MAX;

/// Attempts to read a log that is being changed.
const READINGS_MAX: usize = 100;

pub(super) fn head(layout: &Layout, key: &Key, known: Option<Version>) -> Result<Found> {
    Ok(match current(layout, key)? {
        None => Found::Missing,
        Some(head) if known == Some(head.version) => Found::Unchanged,
        Some(head) => {
            Found::Head(Head { version: head.version, entries: head.entries, bytes: head.bytes })
        }
    })
}

fn current(layout: &Layout, key: &Key) -> Result<Option<HeadFile>> {
    layout.refuse_linked_thread(key).map_err(|error| translate(key, &error))?;
    let folder = layout.thread(key);
    match HeadFile::read(&folder, key) {
        Ok((head, _)) => Ok(Some(head)),
        Err(HeadError::Missing) => match blocked_id(layout, key) {
            Ok(None) => Ok(None),
            Ok(Some(reason)) => Err(StoreError::Damaged { what: key.to_string(), reason }),
            Err(error) => Err(translate(folder.display(), &error)),
        },
        Err(HeadError::Damaged(reason)) => {
            Err(StoreError::Damaged { what: key.to_string(), reason })
        }
        Err(HeadError::Failed(error)) => Err(translate(folder.display(), &error)),
    }
}

pub(super) fn entries(layout: &Layout, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
    let folder = layout.thread(key);
    let mut head = current(layout, key)?;
    for _ in 0..READINGS_MAX {
        let Some(read) = &head else { return Ok(Vec::new()) };
        let range = range.start.min(read.entries)..range.end.min(read.entries);
        match log::read(&folder, read, range) {
            Ok(entries) => return Ok(entries),
            Err(error) => {
                let again = current(layout, key)?;
                if again == head {
                    return Err(translate(key, &error));
                }
                head = again;
            }
        }
    }
    Err(StoreError::Unavailable {
        what: key.to_string(),
        reason: "it kept changing while being read".into(),
        outcome_unknown: false,
    })
}

pub(super) fn scan(
    shared: &Shared,
    after: Option<&Key>,
    limit: usize,
) -> Result<Vec<ListedThread>> {
    let limit = limit.min(PAGE_THREADS_MAX);
    let layout = &shared.layout;
    let fail = |error: std::io::Error| translate(layout.root.display(), &error);
    let mut found = Vec::new();
    for (scope, kind) in places_in(&layout.threads(), &mut Strays::new()).map_err(fail)? {
        let before =
            after.is_some_and(|key| (&scope, kind.as_str()) < (&key.scope, key.kind.as_str()));
        if before {
            continue;
        }
        for id in thread_ids(&layout.place(&scope, kind), &mut Strays::new()).map_err(fail)? {
            if found.len() == limit {
                return Ok(found);
            }
            let key = Key { scope: scope.clone(), kind, id };
            if after.is_none_or(|after| key > *after) {
                found.extend(shared.catalogue.look_up(layout, &key, &shared.damage)?);
            }
        }
    }
    Ok(found)
}
