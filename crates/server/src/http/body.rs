//! Request bodies: bounded, UTF-8, JSON of a bounded shape, with known fields only.
//!
//! Every defect of a body is reported here by name, before a handler runs.
//!
//! Invariant: a handler's `T` was parsed within the configured limits of bytes, depth and elements.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use throughline_engine::exact;

use super::problem::Problem;
use super::{App, admit};
use crate::json_limits::{self, OverShape, ShapeLimits};

/// A JSON body, parsed, and its bytes.
#[derive(Debug)]
pub struct Body<T> {
    /// The parsed value.
    pub value: T,
    /// The bytes as sent.
    pub bytes: Bytes,
}

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        if !says_json(request.headers()) {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not_json",
                "the content type is not JSON",
                "send the header content-type: application/json",
            ));
        }
        let bytes = read(request, app).await?;
        let value = parse(&bytes, app.settings().shape())?;
        Ok(Self { value, bytes })
    }
}

/// An uploaded file: JSON of a bounded shape, or Markdown.
#[derive(Debug)]
pub struct Document(pub String);

impl FromRequest<App> for Document {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let markdown = kind_of(request.headers()) == "text/markdown";
        if !markdown && !says_json(request.headers()) {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not_a_document",
                "the content type is neither JSON nor Markdown",
                "send the header content-type: application/json or text/markdown",
            ));
        }
        let bytes = read(request, app).await?;
        if !markdown {
            check_shape(&bytes, app.settings().shape())?;
        }
        Ok(Self(text(&bytes)?.to_owned()))
    }
}

/// An uploaded file: JSON of a bounded shape, or JSON lines.
#[derive(Debug)]
pub struct Lines(pub String);

impl FromRequest<App> for Lines {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let kind = kind_of(request.headers());
        let lines = matches!(kind.as_str(), "application/x-ndjson" | "application/jsonl");
        if !lines && !says_json(request.headers()) {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not_a_document",
                "the content type is neither JSON nor JSON lines",
                "send the header content-type: application/json or application/x-ndjson",
            ));
        }
        let bytes = read(request, app).await?;
        check_shape(&bytes, app.settings().shape())?;
        Ok(Self(text(&bytes)?.to_owned()))
    }
}

/// The bytes of the body, already read by [`admit`].
async fn read(request: Request, app: &App) -> Result<Bytes, Problem> {
    bytes_of(request.into_body(), app.settings().body_bytes_max).await
}

/// The bytes of a body, already read by [`admit`].
pub async fn bytes_of(body: axum::body::Body, limit: usize) -> Result<Bytes, Problem> {
    axum::body::to_bytes(body, limit).await.map_err(|_| admit::unreadable())
}

/// Parses JSON of a bounded shape.
pub fn parse<T: DeserializeOwned>(bytes: &[u8], limits: ShapeLimits) -> Result<T, Problem> {
    let text = text(bytes)?;
    check_shape(bytes, limits)?;
    if let Some(reason) = exact::refusal(text) {
        return Err(bad(reason, NUMBERS));
    }
    let wrong = |reason: &dyn std::fmt::Display| {
        bad(format!("the body does not match this route: {reason}"), "see /api/openapi.json")
    };
    // serde would accept a list for a struct whose fields all have defaults.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(wrong(&"it is a list, not an object"));
    }
    serde_json::from_slice(bytes).map_err(|error| wrong(&error))
}

/// Deserialises an object only: a derived implementation also accepts a list of the fields' values.
pub fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    match Value::deserialize(deserializer)? {
        Value::Array(_) => Err(D::Error::custom("it is a list, not an object")),
        value => T::deserialize(value).map_err(D::Error::custom),
    }
}

/// What to do about a number that cannot be held.
pub const NUMBERS: &str = "a number is an integer of 64 bits or a floating point number";

/// The problem of a body that cannot be used.
pub fn bad(detail: String, hint: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_body", detail, hint)
}

fn text(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let detail = format!("the body is not UTF-8 at byte {}", error.valid_up_to());
        bad(detail, "send text in UTF-8")
    })
}

fn check_shape(bytes: &[u8], limits: ShapeLimits) -> Result<(), Problem> {
    match json_limits::check(bytes, limits) {
        Ok(()) => Ok(()),
        Err(OverShape::Depth) => {
            let detail = format!("the body is nested deeper than {} levels", limits.depth_max);
            Err(bad(detail, "send flatter JSON"))
        }
        Err(OverShape::Elements) => Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_many_elements",
            format!("the body has more than {} values", limits.elements_max),
            "send fewer at once, or raise server.json_elements_max",
        )),
    }
}

/// The content type, without its parameters.
fn kind_of(headers: &HeaderMap) -> String {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase()
}

fn says_json(headers: &HeaderMap) -> bool {
    let kind = kind_of(headers);
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}
