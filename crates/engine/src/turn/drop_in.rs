//! Turns of an unchanged model client: what to add to its request, and the exchange kept afterwards.
//!
//! Wire formats are the transport's; here a client's request is its message, its own words so far and
//! its bytes. The client's instructions, tools and settings stay its own: nothing of a persona, a rule
//! or a prompt mode is added.
//!
//! Invariant: what is added is history in its own roles, or data quoted beside the message; and the
//! client's own request is never shortened.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use super::draft::TurnDraft;
use super::{Pipeline, Recorded, Turn, TurnStart, checks};
use crate::access::Caller;
use crate::budget::{self, Budget};
use crate::creation::NewSession;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::history;
use crate::id::SessionId;
use crate::layout::{self, MESSAGE_FRAME_TOKENS};
use crate::memory::{self, Reach};
use crate::mode::PromptMode;
use crate::model::{Block, Message, Usage};
use crate::notice::{self, Understood};
use crate::piece::{Piece, Place, Rank, Source};
use crate::rebuild;
use crate::receipt::Receipt;
use crate::reply::Answer;
use crate::request::{ReceiptDraft, stable_prefix};
use crate::session::apply::RequestKey;
use crate::session::record::{CallRecord, ReplyForm, TurnError, TurnKind, TurnRecord, TurnStatus};
use crate::session::{LoadedSession, Sessions};
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

/// What a client's request led to.
pub enum DropIn {
    /// The same keyed request was answered before.
    Answered(Arc<TurnRecord>),
    /// A turn under way.
    Open(Box<DropInTurn>),
}

/// What is added to a client's request.
#[derive(Debug, Clone, Default)]
pub struct Addition {
    /// Messages in front of the user's; they begin with the user's and end with the assistant's.
    pub before: Vec<Message>,
    /// Texts in front of the words of the user's message.
    pub beside: Vec<String>,
}

/// A turn of a client, from its request to the end of the reply.
pub struct DropInTurn {
    pipeline: Arc<Pipeline>,
    caller: Caller,
    key: Option<RequestKey>,
    turn: Turn,
    draft: TurnDraft,
    /// What is added to the request.
    pub addition: Addition,
}

/// A client's request that was handed on, and what was added to it: enough to put it together again.
#[derive(Debug, Clone)]
pub struct HandedOn {
    /// The request as it came.
    pub body: String,
    /// What was added.
    pub addition: Addition,
    /// `provider/model`.
    pub model: String,
    /// The hash of what was sent.
    pub hash: ContentHash,
}

/// How the exchange of a client with its model ended.
#[derive(Debug, Clone)]
pub struct Exchange {
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
}

impl Pipeline {
    /// Begins a turn of a model client; the session is created when it does not exist.
    pub async fn begin_drop_in(
        self: &Arc<Self>,
        caller: &Caller,
        id: &SessionId,
        request: &ClientRequest,
        key: Option<RequestKey>,
    ) -> Result<DropIn> {
        checks::message(&request.message, &self.limits)?;
        let new = NewSession { id: Some(id.clone()), ..NewSession::default() };
        let session = self.open_or_create(caller, new).await?;
        if let Some(number) = checks::answered(&session.head, key.as_ref())? {
            return Ok(DropIn::Answered(self.stored_turn(&session, number).await?));
        }
        checks::active(&session.head, self.clock.now())?;
        let start = TurnStart {
            kind: TurnKind::DropIn,
            lent: None,
            with_tools: false,
            cancel: CancellationToken::new(),
        };
        let turn = self.load(session, start).await?;
        let span = turn.span.clone();
        let added = self.add_to(&turn, request).instrument(span.clone()).await;
        let (draft, addition) = added.inspect_err(|error| trace::failed(&span, error.code()))?;
        let (pipeline, caller) = (Arc::clone(self), caller.clone());
        let open = DropInTurn { pipeline, caller, key, turn, draft, addition };
        Ok(DropIn::Open(Box::new(open)))
    }

    /// What to add to a client's request.
    async fn add_to(&self, turn: &Turn, request: &ClientRequest) -> Result<(TurnDraft, Addition)> {
        let session = &turn.session;
        let head = &session.head;
        let limits = &self.limits;
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
        let understanding = notice::read(session, &request.message, known, &self.packs);
        let (noticed, known) = (&understanding.noticed, &understanding.known);
        let understood = Understood { noticed, entities: &head.entities, known };
        pieces.extend(notice::recall(&understood, &self.packs, self.clock.now()));
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

        let budget = beside_the_client(self.budget(turn, None), &pieces);
        let fitted = budget::fit(pieces, budget)?;
        let laid_out = layout::lay_out(fitted.sent(), turn.parameters);
        let stable_prefix_tokens = stable_prefix(&fitted, previous.as_ref());
        let drafted = ReceiptDraft {
            fitted,
            left_out: Vec::new(),
            mode: PromptMode::General,
            mode_why: "the client's own instructions".into(),
            parameters: turn.parameters,
        };
        let (mut receipt, contents) = drafted.receipt(head, &laid_out, self.clock.now())?;
        receipt.stable_prefix_tokens = stable_prefix_tokens;
        let draft = TurnDraft {
            kind: TurnKind::DropIn,
            message: request.message.clone(),
            understanding,
            receipt: Some(receipt),
            contents,
            metadata: None,
            took_ms: None,
        };
        Ok((draft, apart(laid_out.messages)))
    }
}

impl DropInTurn {
    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.turn.session.head.id
    }

    /// The span of the turn, for what happens on its behalf.
    pub fn span(&self) -> &Span {
        &self.turn.span
    }

    /// What the request is made of.
    pub fn receipt(&self) -> Option<&Receipt> {
        self.draft.receipt.as_ref()
    }

    /// Notes the bytes that the client's request became.
    pub fn handed_on_as(&mut self, bytes: &[u8]) {
        if let Some(receipt) = &mut self.draft.receipt {
            receipt.handed_on_hash = Some(ContentHash::of_bytes(bytes));
        }
    }

    /// Keeps the exchange as a turn, with what was added to its request.
    pub async fn commit(self, exchange: Exchange) -> Result<Recorded> {
        let Self { pipeline, caller, key, turn, mut draft, .. } = self;
        let limits = &pipeline.limits;
        let Exchange { mut reply, mut calls, mut status, error, model, usage } = exchange;
        if cut(&mut reply, limits.reply_bytes_max) && status == TurnStatus::Complete {
            status = TurnStatus::Partial;
        }
        calls.truncate(limits.tool_executions_max);
        for output in calls.iter_mut().filter_map(|call| call.output.as_mut()) {
            cut(&mut output.text, limits.tool_result_bytes_max);
        }
        draft.took_ms = u64::try_from(turn.started.elapsed().as_millis()).ok();
        let form = ReplyForm::Model { model };
        let answer = Answer { text: reply, status, error, form, calls, usage };
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

/// The request that a turn handed on, as it was put together; `None` where the turn is another.
pub async fn handed_on(
    sessions: &Sessions,
    session: &LoadedSession,
    record: &TurnRecord,
) -> Result<Option<HandedOn>> {
    let hash = record.receipt.as_ref().and_then(|receipt| receipt.handed_on_hash.clone());
    let (Some(hash), ReplyForm::Model { model }) = (hash, &record.form) else {
        return Ok(None);
    };
    let mut messages = rebuild::request(sessions, session, record).await?.messages;
    let own = messages.last_mut().and_then(|message| message.content.pop());
    let Some(Block::Text { text: body, .. }) = own else { return Ok(None) };
    if body.len() > REQUEST_BYTES_MAX || body.starts_with(TOO_LARGE) {
        let (session, turn) = (session.head.id.clone(), record.turn);
        return Err(Error::NotKept { session, turn, what: "stored request" });
    }
    let last = messages.pop().map(|message| message.content).unwrap_or_default();
    let addition = Addition { before: messages, beside: texts(last) };
    Ok(Some(HandedOn { body, addition, model: model.clone(), hash }))
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
fn apart(mut messages: Vec<Message>) -> Addition {
    let mut last = messages.pop().map(|message| message.content).unwrap_or_default();
    last.pop();
    Addition { before: messages, beside: texts(last) }
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
