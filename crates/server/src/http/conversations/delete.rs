//! `DELETE /conversations/{id}`, `DELETE /conversations/{id}/permanent` and `DELETE /conversations/{id}/turns/{turn}`.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::ErasureReceipt;
use throughline_engine::id::SessionId;
use utoipa::{IntoParams, ToSchema};

use super::view::{Conversation, Versioned, versioned};
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;

/// What an erasure removed.
#[derive(Debug, Serialize, ToSchema)]
pub struct Erasure {
    /// The session.
    pub session_id: String,
    /// When.
    pub at: Timestamp,
    /// Heads removed.
    pub heads: u64,
    /// Turns removed.
    pub turns: u64,
    /// Files, objects, rows or keys that held them.
    pub records: u64,
    /// Bytes of heads and turns removed.
    pub bytes: u64,
    /// Copies that the store could not remove, or that go later by themselves.
    pub left: u64,
    /// What is to be known of those.
    pub notes: Vec<String>,
    /// Documents that the search index removed.
    pub index_documents: u64,
    /// Memories that were gathered from it and are forgotten with it.
    pub memories: u64,
    /// What keeps it erased after a restore.
    pub tombstone: String,
}

impl From<ErasureReceipt> for Erasure {
    fn from(receipt: ErasureReceipt) -> Self {
        Self {
            session_id: receipt.session.to_string(),
            at: receipt.at,
            heads: receipt.stored.heads,
            turns: receipt.stored.entries,
            records: receipt.stored.records,
            bytes: receipt.stored.bytes,
            left: receipt.stored.left,
            notes: receipt.stored.notes,
            index_documents: receipt.index_documents,
            memories: receipt.facts,
            tombstone: receipt.tombstone,
        }
    }
}

/// Archives a session: it leaves the caches and is inactive, but PATCH restores it.
#[utoipa::path(delete, path = "/conversations/{id}", tag = "conversations",
    params(("id" = String, Path, description = "The session's id")),
    responses((status = 200, body = Conversation), (status = 404, body = Problem)))]
pub async fn put_aside(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Versioned<Conversation>, Problem> {
    let loaded = app.engine().put_aside(&caller, &id).await?;
    Ok(versioned(&loaded, app.engine().now()))
}

/// Erases a session everywhere, and counts what was erased.
#[utoipa::path(delete, path = "/conversations/{id}/permanent", tag = "conversations",
    params(("id" = String, Path, description = "The session's id")),
    responses((status = 200, body = Erasure), (status = 404, body = Problem)))]
pub async fn erase(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Json<Erasure>, Problem> {
    Ok(Json(app.engine().erase(&caller, &id).await?.into()))
}

/// Whether the turn is meant.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TurnConfirmation {
    /// The turn's number once more: its words cannot be brought back.
    confirm: Option<u64>,
}

/// What the erasure of a turn removed.
#[derive(Debug, Serialize, ToSchema)]
pub struct TurnErasure {
    /// The session.
    pub session_id: String,
    /// The turn; its number stays.
    pub turn: u64,
    /// When.
    pub at: Timestamp,
    /// Turns whose content went: 1, or 0 where it was gone already.
    pub turns: u64,
    /// Memories that were gathered from it and are forgotten with it.
    pub memories: u64,
    /// Earlier versions of those.
    pub versions: u64,
    /// Documents that the search index removed; it is made again without the turn.
    pub index_documents: u64,
    /// Copies that the store could not remove, or that go later by themselves.
    pub left: u64,
    /// What is to be known of those.
    pub notes: Vec<String>,
}

/// Erases the content of a turn and what was gathered from it, and counts what was erased. The turn keeps its number.
#[utoipa::path(delete, path = "/conversations/{id}/turns/{turn}", tag = "turns",
    params(("id" = String, Path, description = "The session's id"),
        ("turn" = u64, Path, description = "The turn, from 1"), TurnConfirmation),
    responses((status = 200, body = TurnErasure), (status = 400, body = Problem),
        (status = 404, body = Problem)))]
pub async fn erase_turn(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, turn)): Path<(SessionId, u64)>,
    Query(query): Query<TurnConfirmation>,
) -> Result<Json<TurnErasure>, Problem> {
    if query.confirm != Some(turn) {
        let reason = format!(
            "the content of turn {turn} would be erased; add ?confirm={turn} if that is meant"
        );
        return Err(Problem::invalid("confirm", reason));
    }
    let (engine, session) = (app.engine().clone(), id.clone());
    let erasing = async move { engine.erase_turns(&caller, &session, &[turn].into()).await };
    let erased = app.to_the_end(erasing).await??;
    let stored = erased.forgotten.stored;
    Ok(Json(TurnErasure {
        session_id: id.to_string(),
        turn,
        at: app.engine().now(),
        turns: erased.turns,
        memories: erased.forgotten.facts,
        versions: stored.entries,
        index_documents: erased.index_documents,
        left: stored.left,
        notes: stored.notes,
    }))
}
