//! `/memories`: what is known about a user beyond single sessions.
//!
//! The credential determines the user; no field of a request names one.

mod files;
mod transfer;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use throughline_engine::fact::{FactDraft, FactFilter, FactKind, FactPatch, Trust};
use throughline_engine::id::{SessionId, ThreadId};
use throughline_engine::store::{Page, PageMark};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::body::Body;
use super::caller::Authenticated;
use super::part::{Path, Query};
use super::problem::Problem;
use crate::memory_view::{
    ForgottenMemories, FoundMemory, KeptMemory, Memory, MemoryKind, SaidTurn,
};

pub use transfer::MemoryExport;

/// The routes under `/memories`.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, add, forget_all))
        .routes(routes!(search))
        .routes(routes!(transfer::export))
        .routes(routes!(transfer::import))
        .routes(routes!(files::run))
        .routes(routes!(show, change, forget))
        .routes(routes!(history))
}

/// Selects memories.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Maximum number of memories to return, 1–100.
    #[param(default = 50)]
    limit: usize,
    /// `next_cursor` of the previous response; absent for the first page. Ignored with `q`.
    cursor: Option<String>,
    /// Words to search for, as in `/memories/search`; results are then best first and the other filters are
    /// ignored.
    q: Option<String>,
    /// Only memories of this kind.
    kind: Option<MemoryKind>,
    /// Only memories about this subject.
    subject: Option<String>,
    /// Only memories extracted from this session.
    session: Option<String>,
    /// Whether to include superseded memories.
    #[param(default = false)]
    superseded: bool,
}

impl Default for ListQuery {
    fn default() -> Self {
        Self {
            limit: 50,
            cursor: None,
            q: None,
            kind: None,
            subject: None,
            session: None,
            superseded: false,
        }
    }
}

/// A page of memories.
#[derive(Debug, Serialize, ToSchema)]
pub struct Memories {
    /// The memories, most recently changed first; best first with `q`.
    memories: Vec<Memory>,
    /// Cursor of the next page; null on the last page.
    next_cursor: Option<String>,
    /// Number of memories on all pages; with `q`, the number returned.
    total: usize,
}

/// A search.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Words or a description to search for.
    q: String,
    /// Maximum number of memories to return, 1–100.
    #[serde(default = "ten")]
    #[param(default = 10)]
    limit: usize,
}

fn ten() -> usize {
    10
}

/// Search results.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemoryHits {
    /// The memories, best first.
    hits: Vec<FoundMemory>,
}

/// A statement to remember.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryBody {
    /// The statement, as a sentence; at most 2000 bytes.
    text: String,
    /// Subject; a newer memory about the same subject supersedes an older one. At most 200 characters.
    #[serde(default)]
    subject: Option<String>,
    /// What the statement is about; without it, what its form says, or `fact`.
    #[serde(default)]
    kind: Option<MemoryKind>,
}

/// Changes to a memory; absent fields are left as they are.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryChange {
    /// New text, at most 2000 bytes.
    text: Option<String>,
    /// New subject; an empty one removes it.
    subject: Option<String>,
    /// New kind.
    kind: Option<MemoryKind>,
}

/// Versions of a memory.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemoryHistory {
    /// Oldest first: the memories it supersedes, its own earlier versions, and its current version.
    versions: Vec<Memory>,
}

/// Confirmation of forgetting everything.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Confirmation {
    /// Must be `all`, as a confirmation.
    confirm: Option<String>,
    /// What happens to the turns in which the memories were said: `withheld` (default) or `erased`.
    #[param(inline)]
    turns: SaidTurn,
}

/// How to forget a memory.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Forgetting {
    /// What happens to the turns in which the memory was said: `withheld` (default), so that no request or
    /// search uses them, or `erased`.
    #[param(inline)]
    turns: SaidTurn,
}

/// Lists the caller's memories.
#[utoipa::path(get, path = "/memories", tag = "memories", params(ListQuery),
    responses((status = 200, body = Memories), (status = 400, body = Problem)))]
pub async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<ListQuery>,
) -> Result<Json<Memories>, Problem> {
    if let Some(words) = query.q.filter(|words| !words.is_empty()) {
        let hits = app.engine().facts().search(&caller, &words, query.limit).await?;
        let memories: Vec<Memory> = hits.into_iter().map(|hit| hit.fact.into()).collect();
        return Ok(Json(Memories { total: memories.len(), memories, next_cursor: None }));
    }
    let filter = FactFilter {
        kind: query.kind.map(Into::into),
        subject: query.subject,
        session: query.session.map(SessionId::new).transpose()?,
        with_superseded: query.superseded,
    };
    let after = query.cursor.as_deref().map(mark).transpose()?;
    let page = Page { limit: query.limit, after };
    let listed = app.engine().facts().list(&caller, &filter, page).await?;
    Ok(Json(Memories {
        memories: listed.facts.into_iter().map(Into::into).collect(),
        next_cursor: listed.next.map(|mark| format!("{}~{}", mark.changed_at, mark.id)),
        total: listed.total,
    }))
}

fn mark(cursor: &str) -> Result<PageMark, Problem> {
    let parsed = || {
        let (at, id) = cursor.split_once('~')?;
        Some(PageMark { changed_at: at.parse().ok()?, id: ThreadId::new(id).ok()? })
    };
    parsed().ok_or_else(|| Problem::invalid("cursor", "it is not a next_cursor of this endpoint"))
}

/// Adds a memory. Adding it again returns the existing one.
#[utoipa::path(post, path = "/memories", tag = "memories", request_body = MemoryBody,
    responses((status = 201, body = KeptMemory), (status = 200, body = KeptMemory, description = "It was already known"),
        (status = 400, body = Problem), (status = 413, body = Problem)))]
pub async fn add(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    body: Body<MemoryBody>,
) -> Result<(StatusCode, Json<KeptMemory>), Problem> {
    let MemoryBody { text, subject, kind } = body.value;
    let kind = kind.map_or_else(|| FactKind::of_text(&text), Into::into);
    let draft = FactDraft { text, subject, kind, trust: Trust::Told, source: None };
    let added = app.engine().facts().add(&caller, draft).await?;
    let status = if added.known { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(added.into())))
}

/// Searches memories by words and by meaning.
#[utoipa::path(get, path = "/memories/search", tag = "memories", params(SearchQuery),
    responses((status = 200, body = MemoryHits), (status = 400, body = Problem)))]
pub async fn search(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<SearchQuery>,
) -> Result<Json<MemoryHits>, Problem> {
    let hits = app.engine().search_facts(&caller, &query.q, query.limit).await?;
    Ok(Json(MemoryHits { hits: hits.into_iter().map(Into::into).collect() }))
}

/// Returns a memory, including a superseded one.
#[utoipa::path(get, path = "/memories/{id}", tag = "memories",
    params(("id" = String, Path, description = "Id of the memory")),
    responses((status = 200, body = Memory), (status = 404, body = Problem)))]
pub async fn show(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
) -> Result<Json<Memory>, Problem> {
    Ok(Json(app.engine().facts().get(&caller, &id).await?.into()))
}

/// Changes a memory; the earlier version is kept in its history.
#[utoipa::path(patch, path = "/memories/{id}", tag = "memories", request_body = MemoryChange,
    params(("id" = String, Path, description = "Id of the memory")),
    responses((status = 200, body = KeptMemory), (status = 404, body = Problem)))]
pub async fn change(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
    body: Body<MemoryChange>,
) -> Result<Json<KeptMemory>, Problem> {
    let MemoryChange { text, subject, kind } = body.value;
    let patch = FactPatch { text, subject, kind: kind.map(Into::into) };
    Ok(Json(app.engine().facts().change(&caller, &id, &patch).await?.into()))
}

/// Forgets a memory and its earlier versions, and reports what was erased. The turns in which it was said are
/// no longer used.
#[utoipa::path(delete, path = "/memories/{id}", tag = "memories",
    params(("id" = String, Path, description = "Id of the memory"), Forgetting),
    responses((status = 200, body = ForgottenMemories), (status = 400, body = Problem),
        (status = 404, body = Problem)))]
pub async fn forget(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
    Query(query): Query<Forgetting>,
) -> Result<Json<ForgottenMemories>, Problem> {
    let engine = app.engine().clone();
    let forgetting = async move { engine.forget_fact(&caller, &id, query.turns.into()).await };
    Ok(Json(app.to_the_end(forgetting).await??.into()))
}

/// Forgets all memories of the caller.
#[utoipa::path(delete, path = "/memories", tag = "memories", params(Confirmation),
    responses((status = 200, body = ForgottenMemories), (status = 400, body = Problem)))]
pub async fn forget_all(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<Confirmation>,
) -> Result<Json<ForgottenMemories>, Problem> {
    if query.confirm.as_deref() != Some("all") {
        let reason = "everything would be forgotten; add ?confirm=all if that is meant";
        return Err(Problem::invalid("confirm", reason));
    }
    let engine = app.engine().clone();
    let forgetting = async move { engine.forget_all_facts(&caller, query.turns.into()).await };
    Ok(Json(app.to_the_end(forgetting).await??.into()))
}

/// Lists the versions of a memory, oldest first.
#[utoipa::path(get, path = "/memories/{id}/history", tag = "memories",
    params(("id" = String, Path, description = "Id of the memory")),
    responses((status = 200, body = MemoryHistory), (status = 404, body = Problem)))]
pub async fn history(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
) -> Result<Json<MemoryHistory>, Problem> {
    let versions = app.engine().facts().history(&caller, &id).await?;
    Ok(Json(MemoryHistory { versions: versions.into_iter().map(Into::into).collect() }))
}
