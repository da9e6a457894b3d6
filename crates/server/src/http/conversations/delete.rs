//! `DELETE /conversations/{id}` and `DELETE /conversations/{id}/permanent`.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use serde::Serialize;
use throughline_engine::engine::ErasureReceipt;
use throughline_engine::id::SessionId;
use utoipa::ToSchema;

use super::view::{Conversation, Versioned, versioned};
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
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

/// Puts a session aside: out of the caches and inactive, but restorable by PATCH.
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

/// Erases a session everywhere, and counts what went.
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
