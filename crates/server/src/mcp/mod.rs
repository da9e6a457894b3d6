//! The MCP server: personas, conversations, memory and upstream tools for MCP clients.
//!
//! It supports stdio and Streamable HTTP, and protocol versions without sessions (2026-07-28) and with them
//! (2025-11-25 and earlier). A tool parses its arguments, calls the engine and formats the result; the
//! transport determines the caller, never an argument.
//!
//! # Layout
//!
//! - [`handler`]: the methods of the protocol. [`tools`]: one file per tool.
//! - [`resources`], [`prompts`], [`completion`]: everything else that is offered.
//! - [`sampling`]: replies by the client's own model. [`approval`]: asks its user. [`state`]: state held by the
//!   client.
//! - [`changes`]: notifications. [`stdio`]: a transport; `crate::http::mcp` is the other.
//!
//! Invariant: the list of tools is the same for everybody.

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
    /// The caller if the transport has no credential: the local user, over stdio.
    local: Option<Caller>,
    /// State of a connection with a session; `None` for stateless requests.
    connection: Option<Connection>,
}

/// Tells the transport which action was forbidden. With a session the response stream is already open, and only
/// the tool's result says so.
#[derive(Debug, Clone, Default)]
pub struct Refused(Arc<Mutex<Option<Action>>>);

impl Refused {
    /// Records a refusal.
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

/// State of a connection.
#[derive(Clone, Default)]
struct Connection {
    subscribed: Arc<Mutex<BTreeSet<String>>>,
}

impl Mcp {
    /// A server whose transport determines the caller.
    pub fn new(engine: Arc<Engine>) -> Self {
        let seal = Arc::new(Seal::new(engine.clone()));
        Self { engine, seal, changes: Changes::default(), local: None, connection: None }
    }

    /// A server for the local user.
    pub fn local(engine: Arc<Engine>) -> Self {
        Self { local: Some(Caller::local()), ..Self::new(engine) }.connected()
    }

    /// The same server for a new connection.
    pub fn connected(&self) -> Self {
        Self { connection: Some(Connection::default()), ..self.clone() }
    }

    /// Changes the subscriptions of this connection; `None` for stateless requests.
    fn with_subscribed<T>(&self, change: impl FnOnce(&mut BTreeSet<String>) -> T) -> Option<T> {
        let connection = self.connection.as_ref()?;
        let mut set = connection.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        Some(change(&mut set))
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}
