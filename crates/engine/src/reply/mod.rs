//! The reply to an assembled request: by a model with tools, or by the way that needs none.
//!
//! A configured model that fails before it has said or done anything gives way to the offline form, and
//! the record says so. After that, what was said is kept and the failure is told.
//!
//! Invariant: a tool is called only through [`call::TurnCalls`], which checks pins, schema and permission.

pub mod call;
mod converse;
mod earlier;
pub mod notes;
mod offline;
mod recollect;
mod search;
pub mod wording;

use std::sync::{Arc, Mutex};

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

/// What replying needs from outside.
pub struct ReplyPorts {
    /// Calls tools.
    pub runner: ToolRunner,
    /// Ranks tools.
    pub selector: Arc<Selector>,
    /// Domain knowledge.
    pub packs: Arc<PackSet>,
    /// Ids.
    pub clock: Arc<dyn Clock>,
    /// Bounds.
    pub limits: Arc<Limits>,
}

/// What is to be answered.
pub struct ReplyRequest<'a> {
    /// What replying needs from outside.
    pub ports: &'a ReplyPorts,
    pub session: &'a LoadedSession,
    pub agent: &'a Agent,
    /// The tools that may be called: those of the request.
    pub tools: &'a [KnownTool],
    /// Servers of the agent that have no tools now, each with the reason.
    pub unavailable: &'a [(String, String)],
    /// The rules about calls.
    pub policy: &'a Policy,
    /// What tools and people said.
    pub taint: &'a Mutex<Taint>,
    /// Where calls are noted before they are made.
    pub notes: &'a CallNotes,
    pub assembled: &'a AssembledRequest,
    /// Chat or query.
    pub kind: TurnKind,
    pub message: &'a str,
    /// What became of the facts that it asks to forget.
    pub forgetting: Option<&'a Forgetting>,
    /// The model that answers, or why there is none.
    pub model: &'a Result<ModelChoice, String>,
    /// What a paused turn had come to before.
    pub before: Answer,
    /// Calls of that pause, decided.
    pub decided: Vec<AwaitedCall>,
    /// Who is told.
    pub events: &'a Events,
    /// Stops the reply.
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

/// What the reply came to.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The words.
    pub text: String,
    /// How it ended.
    pub status: TurnStatus,
    /// Why it failed.
    pub error: Option<TurnError>,
    /// How it came about.
    pub form: ReplyForm,
    /// Tool calls.
    pub calls: Vec<CallRecord>,
    /// Tokens.
    pub usage: Option<Usage>,
    /// What the way without a model keeps for the next message.
    pub dialogue: Option<Dialogue>,
    /// Names that were looked for and are not there.
    pub absent: Vec<String>,
}

/// How a reply ends.
pub enum ReplyOutcome {
    /// With an answer.
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

/// What a turn becomes when its approval was not given.
pub fn refused(pending: &PendingTurn, now: Timestamp) -> Answer {
    let (code, message) = if pending.resumed.is_some() {
        ("interrupted", "the server stopped before the approved call was made")
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
        error: Some(TurnError { code: code.into(), message: message.into() }),
        calls: pending.calls.clone(),
        ..Answer::default()
    }
}
