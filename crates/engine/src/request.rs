//! The request for a message: everything it could be made of, fitted into the budget and laid out.
//!
//! Instructions, persona, items, summary, history, what the message is enriched with, and the message
//! itself. What fits is [`crate::budget`]'s decision; what it looks like is [`crate::layout`]'s.
//!
//! Invariant: a pure function of its material.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::budget::{self, Budget, Fitted};
use crate::enrich::Enrichment;
use crate::entity::KnownEntities;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::history;
use crate::item::{ItemName, SessionItem};
use crate::layout;
use crate::limits::Limits;
use crate::memory::Recalled;
use crate::mode::{self, PromptMode};
use crate::model::ModelRequest;
use crate::notice::Understanding;
use crate::persona;
use crate::piece::{Piece, Place, Rank, Source};
use crate::receipt::{DropReason, Parameters, Receipt, ReceiptPiece};
use crate::select::Selected;
use crate::session::head::SessionHead;
use crate::session::record::TurnRecord;
use crate::tool::ToolDefinition;

/// What the message brings along.
#[derive(Debug, Clone, Default)]
pub struct TurnInput {
    /// The message.
    pub message: String,
    /// Named texts that came with it: a workflow's specification, a client's own instructions.
    pub given: Vec<(String, String)>,
    /// A budget smaller or larger than the session's.
    pub budget_tokens: Option<u32>,
    /// Exchanges of history to show, where it differs from the window.
    pub history_turns: Option<u64>,
    /// Whether the message is a query, which has instructions of its own.
    pub is_query: bool,
    /// Whether tools are left out, for a model that cannot call any.
    pub without_tools: bool,
    /// Whether the persona's calm-keeping is wanted; the persona's own setting when absent.
    pub keeps_calm: Option<bool>,
}

/// A request that is ready to be sent, with its receipt.
#[derive(Debug, Clone)]
pub struct AssembledRequest {
    /// The request.
    pub request: ModelRequest,
    /// What it was made of.
    pub receipt: Receipt,
    /// Texts that the receipt names and no record keeps yet.
    pub contents: BTreeMap<ContentHash, String>,
    /// Tools that may be called.
    pub tools: Vec<ToolDefinition>,
    /// The turns of the window, oldest first.
    pub recent: Vec<Arc<TurnRecord>>,
    /// What the message means.
    pub understanding: Understanding,
    /// Parts of earlier turns that fit the message, best first.
    pub recalled: Vec<Recalled>,
}

/// What a request is made from.
pub struct Material<'a> {
    /// The session's head.
    pub head: &'a SessionHead,
    /// The message and what came with it.
    pub input: &'a TurnInput,
    /// The prompt mode.
    pub mode: (PromptMode, String),
    /// Items for the message.
    pub selected: Selected,
    /// The turns of the window, oldest first.
    pub recent: Vec<Arc<TurnRecord>>,
    /// What was gathered for the message.
    pub enrichment: &'a Enrichment,
    /// Everything the session knows.
    pub known: Arc<KnownEntities>,
    /// What there is to spend.
    pub budget: Budget,
    /// Settings that go with the request.
    pub parameters: Parameters,
    /// Bounds.
    pub limits: &'a Limits,
    /// Now.
    pub now: Timestamp,
}

/// Fits and lays out the request for a message.
pub fn assemble(material: Material<'_>) -> Result<AssembledRequest> {
    let Material { head, input, mode, selected, recent, enrichment, budget, parameters, .. } =
        material;
    let (mode, mode_why) = mode;
    let mut pieces = mode::instructions(!selected.tools.is_empty(), input.is_query);
    pieces.extend(persona_pieces(head, input));
    pieces.extend(selected.pieces);
    pieces.extend(input.given.iter().map(|(name, text)| given_piece(name, text)));
    pieces.extend(head.summary.as_ref().map(history::summary_piece));
    pieces.extend(history::recent(&recent, material.limits));
    pieces.push(mode::guidance(mode, &mode_why));
    pieces.extend(enrichment.pieces.iter().cloned());
    pieces.push(message_piece(&input.message));

    let fitted = budget::fit(pieces, budget)?;
    let request = layout::lay_out(fitted.sent(), parameters);
    let previous = recent.last().and_then(|turn| turn.receipt.as_ref());
    let stable_prefix_tokens = stable_prefix(&fitted, previous);
    let drafted = ReceiptDraft { fitted, left_out: selected.left_out, mode, mode_why, parameters };
    let (mut receipt, contents) = drafted.receipt(head, &request, material.now)?;
    receipt.stable_prefix_tokens = stable_prefix_tokens;
    Ok(AssembledRequest {
        request,
        receipt,
        contents,
        tools: selected.tools,
        recent,
        understanding: Understanding {
            noticed: enrichment.noticed.clone(),
            known: material.known,
            found: enrichment.found.clone(),
        },
        recalled: enrichment.recalled.clone(),
    })
}

/// The items that are no tools, for a model that cannot call any.
pub fn without_tools(items: &[SessionItem]) -> Vec<SessionItem> {
    items.iter().filter(|item| !matches!(item.item, ItemName::Tool { .. })).cloned().collect()
}

fn persona_pieces(head: &SessionHead, input: &TurnInput) -> Vec<Piece> {
    let mut persona = head.persona.clone();
    if let (Some(persona), Some(keeps_calm)) = (&mut persona, input.keeps_calm) {
        persona.keeps_calm = keeps_calm;
    }
    persona::compose(persona.as_ref(), &input.message)
}

fn given_piece(name: &str, text: &str) -> Piece {
    Piece::new(
        Source::Given { name: name.into() },
        "came with the message",
        Place::Aside,
        Rank::SessionItem,
        crate::prompt::quote(name, text),
    )
}

fn message_piece(message: &str) -> Piece {
    Piece::new(Source::Message, "the user's message", Place::Message, Rank::Required, message)
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

/// A fitted request on its way to a receipt.
pub(crate) struct ReceiptDraft {
    pub fitted: Fitted,
    pub left_out: Vec<(Piece, DropReason)>,
    pub mode: PromptMode,
    pub mode_why: String,
    pub parameters: Parameters,
}

impl ReceiptDraft {
    /// The receipt, and the texts that no record keeps yet.
    pub fn receipt(
        self,
        head: &SessionHead,
        request: &ModelRequest,
        now: Timestamp,
    ) -> Result<(Receipt, BTreeMap<ContentHash, String>)> {
        let mut contents = BTreeMap::new();
        let mut pieces = Vec::new();
        for (piece, fate) in self.fitted.pieces {
            let kept_in = if fate.is_none() && must_be_kept(&piece.source) {
                let place = head.contents.get(&piece.hash).copied();
                if place.is_none() {
                    contents.insert(piece.hash.clone(), piece.text.to_string());
                }
                place
            } else {
                None
            };
            pieces.push(receipt_piece(piece, kept_in, fate));
        }
        let left_out = self.left_out.into_iter();
        pieces.extend(left_out.map(|(piece, reason)| receipt_piece(piece, None, Some(reason))));
        let receipt = Receipt {
            at: now,
            layout: layout::CURRENT,
            mode: self.mode,
            mode_why: self.mode_why,
            budget: self.fitted.report,
            parameters: self.parameters,
            pieces,
            stable_prefix_tokens: 0,
            request_hash: hash_of(request)?,
            handed_on_hash: None,
        };
        Ok((receipt, contents))
    }
}

/// Whether a piece's text is found nowhere else than in a record's contents.
pub fn must_be_kept(source: &Source) -> bool {
    !matches!(
        source,
        Source::History { .. }
            | Source::Recalled { .. }
            | Source::EarlierResult { .. }
            | Source::Message
    )
}

fn receipt_piece(piece: Piece, kept_in: Option<u64>, dropped: Option<DropReason>) -> ReceiptPiece {
    ReceiptPiece {
        source: piece.source,
        why: piece.why,
        place: piece.place,
        rank: piece.rank,
        score: piece.score,
        tokens: piece.tokens,
        hash: piece.hash,
        kept_in,
        dropped,
        used: false,
    }
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

/// Tokens of the pieces at the start that were at the start of the request before, too.
pub(crate) fn stable_prefix(fitted: &Fitted, previous: Option<&Receipt>) -> u32 {
    let Some(previous) = previous else { return 0 };
    let before = previous.pieces.iter().filter(|piece| piece.sent());
    fitted
        .sent()
        .zip(before)
        .take_while(|(now, before)| now.hash == before.hash && now.place == before.place)
        .map(|(now, _)| now.tokens)
        .sum()
}
