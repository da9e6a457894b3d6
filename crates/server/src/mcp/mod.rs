//! The MCP server: personas, conversations, memory and upstream tools for every MCP client.
//!
//! Two transports, stdio and Streamable HTTP, and both eras of the protocol: 2026-07-28 (stateless) and
//! 2025-11-25 and earlier (`initialize`). A tool takes its arguments apart, calls the engine and dresses
//! the answer; who is asking comes from the transport, never from an argument.
//!
//! # Layout
//!
//! - [`handler`]: the protocol's methods. [`tools`]: one file a tool.
//! - [`resources`], [`prompts`], [`completion`]: the rest of what is offered.
//! - [`sampling`]: answering through the client's own model. [`approval`]: asking its user. [`state`]: what a client carries for us.
//! - [`changes`]: who is told when something changes. [`stdio`]: one of the transports;
//!   `crate::http::mcp` is the other.
//!
//! Invariant: rmcp's types are used in this module only, and the list of tools is the same for everybody.

pub mod approval;
pub mod changes;
pub mod completion;
#[cfg(feature = "conformance-fixtures")]
mod fixtures;
pub mod handler;
pub mod prompts;
pub mod resources;
pub mod sampling;
pub mod schema;
pub mod state;
pub mod stdio;
pub mod tools;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use throughline_engine::access::{Action, Caller};
use throughline_engine::engine::Engine;
use throughline_engine::error::Error;

use changes::Changes;
use state::Seal;

/// The server, shared by all connections.
#[derive(Clone)]
pub struct Mcp {
    engine: Arc<Engine>,
    seal: Arc<Seal>,
    changes: Changes,
    /// Who asks where the transport brings no credential: the person at this machine, over stdio.
    local: Option<Caller>,
    /// What one connection of the older era keeps; none where requests stand alone.
    connection: Option<Connection>,
}

/// What a tool was refused for want of a scope, told to the transport. Known before the answer begins, except in a session
/// of the older era, whose stream is open by then; the tool's answer says the same.
#[derive(Debug, Clone, Default)]
pub struct Refused(Arc<Mutex<Option<Action>>>);

impl Refused {
    /// Notes a refusal.
    fn note(&self, error: &Error) {
        if let Error::Forbidden { action } = error {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*action);
        }
    }

    /// The refusal, if there was one.
    pub fn take(&self) -> Option<Error> {
        let action = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Error::Forbidden { action })
    }
}

/// What one connection keeps.
#[derive(Clone, Default)]
struct Connection {
    subscribed: Arc<Mutex<BTreeSet<String>>>,
}

impl Mcp {
    /// A server whose transport says who is asking.
    pub fn new(engine: Arc<Engine>) -> Self {
        let seal = Arc::new(Seal::new(engine.clone()));
        Self { engine, seal, changes: Changes::default(), local: None, connection: None }
    }

    /// A server for the person at this machine.
    pub fn local(engine: Arc<Engine>) -> Self {
        Self { local: Some(Caller::local()), ..Self::new(engine) }.connected()
    }

    /// The same server for a connection of its own.
    pub fn connected(&self) -> Self {
        Self { connection: Some(Connection::default()), ..self.clone() }
    }

    /// Changes what this connection subscribes to; nothing where requests stand alone.
    fn with_subscribed<T>(&self, change: impl FnOnce(&mut BTreeSet<String>) -> T) -> Option<T> {
        let connection = self.connection.as_ref()?;
        let mut set = connection.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        Some(change(&mut set))
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}
