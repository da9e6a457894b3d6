//! Assembles the request for a message: collects pieces, fits them into the budget and lays them out.
//!
//! Requests grow at the end. Between two compactions each one starts with every byte of the one before – tools,
//! system, history, and what was added to each message – followed by the reply and then only what is new. When
//! the budget's high mark is reached, or a question finds no room for what it asks about, the oldest part of the
//! history is summarized ([`window`]). [`beside`] chooses what is added to the message, [`crate::budget`] decides
//! what fits, [`crate::layout`] lays it out.
//!
//! Invariants: a pure function of its material; nothing sent is changed before a compaction.

mod beside;
mod client;
mod prefix;
mod present;
mod recall_room;
mod recalled;
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
use crate::image::Image;
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

pub use beside::Beside;
pub use client::{Addition, addition, place};
pub use prefix::{Prefix, PrefixCache};
pub use recall_room::{RecallRoom, asks};
pub(crate) use report::must_be_kept;
use report::{Report, Spent};
use window::Window;

#[derive(Debug, Clone, Default)]
pub struct TurnInput {
    pub message: String,
    /// When it was said, if earlier than now.
    pub at: Option<Timestamp>,
    /// Named texts: a workflow's specification, a client's own instructions.
    pub given: Vec<(String, String)>,
    /// Pictures, with their names.
    pub images: Vec<(String, Image)>,
    /// Entities it is about, besides those in its words.
    pub about: Vec<GivenThing>,
    /// Overrides the session's budget.
    pub budget_tokens: Option<u32>,
    /// Whether the message is a query, which has its own instructions.
    pub is_query: bool,
    /// Whether to omit tools, for a model that cannot call any.
    pub without_tools: bool,
    /// Whether to answer without a model although one is configured.
    pub without_model: bool,
    /// Overrides the persona's setting.
    pub keeps_calm: Option<bool>,
    /// What became of the facts the message asks to forget; set by the engine.
    pub forgetting: Option<Forgetting>,
}

impl TurnInput {
    /// Whether the message asked to forget something, which was done.
    pub fn has_forgotten(&self) -> bool {
        matches!(self.forgetting, Some(Forgetting::Done { .. }))
    }
}

/// The request of a drop-in client.
#[derive(Debug, Clone, Default)]
pub struct ClientRequest {
    pub message: String,
    /// The history as far as the client sends it itself; empty if it sends only the message.
    pub earlier: Vec<String>,
    /// The user's earlier messages in it, in order.
    pub users: Vec<String>,
    /// The original request.
    pub body: String,
    pub tokens: u32,
}

impl ClientRequest {
    /// Whether the client sends a text itself.
    pub fn sends(&self, text: &str) -> bool {
        self.earlier.iter().any(|earlier| earlier.trim() == text.trim())
    }
}

/// A request that is ready to be sent, with its receipt.
#[derive(Debug, Clone)]
pub struct AssembledRequest {
    pub request: ModelRequest,
    /// Includes the pieces shared with the request before.
    pub receipt: Receipt,
    /// Texts that the receipt refers to and no record stores yet.
    pub contents: BTreeMap<ContentHash, String>,
    /// The summary made by this request.
    pub summary: Option<Summary>,
    /// Every piece of the request, for the next one to start with.
    pub sent: Arc<Vec<Arc<SentPiece>>>,
    pub tools: Vec<ToolDefinition>,
    /// The last turns, oldest first.
    pub recent: Vec<Arc<TurnRecord>>,
    pub understanding: Understanding,
    /// Parts of earlier turns that match the message, best first.
    pub recalled: Vec<Recalled>,
    /// Facts considered, best first.
    pub facts: Vec<FactHit>,
}

pub struct Material<'a> {
    pub head: &'a SessionHead,
    pub input: &'a TurnInput,
    /// The prompt mode and the reason for it.
    pub mode: (PromptMode, String),
    pub selected: Selected,
    /// The request before with its reply, if it can be continued.
    pub prefix: Option<Prefix>,
    /// The newest turns verbatim, oldest first, for a request that starts a new prefix.
    pub history: Vec<HistoryTurn>,
    /// Whether the prefix, or else the history, shows the session from its first turn.
    pub is_whole: bool,
    /// The last turns, oldest first.
    pub recent: Vec<Arc<TurnRecord>>,
    /// Why the request before cannot be continued, if there is one.
    pub lost: Option<&'static str>,
    pub understanding: Understanding,
    /// What is known of the entities the message is about.
    pub about: Vec<Piece>,
    /// Matching parts of earlier turns, best first.
    pub recalled: Vec<Recalled>,
    /// What they may take.
    pub room: RecallRoom,
    /// Facts about the user that are worth showing, best first.
    pub facts: Vec<FactHit>,
    /// The drop-in client whose request is extended; its instructions, tools and settings stay its own.
    pub client: Option<&'a ClientRequest>,
    /// Whether no model is called.
    pub no_model: bool,
    pub budget: Budget,
    pub parameters: Parameters,
    pub limits: &'a Limits,
    pub now: Timestamp,
    pub zone: TimeZone,
}

pub fn assemble(mut material: Material<'_>) -> Result<AssembledRequest> {
    let selected = std::mem::take(&mut material.selected);
    let frame = match material.client {
        None => frame(&material, &selected),
        Some(_) => Vec::new(),
    };
    let message = message_piece(&material.input.message);
    // Nothing of the frame is ever dropped, rules that always apply included.
    let required: u32 = frame.iter().chain([&message]).map(budget::cost).sum();
    // A client's own request may exceed the budget; that is between it and its model.
    if material.client.is_none() && required > material.budget.total_tokens {
        let Budget { wanted_tokens: budget, .. } = material.budget;
        return Err(Error::OverBudget {
            needed: material.budget.in_model_tokens(required),
            budget,
        });
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
        spent: Spent::of(&material, &window, &sent, spent),
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
        recalled: material.recalled,
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

/// The items without tools, for a model that cannot call any.
pub fn without_tools(items: &[SessionItem]) -> Vec<SessionItem> {
    items.iter().filter(|item| !matches!(item.item, ItemName::Tool { .. })).cloned().collect()
}

fn message_piece(message: &str) -> Piece {
    Piece::new(Source::Message, "the user's message", Position::Message, Rank::Required, message)
}

/// The persona's settings, else the configured ones.
pub fn parameters(head: &SessionHead, limits: &Limits) -> Parameters {
    head.persona.as_ref().map_or(
        Parameters { reply_tokens_max: limits.reply_tokens_max, temperature: limits.temperature },
        |persona| Parameters {
            reply_tokens_max: persona.reply_tokens_max,
            temperature: persona.temperature,
        },
    )
}

/// The request as bytes, as hashed in its receipt.
pub fn encode(request: &ModelRequest) -> Result<Vec<u8>> {
    serde_json::to_vec(request).map_err(|error| Error::Unreadable {
        what: "the request".into(),
        reason: error.to_string(),
    })
}

pub fn hash_of(request: &ModelRequest) -> Result<ContentHash> {
    Ok(ContentHash::of_bytes(&encode(request)?))
}
