//! Which sessions give anything to the user's other sessions.
//!
//! The archived, expired and private ones do not, nor those whose memory is their own. It is read from the head
//! each time, so that an archived session gives again once it is restored.
//!
//! Invariant: what a session stated reaches another one only if it gives at that moment.

use std::collections::{BTreeSet, HashSet};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::Timestamp;

use crate::agent::MemoryScope;
use crate::error::Result;
use crate::fact::{Fact, FactHit};
use crate::id::SessionId;
use crate::session::Sessions;
use crate::session::head::SessionHead;
use crate::session::unreadable::if_readable;
use crate::store::{Key, Kind, Scope};

/// Heads read concurrently.
const READS_AT_ONCE: usize = 16;

/// Whether the user's other sessions may use what was said in a session.
pub(super) fn gives(head: &SessionHead, now: Timestamp) -> bool {
    let own = matches!(head.settings.memory, Some(MemoryScope::Off | MemoryScope::Session));
    head.deleted_at.is_none() && !head.is_expired(now) && !head.settings.private && !own
}

/// The hits whose facts the session `asking` may use: those from itself, from sessions that give, and from
/// nowhere.
pub async fn given(
    sessions: &Sessions,
    (scope, asking): (&Scope, Option<&SessionId>),
    hits: Vec<FactHit>,
) -> Result<Vec<FactHit>> {
    let silent = silent(sessions, scope, hits.iter().map(|hit| &hit.fact)).await?;
    let is_silent = |id: &SessionId| Some(id) != asking && silent.contains(id);
    let is_given =
        |hit: &FactHit| hit.fact.source.as_ref().is_none_or(|source| !is_silent(&source.session));
    Ok(hits.into_iter().filter(is_given).collect())
}

/// The sources of facts that give nothing. A session that does not exist is the source of an imported fact.
pub async fn silent<'f>(
    sessions: &Sessions,
    scope: &Scope,
    facts: impl Iterator<Item = &'f Fact>,
) -> Result<HashSet<SessionId>> {
    let named: BTreeSet<SessionId> =
        facts.filter_map(|fact| Some(fact.source.as_ref()?.session.clone())).collect();
    let now = sessions.now();
    let reading = stream::iter(named).map(|id| async move {
        let key = Key { scope: scope.clone(), kind: Kind::Session, id: id.clone().into() };
        let found = if_readable(sessions.find(&key).await)?;
        Ok::<_, crate::error::Error>(found.filter(|found| !gives(&found.head, now)).map(|_| id))
    });
    let silent: Vec<Option<SessionId>> =
        reading.buffer_unordered(READS_AT_ONCE).try_collect().await?;
    Ok(silent.into_iter().flatten().collect())
}
