//! Pinned tools: approved definitions, identified by their fingerprint.
//!
//! A tool's first definition is pinned when first seen, unless the operator requires approval for each or its
//! name imitates another one. After that a changed definition does not run until someone approves it. A tool that
//! shares its name with a tool of another server works, but its calls need approval until someone approves the
//! tool itself.
//!
//! Servers on one store share pins: a definition not known as approved is read again from the store.
//!
//! A tool whose schema is too costly ([`crate::schema`]) is neither pinned nor approved.
//!
//! Invariant: a tool whose fingerprint differs from its pin is never called.

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
use crate::permission::decisions::is_decisions;
use crate::permission::fold::is_look_alike;
use crate::schema;
use crate::store::{Change, Expected, Found, Key, Kind, Page, Store, StoreError};
use crate::tool::{ToolDefinition, ToolName};

/// Maximum pins read at startup.
const PINS_MAX: usize = 100_000;
/// Maximum definitions whose schema check is cached.
const MEASURED_MAX: usize = 10_000;
/// Pins read concurrently.
const READS_AT_ONCE: usize = 16;

/// What happens to a tool that nobody has approved yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinPolicy {
    /// The first definition seen is pinned.
    #[default]
    FirstUse,
    /// It waits for approval.
    Explicit,
}

/// An approved definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    pub definition: ToolDefinition,
    pub fingerprint: String,
    pub approved_at: Timestamp,
    /// A user, or `first use`.
    pub approved_by: String,
    /// An earlier tool of the same name on another server; nobody has compared the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin_of: Option<ToolName>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PinState {
    Approved,
    /// Approved, but it shares its name with a tool of another server, and nobody has compared the two.
    Twin(ToolName),
    New,
    /// Not approved, and its name imitates another one.
    LookAlike,
    /// It differs from the approved definition.
    Changed(Box<Pin>),
    /// It cannot be used, approved or not, for this reason.
    Refused(String),
}

impl Pin {
    /// Whether this is the approved definition.
    fn is_of(&self, definition: &ToolDefinition) -> bool {
        self.definition == *definition || definition.has_fingerprint(&self.fingerprint)
    }
}

impl PinState {
    /// Why the tool may not run, if so.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Approved | Self::Twin(_) => None,
            Self::New => Some("nobody has approved it yet".into()),
            Self::Changed(_) => Some("its definition has changed since it was approved".into()),
            Self::Refused(reason) => Some(reason.clone()),
            Self::LookAlike => {
                Some("its name imitates another one, and nobody has approved it yet".into())
            }
        }
    }

    fn is_pinned(&self) -> bool {
        matches!(self, Self::Approved | Self::Twin(_))
    }
}

/// All pins, cached from the store.
pub struct Pins {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    policy: PinPolicy,
    known: RwLock<HashMap<ToolName, Pin>>,
    /// The last checked definition of each tool, with the reason if it cannot be used.
    measured: RwLock<HashMap<ToolName, (ToolDefinition, Option<String>)>>,
}

impl Pins {
    /// [`Pins::load`] reads the pins.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, policy: PinPolicy) -> Self {
        Self { store, clock, policy, known: RwLock::default(), measured: RwLock::default() }
    }

    pub async fn load(&self) -> Result<()> {
        let page = Page { limit: PINS_MAX, after: None };
        for listed in self.store.list(&system_scope(), Kind::Pin, page).await? {
            if is_decisions(&listed.key) {
                continue;
            }
            if let Found::Head(head) = self.store.head(&listed.key, None).await? {
                self.remember(read(&listed.key, &head.bytes)?);
            }
        }
        Ok(())
    }

    /// The state of a definition.
    pub fn state(&self, definition: &ToolDefinition) -> PinState {
        if let Some(reason) = self.refusal(definition) {
            return PinState::Refused(reason);
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        match known.get(&definition.tool) {
            Some(pin) if pin.is_of(definition) => {
                pin.twin_of.clone().map_or(PinState::Approved, PinState::Twin)
            }
            Some(pin) => PinState::Changed(Box::new(pin.clone())),
            None if is_look_alike(&definition.tool.name) => PinState::LookAlike,
            None => PinState::New,
        }
    }

    /// Why a definition cannot be used at all; each is checked once.
    fn refusal(&self, definition: &ToolDefinition) -> Option<String> {
        let measured = self.measured.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, reason)) = measured.get(&definition.tool)
            && known == definition
        {
            return reason.clone();
        }
        drop(measured);
        let reason = schema::refusal(&definition.input_schema);
        if let Some(reason) = &reason {
            tracing::warn!(tool = %definition.tool, reason, "this tool cannot be used");
        }
        let mut measured = self.measured.write().unwrap_or_else(PoisonError::into_inner);
        if measured.len() >= MEASURED_MAX {
            measured.clear();
        }
        measured.insert(definition.tool.clone(), (definition.clone(), reason.clone()));
        reason
    }

    /// The state of each definition, after pinning new ones if the policy says so.
    pub async fn admit(&self, definitions: &[ToolDefinition]) -> Result<Vec<PinState>> {
        // Another server may have approved it meanwhile; what is approved needs no second look.
        let is_sure = |state: PinState| state.is_pinned() || matches!(state, PinState::Refused(_));
        let unsure = definitions.iter().filter(|known| !is_sure(self.state(known)));
        let asking = unsure.map(|definition| self.read_again(definition));
        let asking = stream::iter(asking.collect::<Vec<_>>()).buffer_unordered(READS_AT_ONCE);
        asking.try_collect::<()>().await?;
        let mut states = Vec::with_capacity(definitions.len());
        for definition in definitions {
            let mut state = self.state(definition);
            if self.policy == PinPolicy::FirstUse && state == PinState::New {
                self.pin_first(definition).await?;
                state = self.state(definition);
            } else if state.is_pinned() {
                self.renew(definition).await?;
            }
            states.push(state);
        }
        Ok(states)
    }

    /// Rewrites a pin made by an earlier version, so that it covers the whole definition.
    async fn renew(&self, definition: &ToolDefinition) -> Result<()> {
        let old = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            known.get(&definition.tool).filter(|pin| pin.definition != *definition).cloned()
        };
        let Some(old) = old else { return Ok(()) };
        let pin =
            Pin { definition: definition.clone(), fingerprint: definition.fingerprint(), ..old };
        self.write(pin).await.map(drop)
    }

    /// Reloads a tool's pin from the store.
    async fn read_again(&self, definition: &ToolDefinition) -> Result<()> {
        let key = key_of(&definition.tool)?;
        if let Found::Head(head) = self.store.head(&key, None).await? {
            self.remember(read(&key, &head.bytes)?);
        }
        Ok(())
    }

    /// Pins the first definition, unless another server has pinned one.
    async fn pin_first(&self, definition: &ToolDefinition) -> Result<()> {
        let mut pin = self.pin_of(definition, "first use");
        pin.twin_of = self.twin_of(&definition.tool);
        if let Some(other) = &pin.twin_of {
            tracing::warn!(tool = %definition.tool, %other, "two servers have a tool of the same name; calls to the second need approval until someone approves it");
        }
        let (key, change) = self.change(&pin)?;
        match self.store.commit(&key, Expected::Absent, change).await {
            Ok(_) => self.remember(pin),
            Err(StoreError::Conflict { .. }) => self.read_again(definition).await?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Approves the current definition.
    pub async fn approve(&self, definition: &ToolDefinition, by: &str) -> Result<Pin> {
        if let Some(reason) = schema::refusal(&definition.input_schema) {
            return Err(Error::invalid(
                "tool",
                format!("{} cannot be used: {reason}", definition.tool),
            ));
        }
        self.write(self.pin_of(definition, by)).await
    }

    /// An earlier tool of the same name on another server.
    fn twin_of(&self, tool: &ToolName) -> Option<ToolName> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let twins =
            known.keys().filter(|other| other.name == tool.name && other.server != tool.server);
        twins.min().cloned()
    }

    /// Writes a pin, replacing any other.
    async fn write(&self, pin: Pin) -> Result<Pin> {
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
            twin_of: None,
        }
    }

    fn change(&self, pin: &Pin) -> Result<(Key, Change)> {
        let key = key_of(&pin.definition.tool)?;
        let head = serde_json::to_vec(pin).map_err(|error| unreadable(&key, &error))?;
        let change = Change::of_head(head, pin.approved_at, self.clock.id());
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
