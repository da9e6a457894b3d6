//! Translates the protocol library's errors into the engine's.
//!
//! Invariant: every message has passed the server's [`Redactor`].

use std::io::ErrorKind;
use std::time::Duration;

use rmcp::model::ErrorCode;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use throughline_engine::failure::{UpstreamError, UpstreamFault};

use crate::redact::Redactor;

/// Translates the errors of one server.
#[derive(Clone)]
pub(super) struct Faults {
    target: String,
    redactor: Redactor,
}

impl Faults {
    pub(super) fn new(server: &str, redactor: Redactor) -> Self {
        Self { target: format!("server {server}"), redactor }
    }

    /// An error that does not come from the library.
    pub(super) fn error(&self, fault: UpstreamFault, message: impl AsRef<str>) -> UpstreamError {
        UpstreamError::new(&self.target, fault, self.redactor.clean(message.as_ref()))
    }

    /// Translates a failure to open a connection.
    pub(super) fn opening(&self, error: &ClientInitializeError) -> UpstreamError {
        match error {
            ClientInitializeError::TransportError { error, .. } => self.transport(error),
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => self.opening(fallback),
            ClientInitializeError::ConnectionClosed(_) => {
                self.error(UpstreamFault::Unreachable, "it closed the connection while starting")
            }
            ClientInitializeError::JsonRpcError(error) => self.error(
                UpstreamFault::Rejected,
                format!("it refused to start a connection: {}", error.message),
            ),
            ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => self
                .error(
                    UpstreamFault::Rejected,
                    format!("it supports only unknown protocol versions: {server_supported:?}"),
                ),
            other => self.error(UpstreamFault::Malformed, short(&other.to_string())),
        }
    }

    /// Translates a failed request.
    pub(super) fn request(&self, error: &ServiceError) -> UpstreamError {
        match error {
            ServiceError::McpError(error) => {
                let fault = match error.code {
                    ErrorCode::INVALID_PARAMS
                    | ErrorCode::METHOD_NOT_FOUND
                    | ErrorCode::INVALID_REQUEST => UpstreamFault::Rejected,
                    _ => UpstreamFault::Failed,
                };
                self.error(fault, short(&error.message))
            }
            ServiceError::TransportSend(error) => self.transport(error),
            ServiceError::TransportClosed => {
                self.error(UpstreamFault::Unreachable, "the connection was closed")
            }
            ServiceError::Timeout { .. } => self.error(UpstreamFault::TimedOut, "no reply in time"),
            ServiceError::Cancelled { reason } => self.error(
                UpstreamFault::Failed,
                format!(
                    "it cancelled the call: {}",
                    reason.as_deref().unwrap_or("no reason given")
                ),
            ),
            other => self.error(UpstreamFault::Malformed, short(&other.to_string())),
        }
    }

    fn transport(&self, error: &DynamicTransportError) -> UpstreamError {
        type Http = StreamableHttpError<reqwest::Error>;
        let message = short(&error.error.to_string());
        match error.error.downcast_ref::<Http>() {
            Some(Http::AuthRequired(_) | Http::InsufficientScope(_)) => {
                self.error(UpstreamFault::Unauthorized, "it rejected our credential")
            }
            Some(Http::HttpStatus(status)) => {
                let fault = match status.status {
                    429 => UpstreamFault::RateLimited,
                    _ => UpstreamFault::Failed,
                };
                let seconds = status.retry_after.as_deref().and_then(|text| text.parse().ok());
                let retry_after = seconds.map(Duration::from_secs);
                UpstreamError { retry_after, ..self.error(fault, message) }
            }
            Some(Http::Io(error)) if error.kind() == ErrorKind::FileTooLarge => {
                self.error(UpstreamFault::TooLarge, message)
            }
            Some(
                Http::Deserialize(_)
                | Http::UnexpectedServerResponse(_)
                | Http::UnexpectedContentType(_),
            ) => self.error(UpstreamFault::Malformed, message),
            _ => self.error(UpstreamFault::Unreachable, message),
        }
    }
}

/// Cuts a foreign message to a length suitable for a log line.
fn short(message: &str) -> String {
    const MESSAGE_CHARACTERS_MAX: usize = 500;
    message.chars().take(MESSAGE_CHARACTERS_MAX).collect()
}
