//! One open connection to a server.
//!
//! Opening decides which era to speak. A server known to be of the older era is not probed again.
//!
//! Invariant: when a `Connection` is dropped, its child process or its HTTP session ends.

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

/// Pages of one tool list; more is a server that never ends.
const PAGES_MAX: usize = 100;
/// The largest definition of a tool, in bytes of JSON; a larger one is left out.
const DEFINITION_BYTES_MAX: usize = 64 * 1024;
/// How long closing may take before the rest is left to `Drop`.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

type Opened = Result<RunningService<RoleClient, Handler>, ClientInitializeError>;

/// An open connection.
pub struct Connection {
    config: ServerConfig,
    faults: Faults,
    peer: Peer<RoleClient>,
    version: ProtocolVersion,
    service: Mutex<RunningService<RoleClient, Handler>>,
    signs: TransportErrors,
}

/// What a transport has seen go wrong.
#[derive(Clone, Default)]
struct TransportErrors {
    /// A message was over the limit.
    oversized: Arc<AtomicBool>,
    /// The server has forgotten our session.
    over: Arc<AtomicBool>,
}

/// A tool list as a server gave it.
pub struct ToolList {
    /// The definitions, in the server's order.
    pub tools: Vec<ToolDefinition>,
    /// How long the server calls it fresh.
    pub fresh_for: Option<Duration>,
}

impl Connection {
    /// Opens a connection within the time for it. `older` is what is known of the server's era; `changed` is set whenever
    /// the server says that its tools have changed. The error of a child that cannot start ends with what it wrote.
    pub async fn open(
        config: &ServerConfig,
        redactor: &Redactor,
        older: bool,
        changed: Arc<AtomicBool>,
    ) -> Result<Self, UpstreamError> {
        let faults = Faults::new(&config.name, redactor.clone());
        let last_lines = LastLines::default();
        let opening = Self::open_with(config, redactor, older, changed, &faults, &last_lines);
        let opened = tokio::time::timeout(config.connect_timeout, opening).await;
        let late = || faults.error(UpstreamFault::TimedOut, "it did not start in time");
        match opened.unwrap_or_else(|_| Err(late())) {
            Err(error) => {
                Err(UpstreamError { message: last_lines.added_to(&error.message).await, ..error })
            }
            opened => opened,
        }
    }

    async fn open_with(
        config: &ServerConfig,
        redactor: &Redactor,
        older: bool,
        changed: Arc<AtomicBool>,
        faults: &Faults,
        last_lines: &LastLines,
    ) -> Result<Self, UpstreamError> {
        let signs = TransportErrors::default();
        let attempt =
            |older| attempt(config, redactor, faults, older, &changed, &signs, last_lines);
        let mut opened = attempt(older).await?;
        // Some older servers end, or answer outside the protocol, when asked what they do not know.
        if let Err(error) = &opened
            && !older
            && faults.opening(error).fault != UpstreamFault::Unauthorized
        {
            let again = attempt(true).await?;
            opened = if again.is_ok() { again } else { opened };
        }
        let service = opened.map_err(|error| faults.opening(&error))?;
        let peer = service.peer().clone();
        peer.set_response_cache_config(ClientCacheConfig::disabled()).await;
        let info = peer.peer_info().ok_or_else(|| {
            faults.error(UpstreamFault::Malformed, "it did not say which version it speaks")
        })?;
        let version = info.protocol_version.clone();
        let tells = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
        if !version.has_initialize() && tells == Some(true) {
            tokio::spawn(watch(peer.clone(), changed));
        }
        let (config, faults, service) = (config.clone(), faults.clone(), Mutex::new(service));
        Ok(Self { config, faults, peer, version, service, signs })
    }

    /// The protocol version that was agreed on.
    pub fn version(&self) -> &str {
        self.version.as_str()
    }

    /// Whether the server is of the older era.
    pub fn is_older(&self) -> bool {
        self.version.has_initialize()
    }

    /// Whether the other side has gone.
    pub fn is_closed(&self) -> bool {
        self.peer.is_transport_closed() || self.is_forgotten()
    }

    /// Whether the server refused a request because it does not know us any more. It was not carried out.
    pub fn is_forgotten(&self) -> bool {
        self.signs.over.load(Ordering::Acquire)
    }

    /// All pages of the tool list. A name that is listed with two definitions is left out.
    pub async fn list(&self) -> Result<ToolList, UpstreamError> {
        let mut listed = ToolList { tools: Vec::new(), fresh_for: None };
        let mut doubled = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let request = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.peer.list_tools(Some(request)).await;
            let page = page.map_err(|error| self.failed(self.faults.request(&error)))?;
            listed.fresh_for = page.ttl_ms.map(Duration::from_millis).or(listed.fresh_for);
            for tool in page.tools {
                let tool = convert::definition(&self.config.name, tool);
                if listed.tools.iter().any(|known| known.tool == tool.tool && *known != tool) {
                    doubled.push(tool.tool.name.clone());
                }
                self.keep(&mut listed.tools, tool);
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                // Which of the two would run, nobody can tell.
                listed.tools.retain(|tool| !doubled.contains(&tool.tool.name));
                return Ok(listed);
            }
        }
        Err(self
            .faults
            .error(UpstreamFault::TooLarge, format!("more than {PAGES_MAX} pages of tools")))
    }

    fn keep(&self, tools: &mut Vec<ToolDefinition>, tool: ToolDefinition) {
        let size = tool.description.len() + tool.input_schema.to_string().len();
        let why = if tools.len() >= self.config.tools_max {
            "the server lists more tools than the limit"
        } else if size > DEFINITION_BYTES_MAX {
            "its definition is larger than the limit"
        } else if tools.iter().any(|known| known.tool == tool.tool) {
            "the server lists the name twice"
        } else {
            return tools.push(tool);
        };
        tracing::warn!(
            server.name = self.config.name,
            tool.name = tool.tool.name,
            "left out a tool: {why}"
        );
    }

    /// Calls a tool once. Dropping the future tells the server to stop.
    pub async fn call(&self, name: &str, arguments: &Value) -> Result<ToolOutput, UpstreamError> {
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
                "the tool asks for more input while it runs, which is not passed on",
            )),
            _ => Err(self.faults.error(
                UpstreamFault::Failed,
                "the tool wants to finish later as a task, which is not supported",
            )),
        }
    }

    /// Ends the connection and waits for it.
    pub async fn close(&self) {
        let mut service = self.service.lock().await;
        if let Err(error) = service.close_with_timeout(CLOSE_TIMEOUT).await {
            tracing::debug!(
                server.name = self.config.name,
                "closing the connection failed: {error}"
            );
        }
    }

    /// A connection that broke because of a message over the limit says so.
    fn failed(&self, error: UpstreamError) -> UpstreamError {
        if !self.signs.oversized.load(Ordering::Relaxed) {
            return error;
        }
        let limit = self.config.message_bytes_max;
        self.faults
            .error(UpstreamFault::TooLarge, format!("it sent a message of more than {limit} bytes"))
    }
}

/// Starts a transport and the handshake on it. The outer error is one that another era cannot mend.
async fn attempt(
    config: &ServerConfig,
    redactor: &Redactor,
    faults: &Faults,
    older: bool,
    changed: &Arc<AtomicBool>,
    signs: &TransportErrors,
    last_lines: &LastLines,
) -> Result<Opened, UpstreamError> {
    let handler = Handler { changed: changed.clone() };
    let lifecycle = if older {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        }
    };
    match &config.transport {
        Transport::Stdio { command, .. } => {
            let child = child::start(config, redactor, signs.oversized.clone(), last_lines);
            let child = child.map_err(|error| {
                faults
                    .error(UpstreamFault::Unreachable, format!("cannot start {command:?}: {error}"))
            })?;
            let transport = Probe::new(child, config.probe_timeout);
            Ok(handler.serve_with_lifecycle(transport, lifecycle).await)
        }
        Transport::Http { url, headers } => {
            let transport = http::open(config, url, headers, signs.over.clone())?;
            Ok(handler.serve_with_lifecycle(transport, lifecycle).await)
        }
    }
}

/// In the newer era a client is told of changes only on a subscription.
async fn watch(peer: Peer<RoleClient>, changed: Arc<AtomicBool>) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let Ok(mut subscription) = peer.listen(filter).await else { return };
    while let Ok(Some(notification)) = subscription.next().await {
        if let ServerNotification::ToolListChangedNotification(_) = notification {
            changed.store(true, Ordering::Release);
        }
    }
}
