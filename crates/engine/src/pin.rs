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
    /// The last checked definition of each tool.
    measured: RwLock<HashMap<ToolName, Measured>>,
}

/// A definition that was checked.
struct Measured {
    definition: ToolDefinition,
    /// Why it cannot be used.
    refusal: Option<String>,
    /// The twin of its pin, if the pin is of exactly this definition.
    pinned: Option<Option<ToolName>>,
}

impl Measured {
    fn is_of(&self, definition: &ToolDefinition) -> bool {
        self.definition == *definition
    }
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
        self.look(definition).0
    }

    /// The state of a definition, and whether its pin is of exactly this one. Comparing definitions is expensive, so one
    /// that was seen before is compared once.
    fn look(&self, definition: &ToolDefinition) -> (PinState, bool) {
        let seen = {
            let measured = self.measured.read().unwrap_or_else(PoisonError::into_inner);
            let seen = measured.get(&definition.tool).filter(|seen| seen.is_of(definition));
            seen.map(|seen| (seen.refusal.clone(), seen.pinned.clone()))
        };
        let (refusal, pinned) = seen.unwrap_or_else(|| (self.measure(definition), None));
        let approved = |twin: Option<ToolName>| twin.map_or(PinState::Approved, PinState::Twin);
        match (refusal, pinned) {
            (Some(reason), _) => return (PinState::Refused(reason), true),
            (None, Some(twin)) => return (approved(twin), true),
            (None, None) => {}
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        match known.get(&definition.tool) {
            Some(pin) if pin.definition == *definition => {
                // Under the lock of the pins: one that is written now is not overlooked.
                let mut measured = self.measured.write().unwrap_or_else(PoisonError::into_inner);
                let seen = measured.get_mut(&definition.tool);
                if let Some(seen) = seen.filter(|seen| seen.is_of(definition)) {
                    seen.pinned = Some(pin.twin_of.clone());
                }
                (approved(pin.twin_of.clone()), true)
            }
            Some(pin) if definition.has_fingerprint(&pin.fingerprint) => {
                (approved(pin.twin_of.clone()), false)
            }
            Some(pin) => (PinState::Changed(Box::new(pin.clone())), false),
            None if is_look_alike(&definition.tool.name) => (PinState::LookAlike, false),
            None => (PinState::New, false),
        }
    }

    /// Why a definition cannot be used at all.
    fn measure(&self, definition: &ToolDefinition) -> Option<String> {
        let refusal = schema::refusal(&definition.input_schema);
        if let Some(reason) = &refusal {
            tracing::warn!(tool = %definition.tool, reason, "this tool cannot be used");
        }
        let mut measured = self.measured.write().unwrap_or_else(PoisonError::into_inner);
        if measured.len() >= MEASURED_MAX {
            measured.clear();
        }
        let seen =
            Measured { definition: definition.clone(), refusal: refusal.clone(), pinned: None };
        measured.insert(definition.tool.clone(), seen);
        refusal
    }

    /// The state of each definition, after pinning new ones if the policy says so.
    pub async fn admit(&self, definitions: &[ToolDefinition]) -> Result<Vec<PinState>> {
        // Another server may have approved it meanwhile; what is approved needs no second look.
        let is_sure = |state: &PinState| state.is_pinned() || matches!(state, PinState::Refused(_));
        let mut looks: Vec<_> = definitions.iter().map(|known| self.look(known)).collect();
        let unsure = definitions.iter().zip(&looks).filter(|(_, (state, _))| !is_sure(state));
        let asking = unsure.map(|(definition, _)| self.read_again(definition));
        let asking = stream::iter(asking.collect::<Vec<_>>()).buffer_unordered(READS_AT_ONCE);
        asking.try_collect::<()>().await?;
        for (definition, look) in definitions.iter().zip(&mut looks) {
            if !is_sure(&look.0) {
                *look = self.look(definition);
            }
            if self.policy == PinPolicy::FirstUse && look.0 == PinState::New {
                self.pin_first(definition).await?;
                *look = self.look(definition);
            } else if look.0.is_pinned() && !look.1 {
                self.renew(definition).await?;
            }
        }
        Ok(looks.into_iter().map(|(state, _)| state).collect())
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
        let mut measured = self.measured.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = measured.get_mut(&pin.definition.tool) {
            seen.pinned = None;
        }
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
