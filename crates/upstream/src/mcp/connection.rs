//! An open connection to a server.
//!
//! Opening negotiates the protocol version. A server known to be legacy is not probed again.
//!
//! Invariant: dropping a `Connection` ends its child process or HTTP session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, PaginatedRequestParams, ProtocolVersion,
    ServerNotification, SubscriptionFilter,
};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer,
    RunningService,
};
use serde_json::Value;
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::tool::{ToolDefinition, ToolOutput};
use tokio::sync::Mutex;

use super::child::LastLines;
use super::config::{ServerConfig, Transport};
use super::fault::Faults;
use super::handler::Handler;
use super::probe::Probe;
use super::{child, convert, http};
use crate::redact::Redactor;

/// Maximum number of pages of a tool list.
const PAGES_MAX: usize = 100;
/// Maximum size of a tool definition as JSON; a larger one is ignored.
const DEFINITION_BYTES_MAX: usize = 64 * 1024;
/// Timeout of closing; the rest is left to `Drop`.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

type Opened = Result<RunningService<RoleClient, Handler>, ClientInitializeError>;

pub(super) struct Connection {
    config: ServerConfig,
    faults: Faults,
    peer: Peer<RoleClient>,
    version: ProtocolVersion,
    service: Mutex<RunningService<RoleClient, Handler>>,
    errors: TransportErrors,
}

/// Errors that a transport has detected.
#[derive(Clone, Default)]
struct TransportErrors {
    /// A message exceeded the limit.
    oversized: Arc<AtomicBool>,
    /// The server no longer knows our session.
    session_lost: Arc<AtomicBool>,
}

/// The tool list of a server.
pub(super) struct ToolList {
    /// The definitions in the server's order.
    pub tools: Vec<ToolDefinition>,
    /// How long the list stays fresh according to the server.
    pub fresh_for: Option<Duration>,
}

impl Connection {
    /// Opens a connection within `connect_timeout`. `legacy` is set if the server is known to use the legacy
    /// protocol; `changed` is set whenever the server reports that its tools have changed. The error of a child that
    /// fails to start includes its last output.
    pub(super) async fn open(
        config: &ServerConfig,
        redactor: &Redactor,
        legacy: bool,
        changed: Arc<AtomicBool>,
    ) -> Result<Self, UpstreamError> {
        let faults = Faults::new(&config.name, redactor.clone());
        let last_lines = LastLines::default();
        let opening = Self::open_with(config, redactor, legacy, changed, &faults, &last_lines);
        let opened = tokio::time::timeout(config.connect_timeout, opening).await;
        let late = || faults.error(UpstreamFault::TimedOut, "it did not start in time");
        match opened.unwrap_or_else(|_| Err(late())) {
            Err(error) => {
                Err(UpstreamError { message: last_lines.append_to(&error.message).await, ..error })
            }
            opened => opened,
        }
    }

    async fn open_with(
        config: &ServerConfig,
        redactor: &Redactor,
        legacy: bool,
        changed: Arc<AtomicBool>,
        faults: &Faults,
        last_lines: &LastLines,
    ) -> Result<Self, UpstreamError> {
        let errors = TransportErrors::default();
        let attempt =
            |legacy| attempt(config, redactor, faults, legacy, &changed, &errors, last_lines);
        let mut opened = attempt(legacy).await?;
        // Some legacy servers exit, or reply outside the protocol, on an unknown request.
        if let Err(error) = &opened
            && !legacy
            && faults.opening(error).fault != UpstreamFault::Unauthorized
        {
            let again = attempt(true).await?;
            opened = if again.is_ok() { again } else { opened };
        }
        let service = opened.map_err(|error| faults.opening(&error))?;
        let peer = service.peer().clone();
        peer.set_response_cache_config(ClientCacheConfig::disabled()).await;
        let info = peer.peer_info().ok_or_else(|| {
            faults.error(UpstreamFault::Malformed, "it did not state a protocol version")
        })?;
        let version = info.protocol_version.clone();
        let notifies = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
        if !version.has_initialize() && notifies == Some(true) {
            tokio::spawn(watch(peer.clone(), changed));
        }
        let (config, faults, service) = (config.clone(), faults.clone(), Mutex::new(service));
        Ok(Self { config, faults, peer, version, service, errors })
    }

    /// The negotiated protocol version.
    pub(super) fn version(&self) -> &str {
        self.version.as_str()
    }

    /// Whether the server uses the legacy protocol, with an initialize handshake.
    pub(super) fn is_legacy(&self) -> bool {
        self.version.has_initialize()
    }

    /// Whether the connection is no longer usable.
    pub(super) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed() || self.session_lost()
    }

    /// Whether the server rejected a request because it no longer knows our session. The request was not executed.
    pub(super) fn session_lost(&self) -> bool {
        self.errors.session_lost.load(Ordering::Acquire)
    }

    /// Reads all pages of the tool list. A name with two different definitions is ignored, and so is what is not
    /// well-formed ([`super::raw`]).
    pub(super) async fn list(&self) -> Result<ToolList, UpstreamError> {
        let mut listed = ToolList { tools: Vec::new(), fresh_for: None };
        let mut duplicates = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let request = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.peer.list_tools(Some(request)).await;
            let page = page.map_err(|error| self.failed(self.faults.request(&error)))?;
            listed.fresh_for = page.ttl_ms.map(Duration::from_millis).or(listed.fresh_for);
            for tool in page.tools {
                let tool = convert::definition(&self.config.name, tool);
                if listed.tools.iter().any(|known| known.tool == tool.tool && *known != tool) {
                    duplicates.push(tool.tool.name.clone());
                }
                self.push_tool(&mut listed.tools, tool);
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                // It is undefined which of the two would run.
                listed.tools.retain(|tool| !duplicates.contains(&tool.tool.name));
                return Ok(listed);
            }
        }
        Err(self
            .faults
            .error(UpstreamFault::TooLarge, format!("more than {PAGES_MAX} pages of tools")))
    }

    fn push_tool(&self, tools: &mut Vec<ToolDefinition>, tool: ToolDefinition) {
        let size = tool.description.len() + tool.input_schema.to_string().len();
        let why = if tools.len() >= self.config.tools_max {
            "the server lists too many tools"
        } else if size > DEFINITION_BYTES_MAX {
            "its definition is too large"
        } else if tools.iter().any(|known| known.tool == tool.tool) {
            "the server lists its name twice"
        } else {
            return tools.push(tool);
        };
        self.ignored(&tool.tool.name, why);
    }

    fn ignored(&self, name: &str, why: &str) {
        tracing::warn!(server.name = self.config.name, tool.name = name, "ignored a tool: {why}");
    }

    /// Calls a tool once. Dropping the future cancels the call.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: &Value,
    ) -> Result<ToolOutput, UpstreamError> {
        let mut request = CallToolRequestParams::new(name.to_owned());
        match arguments {
            Value::Object(map) => request = request.with_arguments(map.clone()),
            Value::Null => {}
            _ => {
                return Err(self
                    .faults
                    .error(UpstreamFault::Rejected, "arguments must be an object"));
            }
        }
        let response = self.peer.call_tool_once(request).await;
        match response.map_err(|error| self.failed(self.faults.request(&error)))? {
            CallToolResponse::Complete(result) => {
                Ok(convert::output(result, self.config.output_bytes_max))
            }
            CallToolResponse::InputRequired(_) => Err(self.faults.error(
                UpstreamFault::Failed,
                "the tool requests more input while running, which is not supported",
            )),
            _ => Err(self.faults.error(
                UpstreamFault::Failed,
                "the tool wants to finish later as a task, which is not supported",
            )),
        }
    }

    /// Closes the connection and waits until it is closed.
    pub(super) async fn close(&self) {
        let mut service = self.service.lock().await;
        if let Err(error) = service.close_with_timeout(CLOSE_TIMEOUT).await {
            tracing::debug!(
                server.name = self.config.name,
                "closing the connection failed: {error}"
            );
        }
    }

    /// Replaces the error if the connection broke because of an oversized message.
    fn failed(&self, error: UpstreamError) -> UpstreamError {
        if !self.errors.oversized.load(Ordering::Relaxed) {
            return error;
        }
        let limit = self.config.message_bytes_max;
        self.faults
            .error(UpstreamFault::TooLarge, format!("it sent a message of more than {limit} bytes"))
    }
}

/// Starts a transport and performs the handshake. The outer error is one that the other protocol cannot fix.
async fn attempt(
    config: &ServerConfig,
    redactor: &Redactor,
    faults: &Faults,
    legacy: bool,
    changed: &Arc<AtomicBool>,
    errors: &TransportErrors,
    last_lines: &LastLines,
) -> Result<Opened, UpstreamError> {
    let handler = Handler { changed: changed.clone() };
    let lifecycle = if legacy {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        }
    };
    match &config.transport {
        Transport::Stdio { command, .. } => {
            let child = child::start(config, redactor, errors.oversized.clone(), last_lines);
            let child = child.map_err(|error| {
                faults
                    .error(UpstreamFault::Unreachable, format!("cannot start {command:?}: {error}"))
            })?;
            let transport = Probe::new(child, config.probe_timeout);
            Ok(handler.serve_with_lifecycle(transport, lifecycle).await)
        }
        Transport::Http { url, headers } => {
            let transport = http::open(config, url, headers, errors.session_lost.clone())?;
            Ok(handler.serve_with_lifecycle(transport, lifecycle).await)
        }
    }
}

/// Watches for changes of the tools; the current protocol reports them only to subscribers.
async fn watch(peer: Peer<RoleClient>, changed: Arc<AtomicBool>) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let Ok(mut subscription) = peer.listen(filter).await else { return };
    while let Ok(Some(notification)) = subscription.next().await {
        if let ServerNotification::ToolListChangedNotification(_) = notification {
            changed.store(true, Ordering::Release);
        }
    }
}
