//! `GET /memories/export` and `POST /memories/import`.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::App;
use crate::http::body::Lines;
use crate::http::caller::Authenticated;
use crate::http::problem::Problem;
use crate::memory_view::{ImportedMemories, Memory};

/// All memories of a user, in the form that the import accepts.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemoryExport {
    /// Always `throughline.memories/1`.
    format: String,
    /// The memories, including superseded ones, oldest first.
    memories: Vec<Memory>,
}

/// Exports all memories of the caller.
#[utoipa::path(get, path = "/memories/export", tag = "memories",
    responses((status = 200, body = MemoryExport)))]
pub async fn export(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<MemoryExport>, Problem> {
    let export = app.engine().facts().export(&caller).await?;
    let memories = export.memories.into_iter().map(Into::into).collect();
    Ok(Json(MemoryExport { format: export.format, memories }))
}

/// Imports memories, all or none: an export of Throughline, mem0's JSON, or the graph of the official MCP
/// memory server as JSON or as its JSON lines (`application/x-ndjson`).
#[utoipa::path(post, path = "/memories/import", tag = "memories", request_body = Object,
    responses((status = 200, body = ImportedMemories), (status = 400, body = Problem),
        (status = 413, body = Problem)))]
pub async fn import(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Lines(text): Lines,
) -> Result<Json<ImportedMemories>, Problem> {
    Ok(Json(app.engine().facts().import(&caller, &text).await?.into()))
}
