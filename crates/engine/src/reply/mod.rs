//! The reply to an assembled request: by a model with tools, or by the way that needs none.
//!
//! A configured model that fails before it has said or done anything gives way to the offline form, and
//! the record says so. After that, what was said is kept and the failure is told.
//!
//! Invariant: a tool is called only through [`call::Caller`], which checks pins, schema and approval.

pub mod call;
mod converse;
mod earlier;
mod fill;
mod offline;
mod recollect;
mod suspicion;
mod verb;
pub mod wording;

use std::sync::Arc;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::context::Context;
use crate::engine::Engine;
use crate::error::Result;
use crate::model::{Model, Usage};
use crate::resolve::Reader;
use crate::session::Loaded;
use crate::session::pending::{AwaitedCall, PendingTurn};
use crate::session::record::{CallRecord, TurnError, TurnStatus};
use crate::turn::{Events, LentModel, Way};

pub use crate::session::record::ReplyForm;

/// What is to be answered.
pub struct Asked<'a> {
    /// The engine.
    pub engine: &'a Engine,
    /// The session.
    pub session: &'a Loaded,
    /// The assembled request.
    pub context: &'a Context,
    /// Which way.
    pub way: Way,
    /// The message.
    pub message: &'a str,
    /// What a paused turn had come to before.
    pub before: Answer,
    /// Calls of that pause, decided.
    pub decided: Vec<AwaitedCall>,
    /// The client's own model, used where none is configured.
    pub lent: Option<&'a LentModel>,
    /// Who is told.
    pub events: &'a Events,
    /// Stops the reply.
    pub cancel: CancellationToken,
}

impl Asked<'_> {
    fn caller(&self) -> call::Caller<'_> {
        call::Caller {
            engine: self.engine,
            agent: &self.context.agent,
            events: self.events,
            cancel: &self.cancel,
        }
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
}

/// Whose model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// A configured one.
    Ours,
    /// One that the client lends.
    TheClient,
}

impl Owner {
    fn form(self, model: &dyn Model) -> ReplyForm {
        let model = model.name().to_owned();
        match self {
            Self::Ours => ReplyForm::Model { model },
            Self::TheClient => ReplyForm::Sampling { model },
        }
    }
}

/// How a reply ends.
pub enum Ended {
    /// With an answer.
    Finished(Answer),
    /// Waiting for approval of these calls.
    Paused(Answer, Vec<AwaitedCall>),
}

/// Answers.
pub async fn answer(asked: Asked<'_>) -> Ended {
    match model_of(asked.engine, asked.session, &asked.context.agent, asked.way, asked.lent) {
        Some((model, owner)) => converse::answer(asked, model, owner).await,
        None => {
            let role = role_of(&asked.context.agent, asked.way);
            let why = match wanted(asked.session, &asked.context.agent, role) {
                Some(name) => format!("there is no model {name} in the configuration"),
                None => "no model is configured".to_owned(),
            };
            offline::answer(asked, &why).await
        }
    }
}

/// Who will read what a turn gathers.
pub fn reader(
    engine: &Engine,
    session: &Loaded,
    way: Way,
    lent: Option<&LentModel>,
) -> Result<Reader> {
    let agent = engine.agents().get(session.head.agent.as_ref())?;
    let model = model_of(engine, session, &agent, way, lent);
    Ok(model.map_or(Reader::Offline, |_| Reader::Model))
}

/// The model that answers, and whose it is.
fn model_of(
    engine: &Engine,
    session: &Loaded,
    agent: &Agent,
    way: Way,
    lent: Option<&LentModel>,
) -> Option<(Arc<dyn Model>, Owner)> {
    let role = role_of(agent, way);
    let ours = in_role(engine, session, agent, role).map(|model| (model, Owner::Ours));
    ours.or_else(|| lent.map(|LentModel(model)| (model.clone(), Owner::TheClient)))
}

/// The model that an agent names for the first word of a turn.
fn role_of(agent: &Agent, way: Way) -> Option<&str> {
    match way {
        Way::Chat => None,
        Way::Query => agent.models.selector.as_deref(),
    }
}

/// The configured model for a role.
fn in_role(
    engine: &Engine,
    session: &Loaded,
    agent: &Agent,
    role: Option<&str>,
) -> Option<Arc<dyn Model>> {
    engine.models.get(wanted(session, agent, role))
}

/// The name of the model for a role; a session's own choice serves in all of them.
fn wanted<'a>(session: &'a Loaded, agent: &'a Agent, role: Option<&'a str>) -> Option<&'a str> {
    session.head.settings.model.as_deref().or(role).or(agent.models.chat.as_deref())
}

/// What a turn becomes when its approval was not given.
pub fn refused(pending: &PendingTurn, now: Timestamp) -> Answer {
    let (code, message) = if pending.expires_at <= now {
        ("approval_expired", "the request for approval expired")
    } else {
        ("not_approved", "the user went on without approving the call")
    };
    Answer {
        text: pending.said.clone(),
        status: TurnStatus::Refused,
        error: Some(TurnError { code: code.into(), message: message.into() }),
        calls: pending.calls.clone(),
        ..Answer::default()
    }
}
