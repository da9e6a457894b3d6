//! `GET /conversations/{id}/export` and `POST /import`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use throughline_engine::engine::{ChatFormat, EXPORT_FORMAT, ImportedChats};
use throughline_engine::id::SessionId;
use utoipa::{IntoParams, ToSchema};

use super::view::{Conversation, versioned};
use crate::http::App;
use crate::http::body::{Document, parse};
use crate::http::caller::Authenticated;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;

/// Format of an export.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ExportQuery {
    /// `json`, which can be imported again, or `markdown`, for people.
    #[param(default = "json")]
    format: ExportFormat,
}

/// Format of an export.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// Head and turns as stored.
    #[default]
    Json,
    /// Text for people.
    Markdown,
}

/// Format of an import, and the id of the new session.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ImportQuery {
    /// Id of the new session; default: the exported id. Only for exports of Throughline.
    id: Option<String>,
    /// `throughline`, `chatgpt`, `claude` or `markdown`; default: detected.
    format: Option<String>,
}

/// Result of importing the conversations of another product.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Imported {
    /// New sessions.
    imported: Vec<ImportedConversation>,
    /// Ids of sessions that had been imported before and are unchanged.
    already_there: Vec<String>,
    /// Conversations that could not be imported, with the reason.
    skipped: Vec<String>,
}

/// An imported session.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ImportedConversation {
    /// Id of the session.
    id: String,
    /// Title of the session; null if it has none.
    title: Option<String>,
    /// Number of turns.
    turns: u64,
}

/// Exports a session.
#[utoipa::path(get, path = "/conversations/{id}/export", tag = "conversations",
    params(("id" = String, Path, description = "Id of the session"), ExportQuery),
    responses((status = 200, content((Object = "application/json"), (String = "text/markdown"))), (status = 404, body = Problem)))]
pub(super) async fn export(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, Problem> {
    let (kind, bytes) = match query.format {
        ExportFormat::Json => {
            let export = app.engine().export(&caller, &id).await?;
            return Ok(Json(export).into_response());
        }
        ExportFormat::Markdown => {
            let text = app.engine().export_markdown(&caller, &id).await?;
            ("text/markdown; charset=utf-8", text.into_bytes())
        }
    };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], bytes).into_response())
}

/// Imports an exported session, or the conversations in a chat product's data export.
#[utoipa::path(post, path = "/import", tag = "conversations", request_body = Object,
    params(ImportQuery),
    responses((status = 201, body = Conversation, description = "The session was imported"),
        (status = 200, body = Imported, description = "The conversations of another product were imported"),
        (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn import(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<ImportQuery>,
    Document(text): Document,
) -> Result<Response, Problem> {
    let format = query.format.as_deref().filter(|name| *name != OURS);
    let ours = query.format.as_deref() == Some(OURS)
        || (query.format.is_none() && text.contains(EXPORT_FORMAT));
    if ours {
        let export = parse(text.as_bytes(), app.settings().shape())?;
        let id = query.id.map(SessionId::new).transpose()?;
        let loaded = app.engine().import(&caller, export, id).await?;
        let session = versioned(&loaded, app.engine().now());
        return Ok((StatusCode::CREATED, session).into_response());
    }
    if query.id.is_some() {
        let reason = "only an export of Throughline can be given an id";
        return Err(Problem::invalid("id", reason));
    }
    let format = format.map(format_of).transpose()?;
    let report = app.engine().import_chats(&caller, &text, format).await?;
    Ok(Json(Imported::from(report)).into_response())
}

/// Name of our own format.
const OURS: &str = "throughline";

fn format_of(name: &str) -> Result<ChatFormat, Problem> {
    ChatFormat::from_name(name).ok_or_else(|| {
        let shown: String = name.chars().take(40).collect();
        let reason = format!("{shown:?} is not one of {OURS}, chatgpt, claude, markdown");
        Problem::invalid("format", reason)
    })
}

impl From<ImportedChats> for Imported {
    fn from(report: ImportedChats) -> Self {
        let imported = report.imported.into_iter().map(|chat| ImportedConversation {
            id: chat.session.to_string(),
            title: chat.title,
            turns: chat.turns,
        });
        Self {
            imported: imported.collect(),
            already_there: report.already_there.iter().map(ToString::to_string).collect(),
            skipped: report.skipped,
        }
    }
}
