//! Layers around every request, outermost first.

use std::any::Any;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use throughline_engine::share::TOKEN_PREFIX;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::csrf::CsrfLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;

use super::dropin::refusal;
use super::problem::Problem;
use super::{App, guard, oauth, unread};
use crate::telemetry;

/// Nothing from other hosts, no inline scripts or styles.
const CONTENT_POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";

/// Wraps `router` in all layers, built once rather than per route.
pub(super) fn around(router: Router, app: &App) -> Router {
    let request_id = HeaderName::from_static("x-request-id");
    let csrf = CsrfLayer::new().with_rejection_response(|_| cross_site().into_response());
    let layers = ServiceBuilder::new()
        .layer(from_fn(unread::settle))
        .layer(SetRequestIdLayer::new(request_id.clone(), MakeRequestUuid))
        .layer(PropagateRequestIdLayer::new(request_id))
        .layer(TraceLayer::new_for_http().make_span_with(span_of))
        .layer(from_fn_with_state(app.clone(), counted))
        .layer(from_fn(telemetry::joined::joined))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(fixed(HeaderName::from_static("cross-origin-resource-policy"), "same-origin"))
        .layer(fixed(header::CONTENT_SECURITY_POLICY, CONTENT_POLICY))
        .layer(fixed(header::REFERRER_POLICY, "no-referrer"))
        .layer(fixed(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(fixed(HeaderName::from_static("x-robots-tag"), "noindex"))
        .layer(from_fn_with_state(app.clone(), oauth::challenge))
        .layer(CompressionLayer::new())
        .layer(from_fn_with_state(app.clone(), guard::host))
        .layer(csrf);
    Router::new().fallback_service(router).layer(layers)
}

/// The span of a request; never with its query, which may contain search words, nor with the token of a link.
fn span_of<B>(request: &axum::http::Request<B>) -> tracing::Span {
    let path = without_tokens(request.uri().path());
    tracing::debug_span!("request", method = %request.method(), path = %path)
}

/// The path with the tokens of read-only links masked, even if the rest is mistyped.
fn without_tokens(path: &str) -> String {
    let mut after_shared = false;
    let parts = path.split('/').map(|part| {
        let token = after_shared || part.contains(TOKEN_PREFIX);
        after_shared = part.eq_ignore_ascii_case("shared");
        if token && !part.is_empty() { "***" } else { part }
    });
    parts.collect::<Vec<_>>().join("/")
}

fn fixed(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}

/// Ends a request that takes too long. The engine limits turns itself, so they get that time on top. A drop-in
/// client decides itself how long to wait for its model.
pub(super) async fn within_time(
    axum::extract::State(app): axum::extract::State<App>,
    request: Request,
    next: Next,
) -> Response {
    if request.uri().path().starts_with("/v1/") {
        return next.run(request).await;
    }
    let seconds = if guard::makes_a_turn(request.uri().path()) {
        app.engine().limits().turn_seconds_max.saturating_add(app.settings().request_seconds_max)
    } else {
        app.settings().request_seconds_max
    };
    let path = request.uri().path().to_owned();
    let limit = Duration::from_secs(seconds);
    tokio::time::timeout(limit, next.run(request)).await.unwrap_or_else(|_| {
        let problem = Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "request_timed_out",
            format!("the request took longer than {seconds} seconds"),
            "try again, or raise server.request_seconds_max",
        );
        refusal::shaped(&path, &problem)
    })
}

/// Counts requests by route, not by path, to keep the number of labels small.
async fn counted(
    axum::extract::State(app): axum::extract::State<App>,
    request: Request,
    next: Next,
) -> Response {
    if !app.telemetry_enabled() {
        return next.run(request).await;
    }
    let started = Instant::now();
    let method = request.method().clone();
    let mut response = next.run(request).await;
    let route = response.extensions_mut().remove::<MatchedPath>();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let status = response.status().as_u16();
    telemetry::metrics::request(method.as_str(), route, status, started.elapsed());
    response
}

/// Passes the matched route to the layers around the router.
pub(super) async fn routed(route: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Some(route) = route {
        response.extensions_mut().insert(route);
    }
    response
}

fn cross_site() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "cross_site",
        "requests from another site are not allowed",
        "call from the same origin, or from a program that sends no Origin header",
    )
}

fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a request panicked; see the backtrace above");
    super::problem::internal().into_response()
}

/// 404 for an unknown route.
pub(super) async fn no_route(uri: Uri, headers: HeaderMap) -> Response {
    let path: String = uri.path().chars().take(200).collect();
    let problem = Problem::new(
        StatusCode::NOT_FOUND,
        "no_route",
        format!("there is no route {path}"),
        "the routes are listed in /api/openapi.json",
    );
    refusal::for_client(uri.path(), &headers, &problem)
}

/// 405 for an unknown method.
pub(super) async fn no_method(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path: String = uri.path().chars().take(200).collect();
    let problem = Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "no_method",
        format!("{path} does not support {method}"),
        "the methods are listed in /api/openapi.json",
    );
    refusal::for_client(uri.path(), &headers, &problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_in_the_log_holds_the_token_of_a_link() {
        for (path, logged) in [
            ("/api/v1/shared/share_a1", "/api/v1/shared/***"),
            ("/api/v1/shared/other", "/api/v1/shared/***"),
            ("/api/v1/Shared/other/x", "/api/v1/Shared/***/x"),
            ("//x/share_a1", "//x/***"),
            ("/api/v1/conversations/shared-1/history", "/api/v1/conversations/shared-1/history"),
        ] {
            assert_eq!(without_tokens(path), logged);
        }
    }
}
