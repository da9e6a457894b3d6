//! Which items are used: in one session, and over all sessions with an agent.

use crate::access::{Action, Caller, authorize};
use crate::error::Result;
use crate::id::{AgentName, SessionId};
use crate::session::Loaded;
use crate::store::{Page, PageMark};
use crate::usage::{self, ItemUsage};

use super::Engine;

/// Sessions that are counted at most.
const SESSIONS_MAX: usize = 10_000;
/// Sessions per step.
const STEP: usize = 200;

/// The items of a session that were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionUsage {
    /// How often each was sent and used.
    pub items: Vec<ItemUsage>,
    /// Items that were sent often and never used: worth removing.
    pub unused: Vec<ItemUsage>,
}

impl Engine {
    /// Which items of a session were used.
    pub async fn session_usage(&self, caller: &Caller, id: &SessionId) -> Result<SessionUsage> {
        let loaded = self.session(caller, id).await?;
        let unused = usage::unused(&loaded.head);
        Ok(SessionUsage { items: loaded.head.item_usage.clone(), unused })
    }

    /// Which items of an agent were used, over the caller's sessions with it; and how many those are.
    pub async fn agent_usage(
        &self,
        caller: &Caller,
        name: &AgentName,
    ) -> Result<(usize, Vec<ItemUsage>)> {
        authorize(caller, Action::Read)?;
        let book = self.agents();
        let agent = book.get(Some(name))?;
        let mut sessions: Vec<Loaded> = Vec::new();
        let mut after: Option<PageMark> = None;
        while sessions.len() < SESSIONS_MAX {
            let page = Page { limit: STEP, after: after.clone() };
            let listed = self.sessions.list(&caller.scope, page).await?;
            let Some(last) = listed.last() else { break };
            after = Some(PageMark { changed_at: last.changed_at, id: last.key.id.clone() });
            for listed in &listed {
                let found = self.sessions.find(&listed.key).await?;
                sessions.extend(found.filter(|session| {
                    session.head.agent.as_ref().unwrap_or(book.default_name()) == &agent.name
                }));
            }
        }
        let heads = sessions.iter().map(|session| session.head.as_ref());
        Ok((sessions.len(), usage::total(heads)))
    }
}
