//! Turns of drop-in clients: what to add to a request, and how the exchange is stored.
//!
//! The transport handles wire formats; here a client's request is its message, its own texts and its bytes. The
//! client's instructions, tools and settings stay its own: no persona, rule or prompt mode is added.
//!
//! Invariant: what is added is history in its own roles, or data quoted next to the message; the client's own
//! request is never shortened.

use std::sync::Arc;

use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use super::draft::TurnDraft;
use super::{Pipeline, Recorded, Turn, TurnStart, checks};
use crate::access::Caller;
use crate::agent::MemoryScope;
use crate::creation::NewSession;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::id::SessionId;
use crate::layout;
use crate::lexicon::AsksBack;
use crate::memory::RecallBounds;
use crate::mode::PromptMode;
use crate::model::{Block, Usage};
use crate::notice::{self, Understood};
use crate::rebuild;
use crate::receipt::Receipt;
use crate::reply::Answer;
use crate::request::{self, Addition, ClientRequest, Material, TurnInput};
use crate::select::Selected;
use crate::session::apply::RequestKey;
use crate::session::client_body::ClientBody;
use crate::session::head::{ClientRound, SessionHead};
use crate::session::record::{CallRecord, ReplyForm, TurnError, TurnKind, TurnRecord, TurnStatus};
use crate::session::sessions::Step;
use crate::session::{LoadedSession, Sessions};
use crate::store::Version;
use crate::trace;

/// Maximum bytes of a client's request stored with its turn, beyond what the previous turn has.
const REQUEST_BYTES_MAX: usize = 256 * 1024;

/// How the first layout marked a larger one; no JSON object starts like this.
const TOO_LARGE: &str = "[a request of";

pub enum DropIn {
    /// The same request was answered before under its key.
    Answered(Arc<TurnRecord>),
    Open(Box<DropInTurn>),
}

/// A turn of a client, from its request to the end of the reply.
pub struct DropInTurn {
    pipeline: Arc<Pipeline>,
    caller: Caller,
    key: Option<RequestKey>,
    turn: Turn,
    draft: TurnDraft,
    pub addition: Addition,
}

/// A forwarded request and what was added to it, enough to reproduce it.
#[derive(Debug, Clone)]
pub struct ForwardedRequest {
    /// The original request.
    pub body: String,
    pub addition: Addition,
    /// `provider/model`.
    pub model: String,
    /// The hash of what was sent.
    pub hash: ContentHash,
}

/// The end of a client's exchange with its model.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub reply: String,
    /// The client's id of the reply, if its protocol has such ids.
    pub reply_id: Option<String>,
    /// Calls that the client made.
    pub calls: Vec<CallRecord>,
    pub status: TurnStatus,
    pub error: Option<TurnError>,
    /// `provider/model`.
    pub model: String,
    /// Tokens as counted by the provider.
    pub usage: Option<Usage>,
}

impl Pipeline {
    /// Begins a turn of a drop-in client; creates the session if it does not exist.
    pub async fn begin_drop_in(
        self: &Arc<Self>,
        caller: &Caller,
        session: NewSession,
        request: &ClientRequest,
        key: Option<RequestKey>,
    ) -> Result<DropIn> {
        checks::message(&request.message, &self.limits)?;
        let session = self.open_or_create(caller, session).await?;
        if let Some(number) = checks::answered(&session.head, key.as_ref())? {
            return Ok(DropIn::Answered(self.stored_turn(&session, number).await?));
        }
        checks::active(&session.head, self.clock.now())?;
        let turn = self.load(session, start()).await?;
        let span = turn.span.clone();
        let added = self.add_to(&turn, request).instrument(span.clone()).await;
        let (mut draft, addition) =
            added.inspect_err(|error| trace::failed(&span, error.code()))?;
        draft.client_body = self.client_body(&turn.session, &request.body).await?;
        let (pipeline, caller) = (Arc::clone(self), caller.clone());
        let open = DropInTurn { pipeline, caller, key, turn, draft, addition };
        Ok(DropIn::Open(Box::new(open)))
    }

    /// What the user's memory adds to a request without a session, and its receipts. Stores nothing.
    ///
    /// Without stored state it is unknown what was added before. So a client that sends its history again gets
    /// what its first message would have got, before that message: the same with every request. Only a question
    /// about something earlier also gets what answers it.
    pub async fn remembered_for(
        &self,
        caller: &Caller,
        request: &ClientRequest,
    ) -> Result<(Addition, Vec<Receipt>)> {
        checks::message(&request.message, &self.limits)?;
        let id = SessionId::new(self.clock.id().to_string())?;
        let key = caller.session_key(&id);
        let head = Arc::new(SessionHead::new(id, self.clock.now()));
        let unsaved = LoadedSession { key, version: Version { number: 0, incarnation: 0 }, head };
        let turn = self.load(unsaved, start()).await?;
        let (mut added, mut receipts) = (Addition::default(), Vec::new());
        if let Some(first) = request.users.first() {
            let message = first.clone();
            let beginning = ClientRequest { message, ..ClientRequest::default() };
            let (draft, addition) = self.add_to(&turn, &beginning).await?;
            receipts.extend(draft.receipt);
            added.earlier = vec![(first.clone(), addition.beside)];
        }
        if request.users.is_empty() || request::asks(&request.message) == AsksBack::Yes {
            let (draft, addition) = self.add_to(&turn, request).await?;
            receipts.extend(draft.receipt);
            added.beside = addition.beside;
            let known =
                added.earlier.first().map(|(_, texts)| texts.as_slice()).unwrap_or_default();
            added.beside.retain(|text| !known.contains(text));
        }
        Ok((added, receipts))
    }

    /// What to add to a client's request.
    async fn add_to(&self, turn: &Turn, request: &ClientRequest) -> Result<(TurnDraft, Addition)> {
        let (session, head) = (&turn.session, &turn.session.head);
        let input = TurnInput { message: request.message.clone(), ..TurnInput::default() };
        let known = self.memory.known(&self.sessions, session).await?;
        let understanding = notice::read(session, &request.message, known, &self.packs);
        let (noticed, known) = (&understanding.noticed, &understanding.known);
        let vector = self.selector.embed(&request.message).await?;
        let message = (request.message.as_str(), vector.as_slice());
        let budget = self.budget(turn, None);
        let room = self.recall_room(turn, &request.message, budget);
        let bounds = RecallBounds { parts_max: self.limits.recalled_parts, tokens: room.tokens };
        // What the client sends itself is not added.
        let is_added = |record: &TurnRecord| head.shows(record) && !request.sends(&record.message);
        let mut recalled = match self.memory_scope(turn) {
            MemoryScope::Off => Vec::new(),
            _ => self.memory.search(&self.sessions, session, message, bounds, is_added).await?,
        };
        recalled.retain(|found| head.shows(&found.record));
        let understood = Understood { noticed, entities: &head.entities, known };
        let about = notice::about(&understood, &recalled, &self.packs, self.clock.now());
        recalled.extend(self.recall_across(turn, message, room).await?);

        let zone = head.settings.zone(&self.limits.timezone);
        let kind = TurnKind::DropIn;
        let resends = !request.earlier.is_empty();
        let shown = self.shown(session, kind, &zone, budget.total_tokens, resends).await?;
        let assembled = request::assemble(Material {
            head,
            input: &input,
            mode: (PromptMode::General, "the client's own instructions".into()),
            selected: Selected::default(),
            prefix: shown.prefix,
            history: shown.history,
            is_whole: shown.is_whole,
            recent: shown.recent,
            lost: shown.lost,
            understanding,
            about,
            recalled,
            room,
            facts: self.facts_for(turn, message).await?,
            client: Some(request),
            no_model: false,
            budget,
            parameters: turn.parameters,
            limits: &self.limits,
            now: self.clock.now(),
            zone,
        })?;
        let addition = request::addition(&assembled.sent, turn.parameters, resends);
        Ok((TurnDraft::of(turn, &request.message, assembled), addition))
    }

    /// A client's request as stored with its turn: as a difference to the previous one.
    async fn client_body(&self, session: &LoadedSession, body: &str) -> Result<Option<ClientBody>> {
        let last = self.sessions.tail(session, 1).await?.pop();
        let last = last.and_then(|record| Some((record.client_body.clone()?, record)));
        let base = match last {
            Some((stored, record)) => {
                let kept = match self.client_bodies.get(session, &stored) {
                    Some(text) => Some(text),
                    None => client_body(&self.sessions, session, &record).await?,
                };
                kept.map(|kept| (record.turn, kept))
            }
            None => None,
        };
        let base = base.as_ref().map(|(turn, text)| (*turn, text.as_str()));
        let stored = ClientBody::of(body, base, REQUEST_BYTES_MAX);
        if let Some(stored) = &stored {
            self.client_bodies.keep(session, stored, body);
        }
        Ok(stored)
    }
}

impl DropInTurn {
    pub fn session(&self) -> &SessionId {
        &self.turn.session.head.id
    }

    /// The span of the turn.
    pub fn span(&self) -> &Span {
        &self.turn.span
    }

    pub fn receipt(&self) -> Option<&Receipt> {
        self.draft.receipt.as_ref()
    }

    /// Records the hash of the bytes sent.
    pub fn handed_on_as(&mut self, bytes: &[u8]) {
        if let Some(receipt) = &mut self.draft.receipt {
            receipt.handed_on_hash = Some(ContentHash::of_bytes(bytes));
        }
    }

    /// Number of turns before this one.
    pub fn turns_before(&self) -> u64 {
        self.turn.session.head.turns
    }

    /// Records that the client must run tools before it continues, and what it must send again then.
    pub async fn wait_for_tools(self, round: Option<ClientRound>) -> Result<()> {
        trace::turn_waits_for_tools(&self.turn.span);
        let Some(round) = round else { return Ok(()) };
        let before = &self.turn.session.head;
        let noting = self.pipeline.sessions.update(&self.turn.session.key, |head, _| {
            if (head.turns, head.erased_turns) != (before.turns, before.erased_turns) {
                return Ok(Step::Leave(()));
            }
            head.client_round = Some(Box::new(round.clone()));
            Ok(Step::Commit(None, ()))
        });
        noting.await?;
        Ok(())
    }

    /// Stores the exchange as a turn, with what was added to its request.
    pub async fn commit(self, exchange: Exchange) -> Result<Recorded> {
        let Self { pipeline, caller, key, turn, mut draft, .. } = self;
        let limits = &pipeline.limits;
        let Exchange { mut reply, reply_id, mut calls, mut status, error, model, usage } = exchange;
        draft.client_reply = reply_id;
        if cut(&mut reply, limits.reply_bytes_max) && status == TurnStatus::Complete {
            status = TurnStatus::Partial;
        }
        calls.truncate(limits.tool_executions_max);
        for output in calls.iter_mut().filter_map(|call| call.output.as_mut()) {
            cut(&mut output.text, limits.tool_result_bytes_max);
        }
        draft.took_ms = u64::try_from(turn.started.elapsed().as_millis()).ok();
        let form = ReplyForm::Model { model };
        let answer = Answer { text: reply, status, error, form, calls, usage, ..Answer::default() };
        let committing = pipeline.commit(&caller, &turn, draft, answer, key.as_ref(), None);
        let recorded = committing.instrument(turn.span.clone()).await;
        match &recorded {
            Ok(Recorded { turn: number, record: Some(record), .. }) => {
                trace::turn_kept(&turn.span, *number, record);
            }
            Ok(_) => {}
            Err(error) => trace::failed(&turn.span, error.code()),
        }
        recorded
    }
}

fn start() -> TurnStart<'static> {
    let (kind, cancel) = (TurnKind::DropIn, CancellationToken::new());
    TurnStart { kind, lent: None, with_tools: false, cancel }
}

/// The request that a turn forwarded, as assembled; `None` if the turn is of another kind.
pub async fn handed_on(
    sessions: &Sessions,
    session: &LoadedSession,
    record: &TurnRecord,
) -> Result<Option<ForwardedRequest>> {
    let Some(receipt) = &record.receipt else { return Ok(None) };
    let (Some(hash), ReplyForm::Model { model }) = (&receipt.handed_on_hash, &record.form) else {
        return Ok(None);
    };
    let (model, hash) = (model.clone(), *hash);
    if receipt.layout == layout::FIRST {
        let (body, addition) = first_layout(sessions, session, record).await?;
        return Ok(Some(ForwardedRequest { body, addition, model, hash }));
    }
    let Some(body) = client_body(sessions, session, record).await? else {
        let (session, turn) = (session.head.id.clone(), record.turn);
        return Err(Error::NotKept { session, turn, what: "stored request" });
    };
    let sent = rebuild::pieces(sessions, session, record, &TimeZone::UTC).await?;
    let addition = request::addition(&sent, receipt.parameters, receipt.window_from == u64::MAX);
    Ok(Some(ForwardedRequest { body, addition, model, hash }))
}

/// A client's request, from the turns that store it.
async fn client_body(
    sessions: &Sessions,
    session: &LoadedSession,
    record: &TurnRecord,
) -> Result<Option<String>> {
    let mut kept: Vec<ClientBody> = Vec::new();
    let mut next = record.client_body.clone();
    while let Some(body) = next {
        let base = body.base;
        kept.push(body);
        let Some(turn) = base else { break };
        let found = sessions.turn(session, turn).await?;
        next = found.and_then(|record| record.client_body.clone());
        if next.is_none() {
            return Ok(None);
        }
    }
    let mut text: Option<String> = None;
    for body in kept.iter().rev() {
        text = body.text(text.as_deref());
        if text.is_none() {
            return Ok(None);
        }
    }
    Ok(text)
}

/// A turn of the first layout has the client's request as its last block.
async fn first_layout(
    sessions: &Sessions,
    session: &LoadedSession,
    record: &TurnRecord,
) -> Result<(String, Addition)> {
    let missing = || {
        let (session, turn) = (session.head.id.clone(), record.turn);
        Error::NotKept { session, turn, what: "stored request" }
    };
    let mut messages = rebuild::request(sessions, session, record).await?.messages;
    let mut last = messages.pop().map(|message| message.content).unwrap_or_default();
    let Some(Block::Text { text: body, .. }) = last.pop() else { return Err(missing()) };
    if body.len() > REQUEST_BYTES_MAX || body.starts_with(TOO_LARGE) {
        return Err(missing());
    }
    let beside = last.into_iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text),
        Block::Image { .. } | Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    });
    let addition = Addition { before: messages, earlier: Vec::new(), beside: beside.collect() };
    Ok((body, addition))
}

/// Shortens `text` to at most `bytes`; returns whether it was longer.
fn cut(text: &mut String, bytes: usize) -> bool {
    let over = text.len() > bytes;
    if over {
        text.truncate(text.floor_char_boundary(bytes));
    }
    over
}
