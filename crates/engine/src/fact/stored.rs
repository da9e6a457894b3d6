//! Stores, finds, changes and forgets a user's facts.
//!
//! Each fact is a thread whose log has the earlier versions. The facts of recently active users are cached, and a
//! marker in the store validates the copy with one cheap read. Which facts a request shows is decided elsewhere.
//!
//! Invariant: every key is built from the caller's scope, so nobody reaches another user's facts.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::access::{Action, Caller, authorize};
use crate::clock::Clock;
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::limits::Limits;
use crate::search::{Calibration, ItemIndex};
use crate::store::{Erased, Key, Kind, Scope, Store, Version};

use super::book::Book;
use super::forgotten::{self, ForgottenWords};
use super::gather::subject_key;
use super::plan::{Plan, may_replace};
use super::threads::{AT_ONCE, CREATED_AT_ONCE, PreviousValue, Threads};
use super::{Fact, FactDraft, FactPatch};

pub use super::plan::AddedFact;

/// Size of the cache.
const CACHE_BYTES: u64 = 32 << 20;
/// A fact's last use is written at most once in this time.
const USED_EVERY: SignedDuration = SignedDuration::from_mins(1);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    pub facts: u64,
    /// What the store removed, including earlier versions.
    pub stored: Erased,
}

impl Forgotten {
    pub(crate) fn add(&mut self, more: Self) {
        self.facts += more.facts;
        self.stored.add(more.stored);
    }
}

pub struct Facts {
    threads: Threads,
    /// What users have forgotten.
    forgotten: Threads,
    clock: Arc<dyn Clock>,
    pub(super) limits: Arc<Limits>,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) calibration: Calibration,
    books: moka::sync::Cache<Scope, Arc<Book>>,
    pub(super) indexes: moka::sync::Cache<Scope, Arc<Mutex<ItemIndex>>>,
}

impl Facts {
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        limits: Arc<Limits>,
        (embedder, calibration): (Arc<dyn Embedder>, Calibration),
        cache_age: Duration,
    ) -> Self {
        let books = moka::sync::Cache::builder()
            .max_capacity(CACHE_BYTES)
            .weigher(|_, book: &Arc<Book>| u32::try_from(book.bytes()).unwrap_or(u32::MAX))
            .time_to_live(cache_age)
            .build();
        let indexes =
            moka::sync::Cache::builder().max_capacity(100).time_to_idle(cache_age).build();
        let threads = Threads::new(store.clone(), clock.clone(), Kind::Fact);
        let forgotten = Threads::new(store, clock.clone(), Kind::Job);
        Self { threads, forgotten, clock, limits, embedder, calibration, books, indexes }
    }

    /// The caller's facts that are not superseded, most recently changed first. One cheap read if nothing has
    /// changed.
    pub async fn current(&self, caller: &Caller) -> Result<Arc<Vec<Fact>>> {
        authorize(caller, Action::Read)?;
        Ok(self.book(&caller.scope).await?.current.clone())
    }

    /// All current facts of a scope, for the engine's own use.
    pub(crate) async fn of_scope(&self, scope: &Scope) -> Result<Arc<Vec<Fact>>> {
        Ok(self.book(scope).await?.current.clone())
    }

    /// These facts, including superseded ones, if all of them still exist.
    pub(crate) async fn kept(&self, scope: &Scope, ids: &[&str]) -> Result<Option<Vec<Fact>>> {
        let book = self.book(scope).await?;
        Ok(ids.iter().map(|id| book.find(id).cloned()).collect())
    }

    /// The limit of facts, if the user has so many that no more can be added.
    pub(crate) async fn full(&self, scope: &Scope) -> Result<Option<usize>> {
        let limit = self.limits.facts_max;
        Ok((self.book(scope).await?.facts().count() >= limit).then_some(limit))
    }

    /// A fact, even a superseded one.
    pub async fn get(&self, caller: &Caller, id: &str) -> Result<Fact> {
        authorize(caller, Action::Read)?;
        self.book(&caller.scope).await?.find(id).cloned().ok_or_else(|| missing(id))
    }

    /// The history of a fact: older facts that it supersedes, its own earlier versions, and the current one.
    /// Oldest first.
    pub async fn history(&self, caller: &Caller, id: &str) -> Result<Vec<Fact>> {
        let mut versions: Vec<Fact> = Vec::new();
        for fact in self.with_superseded(caller, id).await?.iter().rev() {
            versions.extend(self.versions(caller, &fact.id).await?);
        }
        versions.sort_by_key(|version| version.changed_at);
        Ok(versions)
    }

    /// A fact and those that it supersedes, directly or through others; newest first.
    pub(crate) async fn with_superseded(&self, caller: &Caller, id: &str) -> Result<Vec<Fact>> {
        let mut facts = vec![self.get(caller, id).await?];
        let book = self.book(&caller.scope).await?;
        let mut at = 0;
        while let Some(id) = facts.get(at).map(|fact| fact.id.clone()) {
            for older in book.facts().filter(|fact| fact.superseded_by.as_ref() == Some(&id)) {
                if !facts.iter().any(|known| known.id == older.id) {
                    facts.push(older.clone());
                }
            }
            at += 1;
        }
        Ok(facts)
    }

    /// A fact's own versions; changes that do not affect its content are skipped.
    async fn versions(&self, caller: &Caller, id: &str) -> Result<Vec<Fact>> {
        let key = self.threads.key(&caller.scope, id)?;
        let mut versions: Vec<Fact> = self.threads.earlier(&key).await?;
        versions.extend(self.threads.read::<Fact>(&key).await?.map(|(_, fact)| fact));
        let mut distinct: Vec<Fact> = Vec::new();
        for version in versions {
            match distinct.last_mut() {
                Some(last) if last.changed_at == version.changed_at => *last = version,
                _ => distinct.push(version),
            }
        }
        Ok(distinct)
    }

    /// Stores a fact. The same text again returns the existing fact; a different text about the same subject
    /// supersedes it.
    pub async fn add(&self, caller: &Caller, draft: FactDraft) -> Result<AddedFact> {
        let mut added = self.add_all(caller, vec![draft]).await?;
        added.pop().ok_or_else(|| Error::invalid("text", "it is empty"))
    }

    /// Stores several facts, all or none: everything is validated first, and writes are undone if the store fails
    /// halfway.
    pub async fn add_all(&self, caller: &Caller, drafts: Vec<FactDraft>) -> Result<Vec<AddedFact>> {
        authorize(caller, Action::Write)?;
        let now = self.clock.now();
        let wanted: Vec<Fact> = drafts
            .into_iter()
            .map(|draft| {
                let id = self.clock.id().to_string();
                Ok(draft.checked(&self.limits)?.into_fact(id, now))
            })
            .collect::<Result<_>>()?;
        self.write(caller, wanted).await
    }

    /// Adds validated facts with the ids they have.
    pub(super) async fn write(&self, caller: &Caller, wanted: Vec<Fact>) -> Result<Vec<AddedFact>> {
        let scope = &caller.scope;
        let book = self.book(scope).await?;
        let existing: Vec<Fact> = book.facts().cloned().collect();
        let plan = Plan::of(&existing, wanted, &self.limits)?;
        if plan.new.is_empty() && plan.confirmed.is_empty() {
            return Ok(plan.added);
        }
        let creating = stream::iter(plan.new.clone()).map(|fact| async move {
            let key = self.threads.key(scope, &fact.id)?;
            self.threads.create(&key, &fact, &[]).await.map(|()| key)
        });
        // Wait for all of them, so that everything written can be undone.
        let created: Vec<Result<Key>> = creating.buffer_unordered(CREATED_AT_ONCE).collect().await;
        let (done, failed): (Vec<_>, Vec<_>) = created.into_iter().partition(Result::is_ok);
        if let Some(error) = failed.into_iter().find_map(Result::err) {
            let done: Vec<Key> = done.into_iter().flatten().collect();
            self.threads.take_back(&done).await;
            self.moved(scope).await;
            return Err(error);
        }
        let marked = self.mark_all(scope, &plan).await;
        self.moved(scope).await;
        marked?;
        Ok(plan.added)
    }

    /// Marks facts that a plan supersedes or confirms.
    async fn mark_all(&self, scope: &Scope, plan: &Plan) -> Result<()> {
        let superseding = stream::iter(plan.superseded.clone())
            .map(|(old, by)| async move { self.supersede(scope, &old, &by).await });
        superseding.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
        for (id, trust) in &plan.confirmed {
            let key = self.threads.key(scope, id)?;
            let confirm = |fact: &Fact| Ok(Some(Fact { trust: *trust, ..fact.clone() }));
            self.threads.update(&key, PreviousValue::Kept, confirm).await?;
        }
        Ok(())
    }

    async fn supersede(&self, scope: &Scope, old: &str, by: &str) -> Result<()> {
        let key = self.threads.key(scope, old)?;
        let mark =
            |fact: &Fact| Ok(Some(Fact { superseded_by: Some(by.to_owned()), ..fact.clone() }));
        self.threads.update(&key, PreviousValue::Kept, mark).await?;
        Ok(())
    }

    /// Changes a fact; the previous version stays in its history.
    pub async fn change(&self, caller: &Caller, id: &str, patch: &FactPatch) -> Result<AddedFact> {
        authorize(caller, Action::Write)?;
        let key = self.threads.key(&caller.scope, id)?;
        let now = self.clock.now();
        let correct = |fact: &Fact| {
            let changed = patch.over(fact, now, &self.limits)?;
            Ok((changed != *fact).then_some(changed))
        };
        let changed = self.threads.update(&key, PreviousValue::Kept, correct).await?;
        let fact = changed.ok_or_else(|| missing(id))?;
        let book = self.book(&caller.scope).await?;
        let about = fact.subject.as_deref().map(subject_key);
        let rivals = book.current.iter().filter(|rival| {
            let rival_about = rival.subject.as_deref().map(subject_key);
            rival.id != fact.id && about.is_some() && rival_about == about
        });
        let rivals = rivals.filter(|_| fact.superseded_by.is_none()).cloned();
        let (superseded, contradicts): (Vec<Fact>, Vec<Fact>) =
            rivals.partition(|rival| may_replace(&fact, rival));
        for rival in &superseded {
            self.supersede(&caller.scope, &rival.id, &fact.id).await?;
        }
        self.moved(&caller.scope).await;
        Ok(AddedFact { fact, known: true, superseded, contradicts })
    }

    /// Forgets a fact, with those that it supersedes: what was true before is not told instead.
    pub async fn forget(&self, caller: &Caller, id: &str) -> Result<Forgotten> {
        authorize(caller, Action::Write)?;
        let facts = self.with_superseded(caller, id).await?;
        let keys: Vec<Key> = facts
            .iter()
            .map(|fact| self.threads.key(&caller.scope, &fact.id))
            .collect::<Result<_>>()?;
        self.erase(&caller.scope, &keys).await
    }

    pub async fn forget_all(&self, caller: &Caller) -> Result<Forgotten> {
        authorize(caller, Action::Write)?;
        let listed = self.threads.list(&caller.scope).await?;
        let keys: Vec<Key> = listed.into_iter().map(|listed| listed.key).collect();
        self.erase(&caller.scope, &keys).await
    }

    /// Forgets facts gathered from a session, or only from these turns of it.
    pub async fn forget_of(
        &self,
        caller: &Caller,
        session: &SessionId,
        turns: Option<&BTreeSet<u64>>,
    ) -> Result<Forgotten> {
        authorize(caller, Action::Write)?;
        let book = self.book(&caller.scope).await?;
        let derived = book.facts().filter(|fact| {
            let source = fact.source.as_ref().filter(|source| source.session == *session);
            source.is_some_and(|source| turns.is_none_or(|turns| turns.contains(&source.turn)))
        });
        let keys: Vec<Key> =
            derived.map(|fact| self.threads.key(&caller.scope, &fact.id)).collect::<Result<_>>()?;
        self.erase(&caller.scope, &keys).await
    }

    async fn erase(&self, scope: &Scope, keys: &[Key]) -> Result<Forgotten> {
        if keys.is_empty() {
            return Ok(Forgotten::default());
        }
        forgotten::add(&self.forgotten, scope, (&self.words_of(keys).await?, self.clock.id()))
            .await?;
        // Also before erasing: if this process dies meanwhile, no other one keeps the facts in memory.
        self.threads.move_on(scope).await?;
        let erased = self.threads.erase(keys).await;
        self.indexes.invalidate(scope);
        self.books.invalidate(scope);
        self.moved(scope).await;
        let stored = erased?;
        Ok(Forgotten { facts: stored.heads, stored })
    }

    /// The texts of facts, with those of their earlier versions.
    async fn words_of(&self, keys: &[Key]) -> Result<Vec<String>> {
        let reading = stream::iter(keys.to_vec()).map(|key| async move {
            let mut versions: Vec<Fact> = self.threads.earlier(&key).await?;
            versions.extend(self.threads.read::<Fact>(&key).await?.map(|(_, fact)| fact));
            Ok::<_, Error>(versions)
        });
        let read: Vec<Vec<Fact>> = reading.buffered(AT_ONCE).try_collect().await?;
        Ok(read.into_iter().flatten().map(|fact| fact.text).collect())
    }

    /// What the user has forgotten; `None` if nothing.
    pub(super) async fn forgotten_words(&self, scope: &Scope) -> Result<Option<ForgottenWords>> {
        ForgottenWords::of(&self.forgotten, scope).await
    }

    /// Records that a request showed these facts; written at most once a minute for each.
    pub async fn mark_used(&self, caller: &Caller, ids: &[&str], at: Timestamp) -> Result<()> {
        authorize(caller, Action::Read)?;
        let book = self.book(&caller.scope).await?;
        let due: Vec<&Fact> = ids
            .iter()
            .filter_map(|id| book.find(id))
            .filter(|fact| {
                fact.last_used_at.is_none_or(|last| at.duration_since(last) >= USED_EVERY)
            })
            .collect();
        if due.is_empty() {
            return Ok(());
        }
        for fact in due {
            let key = self.threads.key(&caller.scope, &fact.id)?;
            let use_it = |fact: &Fact| Ok(Some(Fact { last_used_at: Some(at), ..fact.clone() }));
            self.threads.update(&key, PreviousValue::Dropped, use_it).await?;
        }
        self.moved(&caller.scope).await;
        Ok(())
    }

    /// All facts of the caller, including superseded ones, oldest first.
    pub(crate) async fn all(&self, caller: &Caller) -> Result<Vec<Fact>> {
        authorize(caller, Action::Read)?;
        let mut all: Vec<Fact> = self.book(&caller.scope).await?.facts().cloned().collect();
        all.sort_by(|a, b| a.created_at.cmp(&b.created_at).then_with(|| a.id.cmp(&b.id)));
        Ok(all)
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn new_id(&self) -> String {
        self.clock.id().to_string()
    }

    /// Invalidates cached copies, here and on other servers.
    async fn moved(&self, scope: &Scope) {
        if let Err(error) = self.threads.move_on(scope).await {
            self.books.invalidate(scope);
            tracing::warn!(%error, "cannot move the marker of changed facts; other servers will see the change later");
        }
    }

    pub(super) async fn book(&self, scope: &Scope) -> Result<Arc<Book>> {
        let cached = self.books.get(scope);
        let mark = self.threads.mark(scope, cached.as_ref().and_then(|book| book.mark)).await?;
        if let Some(book) = cached.as_ref().filter(|book| book.mark == mark) {
            return Ok(book.clone());
        }
        let book = Arc::new(self.load(scope, mark, cached.as_deref()).await?);
        self.books.insert(scope.clone(), book.clone());
        Ok(book)
    }

    /// Loads what has changed since `before`.
    async fn load(
        &self,
        scope: &Scope,
        mark: Option<Version>,
        before: Option<&Book>,
    ) -> Result<Book> {
        let known: HashMap<(&str, Version), &Arc<Fact>> = before
            .into_iter()
            .flat_map(|book| &book.stored)
            .map(|(version, fact)| ((fact.id.as_str(), *version), fact))
            .collect();
        let (mut stored, mut unread) = (Vec::new(), Vec::new());
        for listed in self.threads.list(scope).await? {
            match known.get(&(listed.key.id.as_str(), listed.version)) {
                Some(fact) => stored.push((listed.version, Arc::clone(fact))),
                None => unread.push(listed.key),
            }
        }
        let read = self.threads.read_all(unread).await?.into_iter();
        stored.extend(read.map(|(version, fact)| (version, Arc::new(fact))));
        stored.sort_by(|(_, a), (_, b)| {
            b.changed_at.cmp(&a.changed_at).then_with(|| b.id.cmp(&a.id))
        });
        Ok(Book::new(mark, stored))
    }
}

fn missing(id: &str) -> Error {
    Error::Missing { kind: "memory", name: id.chars().take(128).collect(), known: Vec::new() }
}
