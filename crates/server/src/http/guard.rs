//! The allowed `Host` names, and the paths that run a turn.
//!
//! A server bound to loopback only accepts loopback names and `server.hosts`, so that DNS rebinding cannot
//! reach it from a web page. Any other server requires a key.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::App;
use super::problem::Problem;

/// Rejects an unknown `Host` if the server is bound to loopback.
pub async fn host(State(app): State<App>, request: Request, next: Next) -> Response {
    let host = named_host(&request);
    let known = |host: &str| {
        is_loopback(host) || app.settings().hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
    };
    let allowed = !app.settings().bind.ip().is_loopback() || host.as_deref().is_some_and(known);
    if allowed {
        return next.run(request).await;
    }
    Problem::new(
        StatusCode::FORBIDDEN,
        "unknown_host",
        "the Host header does not name this server",
        "use 127.0.0.1 or localhost, or list the name in server.hosts",
    )
    .into_response()
}

/// The host without its port.
fn named_host(request: &Request) -> Option<String> {
    let authority = match request.uri().authority() {
        Some(authority) => authority.to_string(),
        None => header_text(request.headers())?,
    };
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => authority.split(':').next()?,
    };
    Some(host.to_owned())
}

fn header_text(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(header::HOST)?.to_str().ok()?.to_owned())
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether a path runs a turn, and may take as long as one.
pub fn makes_a_turn(path: &str) -> bool {
    path.starts_with("/mcp")
        || path.starts_with("/api/v1/chat")
        || path.starts_with("/api/v1/query")
        || path.contains("/approvals/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_loopback() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "localhost.evil.example", "10.0.0.1", "evil.example", "127.0.0.1.nip.io"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
