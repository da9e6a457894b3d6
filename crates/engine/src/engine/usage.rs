//! Item usage in a session, and over all sessions with an agent.

use crate::access::{Action, Caller, authorize};
use crate::error::Result;
use crate::id::{AgentName, SessionId};
use crate::session::unreadable::if_readable;
use crate::session::usage::{self, ItemTotal, ItemUsage, Totals};
use crate::store::{Page, PageMark};

use super::Engine;

/// Maximum sessions counted.
const SESSIONS_MAX: usize = 10_000;
/// Sessions read per step.
const STEP: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionUsage {
    /// How often each was sent and used.
    pub items: Vec<ItemUsage>,
    /// Items sent often and never used: candidates for removal.
    pub unused: Vec<ItemUsage>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentUsage {
    pub sessions: usize,
    /// How often each was sent and used.
    pub items: Vec<ItemTotal>,
}

impl Engine {
    pub async fn session_usage(&self, caller: &Caller, id: &SessionId) -> Result<SessionUsage> {
        let loaded = self.session(caller, id).await?;
        let unused = usage::unused(&loaded.head);
        Ok(SessionUsage { items: loaded.head.item_usage.clone(), unused })
    }

    /// Item usage of an agent over the caller's sessions.
    pub async fn agent_usage(&self, caller: &Caller, name: &AgentName) -> Result<AgentUsage> {
        authorize(caller, Action::Read)?;
        let book = self.agents();
        let agent = book.get(Some(name))?;
        let (mut seen, mut sessions, mut totals) = (0, 0, Totals::default());
        let mut after: Option<PageMark> = None;
        while seen < SESSIONS_MAX {
            let page = Page { limit: STEP, after: after.clone() };
            let listed = self.sessions.list(&caller.scope, page).await?;
            let Some(last) = listed.last() else { break };
            after = Some(PageMark { changed_at: last.changed_at, id: last.key.id.clone() });
            seen += listed.len();
            for listed in &listed {
                let found = if_readable(self.sessions.find(&listed.key).await)?;
                let Some(session) = found else { continue };
                if session.head.agent.as_ref().unwrap_or(book.default_name()) == &agent.name {
                    sessions += 1;
                    totals.add(&session.head);
                }
            }
        }
        Ok(AgentUsage { sessions, items: totals.items() })
    }
}
