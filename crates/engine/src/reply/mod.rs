//! Replies to an assembled request, with a model and tools or without a model.
//!
//! If a configured model fails before it has said or done anything, a tool may answer without it; otherwise the
//! reply is empty. After that, what was said is kept. In each case the turn has the failure in its record.
//!
//! Invariant: a reply calls tools only through [`call::TurnCalls`], which checks pins, schema and permission.

pub mod call;
mod converse;
mod earlier;
mod fall_back;
pub mod notes;
mod offline;
mod recollect;
mod search;
pub mod wording;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::catalog::KnownTool;
use crate::clock::Clock;
use crate::events::Events;
use crate::fact::Forgetting;
use crate::limits::Limits;
use crate::model::Usage;
use crate::models::ModelChoice;
use crate::pack::PackSet;
use crate::permission::{Policy, Taint};
use crate::request::AssembledRequest;
use crate::select::Selector;
use crate::session::LoadedSession;
use crate::session::dialogue::Dialogue;
use crate::session::pending::{AwaitedCall, PendingTurn};
use crate::session::record::{CallRecord, TurnError, TurnKind, TurnStatus};

pub use crate::session::record::ReplyForm;
pub use call::{ToolRunner, TurnCalls};
pub use notes::CallNotes;

pub struct ReplyPorts {
    pub runner: ToolRunner,
    pub selector: Arc<Selector>,
    pub packs: Arc<PackSet>,
    pub clock: Arc<dyn Clock>,
    pub limits: Arc<Limits>,
}

pub struct ReplyRequest<'a> {
    pub ports: &'a ReplyPorts,
    pub session: &'a LoadedSession,
    pub agent: &'a Agent,
    /// The tools of the request.
    pub tools: &'a [KnownTool],
    /// The agent's servers without tools, with the reason.
    pub unavailable: &'a [(String, String)],
    pub policy: &'a Policy,
    /// What tools and people said.
    pub taint: &'a Mutex<Taint>,
    /// Where calls are noted before they are made.
    pub notes: &'a CallNotes,
    pub assembled: &'a AssembledRequest,
    pub kind: TurnKind,
    pub message: &'a str,
    /// What became of the facts it asks to forget.
    pub forgetting: Option<&'a Forgetting>,
    /// The limit of facts, if no more can be stored.
    pub memory_full: Option<usize>,
    /// The model that replies, or why there is none.
    pub model: &'a Result<ModelChoice, String>,
    /// The answer so far of a resumed turn.
    pub before: Answer,
    /// The decided calls of a resumed turn.
    pub decided: Vec<AwaitedCall>,
    pub events: &'a Events,
    pub cancel: CancellationToken,
}

impl ReplyRequest<'_> {
    fn calls(&self) -> TurnCalls<'_> {
        TurnCalls {
            runner: &self.ports.runner,
            policy: self.policy,
            taint: self.taint,
            notes: Some(self.notes),
            events: self.events,
            cancel: &self.cancel,
        }
    }

    fn is_query(&self) -> bool {
        self.kind == TurnKind::Query
    }
}

#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub text: String,
    pub status: TurnStatus,
    pub error: Option<TurnError>,
    /// How it was made.
    pub form: ReplyForm,
    pub calls: Vec<CallRecord>,
    /// When its model and its tools were at work, if a model replied.
    pub spans: Vec<Span>,
    pub usage: Option<Usage>,
    /// The state of the offline reply for the next message.
    pub dialogue: Option<Dialogue>,
    /// Names that were looked up and not found.
    pub absent: Vec<String>,
    /// Whether an offline reply says what tools returned, and not that it does not know.
    pub by_tools: bool,
}

/// A measured part of a reply.
#[derive(Debug, Clone)]
pub struct Span {
    /// As in [`Stage`](crate::session::record::Stage).
    pub name: String,
    pub begun: Instant,
    pub took: Duration,
}

pub enum ReplyOutcome {
    Finished(Answer),
    /// Waiting for approval of these calls.
    Paused(Answer, Vec<AwaitedCall>),
}

pub async fn answer(request: ReplyRequest<'_>) -> ReplyOutcome {
    match request.model {
        Ok(model) => converse::answer(request, model).await,
        Err(why) => offline::answer(request, why).await,
    }
}

/// Code of a turn that its user stopped.
pub const CANCELLED: &str = "cancelled";
/// Code of a turn that the server's stop broke off.
pub const INTERRUPTED: &str = "interrupted";

/// The answer of a turn that was not approved.
pub fn refused(pending: &PendingTurn, now: Timestamp) -> Answer {
    let (code, message) = if pending.resumed.is_some() {
        (INTERRUPTED, "the server stopped before the approved call was made")
    } else if pending.expires_at <= now {
        ("approval_expired", "the request for approval expired")
    } else {
        ("not_approved", "the user went on without approving the call")
    };
    Answer {
        text: pending.said.clone(),
        status: match pending.resumed {
            Some(_) => TurnStatus::Failed,
            None => TurnStatus::Refused,
        },
        error: Some(TurnError::new(code, message)),
        calls: pending.calls.clone(),
        ..Answer::default()
    }
}
