//! Expiry of contexts, and of sessions with a time to live: counted from the last activity, with a warning, and
//! soft before it is final.
//!
//! Expiry is computed from the head on every access, so no job has to run on time. The daily sweep archives
//! expired sessions and, after a grace period for contexts, purges them: first the hook makes a copy, then the
//! session is erased.
//!
//! Invariant: the sweep erases nothing unless the hook made a copy. A backend with its own expiry (Redis) drops a
//! session at the same time by itself, without a copy.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::access::{Action, Caller, Grants, authorize};
use crate::background::Lease;
use crate::error::Result;
use crate::session::head::SessionHead;
use crate::session::sessions::Step;
use crate::share::ShareRecord;
use crate::store::{Key, Kind};

use super::Engine;
use super::called::is_forgotten;
use super::transfer::Export;

/// Sessions expiring within this time get a warning; or within a quarter of their lifetime, if that is less.
pub(super) const WARNING: SignedDuration = SignedDuration::from_hours(24);
/// Threads read at once by the sweep.
const STRETCH: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpiryState {
    /// No expiry.
    Never,
    /// No warning yet.
    Far,
    /// Warning.
    Near,
    Expired,
}

pub fn expiry_state(head: &SessionHead, now: Timestamp) -> ExpiryState {
    match head.expires_at {
        None => ExpiryState::Never,
        Some(at) if at <= now => ExpiryState::Expired,
        Some(at) if at.duration_since(now) <= warned_before(head, at) => ExpiryState::Near,
        Some(_) => ExpiryState::Far,
    }
}

fn warned_before(head: &SessionHead, at: Timestamp) -> SignedDuration {
    WARNING.min(at.duration_since(head.last_activity) / 4)
}

/// When a backend with expiry may drop a thread, read from its head. Needed for copying, because a store does not
/// return the expiry it was given.
pub fn stored_expiry(kind: Kind, head: &[u8]) -> Option<Timestamp> {
    match kind {
        Kind::Session => serde_json::from_slice::<SessionHead>(head).ok()?.purge_at(),
        Kind::Job => Some(serde_json::from_slice::<Lease>(head).ok()?.until),
        Kind::Share => Some(serde_json::from_slice::<ShareRecord>(head).ok()?.expires_at),
        Kind::Preset
        | Kind::ApiKey
        | Kind::Pin
        | Kind::Usage
        | Kind::Fact
        | Kind::MemoryFile
        | Kind::Tombstone
        | Kind::TurnIndex => None,
    }
}

/// Makes a copy of what is about to be purged.
#[async_trait]
pub trait BeforePurge: Send + Sync {
    /// Stores `export`; an error keeps the session.
    async fn keep(&self, key: &Key, export: &Export) -> std::result::Result<(), String>;
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Sweep {
    /// Contexts checked.
    pub contexts: u64,
    pub warned: u64,
    /// Contexts archived by this sweep.
    pub put_aside: u64,
    /// Contexts copied and erased.
    pub purged: u64,
    /// Results of keyed tool calls deleted.
    pub calls: u64,
    /// Records of dead read-only links deleted.
    pub shares: u64,
    /// Failures, one sentence each.
    pub problems: Vec<String>,
}

impl Engine {
    /// Checks all contexts of the store once.
    pub async fn sweep_expired(&self, caller: &Caller, hook: &dyn BeforePurge) -> Result<Sweep> {
        authorize(caller, Action::Administer)?;
        let mut sweep = Sweep::default();
        let mut after: Option<Key> = None;
        loop {
            let listed = self.store().scan(after.as_ref(), STRETCH).await?;
            let last = listed.len() < STRETCH;
            after = listed.last().map(|listed| listed.key.clone()).or(after);
            for listed in listed {
                let swept = match listed.key.kind {
                    Kind::Session => self.sweep_one(&listed.key, hook, &mut sweep).await,
                    Kind::Share => self.sweep_share(&listed, &mut sweep).await,
                    _ if is_forgotten(&listed, self.now()) => {
                        sweep.calls += 1;
                        self.store().erase(&listed.key).await.map(drop).map_err(Into::into)
                    }
                    _ => Ok(()),
                };
                if let Err(error) = swept {
                    sweep.problems.push(format!("{}: {error}", listed.key));
                }
            }
            if last {
                return Ok(sweep);
            }
        }
    }

    async fn sweep_one(&self, key: &Key, hook: &dyn BeforePurge, sweep: &mut Sweep) -> Result<()> {
        let Some(loaded) = self.sessions.find(key).await? else { return Ok(()) };
        if loaded.head.expires_at.is_none() {
            if loaded.head.persona.is_none() && self.sessions.time_to_live().is_some() {
                // Written before there was a time to live; every write sets it.
                self.sessions.update(key, |_, _| Ok(Step::Commit(None, ()))).await?;
            }
            return Ok(());
        }
        let now = self.now();
        sweep.contexts += 1;
        if loaded.head.purge_at().is_some_and(|at| at <= now) && loaded.head.deleted_at.is_some() {
            return self.purge(key, hook, sweep).await;
        }
        match expiry_state(&loaded.head, now) {
            ExpiryState::Near if loaded.head.deleted_at.is_none() => sweep.warned += 1,
            ExpiryState::Expired if loaded.head.deleted_at.is_none() => {
                let (_, changed) = self
                    .sessions
                    .update(key, |head, _| {
                        // It may have been used since the head was read.
                        if !head.is_expired(now) || head.deleted_at.is_some() {
                            return Ok(Step::Leave(false));
                        }
                        head.deleted_at = Some(now);
                        Ok(Step::Commit(None, true))
                    })
                    .await?;
                sweep.put_aside += u64::from(changed);
                self.forget_derived(key);
            }
            _ => {}
        }
        Ok(())
    }

    async fn purge(&self, key: &Key, hook: &dyn BeforePurge, sweep: &mut Sweep) -> Result<()> {
        let owner = Caller { scope: key.scope.clone(), grants: Grants::Write };
        let id = key.id.clone().into();
        let export = self.export(&owner, &id).await?;
        match hook.keep(key, &export).await {
            Ok(()) => {
                self.erase(&owner, &id).await?;
                sweep.purged += 1;
            }
            Err(reason) => sweep.problems.push(format!("{key} was not purged: {reason}")),
        }
        Ok(())
    }
}
