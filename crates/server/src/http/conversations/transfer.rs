//! `GET /conversations/{id}/export` and `POST /import`.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use throughline_engine::id::SessionId;
use utoipa::{IntoParams, ToSchema};

use super::view::{Conversation, Versioned, versioned};
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;

/// How to take it out.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// `json`, which can be imported again, or `markdown`, for people.
    #[param(default = "json")]
    format: Format,
}

/// A form of export.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Head and turns as they are stored.
    #[default]
    Json,
    /// For people.
    Markdown,
}

/// Under which id to bring it in.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportQuery {
    /// Another id than the exported one.
    id: Option<String>,
}

/// A session, whole.
#[utoipa::path(get, path = "/conversations/{id}/export", tag = "conversations",
    params(("id" = String, Path, description = "The session's id"), ExportQuery),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
pub async fn export(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, Problem> {
    let (kind, bytes) = match query.format {
        Format::Json => {
            let export = app.engine().export(&caller, &id).await?;
            ("application/json", serde_json::to_vec(&export).unwrap_or_default())
        }
        Format::Markdown => {
            let text = app.engine().export_markdown(&caller, &id).await?;
            ("text/markdown; charset=utf-8", text.into_bytes())
        }
    };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], bytes).into_response())
}

/// Brings an exported session in.
#[utoipa::path(post, path = "/import", tag = "conversations", request_body = Object,
    params(ImportQuery),
    responses((status = 201, body = Conversation), (status = 409, body = Problem)))]
pub async fn import(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<ImportQuery>,
    body: Body<throughline_engine::engine::Export>,
) -> Result<(StatusCode, Versioned<Conversation>), Problem> {
    let id = query.id.map(SessionId::new).transpose()?;
    let loaded = app.engine().import(&caller, body.value, id).await?;
    Ok((StatusCode::CREATED, versioned(&loaded, app.engine().now())))
}
