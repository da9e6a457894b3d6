//! `GET /metrics`: metrics for Prometheus.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use metrics::{counter, gauge};
use throughline_engine::access::{Action, authorize};

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::problem::Problem;
use crate::telemetry;

/// Metrics for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain"),
        (status = 404, body = Problem)))]
pub(super) async fn metrics(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Response, Problem> {
    authorize(&caller, Action::Read)?;
    let Some(handle) = app.telemetry_enabled().then(telemetry::metrics::start).flatten() else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "telemetry_off",
            "metrics are not recorded",
            "set telemetry.enabled = true",
        ));
    };
    let cache = app.engine().cache_statistics();
    let writable = app.probe_store().await.is_ok();
    counter!("throughline_cache_hits_total").absolute(cache.hits);
    counter!("throughline_cache_misses_total").absolute(cache.misses);
    #[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
    for (name, value) in [
        ("throughline_cache_sessions", cache.sessions as f64),
        ("throughline_cache_bytes", cache.bytes as f64),
        ("throughline_turns_under_way", app.turns().len() as f64),
        ("throughline_store_writable", f64::from(u8::from(writable))),
    ] {
        gauge!(name).set(value);
    }
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], handle.render()).into_response())
}
