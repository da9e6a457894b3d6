//! Commit and erase, each a single atomic script.
//!
//! Every commit draws an attempt id that the script stores with the thread. If a reply is lost, to us or to
//! the cluster client, which retries by itself, the next attempt finds the id and returns the version from
//! the first one. The caller's write id is not used, because nothing guarantees that it is unique.
//!
//! Invariant: `Conflict` is returned only if this change has not been and will not be applied.

use std::sync::atomic::Ordering;

use jiff::Timestamp;
use throughline_engine::store::{Change, Erased, Expected, Key, Kind, Result, StoreError, Version};
use uuid::Uuid;

use super::connection::{Answer, Call, Failed};
use super::listing::Forget;
use super::{RedisStore, version};
use crate::limit;

/// How many commits back an attempt id is recognised.
const ATTEMPTS_KEPT: u64 = 64;
/// How long an id without a thread stays in a cluster's set: longer than any commit takes.
pub(super) const GRACE_MS: u64 = 10 * 60 * 1000;

impl RedisStore {
    pub(super) async fn commit_change(
        &self,
        key: &Key,
        expected: Expected,
        change: &Change,
    ) -> Result<Version> {
        limit::check_sizes(key, change)?;
        let expiry = self.expiry(key.kind, change).map_or(String::new(), |ms| ms.to_string());
        // The score orders listings; exact times are in the threads.
        let score = change.at.as_microsecond().to_string();
        let set = self.keys.set(&key.scope, key.kind);
        let mut names = vec![self.keys.thread(key), self.keys.log(key)];
        let announcement = match self.connection.is_cluster() {
            true => Some(self.announcement(key, &score, &expiry)),
            false => None,
        };
        match &announcement {
            Some(call) => {
                self.connection.run::<i64>(call).await?;
            }
            None => names.push(set),
        }
        let (number, incarnation) = match expected {
            Expected::Absent => (String::new(), String::new()),
            Expected::At(at) => (at.number.to_string(), at.incarnation.to_string()),
        };
        let mut call = self
            .scripts
            .commit
            .call(&names)
            .arg(number)
            .arg(incarnation)
            .arg(Uuid::now_v7().as_bytes())
            .arg(limit::new_incarnation().to_string())
            .arg(change.at.to_string())
            .arg(&change.head)
            .arg(&expiry)
            .arg(ATTEMPTS_KEPT.to_string())
            .arg(&score)
            .arg(key.id.as_str())
            .arg(change.append.len().to_string());
        for entry in &change.append {
            call = call.arg(entry);
        }
        for (place, bytes) in &change.overwrite {
            call = call.arg(place.to_string()).arg(bytes);
        }
        let version = self.read_answer(key, expected, self.connection.run(&call).await)?;
        if !change.overwrite.is_empty() {
            self.rewrite().await;
        }
        // An erasure may have removed the id of a thread that was about to be created.
        if let (Expected::Absent, Some(call)) = (expected, &announcement)
            && let Err(failed) = self.connection.run::<i64>(call).await
        {
            tracing::warn!(thread = %key, error = %failed.error, "could not confirm its listing entry");
        }
        Ok(version)
    }

    /// For clusters: adds the thread's id to its user's set, which lives on another node.
    fn announcement(&self, key: &Key, score: &str, expiry: &str) -> Call {
        let set = self.keys.set(&key.scope, key.kind);
        let call = self.scripts.announce.call(&[set, self.keys.announced(&key.scope, key.kind)]);
        call.arg(score).arg(key.id.as_str()).arg(expiry).arg(GRACE_MS.to_string())
    }

    fn read_answer(
        &self,
        key: &Key,
        expected: Expected,
        answer: Result<Answer<(String, String, String)>, Failed>,
    ) -> Result<Version> {
        let Answer { value: (outcome, number, incarnation), maybe_executed } =
            answer.map_err(|failed| match failed.error {
                StoreError::Unavailable { reason, .. } => {
                    self.unavailable(reason, failed.maybe_executed)
                }
                error => error,
            })?;
        let thread = self.keys.thread(key);
        let read = || version(&thread, number.as_bytes(), incarnation.as_bytes());
        match outcome.as_str() {
            "done" => read(),
            "again" => {
                self.recognised.fetch_add(1, Ordering::Relaxed);
                read()
            }
            "beyond" => Err(limit::no_such_entry(key, number.parse().unwrap_or(u64::MAX))),
            _ => {
                let current = if number.is_empty() { None } else { Some(read()?) };
                match maybe_executed && !remembers_attempt(expected, current) {
                    false => Err(StoreError::Conflict { key: key.clone(), current }),
                    true => {
                        let reason = "a reply was lost, and too many commits followed to tell \
                                      whether this one was applied"
                            .into();
                        Err(self.unavailable(reason, true))
                    }
                }
            }
        }
    }

    fn unavailable(&self, reason: String, outcome_unknown: bool) -> StoreError {
        let what = self.connection.location().to_owned();
        StoreError::Unavailable { what, reason, outcome_unknown }
    }

    /// When the server may drop the thread, in milliseconds since the Unix epoch.
    fn expiry(&self, kind: Kind, change: &Change) -> Option<i64> {
        if let Some(at) = change.expires_at {
            return Some(at.as_millisecond());
        }
        // Derived data is written after its session, and expires shortly after it.
        let of_session = matches!(kind, Kind::Session | Kind::TurnIndex);
        let ttl = self.options.session_ttl.filter(|_| of_session)?;
        // Counted from now: `change.at` may be in the past, as when a store is copied.
        Some(Timestamp::now().as_millisecond().saturating_add(i64::try_from(ttl.as_millis()).ok()?))
    }

    pub(super) async fn erase_thread(&self, key: &Key) -> Result<Erased> {
        let set = self.keys.set(&key.scope, key.kind);
        let mut names = vec![self.keys.thread(key), self.keys.log(key)];
        if !self.connection.is_cluster() {
            names.push(set.clone());
        }
        let call = self.scripts.erase.call(&names).arg(key.id.as_str());
        let (heads, entries, records, bytes) = self.connection.run(&call).await?.value;
        if key.kind == Kind::Session {
            let mut command = redis::cmd("DEL");
            command.arg(self.keys.figures(key).as_slice());
            self.connection.query::<i64>(&command).await?;
        }
        if self.connection.is_cluster() {
            let ids = std::slice::from_ref(&key.id);
            self.forget(&key.scope, key.kind, ids, Forget::Always).await?;
        }
        let notes: Vec<String> = match records {
            0 => Vec::new(),
            _ => self.rewrite().await.into_iter().collect(),
        };
        Ok(Erased { heads, entries, records, bytes, left: notes.len() as u64, notes })
    }

    /// Requests a rewrite of the append-only file, if there is one; returns a note for the erasure report.
    async fn rewrite(&self) -> Option<String> {
        if !self.append_only {
            return None;
        }
        Some(match self.options.rewrite_on_erase {
            true => self.rewrites.request(&self.connection).await,
            false => "erased data stays in the append-only file until its next rewrite; \
                      rewrite_on_erase is off"
                .into(),
        })
    }
}

/// Whether the thread still remembers an attempt made at version `expected`.
fn remembers_attempt(expected: Expected, current: Option<Version>) -> bool {
    match (expected, current) {
        (_, None) => false,
        (Expected::Absent, Some(now)) => now.number <= ATTEMPTS_KEPT,
        (Expected::At(then), Some(now)) => {
            then.incarnation == now.incarnation
                && now.number.saturating_sub(then.number) <= ATTEMPTS_KEPT
        }
    }
}
