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

/// What the erasure of a session removed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Erasure {
    /// Id of the session.
    pub session_id: String,
    /// When the erasure finished.
    pub at: Timestamp,
    /// Number of heads removed.
    pub heads: u64,
    /// Number of turns removed.
    pub turns: u64,
    /// Stored records that were removed: files, objects, rows or keys.
    pub records: u64,
    /// Bytes of the heads and turns that were removed.
    pub bytes: u64,
    /// Copies that the store could not remove now; some are removed later.
    pub left: u64,
    /// Remarks on those copies, one sentence each.
    pub notes: Vec<String>,
    /// Documents removed from the search index.
    pub index_documents: u64,
    /// Memories extracted from the session that were forgotten with it.
    pub memories: u64,
    /// Id of the tombstone that erases the session again after a restore.
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

/// Archives a session: it becomes inactive, and `PATCH` restores it.
#[utoipa::path(delete, path = "/conversations/{id}", tag = "conversations",
    params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = Conversation), (status = 404, body = Problem)))]
pub(super) async fn put_aside(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Versioned<Conversation>, Problem> {
    let loaded = app.engine().put_aside(&caller, &id).await?;
    Ok(versioned(&loaded, app.engine().now()))
}

/// Erases a session everywhere, and reports what was erased. It cannot be restored.
#[utoipa::path(delete, path = "/conversations/{id}/permanent", tag = "conversations",
    params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = Erasure), (status = 404, body = Problem)))]
pub(super) async fn erase(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Json<Erasure>, Problem> {
    Ok(Json(app.engine().erase(&caller, &id).await?.into()))
}

/// Confirmation of the erasure.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TurnConfirmation {
    /// Number of the turn, repeated as a confirmation: the erasure cannot be undone.
    confirm: Option<u64>,
}

/// What the erasure of a turn removed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TurnErasure {
    /// Id of the session.
    pub session_id: String,
    /// Number of the turn; it is not reused.
    pub turn: u64,
    /// When the erasure finished.
    pub at: Timestamp,
    /// Turns whose content was erased: 1, or 0 if it had been erased before.
    pub turns: u64,
    /// Memories extracted from the turn that were forgotten with it.
    pub memories: u64,
    /// Earlier versions of those memories that were erased.
    pub versions: u64,
    /// Documents removed from the search index, which is then rebuilt without the turn.
    pub index_documents: u64,
    /// Copies that the store could not remove now; some are removed later.
    pub left: u64,
    /// Remarks on those copies, one sentence each.
    pub notes: Vec<String>,
}

/// Erases the content of a turn and the memories extracted from it, and reports what was erased. The turn keeps
/// its number.
#[utoipa::path(delete, path = "/conversations/{id}/turns/{turn}", tag = "turns",
    params(("id" = String, Path, description = "Id of the session"),
        ("turn" = u64, Path, description = "Turn, from 1"), TurnConfirmation),
    responses((status = 200, body = TurnErasure), (status = 400, body = Problem),
        (status = 404, body = Problem)))]
pub(super) async fn erase_turn(
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
