//! Reads and writes the sealed part of a log.
//!
//! Objects below a root never change, so cached copies stay valid; the cache is bounded. Nothing here touches
//! the head object: what is written becomes part of a thread only when [`super::commit`] replaces the head.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _};
use futures::{StreamExt as _, TryStreamExt as _};
use moka::sync::Cache;
use serde::{Deserialize, Serialize};
use throughline_engine::store::{Key, Result, StoreError};

use super::frame;
use super::layout::Layout;
use super::node::{self, Node};
use super::objects::{Objects, ReadOutcome};
use super::options::Compression;

/// Maximum size of cached sealed objects.
const CACHE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Sealed objects fetched concurrently for one read.
const FETCHES_AT_ONCE: usize = 8;

/// The sealed objects of all threads.
#[derive(Debug)]
pub(super) struct LogTree {
    objects: Arc<Objects>,
    layout: Layout,
    compression: Compression,
    cache: Cache<String, Arc<Vec<Bytes>>>,
}

/// The header line of a sealed object.
#[derive(Serialize, Deserialize)]
struct Sealed {
    format: u32,
    level: u8,
    first: u64,
}

impl LogTree {
    pub(super) fn new(objects: Arc<Objects>, layout: Layout, compression: Compression) -> Self {
        let weigh = |_: &String, parts: &Arc<Vec<Bytes>>| {
            let bytes: usize = parts.iter().map(|part| part.len() + 64).sum();
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder().max_capacity(CACHE_BYTES_MAX).weigher(weigh).build();
        Self { objects, layout, compression, cache }
    }

    /// Seals `entries` after `roots` and merges full levels. Adds the names of new objects to `written`.
    pub(super) async fn seal(
        &self,
        key: &Key,
        incarnation: u32,
        roots: &mut Vec<Node>,
        entries: Vec<Bytes>,
        written: &mut Vec<String>,
    ) -> Result<()> {
        let first = roots.last().map_or(0, |node| node.range.end);
        let segment = Node::new(incarnation, 0, first..first + entries.len() as u64);
        self.write(key, &segment, entries, written).await?;
        roots.push(segment);
        while let Some(run) = node::full_level(roots) {
            let range = run[0].range.start..run[run.len() - 1].range.end;
            let index = Node::new(incarnation, run[0].level + 1, range);
            let names = run.iter().map(|node| Bytes::from(node.name.clone())).collect();
            self.write(key, &index, names, written).await?;
            roots.truncate(roots.len() - node::FAN_OUT);
            roots.push(index);
        }
        Ok(())
    }

    /// Reads the sealed entries of `range` below `roots`, oldest first.
    pub(super) async fn read(
        &self,
        key: &Key,
        roots: &[Node],
        range: &Range<u64>,
    ) -> Result<Vec<Bytes>> {
        let wanted: Vec<Node> = roots.iter().filter(|node| node.overlaps(range)).cloned().collect();
        let parts: Vec<Vec<Bytes>> = futures::stream::iter(wanted)
            .map(|node| self.read_node(key, node, range.clone()))
            .buffered(FETCHES_AT_ONCE)
            .try_collect()
            .await?;
        Ok(parts.concat())
    }

    fn read_node<'a>(
        &'a self,
        key: &'a Key,
        node: Node,
        range: Range<u64>,
    ) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        async move {
            if node.level > 0 {
                return self.read(key, &self.children(key, &node).await?, &range).await;
            }
            let entries = self.fetch(key, &node).await?;
            let place =
                |at: u64| (at.clamp(node.range.start, node.range.end) - node.range.start) as usize;
            Ok(entries[place(range.start)..place(range.end)].to_vec())
        }
        .boxed()
    }

    /// Replaces entries below `node`; returns the new node, and adds the names of replaced objects to `replaced`.
    pub(super) fn overwrite<'a>(
        &'a self,
        key: &'a Key,
        incarnation: u32,
        node: Node,
        changes: &'a BTreeMap<u64, Bytes>,
        written: &'a mut Vec<String>,
        replaced: &'a mut Vec<String>,
    ) -> BoxFuture<'a, Result<Node>> {
        async move {
            if changes.range(node.range.clone()).next().is_none() {
                return Ok(node);
            }
            let fresh = Node::new(incarnation, node.level, node.range.clone());
            let parts = if node.level == 0 {
                let mut entries = self.fetch(key, &node).await?.as_ref().clone();
                for (at, bytes) in changes.range(node.range.clone()) {
                    entries[(at - node.range.start) as usize] = bytes.clone();
                }
                entries
            } else {
                let mut names = Vec::new();
                for child in self.children(key, &node).await? {
                    let child =
                        self.overwrite(key, incarnation, child, changes, written, replaced).await?;
                    names.push(Bytes::from(child.name));
                }
                names
            };
            self.write(key, &fresh, parts, written).await?;
            replaced.push(node.name);
            Ok(fresh)
        }
        .boxed()
    }

    /// The child nodes of an index.
    pub(super) async fn children(&self, key: &Key, node: &Node) -> Result<Vec<Node>> {
        let names = self.fetch(key, node).await?;
        let parse = |name: &Bytes| std::str::from_utf8(name).ok().and_then(Node::parse);
        names.iter().map(parse).collect::<Option<Vec<_>>>().ok_or_else(|| {
            self.damaged(key, &node.name, "it contains an invalid object name".into())
        })
    }

    async fn write(
        &self,
        key: &Key,
        node: &Node,
        parts: Vec<Bytes>,
        written: &mut Vec<String>,
    ) -> Result<()> {
        let facts = Sealed { format: 1, level: node.level, first: node.range.start };
        let object = frame::encode(&facts, &parts, self.compression);
        written.push(node.name.clone());
        let path = self.layout.node(key, &node.name);
        self.objects.put_fresh(&path, object).await?;
        self.cache.insert(path.to_string(), Arc::new(parts));
        Ok(())
    }

    async fn fetch(&self, key: &Key, node: &Node) -> Result<Arc<Vec<Bytes>>> {
        let path = self.layout.node(key, &node.name);
        if let Some(parts) = self.cache.get(path.as_ref()) {
            return Ok(parts);
        }
        let bytes = match self.objects.get(&path, None, None).await? {
            ReadOutcome::Object { bytes, .. } => bytes,
            _ => return Err(self.damaged(key, &node.name, "it is missing".into())),
        };
        let decoded = frame::decode::<Sealed>(&bytes);
        let (facts, parts) = decoded.map_err(|reason| self.damaged(key, &node.name, reason))?;
        let whole = match node.level {
            0 => parts.len() as u64 == node.range.end - node.range.start,
            _ => parts.len() == node::FAN_OUT,
        };
        if !whole || facts.level != node.level || facts.first != node.range.start {
            return Err(self.damaged(
                key,
                &node.name,
                "its content does not match its name".into(),
            ));
        }
        let parts = Arc::new(parts);
        self.cache.insert(path.to_string(), Arc::clone(&parts));
        Ok(parts)
    }

    /// Clears the cache, so that a check reads from the store.
    pub(super) fn forget(&self) {
        self.cache.invalidate_all();
    }

    fn damaged(&self, key: &Key, name: &str, reason: String) -> StoreError {
        StoreError::Damaged { what: format!("object {}", self.layout.node(key, name)), reason }
    }
}
