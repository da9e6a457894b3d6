//! Errors as `application/problem+json`: what failed, a stable code, and what to try.
//!
//! The one place where a failure becomes a status. Handlers return `Result<_, Problem>` and never build
//! an error answer themselves.
//!
//! Invariant: `code` is stable for ever; an internal failure shows no detail of the inside.

use axum::Json;
use axum::http::{Extensions, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use throughline_engine::access::Grants;
use throughline_engine::error::{Error, Fault};
use throughline_engine::id::InvalidName;
use utoipa::ToSchema;

/// The media type of errors.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// An error answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// A name for this type of problem.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What failed, with the name.
    pub detail: String,
    /// A stable name for programs.
    pub code: String,
    /// What to try.
    pub hint: String,
    /// The version that the thing is at, on a version conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_version: Option<u64>,
    /// What the credential would have to allow; part of the answer's challenge.
    #[serde(skip)]
    pub needed: Option<Grants>,
}

impl Problem {
    /// A problem with a status, a code, what failed and what to try.
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

    /// A part of the request is wrong.
    pub fn invalid(field: &str, reason: impl Into<String>) -> Self {
        Error::invalid(field, reason).into()
    }

    /// What the answer tells the layer that adds the challenge.
    pub fn challenge(&self) -> Extensions {
        let mut extensions = Extensions::new();
        if let Some(needed) = self.needed {
            extensions.insert(needed);
        }
        extensions
    }

    /// The status to answer with.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// A fault of ours, of which only the log knows more.
pub fn internal() -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "internal",
        "the request failed inside the server",
        "see the server's log for the request id in x-request-id",
    )
}

/// The status for a kind of failure.
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
