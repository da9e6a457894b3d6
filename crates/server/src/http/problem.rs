//! Errors as `application/problem+json`.
//!
//! The only place that maps a failure to a status. Handlers return `Result<_, Problem>` and never build an
//! error response themselves.
//!
//! Invariant: `code` never changes; an internal failure reveals no details.

use axum::Json;
use axum::http::{Extensions, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use throughline_engine::access::Grants;
use throughline_engine::error::{Error, Fault};
use throughline_engine::id::InvalidName;
use utoipa::ToSchema;

/// Media type of errors.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// An error response (RFC 9457).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// URN of the problem type, `urn:throughline:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// Reason phrase of the status.
    pub title: String,
    /// HTTP status code.
    pub status: u16,
    /// What failed, for people.
    pub detail: String,
    /// Stable code for programs, such as `no_session`.
    pub code: String,
    /// What to try; may be empty.
    pub hint: String,
    /// Current version of the resource; only in version conflicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_version: Option<u64>,
    /// Grants that the credential lacks; added to `WWW-Authenticate`.
    #[serde(skip)]
    pub needed: Option<Grants>,
}

impl Problem {
    /// A problem; its type is derived from `code`.
    pub fn new(
        status: StatusCode,
        code: &str,
        detail: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            kind: format!("urn:throughline:problem:{code}"),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.to_owned(),
            hint: hint.into(),
            current_version: None,
            needed: None,
        }
    }

    /// A field of the request is invalid.
    pub fn invalid(field: &str, reason: impl Into<String>) -> Self {
        Error::invalid(field, reason).into()
    }

    /// Extensions for the layer that adds `WWW-Authenticate`.
    pub fn challenge(&self) -> Extensions {
        let mut extensions = Extensions::new();
        if let Some(needed) = self.needed {
            extensions.insert(needed);
        }
        extensions
    }

    /// The HTTP status; 500 if out of range.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// An internal error; details are only in the log.
pub fn internal() -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "internal",
        "the request failed inside the server",
        "see the server's log for the request id in x-request-id",
    )
}

/// Maps a fault to its status.
pub fn status_of(fault: Fault) -> StatusCode {
    match fault {
        Fault::Missing => StatusCode::NOT_FOUND,
        Fault::Invalid => StatusCode::BAD_REQUEST,
        Fault::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Fault::Forbidden => StatusCode::FORBIDDEN,
        Fault::Conflict => StatusCode::CONFLICT,
        Fault::KeyMismatch => StatusCode::UNPROCESSABLE_ENTITY,
        Fault::Upstream => StatusCode::BAD_GATEWAY,
        Fault::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Fault::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let fault = error.fault();
        if fault == Fault::Internal {
            tracing::error!(error.code = error.code(), %error, "a request failed");
        }
        let mut problem =
            Self::new(status_of(fault), error.code(), error.to_string(), error.hint());
        if let Error::Forbidden { action } = error {
            problem.needed = Some(Grants::needed_to(action));
        }
        if let Error::VersionConflict { current, .. } = error {
            problem.current_version = Some(current);
        }
        problem
    }
}

impl From<InvalidName> for Problem {
    fn from(error: InvalidName) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(&self)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        response.extensions_mut().extend(self.challenge());
        response
    }
}
