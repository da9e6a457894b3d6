//! Pinned tools: a definition that was approved, by its hash.
//!
//! The first definition of a tool is pinned when it is first seen, unless the operator wants to approve
//! each one. After that a changed definition, or a tool that takes the name of one pinned on another
//! server, does not run until somebody has looked at it and approved it.
//!
//! Copies of the server on one store know the same pins: what a copy does not know as approved it reads again.
//!
//! A tool whose schema costs too much ([`crate::schema`]) is neither pinned nor approved.
//!
//! Invariant: a tool whose fingerprint is not its pinned one is never called.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::access::system_scope;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::id::ThreadId;
use crate::schema;
use crate::store::{Change, Expected, Found, Key, Kind, Page, Store, StoreError};
use crate::tool::{ToolDefinition, ToolName};

/// The most pins that are read at the start.
const PINS_MAX: usize = 100_000;
/// Definitions whose schema is remembered as measured.
const REFUSALS_MAX: usize = 10_000;
/// Pins that are read again at the same time.
const READS_AT_ONCE: usize = 16;

/// What becomes of a tool that nobody has approved yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinPolicy {
    /// Its first definition is pinned when it is first seen.
    #[default]
    FirstUse,
    /// It waits for approval.
    Explicit,
}

/// An approved definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    /// The definition as it was approved.
    pub definition: ToolDefinition,
    /// Its fingerprint.
    pub fingerprint: String,
    /// When.
    pub approved_at: Timestamp,
    /// By whom: a user, or `first use`.
    pub approved_by: String,
}

/// How a tool stands.
#[derive(Debug, Clone, PartialEq)]
pub enum PinState {
    /// It is as approved.
    Approved,
    /// Nobody has approved it.
    New,
    /// It is not what was approved.
    Changed(Box<Pin>),
    /// It takes the name of a tool that is pinned on another server.
    Shadows(ToolName),
    /// It cannot be used as it is, approved or not; the reason is given.
    Refused(String),
}

impl PinState {
    /// Why the tool may not run, if it may not.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Approved => None,
            Self::New => Some("nobody has approved it yet".into()),
            Self::Changed(_) => Some("its definition has changed since it was approved".into()),
            Self::Shadows(other) => Some(format!("it takes the name of {other}")),
            Self::Refused(reason) => Some(reason.clone()),
        }
    }
}

/// All pins, in memory and in the store.
pub struct Pins {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    policy: PinPolicy,
    known: RwLock<HashMap<ToolName, Pin>>,
    /// Why definitions cannot be used, by fingerprint; none for those that can.
    refusals: RwLock<HashMap<String, Option<String>>>,
}

impl Pins {
    /// Pins of `store`; [`Pins::load`] reads them.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, policy: PinPolicy) -> Self {
        Self { store, clock, policy, known: RwLock::default(), refusals: RwLock::default() }
    }

    /// Reads all pins.
    pub async fn load(&self) -> Result<()> {
        let page = Page { limit: PINS_MAX, after: None };
        for listed in self.store.list(&system_scope(), Kind::Pin, page).await? {
            if let Found::Head(head) = self.store.head(&listed.key, None).await? {
                self.remember(read(&listed.key, &head.bytes)?);
            }
        }
        Ok(())
    }

    /// How a definition stands.
    pub fn state(&self, definition: &ToolDefinition) -> PinState {
        let fingerprint = definition.fingerprint();
        if let Some(reason) = self.refusal(&fingerprint, definition) {
            return PinState::Refused(reason);
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        match known.get(&definition.tool) {
            Some(pin) if pin.fingerprint == fingerprint => PinState::Approved,
            Some(pin) => PinState::Changed(Box::new(pin.clone())),
            None => known
                .keys()
                .find(|tool| tool.name == definition.tool.name)
                .map_or(PinState::New, |other| PinState::Shadows(other.clone())),
        }
    }

    /// Why a definition cannot be used at all; its schema is measured once.
    fn refusal(&self, fingerprint: &str, definition: &ToolDefinition) -> Option<String> {
        let refusals = self.refusals.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = refusals.get(fingerprint) {
            return known.clone();
        }
        drop(refusals);
        let reason = schema::refusal(&definition.input_schema);
        if let Some(reason) = &reason {
            tracing::warn!(tool = %definition.tool, reason, "a tool cannot be used");
        }
        let mut refusals = self.refusals.write().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() >= REFUSALS_MAX {
            refusals.clear();
        }
        refusals.insert(fingerprint.to_owned(), reason.clone());
        reason
    }

    /// How each definition stands, after new ones were pinned if the policy says so.
    pub async fn admit(&self, definitions: &[ToolDefinition]) -> Result<Vec<PinState>> {
        // Another copy of the server may know better than we remember; what is approved needs no second look.
        let is_sure = |state| matches!(state, PinState::Approved | PinState::Refused(_));
        let unsure = definitions.iter().filter(|known| !is_sure(self.state(known)));
        let asking = unsure.map(|definition| self.read_again(definition));
        let asking = stream::iter(asking.collect::<Vec<_>>()).buffer_unordered(READS_AT_ONCE);
        asking.try_collect::<()>().await?;
        let mut states = Vec::with_capacity(definitions.len());
        for definition in definitions {
            if self.policy == PinPolicy::FirstUse && self.state(definition) == PinState::New {
                self.pin_first(definition).await?;
            }
            states.push(self.state(definition));
        }
        Ok(states)
    }

    /// Takes over what the store says of a tool.
    async fn read_again(&self, definition: &ToolDefinition) -> Result<()> {
        let key = key_of(&definition.tool)?;
        if let Found::Head(head) = self.store.head(&key, None).await? {
            self.remember(read(&key, &head.bytes)?);
        }
        Ok(())
    }

    /// Pins a definition as the first one, unless another copy was first with its own.
    async fn pin_first(&self, definition: &ToolDefinition) -> Result<()> {
        let pin = self.pin_of(definition, "first use");
        let (key, change) = self.change(&pin)?;
        match self.store.commit(&key, Expected::Absent, change).await {
            Ok(_) => self.remember(pin),
            Err(StoreError::Conflict { .. }) => self.read_again(definition).await?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Approves a definition as it is now.
    pub async fn approve(&self, definition: &ToolDefinition, by: &str) -> Result<Pin> {
        if let Some(reason) = schema::refusal(&definition.input_schema) {
            return Err(Error::invalid(
                "tool",
                format!("{} cannot be used: {reason}", definition.tool),
            ));
        }
        let pin = self.pin_of(definition, by);
        loop {
            let (key, change) = self.change(&pin)?;
            let expected = match self.store.head(&key, None).await? {
                Found::Head(head) => Expected::At(head.version),
                Found::Missing | Found::Unchanged => Expected::Absent,
            };
            match self.store.commit(&key, expected, change).await {
                Ok(_) => break,
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.remember(pin.clone());
        Ok(pin)
    }

    fn pin_of(&self, definition: &ToolDefinition, by: &str) -> Pin {
        Pin {
            definition: definition.clone(),
            fingerprint: definition.fingerprint(),
            approved_at: self.clock.now(),
            approved_by: by.into(),
        }
    }

    fn change(&self, pin: &Pin) -> Result<(Key, Change)> {
        let key = key_of(&pin.definition.tool)?;
        let head = serde_json::to_vec(pin).map_err(|error| unreadable(&key, &error))?;
        let change = Change {
            at: pin.approved_at,
            head: head.into(),
            append: Vec::new(),
            overwrite: Vec::new(),
            expires_at: None,
            write_id: self.clock.id(),
        };
        Ok((key, change))
    }

    fn remember(&self, pin: Pin) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(pin.definition.tool.clone(), pin);
    }
}

fn read(key: &Key, head: &[u8]) -> Result<Pin> {
    serde_json::from_slice(head).map_err(|error| unreadable(key, &error))
}

fn unreadable(key: &Key, error: &serde_json::Error) -> Error {
    Error::Unreadable { what: key.to_string(), reason: error.to_string() }
}

fn key_of(tool: &ToolName) -> Result<Key> {
    let id = ContentHash::of(&format!("{}\n{}", tool.server, tool.name));
    Ok(Key { scope: system_scope(), kind: Kind::Pin, id: ThreadId::new(id.as_str())? })
}
