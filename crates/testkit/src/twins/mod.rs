//! Runs the same seeded plan on several stores; any difference in their answers is an error.
//!
//! Excluded from the comparison is what may differ: the random part of a version, the number of records of a thread,
//! and whether a known head is sent again.

mod plan;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use futures::future::join_all;
use throughline_engine::store::{
    Change, Expected, Found, Key, ListedThread, Page, PageMark, Store, StoreError, Version,
};

use plan::{Plan, Step};

/// A store, and what the plan remembers of it.
pub struct Twin {
    name: &'static str,
    store: Arc<dyn Store>,
    /// The versions of each thread, newest last; incarnations differ between stores.
    versions: HashMap<Key, Vec<Version>>,
}

impl Twin {
    /// A store that takes part.
    pub fn new(name: &'static str, store: Arc<dyn Store>) -> Self {
        Self { name, store, versions: HashMap::new() }
    }

    async fn take(&mut self, step: &Step) -> String {
        match self.answer(step).await {
            Ok(answer) => answer,
            Err(StoreError::Conflict { .. }) => "conflict".into(),
            Err(StoreError::Refused { .. }) => "refused".into(),
            Err(StoreError::TooLarge { .. }) => "too large".into(),
            Err(error) => format!("{error}"),
        }
    }

    async fn answer(&mut self, step: &Step) -> Result<String, StoreError> {
        Ok(match step {
            Step::Commit { key, back, change } => {
                let expected = self.expected(key, *back);
                let version = self.store.commit(key, expected, change.clone()).await?;
                self.versions.entry(key.clone()).or_default().push(version);
                format!("version {}", version.number)
            }
            Step::Head { key, back } => {
                let known = match self.expected(key, *back) {
                    Expected::At(version) => Some(version),
                    Expected::Absent => None,
                };
                match self.store.head(key, known).await? {
                    Found::Missing => "missing".into(),
                    Found::Unchanged => "as known".into(),
                    Found::Head(head) if Some(head.version) == known => "as known".into(),
                    Found::Head(head) => {
                        format!("{} {} {:?}", head.version.number, head.entries, head.bytes)
                    }
                }
            }
            Step::Entries { key, range } => {
                format!("{:?}", self.store.entries(key, range.clone()).await?)
            }
            Step::List { key, limit } => {
                let mut all: Vec<ListedThread> = Vec::new();
                loop {
                    let after = all
                        .last()
                        .map(|row| PageMark { changed_at: row.changed_at, id: row.key.id.clone() });
                    let page = Page { limit: *limit, after };
                    let found = self.store.list(&key.scope, key.kind, page).await?;
                    if found.is_empty() {
                        break rows(&all);
                    }
                    all.extend(found);
                }
            }
            Step::Scan { after, limit } => rows(&self.store.scan(after.as_ref(), *limit).await?),
            Step::Erase { key } => {
                let erased = self.store.erase(key).await?;
                let (heads, entries) = (erased.heads, erased.entries);
                format!("{heads} heads {entries} entries {} bytes", erased.bytes)
            }
        })
    }

    /// The version `back` commits ago: 0 is the newest. Absent for a thread that never existed.
    fn expected(&self, key: &Key, back: usize) -> Expected {
        let versions = self.versions.get(key).map(Vec::as_slice).unwrap_or_default();
        match versions.len().checked_sub(back + 1) {
            Some(place) => Expected::At(versions[place]),
            None => Expected::Absent,
        }
    }

    /// After an erasure the next commit creates the thread anew.
    fn settle(&mut self, step: &Step, answer: &str) {
        if let Step::Erase { key } = step
            && !answer.starts_with("0 heads")
        {
            self.versions.remove(key);
        }
    }
}

fn rows(listed: &[ListedThread]) -> String {
    let mut text = String::new();
    for ListedThread { key, version, entries, changed_at } in listed {
        let _ = write!(text, "{key} {} {entries} {changed_at}; ", version.number);
    }
    text
}

/// Runs the plan of `seed` on all twins.
///
/// # Errors
///
/// The first difference: seed, step, and what each store answered.
pub async fn run(twins: &mut [Twin], seed: u64, steps: usize) -> Result<(), String> {
    let mut plan = Plan::new(seed);
    for number in 0..steps {
        let step = plan.next_step();
        let answers = join_all(twins.iter_mut().map(|twin| twin.take(&step))).await;
        for (twin, answer) in twins.iter_mut().zip(&answers) {
            twin.settle(&step, answer);
        }
        if answers.iter().any(|answer| *answer != answers[0]) {
            let mut text = format!("twins differ: seed {seed}, step {number}: {step:?}\n");
            for (twin, answer) in twins.iter().zip(&answers) {
                let _ = writeln!(text, "- {}: {answer}", twin.name);
            }
            return Err(text);
        }
    }
    Ok(())
}

/// An empty change, for a plan to fill in.
fn empty_change(at: jiff::Timestamp) -> Change {
    Change::of_head(bytes::Bytes::new(), at, uuid::Uuid::now_v7())
}
