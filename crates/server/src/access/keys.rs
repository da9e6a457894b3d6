//! Keys in the store, each a thread in the system scope.
//!
//! Invariant: a revoked key stays on record, so an installation that ever had a key never becomes open to
//! everybody.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use throughline_engine::access::{Caller, Grants, system_scope};
use throughline_engine::clock::Clock;
use throughline_engine::error::{Error, Result};
use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{
    Change, Expected, Found, Key, Kind, Page, Scope, Store, StoreError, Version,
};

use super::ApiKey;

/// Maximum number of keys to list.
const KEYS_MAX: usize = 10_000;

/// A stored key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRecord {
    /// Public part of the key.
    pub id: String,
    /// Hash of the secret.
    pub hash: String,
    /// What the key is for.
    pub name: String,
    /// Tenant of its user.
    pub tenant: TenantId,
    /// User that it authenticates.
    pub user: UserId,
    /// Grants of the key.
    pub scope: Grants,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

impl KeyRecord {
    /// The caller with this key.
    pub fn caller(&self) -> Caller {
        let scope = Scope { tenant: self.tenant.clone(), user: self.user.clone() };
        Caller { scope, grants: self.scope }
    }
}

/// A key to create.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// What the key is for.
    pub name: String,
    /// Tenant of its user.
    pub tenant: TenantId,
    /// User that it authenticates.
    pub user: UserId,
    /// Grants of the key.
    pub scope: Grants,
}

/// The keys of an installation.
#[derive(Clone)]
pub struct Keys {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl Keys {
    /// Keys in `store`.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Creates a key. Its secret is only in the result.
    pub async fn create(&self, new: NewKey) -> Result<(ApiKey, KeyRecord)> {
        let key = ApiKey::generate()?;
        let record = self.add(&key, new).await?;
        Ok((key, record))
    }

    /// Stores a key that was made elsewhere.
    pub async fn add(&self, key: &ApiKey, new: NewKey) -> Result<KeyRecord> {
        let record = KeyRecord {
            id: key.id().into(),
            hash: key.hash(),
            name: new.name,
            tenant: new.tenant,
            user: new.user,
            scope: new.scope,
            created_at: self.clock.now(),
            revoked_at: None,
        };
        self.write(&record, Expected::Absent).await?;
        Ok(record)
    }

    /// The key with that id.
    pub async fn find(&self, id: &str) -> Result<Option<KeyRecord>> {
        Ok(self.read(&place(id)?).await?.map(|(_, record)| record))
    }

    /// All keys, most recently changed first.
    pub async fn list(&self) -> Result<Vec<KeyRecord>> {
        let page = Page { limit: KEYS_MAX, after: None };
        let mut records = Vec::new();
        for listed in self.store.list(&system_scope(), Kind::ApiKey, page).await? {
            records.extend(self.read(&listed.key).await?.map(|(_, record)| record));
        }
        Ok(records)
    }

    /// Whether there is or ever was a key.
    pub async fn any(&self) -> Result<bool> {
        let page = Page { limit: 1, after: None };
        Ok(!self.store.list(&system_scope(), Kind::ApiKey, page).await?.is_empty())
    }

    /// Revokes a key. Revoking it again changes nothing.
    pub async fn revoke(&self, id: &str) -> Result<KeyRecord> {
        loop {
            let Some((version, mut record)) = self.read(&place(id)?).await? else {
                let known = self.list().await?.into_iter().map(|key| key.id).collect();
                return Err(Error::Missing { kind: "key", name: id.into(), known });
            };
            if record.revoked_at.is_some() {
                return Ok(record);
            }
            record.revoked_at = Some(self.clock.now());
            match self.write(&record, Expected::At(version)).await {
                Err(Error::Store(StoreError::Conflict { .. })) => {}
                outcome => return outcome.map(|()| record),
            }
        }
    }

    /// Revokes the keys of a user and removes whose they were. The blank records remain, so that the
    /// installation does not become open.
    pub async fn erase_of(&self, scope: &Scope) -> Result<u64> {
        let mut erased = 0;
        for record in self.list().await? {
            if record.caller().scope != *scope {
                continue;
            }
            self.revoke(&record.id).await?;
            let Some((version, revoked)) = self.read(&place(&record.id)?).await? else { continue };
            let nobody = system_scope();
            let blank = KeyRecord {
                hash: String::new(),
                name: String::new(),
                tenant: nobody.tenant,
                user: nobody.user,
                ..revoked
            };
            self.write(&blank, Expected::At(version)).await?;
            erased += 1;
        }
        Ok(erased)
    }

    async fn read(&self, key: &Key) -> Result<Option<(Version, KeyRecord)>> {
        let Found::Head(head) = self.store.head(key, None).await? else { return Ok(None) };
        let record =
            serde_json::from_slice(&head.bytes).map_err(|error| unreadable(key, &error))?;
        Ok(Some((head.version, record)))
    }

    async fn write(&self, record: &KeyRecord, expected: Expected) -> Result<()> {
        let key = place(&record.id)?;
        let head = serde_json::to_vec(record).map_err(|error| unreadable(&key, &error))?;
        let change = Change::of_head(head, self.clock.now(), self.clock.id());
        self.store.commit(&key, expected, change).await?;
        Ok(())
    }
}

fn place(id: &str) -> Result<Key> {
    Ok(Key { scope: system_scope(), kind: Kind::ApiKey, id: ThreadId::new(id)? })
}

fn unreadable(key: &Key, error: &serde_json::Error) -> Error {
    Error::Unreadable { what: key.to_string(), reason: error.to_string() }
}
