//! One configured server: connects on demand with back-off, caches its tools, calls them.
//!
//! Connecting runs in its own task, so a caller that gives up does not abort it, and concurrent callers share it.
//!
//! A list that cannot be read, or does not come, is waited for once. After that the failure is remembered until a list
//! is read; attempts go on in the background, with back-off, and delay nobody.
//!
//! Invariant: there is at most one connection to a server at a time, and a tool is called only as it was
//! listed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::tool::{ToolDefinition, ToolOutput};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::config::{ServerConfig, Transport};
use super::connection::Connection;
use super::fault::Faults;
use crate::redact::Redactor;

const BACKOFF_MIN: Duration = Duration::from_millis(500);
const BACKOFF_MAX: Duration = Duration::from_secs(60);
/// Minimum time between listings, even if the server says that its list is stale at once.
const FRESH_MIN: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerStatus {
    pub name: String,
    /// The state of its connection.
    pub state: ServerState,
    /// Number of known tools.
    pub tools: usize,
}

/// The state of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ServerState {
    /// Not used yet, or connecting.
    Idle,
    Connected {
        /// The negotiated protocol version.
        protocol_version: String,
    },
    /// The last attempt to connect or to list the tools failed.
    Failed { reason: String },
}

pub(super) struct Server {
    config: ServerConfig,
    redactor: Redactor,
    faults: Faults,
    link: Mutex<Link>,
    tools: RwLock<Option<Cached>>,
    unlisted: RwLock<Option<Unlisted>>,
    changed: Arc<AtomicBool>,
    refreshing: AtomicBool,
}

#[derive(Default)]
struct Link {
    connection: Option<Arc<Connection>>,
    legacy: bool,
    failures: u32,
    failure: Option<(UpstreamError, Instant)>,
    shut_down: bool,
}

#[derive(Clone)]
struct Cached {
    tools: Arc<[ToolDefinition]>,
    fresh_until: Instant,
    /// The connection that the tools were listed on.
    connection: Weak<Connection>,
}

/// Why there is no current list of tools.
#[derive(Clone)]
struct Unlisted {
    error: UpstreamError,
    failures: u32,
    /// Not listed again before this.
    until: Instant,
}

impl Server {
    pub(super) fn new(config: ServerConfig) -> Self {
        let redactor = match &config.transport {
            Transport::Stdio { env, args, .. } => Redactor::new(env.values()).with_arguments(args),
            Transport::Http { url, headers } => Redactor::new(headers.values()).with_address(url),
        };
        Self {
            faults: Faults::new(&config.name, redactor.clone()),
            redactor,
            config,
            link: Mutex::default(),
            tools: RwLock::default(),
            unlisted: RwLock::default(),
            changed: Arc::default(),
            refreshing: AtomicBool::new(false),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.config.name
    }

    /// Returns cached tools at once, refreshing them in the background if they are stale. Waits for new ones if the
    /// server reported a change or none are known yet, but only once if they do not come.
    pub(super) async fn tools(self: &Arc<Self>) -> Result<Arc<[ToolDefinition]>, UpstreamError> {
        let cached = self.tools.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(cached) = &cached
            && !self.changed.load(Ordering::Acquire)
        {
            if cached.fresh_until <= Instant::now() {
                self.refresh_in_background();
            }
            return Ok(cached.tools.clone());
        }
        let answer = match self.unlisted() {
            Some(unlisted) => {
                if unlisted.until <= Instant::now() {
                    self.refresh_in_background();
                }
                Err(unlisted.error)
            }
            None => self.wait_for_list().await,
        };
        match (answer, cached) {
            (Err(_), Some(cached)) => Ok(cached.tools),
            (answer, _) => answer,
        }
    }

    async fn wait_for_list(self: &Arc<Self>) -> Result<Arc<[ToolDefinition]>, UpstreamError> {
        let (server, limit) = (self.clone(), self.config.list_timeout);
        let refresh = tokio::spawn(async move { server.refresh().await });
        if let Ok(joined) = tokio::time::timeout(limit, refresh).await {
            return joined.unwrap_or_else(|error| Err(self.task_failed(&error)));
        }
        // A held lock means that connecting is in progress.
        let reason = match self.link.try_lock() {
            Err(_) => "it is still connecting".to_owned(),
            Ok(_) => format!("it has not listed its tools within {} ms", limit.as_millis()),
        };
        let error = self.faults.error(UpstreamFault::TimedOut, reason);
        self.remember_unlisted(&error);
        Err(error)
    }

    fn unlisted(&self) -> Option<Unlisted> {
        self.unlisted.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers that there is no list, and why; the next attempt waits longer each time.
    fn remember_unlisted(&self, error: &UpstreamError) {
        tracing::warn!(server.name = self.config.name, "listing the tools failed: {error}");
        let mut unlisted = self.unlisted.write().unwrap_or_else(PoisonError::into_inner);
        let failures = unlisted.as_ref().map_or(0, |unlisted| unlisted.failures);
        let until = Instant::now() + backoff(BACKOFF_MIN, failures, BACKOFF_MAX);
        *unlisted = Some(Unlisted { error: error.clone(), failures: failures + 1, until });
    }

    /// Calls a tool. Retries once if the server rejected the call because it no longer knows our session.
    pub(super) async fn call(
        self: &Arc<Self>,
        name: &str,
        arguments: &Value,
    ) -> Result<ToolOutput, UpstreamError> {
        let connection = self.connection().await?;
        let outcome = self.call_on(&connection, name, arguments).await;
        if outcome.is_ok() || !connection.session_lost() {
            return outcome;
        }
        let connection = self.connection().await?;
        self.call_on(&connection, name, arguments).await
    }

    async fn call_on(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        name: &str,
        arguments: &Value,
    ) -> Result<ToolOutput, UpstreamError> {
        let limit = self.config.call_timeout;
        self.check_unchanged(name, connection).await?;
        match tokio::time::timeout(limit, connection.call(name, arguments)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.faults.error(
                UpstreamFault::TimedOut,
                format!("no reply within {} ms", limit.as_millis()),
            )),
        }
    }

    /// Makes sure that the tool is still as listed, because the caller has judged it by the list. If the server was
    /// restarted or reported a change, its tools are listed again, and a tool that has changed is not called.
    async fn check_unchanged(
        self: &Arc<Self>,
        name: &str,
        connection: &Arc<Connection>,
    ) -> Result<(), UpstreamError> {
        let known = self.tools.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(known) = known else { return Ok(()) };
        let same = known.connection.ptr_eq(&Arc::downgrade(connection));
        if same && !self.changed.load(Ordering::Acquire) {
            return Ok(());
        }
        let now = self.refresh().await?;
        let fingerprint = |tools: &[ToolDefinition]| {
            let named = tools.iter().find(|definition| definition.tool.name == name);
            named.map(ToolDefinition::fingerprint)
        };
        if fingerprint(&known.tools) == fingerprint(&now) {
            return Ok(());
        }
        let reason = "its definition has changed since it was listed";
        Err(self.faults.error(UpstreamFault::Rejected, reason))
    }

    /// Lists the tools again without waiting; does nothing if that is already in progress.
    pub(super) fn refresh_in_background(self: &Arc<Self>) {
        if self.refreshing.swap(true, Ordering::AcqRel) {
            return;
        }
        let server = self.clone();
        tokio::spawn(async move {
            if let Err(error) = server.refresh().await {
                tracing::debug!(
                    server.name = server.config.name,
                    "listing the tools failed: {error}"
                );
            }
            server.refreshing.store(false, Ordering::Release);
        });
    }

    async fn refresh(self: &Arc<Self>) -> Result<Arc<[ToolDefinition]>, UpstreamError> {
        let connection = self.connection().await.inspect_err(|error| {
            // Connecting has a back-off of its own; only what was waited for in vain is remembered here.
            if self.unlisted().is_some() {
                self.remember_unlisted(error);
            }
        })?;
        // Cleared before the request, so that a change reported meanwhile counts.
        self.changed.store(false, Ordering::Release);
        let limit = self.config.call_timeout;
        let listed = tokio::time::timeout(limit, connection.list()).await.unwrap_or_else(|_| {
            Err(self.faults.error(UpstreamFault::TimedOut, "it did not list its tools in time"))
        });
        let listed = match listed {
            Ok(listed) => listed,
            Err(error) => {
                self.changed.store(true, Ordering::Release);
                self.remember_unlisted(&error);
                return Err(error);
            }
        };
        let most = self.config.tools_fresh_for;
        let fresh_for = listed.fresh_for.map_or(most, |asked| asked.max(FRESH_MIN).min(most));
        let tools: Arc<[ToolDefinition]> = listed.tools.into();
        let fresh_until = Instant::now() + fresh_for;
        let cached =
            Cached { tools: tools.clone(), fresh_until, connection: Arc::downgrade(&connection) };
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = Some(cached);
        *self.unlisted.write().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(tools)
    }

    async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, UpstreamError> {
        let server = self.clone();
        let task = tokio::spawn(async move { server.connect().await });
        task.await.unwrap_or_else(|error| Err(self.task_failed(&error)))
    }

    async fn connect(&self) -> Result<Arc<Connection>, UpstreamError> {
        let mut link = self.link.lock().await;
        if link.shut_down {
            return Err(self.faults.error(UpstreamFault::Cancelled, "the proxy is shut down"));
        }
        if let Some(connection) = link.connection.take_if(|open| open.is_closed()) {
            tracing::info!(server.name = self.config.name, "the MCP server is gone; reconnecting");
            connection.close().await;
        }
        if let Some(connection) = &link.connection {
            return Ok(connection.clone());
        }
        if let Some((error, until)) = &link.failure
            && Instant::now() < *until
        {
            return Err(error.clone());
        }
        // After failures the probe waits longer, in case the server is merely slow to start.
        let mut config = self.config.clone();
        config.probe_timeout = backoff(config.probe_timeout, link.failures, config.connect_timeout);
        let open = Connection::open(&config, &self.redactor, link.legacy, self.changed.clone());
        match open.await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                tracing::info!(
                    server.name = config.name,
                    protocol.version = connection.version(),
                    "connected to an MCP server"
                );
                let legacy = connection.is_legacy();
                *link = Link { connection: Some(connection.clone()), legacy, ..Link::default() };
                Ok(connection)
            }
            Err(error) => {
                tracing::warn!(server.name = config.name, "connecting failed: {error}");
                let wait = backoff(BACKOFF_MIN, link.failures, BACKOFF_MAX);
                link.failures += 1;
                link.legacy = false;
                link.failure = Some((error.clone(), Instant::now() + wait));
                Err(error)
            }
        }
    }

    pub(super) async fn status(&self) -> ServerStatus {
        // A held lock means that connecting is in progress.
        let state = match self.link.try_lock() {
            Err(_) => ServerState::Idle,
            Ok(link) => match (&link.connection, &link.failure) {
                (Some(open), _) if !open.is_closed() => match self.unlisted() {
                    Some(unlisted) => ServerState::Failed { reason: unlisted.error.message },
                    None => ServerState::Connected { protocol_version: open.version().to_owned() },
                },
                (_, Some((error, _))) => ServerState::Failed { reason: error.message.clone() },
                _ => ServerState::Idle,
            },
        };
        let cached = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let tools = cached.as_ref().map_or(0, |cached| cached.tools.len());
        ServerStatus { name: self.config.name.clone(), state, tools }
    }

    pub(super) async fn shutdown(&self) {
        let mut link = self.link.lock().await;
        link.shut_down = true;
        if let Some(connection) = link.connection.take() {
            connection.close().await;
        }
    }

    fn task_failed(&self, error: &tokio::task::JoinError) -> UpstreamError {
        self.faults.error(UpstreamFault::Failed, format!("the connection task failed: {error}"))
    }
}

fn backoff(start: Duration, times: u32, max: Duration) -> Duration {
    start.saturating_mul(2_u32.saturating_pow(times)).min(max)
}
