//! Integrity check: reads every object and reports problems. Repairs nothing.
//!
//! It also reports orphans: sealed objects that no head refers to, left by an interrupted writer. They are
//! harmless and are removed when their thread is erased.

use std::collections::{BTreeMap, HashSet};

use futures::future::{BoxFuture, FutureExt as _};
use throughline_engine::store::{CheckReport, Key, Result, StoreError};

use super::S3Store;
use super::node::Node;

/// Threads listed at a time.
const BATCH_THREADS: usize = 500;

impl S3Store {
    pub(super) async fn check_all(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let mut referred: BTreeMap<Key, HashSet<String>> = BTreeMap::new();
        self.tree.forget();
        let mut after = None;
        loop {
            let heads =
                self.objects.list(&self.layout.heads(), after.as_ref(), BATCH_THREADS).await?;
            let Some(last) = heads.last() else { break };
            after = Some(last.location.clone());
            for meta in heads {
                let Some(key) = self.layout.key_of_head(&meta.location) else {
                    report.problems.push(format!("object {} is foreign", meta.location));
                    continue;
                };
                let names = self.check_thread(&key, &mut report).await?;
                referred.insert(key, names);
            }
        }
        for meta in self.objects.list(&self.layout.segments(), None, usize::MAX).await? {
            let owner = self.layout.key_of_node(&meta.location);
            let known = owner.is_some_and(|(key, name)| {
                referred.get(&key).is_some_and(|names| names.contains(&name))
            });
            if !known {
                report.problems.push(format!("object {} belongs to no thread", meta.location));
            }
        }
        Ok(report)
    }

    async fn check_thread(&self, key: &Key, report: &mut CheckReport) -> Result<HashSet<String>> {
        let mut names = HashSet::new();
        self.heads.invalidate(key);
        let head = match self.fresh_head(key).await {
            Ok(Some(head)) => head,
            Ok(None) => return Ok(names),
            Err(error @ StoreError::Damaged { .. }) => {
                report.problems.push(error.to_string());
                return Ok(names);
            }
            Err(error) => return Err(error),
        };
        report.threads += 1;
        report.entries += head.object.tail.len() as u64;
        for root in &head.object.roots {
            self.check_node(key, root.clone(), &mut names, report).await?;
        }
        Ok(names)
    }

    fn check_node<'a>(
        &'a self,
        key: &'a Key,
        node: Node,
        names: &'a mut HashSet<String>,
        report: &'a mut CheckReport,
    ) -> BoxFuture<'a, Result<()>> {
        async move {
            names.insert(node.name.clone());
            let range = node.range.clone();
            if node.level > 0 {
                match self.tree.children(key, &node).await {
                    Ok(children) => {
                        for child in children {
                            self.check_node(key, child, names, report).await?;
                        }
                    }
                    Err(error @ StoreError::Damaged { .. }) => {
                        report.problems.push(error.to_string())
                    }
                    Err(error) => return Err(error),
                }
                return Ok(());
            }
            match self.tree.read(key, &[node], &range).await {
                Ok(entries) => report.entries += entries.len() as u64,
                Err(error @ StoreError::Damaged { .. }) => report.problems.push(error.to_string()),
                Err(error) => return Err(error),
            }
            Ok(())
        }
        .boxed()
    }
}
