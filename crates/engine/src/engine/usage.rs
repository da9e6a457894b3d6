//! Which items are used: in one session, and over all sessions with an agent.

use std::collections::HashMap;

use crate::access::{Action, Caller, authorize};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::id::{AgentName, SessionId};
use crate::rebuild;
use crate::receipt::ReceiptPiece;
use crate::select::{reference_text, rule_text};
use crate::session::Loaded;
use crate::session::head::ItemName;
use crate::session::record::TurnRecord;
use crate::store::{Page, PageMark};
use crate::usage::{self, ItemTotal, ItemUsage, Totals, item_of};

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

/// The items of an agent that were sent, over sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentUsage {
    /// Sessions that were counted.
    pub sessions: usize,
    /// How often each was sent and used.
    pub items: Vec<ItemTotal>,
}

impl Engine {
    /// Which items of a session were used.
    pub async fn session_usage(&self, caller: &Caller, id: &SessionId) -> Result<SessionUsage> {
        let loaded = self.session(caller, id).await?;
        let unused = usage::unused(&loaded.head);
        Ok(SessionUsage { items: loaded.head.item_usage.clone(), unused })
    }

    /// Which items of an agent were used, over the caller's sessions with it.
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
                let Some(session) = self.sessions.find(&listed.key).await? else { continue };
                if session.head.agent.as_ref().unwrap_or(book.default_name()) == &agent.name {
                    sessions += 1;
                    totals.add(&session.head);
                }
            }
        }
        Ok(AgentUsage { sessions, items: totals.items() })
    }

    /// Marks the items that the reply of a turn referred to. A text that cannot be had leaves its item
    /// unmarked: counting is no reason to lose a turn.
    pub(crate) async fn mark_used(&self, session: &Loaded, record: &mut TurnRecord) {
        let mut texts = HashMap::new();
        for piece in record.receipt.iter().flat_map(|receipt| &receipt.pieces) {
            let item = item_of(&piece.source).filter(|_| piece.sent());
            let Some(item @ (ItemName::Rule { .. } | ItemName::Reference { .. })) = item else {
                continue;
            };
            match self.sent_text(session, record, piece, &item).await {
                Ok(Some(text)) => drop(texts.insert(piece.hash.clone(), text)),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "an item's use is not counted"),
            }
        }
        usage::mark(record, &texts);
    }

    /// What an item said when it was sent: kept with this turn, as the agent still has it, or kept with
    /// an earlier turn.
    async fn sent_text(
        &self,
        session: &Loaded,
        record: &TurnRecord,
        piece: &ReceiptPiece,
        item: &ItemName,
    ) -> Result<Option<String>> {
        if let Some(text) = record.contents.get(&piece.hash) {
            return Ok(Some(text.clone()));
        }
        let agent = self.agents().get(session.head.agent.as_ref())?;
        let today = match item {
            ItemName::Rule { name } => {
                agent.rules.iter().find(|rule| rule.name == *name).map(rule_text)
            }
            ItemName::Reference { name } => {
                agent.references.iter().find(|found| found.name == *name).map(reference_text)
            }
            ItemName::Tool { .. } => None,
        };
        match today.filter(|text| ContentHash::of(text) == piece.hash) {
            Some(text) => Ok(Some(text)),
            None => rebuild::piece_text(&self.sessions, session, record, piece).await,
        }
    }
}
