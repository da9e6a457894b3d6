//! All data of a user: erased in one call with one receipt, or exported.
//!
//! A user's data is every thread of the user's scope. Users can erase themselves; an admin can erase users of the
//! same tenant.
//!
//! Invariant: each thread gets a tombstone before it is erased, so that a restored copy is erased again.

use jiff::Timestamp;
use serde::Serialize;

use crate::access::{Action, Caller, acting_for, authorize};
use crate::error::{Error, Result};
use crate::fact::files::MemoryFile;
use crate::fact::transfer::FactExport;
use crate::id::{SessionId, UserId};
use crate::preset::Preset;
use crate::store::{Erased, Kind, ListedThread, list_all};
use crate::tombstone;

use super::Engine;
use super::erase::ErasureReceipt;

/// Maximum passes to also erase what is written meanwhile.
const PASSES_MAX: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UserErasure {
    pub user: UserId,
    pub at: Timestamp,
    pub sessions: u64,
    pub memories: u64,
    pub files: u64,
    pub presets: u64,
    /// Other threads: decisions about tools, results of keyed calls, markers.
    pub others: u64,
    /// Documents removed from the search index.
    pub index_documents: u64,
    pub stored: Erased,
}

/// A user's data besides the exports of the sessions.
#[derive(Debug)]
pub struct UserData {
    /// The user, as the caller for exporting the sessions.
    pub caller: Caller,
    /// Most recently changed first.
    pub sessions: Vec<SessionId>,
    /// Including superseded ones.
    pub memories: FactExport,
    pub files: Vec<MemoryFile>,
    pub presets: Vec<Preset>,
}

impl UserErasure {
    pub fn is_empty(&self) -> bool {
        let Self { sessions, memories, files, presets, others, .. } = self;
        sessions + memories + files + presets + others == 0
    }

    /// Adds the counts of another erasure of the same user.
    pub fn add(&mut self, other: Self) {
        self.at = other.at;
        self.sessions += other.sessions;
        self.memories += other.memories;
        self.files += other.files;
        self.presets += other.presets;
        self.others += other.others;
        self.index_documents += other.index_documents;
        self.stored.add(other.stored);
    }

    fn count(&mut self, kind: Kind, erased: Erased) {
        let heads = erased.heads;
        match kind {
            Kind::Session => self.sessions += heads,
            Kind::Fact => self.memories += heads,
            Kind::MemoryFile => self.files += heads,
            Kind::Preset => self.presets += heads,
            Kind::ApiKey | Kind::Pin | Kind::Job | Kind::Usage | Kind::Tombstone | Kind::Share => {
                self.others += heads
            }
            // Erased with its session, or left over from one.
            Kind::TurnIndex => {}
        }
        self.stored.add(erased);
    }
}

impl Engine {
    pub async fn erase_user(&self, caller: &Caller, user: &UserId) -> Result<UserErasure> {
        let caller = &acting_for(caller, user)?;
        authorize(caller, Action::Write)?;
        let mut erasure = UserErasure {
            user: user.clone(),
            at: self.now(),
            sessions: 0,
            memories: 0,
            files: 0,
            presets: 0,
            others: 0,
            index_documents: 0,
            stored: Erased::default(),
        };
        for _ in 0..PASSES_MAX {
            if !self.erase_pass(caller, &mut erasure).await? {
                break;
            }
        }
        erasure.at = self.now();
        Ok(erasure)
    }

    /// Erases what exists now; returns whether there was anything.
    async fn erase_pass(&self, caller: &Caller, erasure: &mut UserErasure) -> Result<bool> {
        let mut found = false;
        for listed in list_all(self.store().as_ref(), &caller.scope, Kind::Session).await? {
            let id = SessionId::from(listed.key.id.clone());
            match self.erase(caller, &id).await {
                Ok(ErasureReceipt { stored, index_documents, facts, .. }) => {
                    found = true;
                    erasure.memories += facts;
                    erasure.index_documents += index_documents;
                    erasure.count(Kind::Session, stored);
                }
                Err(Error::NoSession(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let forgotten = self.facts.forget_all(caller).await?;
        found |= forgotten.facts > 0;
        erasure.count(Kind::Fact, forgotten.stored);
        for kind in Kind::ALL {
            if matches!(kind, Kind::Session | Kind::Fact) {
                continue;
            }
            for listed in list_all(self.store().as_ref(), &caller.scope, kind).await? {
                found = true;
                erasure.count(kind, self.erase_thread(&listed).await?);
            }
        }
        Ok(found)
    }

    async fn erase_thread(&self, listed: &ListedThread) -> Result<Erased> {
        let ListedThread { key, changed_at, .. } = listed;
        if key.kind.is_derived() {
            return Ok(self.store().erase(key).await?);
        }
        let (store, clock) = (self.store().as_ref(), self.clock.as_ref());
        tombstone::write(store, clock, key, *changed_at).await?;
        Ok(self.store().erase(key).await?)
    }

    /// A user's data; [`Engine::export`] exports each session.
    pub async fn user_data(&self, caller: &Caller, user: &UserId) -> Result<UserData> {
        let caller = acting_for(caller, user)?;
        authorize(&caller, Action::Read)?;
        let sessions = list_all(self.store().as_ref(), &caller.scope, Kind::Session).await?;
        Ok(UserData {
            sessions: sessions.into_iter().map(|listed| SessionId::from(listed.key.id)).collect(),
            memories: self.facts.export(&caller).await?,
            files: self.memory_files.all(&caller).await?,
            presets: self.presets.own(&caller).await?,
            caller,
        })
    }
}
