//! Which sessions contribute to the user's other sessions.
//!
//! Archived, expired and private sessions do not, nor do those with a memory of their own, nor, for a session that
//! uses only its own agent's, those of another agent. The head is read each time, so an archived session contributes
//! again once it is restored.
//!
//! Invariant: a fact gathered in a session is shown in another one only while that session contributes.

use std::collections::{BTreeSet, HashSet};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::Timestamp;

use crate::agent::MemoryScope;
use crate::error::Result;
use crate::fact::{Fact, FactHit};
use crate::id::{AgentName, SessionId};
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

/// The session that asks for facts.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    pub head: &'a SessionHead,
    /// Whether it uses only sessions of its own agent.
    pub own_agent: bool,
    /// The agent of sessions that name none.
    pub default_agent: &'a AgentName,
}

/// The hits whose facts the session `asking` may use: its own, those of sessions that contribute, and those without a
/// source.
pub async fn given(
    sessions: &Sessions,
    (scope, asking): (&Scope, Option<Asking<'_>>),
    hits: Vec<FactHit>,
) -> Result<Vec<FactHit>> {
    let asker = asking.filter(|asking| asking.own_agent);
    let is_other = |head: &SessionHead| {
        asker.is_some_and(|asking| {
            let named =
                |head: &SessionHead| head.agent.as_ref().unwrap_or(asking.default_agent).clone();
            named(head) != named(asking.head)
        })
    };
    let facts = hits.iter().map(|hit| &hit.fact);
    let silent = sources(sessions, scope, facts, |head, now| !gives(head, now) || is_other(head));
    let silent = silent.await?;
    let own = asking.map(|asking| &asking.head.id);
    let is_silent = |id: &SessionId| Some(id) != own && silent.contains(id);
    let is_given =
        |hit: &FactHit| hit.fact.source.as_ref().is_none_or(|source| !is_silent(&source.session));
    Ok(hits.into_iter().filter(is_given).collect())
}

/// The sources of facts that do not contribute. A session that does not exist is the source of an imported fact.
pub async fn silent<'f>(
    sessions: &Sessions,
    scope: &Scope,
    facts: impl Iterator<Item = &'f Fact>,
) -> Result<HashSet<SessionId>> {
    sources(sessions, scope, facts, |head, now| !gives(head, now)).await
}

/// The sources of facts whose heads are `wanted` now.
async fn sources<'f>(
    sessions: &Sessions,
    scope: &Scope,
    facts: impl Iterator<Item = &'f Fact>,
    wanted: impl Fn(&SessionHead, Timestamp) -> bool,
) -> Result<HashSet<SessionId>> {
    let (now, wanted) = (sessions.now(), &wanted);
    let named: BTreeSet<SessionId> =
        facts.filter_map(|fact| Some(fact.source.as_ref()?.session.clone())).collect();
    let reading = stream::iter(named).map(|id| async move {
        let key = Key { scope: scope.clone(), kind: Kind::Session, id: id.clone().into() };
        let found = if_readable(sessions.find(&key).await)?;
        Ok::<_, crate::error::Error>(found.filter(|found| wanted(&found.head, now)).map(|_| id))
    });
    let found: Vec<Option<SessionId>> =
        reading.buffer_unordered(READS_AT_ONCE).try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}
