//! A caller's sessions, most recently changed first.

use futures::stream::{self, StreamExt, TryStreamExt};

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::session::LoadedSession;
use crate::session::unreadable::damage;
use crate::store::{Page, PageMark};

use super::Engine;

/// Maximum sessions per page.
pub(super) const LIMIT_MAX: usize = 1_000;
/// Heads read concurrently.
const READS_AT_ONCE: usize = 16;

#[derive(Debug, Clone, Default)]
pub struct SessionQuery {
    /// 1–1000.
    pub limit: usize,
    /// Continue after the previous page.
    pub after: Option<PageMark>,
    pub tag: Option<String>,
    /// Include archived and expired sessions.
    pub with_inactive: bool,
}

#[derive(Debug)]
pub struct SessionList {
    pub sessions: Vec<LoadedSession>,
    /// Sessions that cannot be read.
    pub damaged: Vec<SessionId>,
    /// The cursor of the next page.
    pub next: Option<PageMark>,
}

impl Engine {
    /// The caller's sessions, most recently changed first.
    pub async fn list_sessions(&self, caller: &Caller, query: SessionQuery) -> Result<SessionList> {
        authorize(caller, Action::Read)?;
        if !(1..=LIMIT_MAX).contains(&query.limit) {
            return Err(Error::invalid(
                "limit",
                format!("{} is outside 1-{LIMIT_MAX}", query.limit),
            ));
        }
        let now = self.now();
        let mut sessions: Vec<LoadedSession> = Vec::new();
        let mut damaged = Vec::new();
        let mut after = query.after;
        loop {
            let page = Page { limit: query.limit, after: after.clone() };
            let listed = self.sessions.list(&caller.scope, page).await?;
            let last_page = listed.len() < query.limit;
            let marks: Vec<PageMark> = listed
                .iter()
                .map(|l| PageMark { changed_at: l.changed_at, id: l.key.id.clone() })
                .collect();
            let found: Vec<Result<Option<LoadedSession>, SessionId>> = stream::iter(listed)
                .map(|listed| async move {
                    match self.sessions.find(&listed.key).await {
                        Err(error) if damage(&error).is_some() => Ok(Err(listed.key.id.into())),
                        found => found.map(Ok),
                    }
                })
                .buffered(READS_AT_ONCE)
                .try_collect()
                .await?;
            for (loaded, mark) in found.into_iter().zip(marks) {
                after = Some(mark);
                let loaded = match loaded {
                    Ok(Some(loaded)) => loaded,
                    Ok(None) => continue,
                    Err(id) => {
                        damaged.push(id);
                        continue;
                    }
                };
                let head = &loaded.head;
                let inactive = head.deleted_at.is_some() || head.is_expired(now);
                let tagged = query.tag.as_ref().is_none_or(|tag| head.tags.contains(tag));
                if tagged && (query.with_inactive || !inactive) {
                    sessions.push(loaded);
                    if sessions.len() == query.limit {
                        return Ok(SessionList { sessions, damaged, next: after });
                    }
                }
            }
            if last_page {
                return Ok(SessionList { sessions, damaged, next: None });
            }
        }
    }
}
