//! `GET /memories/export` and `POST /memories/import`.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::fact::ForgottenOnes;
use utoipa::{IntoParams, ToSchema};

use crate::http::App;
use crate::http::body::Lines;
use crate::http::caller::Authenticated;
use crate::http::part::Query;
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
pub(super) async fn export(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<MemoryExport>, Problem> {
    let export = app.engine().facts().export(&caller).await?;
    let memories = export.memories.into_iter().map(Into::into).collect();
    Ok(Json(MemoryExport { format: export.format, memories }))
}

/// How to import memories.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ImportQuery {
    /// Whether to bring back statements that the user has forgotten; otherwise they are left out and counted.
    #[param(default = false)]
    with_forgotten: bool,
}

/// Imports memories, all or none: an export of Throughline, mem0's JSON, or the graph of the official MCP
/// memory server as JSON or as its JSON lines (`application/x-ndjson`).
#[utoipa::path(post, path = "/memories/import", tag = "memories", params(ImportQuery),
    request_body = Object,
    responses((status = 200, body = ImportedMemories), (status = 400, body = Problem),
        (status = 413, body = Problem)))]
pub(super) async fn import(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<ImportQuery>,
    Lines(text): Lines,
) -> Result<Json<ImportedMemories>, Problem> {
    let forgotten = match query.with_forgotten {
        true => ForgottenOnes::BroughtBack,
        false => ForgottenOnes::LeftOut,
    };
    let engine = app.engine().clone();
    let importing = async move { engine.facts().import(&caller, &text, forgotten).await };
    Ok(Json(app.to_the_end(importing).await??.into()))
}
