//! Checks before a turn: sizes, keys, versions, and whether the session accepts turns.

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::access::Caller;
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::limits::Limits;
use crate::request::TurnInput;
use crate::session::apply::RequestKey;
use crate::session::head::SessionHead;
use crate::session::record::CallRecord;

/// How far an application's clock may be ahead of ours.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_mins(5);

/// Fails if a message is empty or too long.
pub(crate) fn message(message: &str, limits: &Limits) -> Result<()> {
    if message.trim().is_empty() {
        return Err(Error::invalid("message", "it is empty"));
    }
    within("message", message.len(), "message_bytes_max", limits.message_bytes_max)
}

/// Fails if the other parts of a recorded exchange exceed their limits.
pub(crate) fn recorded(
    reply: &str,
    calls: &[CallRecord],
    metadata: Option<&serde_json::Value>,
    limits: &Limits,
) -> Result<()> {
    within("reply", reply.len(), "reply_bytes_max", limits.reply_bytes_max)?;
    let most = limits.tool_executions_max;
    within("the number of tool executions", calls.len(), "tool_executions_max", most)?;
    for call in calls {
        let size = call.result_text().len() + call.arguments.to_string().len();
        let most = limits.tool_result_bytes_max;
        within("a tool execution", size, "tool_result_bytes_max", most)?;
    }
    let size = metadata.map_or(0, |metadata| metadata.to_string().len());
    within("metadata", size, "metadata_bytes_max", limits.metadata_bytes_max)
}

/// Fails if the session has the maximum number of turns.
pub(super) fn room(head: &SessionHead, limits: &Limits) -> Result<()> {
    let turns = usize::try_from(head.turns + 1).unwrap_or(usize::MAX);
    let allowed = usize::try_from(limits.turns_max).unwrap_or(usize::MAX);
    within("the number of turns", turns, "turns_max", allowed)
}

/// Fails if a turn's time is in the future or before the previous turn.
pub(super) fn said_at(head: &SessionHead, at: Option<Timestamp>, now: Timestamp) -> Result<()> {
    let Some(at) = at else { return Ok(()) };
    if at > now + CLOCKS_DIFFER {
        return Err(Error::invalid("at", format!("{at} is in the future")));
    }
    match head.last_turn_at {
        Some(last) if at < last => {
            let reason = format!("{at} is before {last}, when turn {} was said", head.turns);
            Err(Error::invalid("at", reason))
        }
        _ => Ok(()),
    }
}

/// Fails if a request cannot be prepared for the time or the budget that is asked for.
pub(super) fn prepared(head: &SessionHead, input: &TurnInput, now: Timestamp) -> Result<()> {
    if input.budget_tokens == Some(0) {
        return Err(Error::invalid("budget_tokens", "0 is outside 1-4294967295"));
    }
    said_at(head, input.at, now)
}

/// Fails if the session is deleted or expired.
pub(crate) fn active(head: &SessionHead, now: Timestamp) -> Result<()> {
    let state = if head.deleted_at.is_some() {
        "deleted"
    } else if head.is_expired(now) {
        "expired"
    } else {
        return Ok(());
    };
    Err(Error::Inactive { session: head.id.clone(), state })
}

/// The session id that a request with a key but without an id always gets.
pub(crate) fn id_for_key(caller: &Caller, key: &RequestKey) -> Result<SessionId> {
    let name = format!("{}/{}/{}", caller.scope.tenant, caller.scope.user, key.key);
    let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes());
    Ok(SessionId::new(id.to_string())?)
}

/// Fails if the caller's version is not the current one.
pub(crate) fn check_version(id: &SessionId, expected: Option<u64>, current: u64) -> Result<()> {
    match expected {
        Some(given) if given != current => {
            Err(Error::VersionConflict { what: format!("session {id}"), given, current })
        }
        _ => Ok(()),
    }
}

/// The turn that the same request made before. Fails if the key was used for another request.
pub(crate) fn answered(head: &SessionHead, key: Option<&RequestKey>) -> Result<Option<u64>> {
    let Some(key) = key else { return Ok(None) };
    match head.answered.iter().find(|answered| answered.key == key.key) {
        Some(answered) if answered.body == key.body => Ok(Some(answered.turn)),
        Some(_) => Err(Error::KeyReused { key: key.shown.clone() }),
        None => Ok(None),
    }
}

fn within(what: &str, size: usize, limit: &'static str, allowed: usize) -> Result<()> {
    if size <= allowed {
        return Ok(());
    }
    Err(Error::OverLimit { what: what.into(), size: size as u64, limit, allowed: allowed as u64 })
}
