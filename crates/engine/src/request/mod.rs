//! The request for a message: everything it could be made of, fitted into the budget and laid out.
//!
//! Requests grow at their end. Between two compactions each one begins with every byte of the one before –
//! tools, system, history, and what stood beside each message – then comes the reply, then only what is new.
//! When the budget's high mark is reached, or a question finds no room for what it asks about, one step
//! condenses the oldest part of the history ([`window`]). What is brought in beside the message is chosen in
//! [`beside`]; what fits is [`crate::budget`]'s decision; what it looks like is [`crate::layout`]'s.
//!
//! Invariants: a pure function of its material; nothing that was sent is edited before a compaction.

mod beside;
mod client;
mod prefix;
mod report;
mod window;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::budget::{self, Budget, Fitted};
use crate::error::{Error, Result};
use crate::fact::{FactHit, Forgetting};
use crate::hash::ContentHash;
use crate::history::HistoryTurn;
use crate::item::{ItemName, SessionItem};
use crate::layout;
use crate::limits::Limits;
use crate::memory::Recalled;
use crate::mode::{self, PromptMode};
use crate::model::ModelRequest;
use crate::notice::{GivenThing, Understanding};
use crate::persona;
use crate::piece::{Piece, Position, Rank, SentPiece, Source};
use crate::receipt::{Parameters, Receipt};
use crate::select::Selected;
use crate::session::head::{SessionHead, Summary};
use crate::session::record::TurnRecord;
use crate::tool::ToolDefinition;

pub use beside::{Beside, asks};
pub use client::{Addition, addition, place};
pub use prefix::{Prefix, PrefixCache};
pub(crate) use report::must_be_kept;
use report::{Report, Spent};
use window::Window;

/// The message and what comes with it.
#[derive(Debug, Clone, Default)]
pub struct TurnInput {
    pub message: String,
    /// Named texts that came with it: a workflow's specification, a client's own instructions.
    pub given: Vec<(String, String)>,
    /// Things that it is said to be about, beside its words.
    pub about: Vec<GivenThing>,
    /// A budget smaller or larger than the session's.
    pub budget_tokens: Option<u32>,
    /// Whether the message is a query, which has instructions of its own.
    pub is_query: bool,
    /// Whether tools are left out, for a model that cannot call any.
    pub without_tools: bool,
    /// Whether the persona's calm-keeping is wanted; the persona's own setting when absent.
    pub keeps_calm: Option<bool>,
    /// What became of the facts that the message asks to forget; set by the engine.
    pub forgetting: Option<Forgetting>,
}

/// What a client that speaks to its model itself is about to send.
#[derive(Debug, Clone, Default)]
pub struct ClientRequest {
    /// The user's message.
    pub message: String,
    /// The conversation as far as the client sends it itself; empty when it sends the message alone.
    pub earlier: Vec<String>,
    /// The user's earlier messages among it, in order.
    pub users: Vec<String>,
    /// The request as it came.
    pub body: String,
    /// Tokens of its texts.
    pub tokens: u32,
}

/// A request that is ready to be sent, with its receipt.
#[derive(Debug, Clone)]
pub struct AssembledRequest {
    pub request: ModelRequest,
    /// What it was made of: every piece, also those that it shares with the request before.
    pub receipt: Receipt,
    /// Texts that the receipt names and no record keeps yet.
    pub contents: BTreeMap<ContentHash, String>,
    /// Notes on older turns that this request made.
    pub summary: Option<Summary>,
    /// Every piece of the request, for the next one to begin with.
    pub sent: Arc<Vec<Arc<SentPiece>>>,
    /// Tools that may be called.
    pub tools: Vec<ToolDefinition>,
    /// The last turns, oldest first.
    pub recent: Vec<Arc<TurnRecord>>,
    /// What the message means.
    pub understanding: Understanding,
    /// Parts of earlier turns of this session that fit the message, best first.
    pub recalled: Vec<Recalled>,
    /// Facts about the user that were considered, best first.
    pub facts: Vec<FactHit>,
}

/// What a request is made from.
pub struct Material<'a> {
    /// The session's head.
    pub head: &'a SessionHead,
    /// The message and what came with it.
    pub input: &'a TurnInput,
    /// The prompt mode and why.
    pub mode: (PromptMode, String),
    /// Items for the message.
    pub selected: Selected,
    /// The request before with its reply, where the conversation has one that can be continued.
    pub prefix: Option<Prefix>,
    /// The newest turns word for word, oldest first, for a request that starts a prefix of its own.
    pub history: Vec<HistoryTurn>,
    /// Whether the prefix, or else the history, shows the conversation from its beginning.
    pub is_whole: bool,
    /// The last turns, oldest first.
    pub recent: Vec<Arc<TurnRecord>>,
    /// What the message means.
    pub understanding: Understanding,
    /// What is told of the things that the message is about.
    pub about: Vec<Piece>,
    /// Parts of earlier turns that fit, best first.
    pub recalled: Vec<Recalled>,
    /// Facts about the user that are worth showing, best first.
    pub facts: Vec<FactHit>,
    /// The client whose own request this is added to; its instructions, tools and settings stay its own.
    pub client: Option<&'a ClientRequest>,
    /// Whether no model is asked.
    pub no_model: bool,
    /// What there is to spend.
    pub budget: Budget,
    /// Settings that go with the request.
    pub parameters: Parameters,
    /// Bounds.
    pub limits: &'a Limits,
    pub now: Timestamp,
    /// The user's time zone.
    pub zone: TimeZone,
}

/// Fits and lays out the request for a message.
pub fn assemble(mut material: Material<'_>) -> Result<AssembledRequest> {
    let selected = std::mem::take(&mut material.selected);
    let frame = match material.client {
        None => frame(&material, &selected),
        Some(_) => Vec::new(),
    };
    let message = message_piece(&material.input.message);
    let required = budget::required(frame.iter().chain([&message]));
    // A client's own request is between it and its model.
    if material.client.is_none() && required > material.budget.total_tokens {
        let budget = material.budget.total_tokens;
        return Err(Error::OverBudget { needed: required, budget });
    }
    let beside = Beside::of(&material, &selected);
    let window = match material.client.filter(|client| !client.earlier.is_empty()) {
        None => Window::choose(&material, &frame, &message, &beside),
        Some(client) => Window::of_client(&material, client, &beside),
    };
    let Fitted { pieces, report: spent } = window.fit(&material, frame, message, beside);
    let sent: Vec<Arc<SentPiece>> =
        pieces.iter().filter(|(_, fate)| fate.is_none()).map(|(sent, _)| sent.clone()).collect();
    let laid_out = sent.iter().map(|sent| &sent.piece);
    let request = layout::lay_out(laid_out, material.parameters, layout::CURRENT);
    let report = Report {
        pieces,
        left_out: selected.left_out,
        window: &window,
        spent: Spent::of(&material, &sent, spent),
    };
    let (receipt, contents) = report.receipt(&material, &request)?;
    Ok(AssembledRequest {
        request,
        receipt,
        contents,
        summary: window.summary,
        sent: Arc::new(sent),
        tools: selected.tools,
        recent: material.recent,
        facts: material.facts,
        understanding: material.understanding,
        recalled: material.recalled.into_iter().filter(|found| found.session.is_none()).collect(),
    })
}

/// What every request of the session starts with: tools and system.
fn frame(material: &Material<'_>, selected: &Selected) -> Vec<Piece> {
    let mut pieces =
        mode::instructions(selected.pieces.iter().any(|piece| piece.place == Position::Tools));
    pieces.extend(persona::prompt(material.head.persona.as_ref()));
    let placed = |place: Position| selected.pieces.iter().filter(move |piece| piece.place == place);
    let mut frame: Vec<Piece> = placed(Position::Tools).cloned().collect();
    frame.append(&mut pieces);
    frame.extend(placed(Position::System).cloned());
    frame
}

/// The items that are no tools, for a model that cannot call any.
pub fn without_tools(items: &[SessionItem]) -> Vec<SessionItem> {
    items.iter().filter(|item| !matches!(item.item, ItemName::Tool { .. })).cloned().collect()
}

fn message_piece(message: &str) -> Piece {
    Piece::new(Source::Message, "the user's message", Position::Message, Rank::Required, message)
}

/// Settings of the persona, else the configured ones.
pub fn parameters(head: &SessionHead, limits: &Limits) -> Parameters {
    head.persona.as_ref().map_or(
        Parameters { reply_tokens_max: limits.reply_tokens_max, temperature: limits.temperature },
        |persona| Parameters {
            reply_tokens_max: persona.reply_tokens_max,
            temperature: persona.temperature,
        },
    )
}

/// A request as the bytes that its receipt's hash stands for.
pub fn encode(request: &ModelRequest) -> Result<Vec<u8>> {
    serde_json::to_vec(request).map_err(|error| Error::Unreadable {
        what: "the request".into(),
        reason: error.to_string(),
    })
}

/// The hash of a request's bytes.
pub fn hash_of(request: &ModelRequest) -> Result<ContentHash> {
    Ok(ContentHash::of_bytes(&encode(request)?))
}
