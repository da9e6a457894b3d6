//! A user's data in REST and on the command line: what an erasure removed, and the lines of an export.

use std::sync::Arc;

use futures::stream::{self, Stream, StreamExt};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use throughline_engine::access::{Caller, acting_for};
use throughline_engine::engine::{Engine, UserData, UserErasure};
use throughline_engine::error::{Error, Result};
use throughline_engine::id::UserId;
use utoipa::ToSchema;

use crate::access::Keys;
use crate::memory_view::Memory;

/// Format in the first line of an export.
pub const FORMAT: &str = "throughline.user/1";

/// What the erasure of a user removed.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErasedUser {
    /// Id of the user.
    pub user_id: String,
    /// When the erasure finished.
    pub at: Timestamp,
    /// Sessions.
    pub sessions: u64,
    /// Memories.
    pub memories: u64,
    /// Files of the memory tool.
    pub files: u64,
    /// The user's own presets.
    pub presets: u64,
    /// API keys; they are no longer valid.
    pub keys: u64,
    /// Other records, such as tool permissions and stored responses of idempotent calls.
    pub others: u64,
    /// Documents removed from the search index.
    pub index_documents: u64,
    /// Stored records that were removed: files, objects, rows or keys.
    pub records: u64,
    /// Bytes that were removed.
    pub bytes: u64,
    /// Copies that the store could not remove now; some are removed later.
    pub left: u64,
    /// Remarks on those copies, one sentence each.
    pub notes: Vec<String>,
}

impl ErasedUser {
    fn new(erased: UserErasure, keys: u64) -> Self {
        Self {
            user_id: erased.user.to_string(),
            at: erased.at,
            sessions: erased.sessions,
            memories: erased.memories,
            files: erased.files,
            presets: erased.presets,
            keys,
            others: erased.others,
            index_documents: erased.index_documents,
            records: erased.stored.records,
            bytes: erased.stored.bytes,
            left: erased.stored.left,
            notes: erased.stored.notes,
        }
    }
}

/// Erases a user's data, then the user's keys, then whatever was written in between.
pub async fn erase(
    engine: &Engine,
    keys: &Keys,
    caller: &Caller,
    user: &UserId,
) -> Result<ErasedUser> {
    let mut erased = engine.erase_user(caller, user).await?;
    let keys = keys.erase_of(&acting_for(caller, user)?.scope).await?;
    erased.add(engine.erase_user(caller, user).await?);
    if erased.is_empty() && keys == 0 {
        return Err(nobody(user));
    }
    Ok(ErasedUser::new(erased, keys))
}

fn nobody(user: &UserId) -> Error {
    Error::Missing { kind: "user", name: user.to_string(), known: Vec::new() }
}

/// Everything stored about a user, one JSON value per line: the user, memories, files, presets, and each
/// session in the form that `POST /import` accepts.
pub async fn export(
    engine: Arc<Engine>,
    caller: &Caller,
    user: &UserId,
) -> Result<impl Stream<Item = Result<Value>> + Send + use<>> {
    let UserData { caller, sessions, memories, files, presets } =
        engine.user_data(caller, user).await?;
    if sessions.is_empty() && memories.memories.is_empty() && files.is_empty() && presets.is_empty()
    {
        return Err(nobody(user));
    }
    let memories = memories.memories.into_iter().map(Memory::from);
    let mut lines = vec![json!({
        "kind": "user", "format": FORMAT, "user_id": user, "at": engine.now(), "sessions": sessions.len(),
    })];
    lines.extend(memories.map(|memory| json!({"kind": "memory", "memory": memory})));
    lines.extend(files.into_iter().map(|file| json!({"kind": "file", "file": file})));
    lines.extend(presets.into_iter().map(|preset| json!({"kind": "preset", "preset": preset})));
    let sessions = stream::iter(sessions).then(move |id| {
        let (engine, caller) = (engine.clone(), caller.clone());
        async move {
            match engine.export(&caller, &id).await {
                Ok(export) => Ok(json!({"kind": "session", "session": export})),
                // An unreadable session is reported; the export continues.
                Err(error) => {
                    Ok(json!({"kind": "unreadable", "session_id": id, "reason": error.to_string()}))
                }
            }
        }
    });
    Ok(stream::iter(lines.into_iter().map(Ok)).chain(sessions))
}
