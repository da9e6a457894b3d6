//! Memory for a client that speaks to its model itself: what to add to its request, and the exchange
//! kept afterwards.
//!
//! Wire formats are the transport's; here a client's request is its message, its own words so far and
//! its bytes. The client's instructions, tools and settings stay its own: nothing of a persona, a rule
//! or a prompt mode is added.
//!
//! Invariant: what is added is history in its own roles, or data quoted beside the message; and the
//! client's own request is never shortened.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracing::{Instrument, Span};

use crate::access::{Action, Caller, authorize};
use crate::budget::{self, Budget};
use crate::context::{Assembled, parameters, stable_prefix};
use crate::engine::{Engine, FinishedTurn, NewSession, Recorded, answered};
use crate::entity::{KnownEntities, Noticed, notice};
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::history;
use crate::id::SessionId;
use crate::layout::{self, MESSAGE_FRAME_TOKENS};
use crate::memory::{self, Reach};
use crate::mode::PromptMode;
use crate::model::{Block, Message, Usage};
use crate::notice::{self as noticing, Understood};
use crate::piece::{Piece, Place, Rank, Source};
use crate::rebuild;
use crate::receipt::Receipt;
use crate::session::Loaded;
use crate::session::apply::RequestKey;
use crate::session::record::{
    CallRecord, ReplyForm, SaidTokens, TurnError, TurnKind, TurnRecord, TurnStatus,
};
use crate::{tokens, trace};

/// The largest request of a client that is kept word for word with its turn.
const REQUEST_BYTES_MAX: usize = 256 * 1024;

/// How the piece of a larger one begins; no JSON object begins so.
const TOO_LARGE: &str = "[a request of";

/// What a client is about to send to its model.
#[derive(Debug, Clone, Default)]
pub struct ClientRequest {
    /// The user's message.
    pub message: String,
    /// The conversation as far as the client sends it itself; empty when it sends the message alone.
    pub earlier: Vec<String>,
    /// The request as it came.
    pub body: String,
}

/// What is added to a client's request.
#[derive(Debug, Clone)]
pub struct Addition {
    /// Messages in front of the user's; they begin with the user's and end with the assistant's.
    pub before: Vec<Message>,
    /// Texts in front of the words of the user's message.
    pub beside: Vec<String>,
    receipt: Receipt,
    contents: BTreeMap<ContentHash, String>,
    noticed: Noticed,
    known: Arc<KnownEntities>,
    span: Span,
}

impl Addition {
    /// The span of the turn, for what happens on its behalf.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// What the request is made of.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Notes the bytes that the client's request became.
    pub fn handed_on_as(&mut self, bytes: &[u8]) {
        self.receipt.handed_on_hash = Some(ContentHash::of_bytes(bytes));
    }
}

/// A client's request that was handed on, and what was added to it: enough to put it together again.
#[derive(Debug, Clone)]
pub struct HandedOn {
    /// The request as it came.
    pub body: String,
    /// Messages in front of the user's.
    pub before: Vec<Message>,
    /// Texts in front of the words of the user's message.
    pub beside: Vec<String>,
    /// `provider/model`.
    pub model: String,
    /// The hash of what was sent.
    pub hash: ContentHash,
}

/// An exchange of a client with its model.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// What the user said.
    pub message: String,
    /// What the model said.
    pub reply: String,
    /// Calls that the client ran for it.
    pub calls: Vec<CallRecord>,
    /// How it ended.
    pub status: TurnStatus,
    /// Why it failed.
    pub error: Option<TurnError>,
    /// `provider/model`.
    pub model: String,
    /// Tokens as the provider counted them.
    pub usage: Option<Usage>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// The idempotency key.
    pub key: Option<RequestKey>,
}

impl Engine {
    /// What to add to a client's request; the session is created when it does not exist.
    pub async fn prepare_addition(
        &self,
        caller: &Caller,
        id: &SessionId,
        request: &ClientRequest,
    ) -> Result<Addition> {
        authorize(caller, Action::Write)?;
        self.check_message(&request.message)?;
        let session = self.opened(caller, id).await?;
        self.check_active(&session.head)?;
        let agent = self.agent_name(&session);
        let span = trace::turn(&session, agent.as_str(), TurnKind::DropIn);
        let added = self.addition(&session, request, span.clone()).instrument(span.clone()).await;
        added.inspect_err(|error| trace::failed(&span, error.code()))
    }

    /// The turn that the same keyed request made before, if the session exists and has it.
    pub async fn exchange_before(
        &self,
        caller: &Caller,
        id: &SessionId,
        key: &RequestKey,
    ) -> Result<Option<Arc<TurnRecord>>> {
        authorize(caller, Action::Write)?;
        let Some(session) = self.sessions.find(&caller.session_key(id)).await? else {
            return Ok(None);
        };
        match answered(&session.head, Some(key))? {
            Some(turn) => Ok(Some(self.turn(caller, id, turn).await?.1)),
            None => Ok(None),
        }
    }

    /// Keeps an exchange as a turn, with what was added to its request.
    pub async fn keep_exchange(
        &self,
        caller: &Caller,
        id: &SessionId,
        addition: Addition,
        exchange: Exchange,
    ) -> Result<Recorded> {
        authorize(caller, Action::Write)?;
        let Addition { receipt, contents, noticed, known, span, .. } = addition;
        let Exchange { message, mut reply, mut calls, mut status, .. } = exchange;
        let limits = self.limits();
        if cut(&mut reply, limits.reply_bytes_max) && status == TurnStatus::Complete {
            status = TurnStatus::Partial;
        }
        calls.truncate(limits.tool_executions_max);
        for output in calls.iter_mut().filter_map(|call| call.output.as_mut()) {
            cut(&mut output.text, limits.tool_result_bytes_max);
        }
        let record = TurnRecord {
            turn: 0,
            at: self.now(),
            kind: TurnKind::DropIn,
            tokens: SaidTokens { message: tokens::count(&message), reply: tokens::count(&reply) },
            message,
            reply,
            status,
            error: exchange.error,
            form: ReplyForm::Model { model: exchange.model },
            calls,
            entities: noticing::mentions(&noticed),
            usage: exchange.usage,
            receipt: Some(receipt),
            contents,
            metadata: None,
            took_ms: Some(exchange.took_ms),
        };
        let finished = FinishedTurn { record, noticed, found: Vec::new(), known };
        let committing = self.commit_turn(caller, id, &finished, exchange.key.as_ref(), None);
        let recorded = committing.instrument(span.clone()).await;
        match &recorded {
            Ok(recorded) => trace::turn_kept(&span, recorded.turn, &finished.record),
            Err(error) => trace::failed(&span, error.code()),
        }
        recorded
    }

    /// The request that a turn handed on, as it was put together; `None` where the turn is another.
    pub async fn handed_on(
        &self,
        caller: &Caller,
        id: &SessionId,
        turn: u64,
    ) -> Result<Option<HandedOn>> {
        let (loaded, record) = self.turn(caller, id, turn).await?;
        let hash = record.receipt.as_ref().and_then(|receipt| receipt.handed_on_hash.clone());
        let (Some(hash), ReplyForm::Model { model }) = (hash, &record.form) else {
            return Ok(None);
        };
        let mut messages = rebuild::request(&self.sessions, &loaded, &record).await?.messages;
        let own = messages.last_mut().and_then(|message| message.content.pop());
        let Some(Block::Text { text: body, .. }) = own else { return Ok(None) };
        if body.len() > REQUEST_BYTES_MAX || body.starts_with(TOO_LARGE) {
            return Err(Error::NotKept { session: id.clone(), turn, what: "stored request" });
        }
        let last = messages.pop().map(|message| message.content).unwrap_or_default();
        let beside = texts(last);
        Ok(Some(HandedOn { body, before: messages, beside, model: model.clone(), hash }))
    }

    async fn opened(&self, caller: &Caller, id: &SessionId) -> Result<Loaded> {
        if let Some(session) = self.sessions.find(&caller.session_key(id)).await? {
            return Ok(session);
        }
        let new = NewSession { id: Some(id.clone()), ..NewSession::default() };
        match self.create_session(caller, new).await {
            Err(Error::SessionExists(_)) => self.session(caller, id).await,
            created => created,
        }
    }

    async fn addition(
        &self,
        session: &Loaded,
        request: &ClientRequest,
        span: Span,
    ) -> Result<Addition> {
        let head = &session.head;
        let limits = self.limits();
        let alone = request.earlier.is_empty();
        let (first, count) = history::window(head, limits.window_turns);
        let mut recent = self.sessions.tail(session, count).await?;
        let previous = recent.last().and_then(|turn| turn.receipt.clone());
        // A client tries again by itself; what failed without a word would only repeat its message.
        recent.retain(|turn| said_something(turn));

        let mut pieces = Vec::new();
        let knows_all = !alone && count_of(&request.earlier) >= head.turns;
        let summary = head.summary.as_ref().filter(|_| !knows_all);
        pieces.extend(summary.map(history::summary_piece));
        if alone {
            pieces.extend(history::recent(&recent, limits));
        }
        let known = self.memory.known(&self.sessions, session).await?;
        let noticed = notice(&request.message, &head.entities, &known, self.packs());
        let understood = Understood { noticed: &noticed, entities: &head.entities, known: &known };
        pieces.extend(noticing::recall(&understood, self.packs(), self.now()));
        let vector = self.selector.embed(&request.message).await?;
        let message = (request.message.as_str(), vector.as_slice());
        let most = limits.recalled_turns + 3 * count;
        // What the client sends itself is left out below, so none is spared here.
        let reach = Reach { parts_max: most, window_from: first, older_max: most };
        let mut recalled = self.memory.search(&self.sessions, session, message, reach).await?;
        let sent = |text: &str| request.earlier.iter().any(|earlier| earlier.trim() == text.trim());
        recalled.retain(|found| said_something(&found.record) && !sent(&found.record.message));
        let before_turn = if alone { first } else { u64::MAX };
        pieces.extend(memory::pieces(&recalled, before_turn, limits.recalled_turns));
        pieces.push(own_request(request));

        let parameters = parameters(head, self);
        let agent = self.agents().get(head.agent.as_ref())?;
        let budget = beside_the_client(self.budget(head, &agent, None, parameters), &pieces);
        let fitted = budget::fit(pieces, budget)?;
        let laid_out = layout::lay_out(fitted.sent(), parameters);
        let stable_prefix_tokens = stable_prefix(&fitted, previous.as_ref());
        let assembled = Assembled {
            fitted,
            left_out: Vec::new(),
            mode: PromptMode::General,
            mode_why: "the client's own instructions".into(),
            parameters,
        };
        let (mut receipt, contents) = assembled.receipt(self, head, &laid_out);
        receipt.stable_prefix_tokens = stable_prefix_tokens;
        let (before, beside) = apart(laid_out.messages);
        Ok(Addition { before, beside, receipt, contents, noticed, known, span })
    }
}

fn said_something(turn: &TurnRecord) -> bool {
    turn.status != TurnStatus::Failed || !turn.reply.is_empty()
}

fn count_of(texts: &[String]) -> u64 {
    // Each exchange is at least a message and a reply.
    u64::try_from(texts.len() / 2).unwrap_or(u64::MAX)
}

/// The client's request as a piece; a very large one is counted, and named by its size only.
fn own_request(request: &ClientRequest) -> Piece {
    let tokens = tokens::count(&request.body);
    let text = if request.body.len() <= REQUEST_BYTES_MAX {
        request.body.clone()
    } else {
        format!("{TOO_LARGE} {} bytes, too large to be kept]", request.body.len())
    };
    let source = Source::Given { name: "client request".into() };
    let why = "what the client sent itself";
    Piece::counted(source, why, Place::Message, Rank::Required, text, tokens)
}

/// How large a client's request may be is between it and its model; only what is added must fit.
fn beside_the_client(budget: Budget, pieces: &[Piece]) -> Budget {
    let own = pieces.last().map_or(0, |piece| piece.tokens).saturating_add(MESSAGE_FRAME_TOKENS);
    Budget { total_tokens: budget.total_tokens.max(own), ..budget }
}

/// The messages in front, and the texts beside the client's request, which is the last block.
fn apart(mut messages: Vec<Message>) -> (Vec<Message>, Vec<String>) {
    let mut last = messages.pop().map(|message| message.content).unwrap_or_default();
    last.pop();
    (messages, texts(last))
}

fn texts(blocks: Vec<Block>) -> Vec<String> {
    let texts = blocks.into_iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text),
        Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    });
    texts.collect()
}

/// Shortens `text` to at most `bytes`; answers whether it was longer.
fn cut(text: &mut String, bytes: usize) -> bool {
    let over = text.len() > bytes;
    if over {
        text.truncate(text.floor_char_boundary(bytes));
    }
    over
}
