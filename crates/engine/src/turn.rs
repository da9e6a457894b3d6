//! The life of a turn: load, notice, resolve, recall, select, fit, reply, commit.
//!
//! The table of contents of the engine. Stages do not call each other; this file does. Messages answered here
//! ([`Pipeline::converse`]), requests that an application sends itself ([`Pipeline::prepare`],
//! [`Pipeline::record`]), approved calls ([`Pipeline::decide`]) and drop-in clients ([`Pipeline::begin_drop_in`])
//! differ only in where the message comes from and who replies.
//!
//! Invariants: what a turn needs is fixed when its session is loaded ([`Turn`]); a turn is committed once, with
//! the receipt of what was sent; if its reply fails, it is committed as failed. An error before the reply, such as
//! a budget that is too small, commits nothing.

mod checks;
mod client_bodies;
mod commit;
mod draft;
mod drop_in;
mod open;
mod pause;
mod permissions;
mod prepared;
mod recall;
mod record;
mod settle;
mod shown;
mod stages;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};
use uuid::Uuid;

use crate::access::Caller;
use crate::agent::{Agent, Agents};
use crate::budget::Budget;
use crate::catalog::{KnownTool, ToolCatalog};
use crate::clock::Clock;
use crate::creation::{SessionCreator, session_items};
use crate::enrich::Enrichments;
use crate::error::Result;
use crate::events::{Events, TurnEvent};
use crate::fact::{Facts, Forgetting};
use crate::id::{AgentName, SessionId};
use crate::item::SessionItem;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::mode;
use crate::model::LentModel;
use crate::models::{ModelBook, ModelChoice};
use crate::notice::{self, Understanding};
use crate::pack::PackSet;
use crate::permission::Rules;
use crate::persona::Persona;
use crate::piece::SentPiece;
use crate::receipt::Parameters;
use crate::reply::{self, Answer, ReplyPorts, ReplyRequest};
use crate::request::{self, AssembledRequest, Material, Prefix, PrefixCache, TurnInput};
use crate::resolve::Resolver;
use crate::select::Selector;
use crate::session::apply::RequestKey;
use crate::session::pending::{AwaitedCall, PendingTurn};
use crate::session::record::{TurnKind, TurnRecord};
use crate::session::{LoadedSession, Sessions};
use crate::tokens::Factors;
use crate::tool_choice::ToolOffer;
use crate::trace;
use crate::worklist::Worklist;

pub(crate) use checks::{
    active as check_active, answered, check_version, id_for_key, message as check_message,
    recorded as check_recorded,
};
pub(crate) use client_bodies::ClientBodies;
pub use commit::Recorded;
use draft::TurnDraft;
pub use drop_in::{DropIn, DropInTurn, Exchange, ForwardedRequest, handed_on};
use open::Opened;
pub use pause::{Approval, Remember};
pub(crate) use permissions::session_tools;
pub use prepared::{PreparedRequests, ReceiptId};
pub use record::RecordedTurn;
use shown::Shown;
pub use stages::CommitTimes;

/// The stages, and the ports they need.
pub struct Pipeline {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) creator: SessionCreator,
    pub(crate) agents: Arc<Agents>,
    pub(crate) catalog: Arc<ToolCatalog>,
    pub(crate) rules: Arc<Rules>,
    /// Identifies this server process among others on the store.
    pub(crate) instance: Uuid,
    pub(crate) models: ModelBook,
    pub(crate) factors: Factors,
    pub(crate) memory: Memory,
    pub(crate) facts: Arc<Facts>,
    pub(crate) enrichments: Enrichments,
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) selector: Arc<Selector>,
    pub(crate) replying: ReplyPorts,
    pub(crate) prepared: PreparedRequests,
    pub(crate) prefixes: PrefixCache,
    pub(crate) client_bodies: ClientBodies,
    pub(crate) packs: Arc<PackSet>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) commit_times: CommitTimes,
    pub(crate) work: Arc<Worklist>,
    pub(crate) observer: OnceLock<Observer>,
    pub(crate) shared: Option<Arc<dyn crate::shared::SharedCache>>,
    /// Cancelled when the server no longer waits for turns.
    pub(crate) stopped: CancellationToken,
}

/// Called with every turn and the pieces of its request.
pub type Observer = Box<dyn Fn(&TurnRecord, &[Arc<SentPiece>]) + Send + Sync>;

#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    /// Created if it does not exist or is absent.
    pub session: Option<SessionId>,
    /// The agent of a new session.
    pub agent: Option<AgentName>,
    pub input: TurnInput,
    pub key: Option<RequestKey>,
    /// The persona of a new session.
    pub persona: Option<Persona>,
    /// The preset of a new session without a persona.
    pub preset: Option<String>,
    /// The client's own model for this turn.
    pub model: Option<LentModel>,
}

#[derive(Debug)]
pub enum TurnOutcome {
    Finished {
        session: LoadedSession,
        record: Arc<TurnRecord>,
        /// Whether the turn had already been made with the same key.
        repeated: bool,
    },
    Paused {
        session: LoadedSession,
        pending: Box<PendingTurn>,
    },
}

/// Why a turn has no model although one is configured.
const AS_ASKED: &str = "as asked";

/// What a turn needs, fixed when its session is loaded.
pub(crate) struct Turn {
    session: LoadedSession,
    agent: Arc<Agent>,
    /// Value of [`Agents::generation`](crate::agent::Agents::generation) at that time.
    agents_generation: u64,
    /// Identifies the turn before it has a number.
    id: Uuid,
    items: Vec<SessionItem>,
    /// Listed once.
    tools: Vec<KnownTool>,
    /// The agent's servers without tools, with the reason.
    unavailable: Vec<(String, String)>,
    /// The model that replies, or why there is none.
    model: std::result::Result<ModelChoice, String>,
    parameters: Parameters,
    kind: TurnKind,
    started: Instant,
    cancel: CancellationToken,
    span: Span,
}

struct TurnStart<'a> {
    kind: TurnKind,
    lent: Option<&'a LentModel>,
    with_tools: bool,
    cancel: CancellationToken,
}

#[derive(Default)]
struct TurnPrompt<'a> {
    message: &'a str,
    /// What became of the facts it asks to forget.
    forgetting: Option<&'a Forgetting>,
    key: Option<&'a RequestKey>,
    /// The answer so far and the decided calls of a resumed turn.
    before: Answer,
    decided: &'a [AwaitedCall],
}

impl Pipeline {
    pub async fn converse(
        &self,
        caller: &Caller,
        request: TurnRequest,
        events: Events,
        cancel: CancellationToken,
    ) -> Result<TurnOutcome> {
        let TurnRequest { input, key, model, .. } = &request;
        checks::message(&input.message, &self.limits)?;
        let session = match self.open(caller, &request).await? {
            Opened::Ready(session) => session,
            Opened::Over(outcome) => return Ok(outcome),
        };
        let kind = if input.is_query { TurnKind::Query } else { TurnKind::Chat };
        let start = TurnStart {
            kind,
            lent: model.as_ref(),
            with_tools: !input.without_tools,
            cancel: cancel.clone(),
        };
        let mut turn = self.load(session, start).await?;
        if input.without_model {
            turn.model = Err(AS_ASKED.to_owned());
        }
        let span = turn.span.clone();
        let answering = async {
            let assembled = Box::pin(self.assemble(&turn, input)).await?;
            let began = stages::Beginning::New(turn.started, turn.started.elapsed());
            events.tell(TurnEvent::Context(Box::new(assembled.receipt.clone())));
            let asked = TurnPrompt {
                message: &input.message,
                forgetting: input.forgetting.as_ref(),
                key: key.as_ref(),
                ..TurnPrompt::default()
            };
            let ended = Box::pin(self.reply(&turn, &assembled, asked, &events)).await?;
            let mut draft = TurnDraft::of(&turn, &input.message, assembled);
            (draft.beginning, draft.withheld) = (Some(began), input.has_forgotten());
            Box::pin(self.conclude(caller, &turn, draft, ended, key.as_ref(), &events)).await
        };
        let outcome = answering.instrument(span.clone()).await;
        self.trace_outcome(&span, &outcome);
        outcome
    }

    /// Assembles a request for an application that calls its own model. Changes nothing.
    pub async fn prepare(
        &self,
        session: LoadedSession,
        input: &TurnInput,
    ) -> Result<Arc<AssembledRequest>> {
        checks::active(&session.head, self.clock.now())?;
        checks::message(&input.message, &self.limits)?;
        checks::prepared(&session.head, input, self.clock.now())?;
        let start = TurnStart {
            kind: TurnKind::Recorded,
            lent: None,
            with_tools: !input.without_tools,
            cancel: CancellationToken::new(),
        };
        let turn = self.load(session, start).await?;
        let assembled = Box::pin(self.assemble(&turn, input)).await?;
        Ok(self.prepared.keep(&turn.session, assembled))
    }

    /// Decides a waiting call and resumes the turn once all are decided. The assembled request
    /// does not change, unless something that it showed was erased.
    pub async fn decide(
        &self,
        caller: &Caller,
        (id, call): (&SessionId, &str),
        approval: Approval,
        events: Events,
        cancel: CancellationToken,
    ) -> Result<TurnOutcome> {
        let (session, pending) = self.note_decision(caller, id, call, approval).await?;
        if pending.undecided().next().is_some() {
            return Ok(TurnOutcome::Paused { session, pending: Box::new(pending) });
        }
        let start = TurnStart { kind: pending.kind, lent: None, with_tools: true, cancel };
        let turn = self.load(session, start).await?;
        let resumed = stages::Beginning::resumed(&pending, turn.started, self.clock.now());
        let span = turn.span.clone();
        let answering = async {
            let assembled = Box::pin(self.resumed_request(&turn, &pending)).await?;
            let before = Answer {
                text: pending.said.clone(),
                calls: pending.calls.clone(),
                ..Answer::default()
            };
            let key = pending.request_key();
            let (message, decided) = (pending.message.as_str(), pending.awaited.as_slice());
            let asked =
                TurnPrompt { message, forgetting: None, key: key.as_ref(), before, decided };
            let ended = Box::pin(self.reply(&turn, &assembled, asked, &events)).await?;
            let mut draft = TurnDraft::of(&turn, message, assembled);
            (draft.ends_pause, draft.beginning) = (Some(pending.at), Some(resumed));
            Box::pin(self.conclude(caller, &turn, draft, ended, key.as_ref(), &events)).await
        };
        let outcome = answering.instrument(span.clone()).await;
        self.trace_outcome(&span, &outcome);
        outcome
    }

    /// **load**: everything a turn needs, once.
    async fn load(&self, session: LoadedSession, start: TurnStart<'_>) -> Result<Turn> {
        let agents_generation = self.agents.generation();
        let book = self.agents.current();
        let agent = book.get(session.head.agent.as_ref())?;
        let (tools, unavailable) = match start.with_tools {
            true => self.catalog.with_unavailable(&agent).await?,
            false => (Vec::new(), Vec::new()),
        };
        let model = self.models.choose(&session.head.settings, &agent, start.kind, start.lent);
        let span = trace::turn(&session, agent.name.as_str(), start.kind);
        let items = session_items(&agent, &session.head, &tools);
        Ok(Turn {
            parameters: request::parameters(&session.head, &self.limits),
            agents_generation,
            id: self.clock.id(),
            tools: session_tools(&agent, &items, tools),
            items,
            unavailable,
            model,
            session,
            agent,
            kind: start.kind,
            started: Instant::now(),
            cancel: start.cancel,
            span,
        })
    }

    /// **notice**, **resolve**, **recall**, **select**, **fit**: the request for a message.
    async fn assemble(&self, turn: &Turn, input: &TurnInput) -> Result<AssembledRequest> {
        let (session, head) = (&turn.session, &turn.session.head);
        let budget = self.budget(turn, input.budget_tokens);
        let room = self.recall_room(turn, &input.message, budget);
        let (enrichment, known) = self.enrich(turn, input, room).await?;

        let message = (input.message.as_str(), enrichment.vector.as_slice());
        let fewer = input.without_tools.then(|| request::without_tools(&turn.items));
        let items = fewer.unwrap_or_else(|| turn.items.clone());
        let mut recalled = enrichment.recalled.clone();
        recalled.extend(self.recall_across(turn, message, room).await?);
        let mode = match head.settings.mode {
            Some(mode) => (mode, "set for the session".to_owned()),
            None => mode::infer(&input.message, &head.last_tools()).decided(),
        };
        let zone = head.settings.zone(&self.limits.timezone);
        let Shown { prefix, history, is_whole, recent, lost } =
            self.shown(session, turn.kind, &zone, budget.total_tokens, false).await?;
        let offer = self.offer(turn, prefix.as_ref(), budget);
        let bounds = (&*self.limits, &offer);
        let selecting = self.selector.select(&turn.agent, &items, &turn.tools, message, bounds);
        let selected = selecting.await?;
        let mut noticed = enrichment.noticed.clone();
        noticed.mentions.extend(notice::given(&input.about, &self.packs));
        let mut assembled = request::assemble(Material {
            head,
            input,
            mode,
            selected,
            prefix,
            history,
            is_whole,
            recent,
            lost,
            understanding: Understanding { noticed, known, found: enrichment.found.clone() },
            about: enrichment.about.clone(),
            recalled,
            room,
            facts: self.facts_for(turn, message).await?,
            client: None,
            no_model: turn.model.is_err() && turn.kind != TurnKind::Recorded,
            budget,
            parameters: turn.parameters,
            limits: &self.limits,
            now: self.clock.now(),
            zone,
        })?;
        // An application calls tools by name.
        if turn.kind != TurnKind::Recorded {
            assembled.tools = permissions::listed_tools(&assembled.sent, &turn.tools);
        }
        Ok(assembled)
    }

    /// **reply**: by a model with tools, or without a model.
    async fn reply(
        &self,
        turn: &Turn,
        assembled: &AssembledRequest,
        asked: TurnPrompt<'_>,
        events: &Events,
    ) -> Result<reply::ReplyOutcome> {
        let TurnPrompt { message, forgetting, key, before, decided } = asked;
        let policy = self.policy(turn).await?;
        let taint = self.taint(turn, &policy, assembled, (message, &before.calls)).await?;
        let tools = permissions::known_of(&assembled.tools, &turn.tools);
        Ok(reply::answer(ReplyRequest {
            ports: &self.replying,
            session: &turn.session,
            agent: &turn.agent,
            tools: &tools,
            unavailable: &turn.unavailable,
            policy: &policy,
            taint: &Mutex::new(taint),
            notes: &self.notes(turn, message, key),
            assembled,
            kind: turn.kind,
            message,
            forgetting,
            memory_full: self.memory_full(turn).await,
            model: &turn.model,
            before,
            decided: decided.to_vec(),
            events,
            cancel: turn.cancel.clone(),
        })
        .await)
    }

    /// The inputs to the choice of declared tools.
    fn offer(&self, turn: &Turn, prefix: Option<&Prefix>, budget: Budget) -> ToolOffer {
        let tokens = budget.share(self.limits.tools_share);
        // Keeps the choice stable although the budget is corrected every turn.
        let searched = prefix.is_some_and(Prefix::offers_search);
        let (named, named_beside) = prefix.map(Prefix::named_tools).unwrap_or_default();
        ToolOffer {
            declared: prefix.map(Prefix::chosen_tools).unwrap_or_default(),
            used: turn.session.head.tool_history.iter().map(|made| made.tool.clone()).collect(),
            tokens: if searched { tokens / 2 } else { tokens },
            // An application runs the calls of its model with `Engine::call_by_name`.
            search: matches!(turn.kind, TurnKind::Chat | TurnKind::Query | TurnKind::Recorded),
            named,
            named_beside,
        }
    }

    fn budget(&self, turn: &Turn, wanted: Option<u32>) -> Budget {
        let head = &turn.session.head;
        let name = head.settings.model.as_deref().or(turn.agent.models.chat.as_deref());
        let model = self.models.get(name);
        let window = model.as_ref().and_then(|model| model.context_tokens());
        let factor = model.map_or(1.0, |model| self.factors.of(model.name()));
        Budget::of(head, &self.limits, wanted, turn.parameters, (window, factor))
    }

    fn trace_outcome(&self, span: &Span, outcome: &Result<TurnOutcome>) {
        match outcome {
            Ok(TurnOutcome::Finished { record, .. }) => trace::turn_kept(span, record.turn, record),
            Ok(TurnOutcome::Paused { .. }) => trace::turn_paused(span),
            Err(error) => trace::failed(span, error.code()),
        }
    }
}
