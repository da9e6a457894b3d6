//! Errors of this server in the format of a provider's client.

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_upstream::model::Provider;

use crate::http::problem::Problem;

/// `problem` in that provider's format.
pub fn in_format(format: Provider, problem: &Problem) -> Response {
    let message = format!("{} ({})", problem.detail, problem.hint);
    let kind = kind(problem.status);
    let body = match format {
        Provider::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Provider::OpenAi => json!({"error": {
            "message": message, "type": kind, "param": null, "code": problem.code,
        }}),
    };
    let mut response = (problem.status(), Json(body)).into_response();
    response.extensions_mut().extend(problem.challenge());
    response
}

/// `problem` for the sender of these headers.
pub fn for_client(path: &str, headers: &HeaderMap, problem: &Problem) -> Response {
    match is_providers(path) && headers.contains_key("anthropic-version") {
        true => in_format(Provider::Anthropic, problem),
        false => shaped(path, problem),
    }
}

/// `problem` for a caller of `path`, before the client is known.
pub fn shaped(path: &str, problem: &Problem) -> Response {
    let mut response = if path.starts_with("/v1/messages") {
        in_format(Provider::Anthropic, problem)
    } else if is_providers(path) {
        in_format(Provider::OpenAi, problem)
    } else {
        problem.clone().into_response()
    };
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Whether only clients of providers use that path.
fn is_providers(path: &str) -> bool {
    path == "/v1" || path.starts_with("/v1/")
}

/// A provider that could not be called.
pub fn of_upstream(error: &UpstreamError) -> Problem {
    let status = match error.fault {
        UpstreamFault::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    Problem::new(status, "upstream_failed", error.to_string(), "see [[model]] in the configuration")
}

fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}
