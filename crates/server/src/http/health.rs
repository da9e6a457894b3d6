//! `GET /health`: the parts, and whether they answer.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::conversations::view::{Raw, json};

/// How the server is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `ok`, or `unavailable` when the store cannot be reached.
    pub status: &'static str,
    /// The server's version.
    pub version: &'static str,
    /// What the store is and promises.
    #[schema(value_type = Object)]
    pub store: Raw,
    /// Names of the configured models.
    pub models: Vec<String>,
}

/// The routes about the server itself.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(health))
}

/// How the server is.
#[utoipa::path(get, path = "/health", tag = "server",
    responses((status = 200, body = Health), (status = 503, body = Health)))]
pub async fn health(State(app): State<App>) -> (StatusCode, Json<Health>) {
    let reached = app.engine().store().ping().await;
    let (code, status) = match reached {
        Ok(()) => (StatusCode::OK, "ok"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
    };
    let health = Health {
        status,
        version: env!("CARGO_PKG_VERSION"),
        store: json(&app.engine().store().facts()),
        models: app.engine().model_names(),
    };
    (code, Json(health))
}
