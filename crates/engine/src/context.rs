//! Everything a request could be made of, gathered into pieces.
//!
//! Instructions, persona, items, summary, history, what the message is enriched with, and the message
//! itself. What fits is [`crate::budget`]'s decision; what it looks like is
//! [`crate::layout`]'s.
//!
//! Invariant: gathering has no side effect on the session.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::agent::Agent;
use crate::budget::{self, Fitted};
use crate::engine::Engine;
use crate::enrich::Enriched;
use crate::entity::{Entity, KnownEntities, Noticed};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::history;
use crate::layout;
use crate::memory::Recalled;
use crate::mode::{self, PromptMode};
use crate::model::ModelRequest;
use crate::notice::Understood;
use crate::persona;
use crate::piece::{Piece, Place, Rank, Source};
use crate::receipt::{DropReason, Parameters, Receipt, ReceiptPiece};
use crate::session::Loaded;
use crate::session::head::{ItemName, SessionHead, SessionItem};
use crate::session::record::TurnRecord;
use crate::tool::ToolDefinition;

/// What the message brings along.
#[derive(Debug, Clone, Default)]
pub struct Brought {
    /// The message.
    pub message: String,
    /// Named texts that came with it: a workflow's specification, a client's own instructions.
    pub given: Vec<(String, String)>,
    /// A budget smaller or larger than the session's.
    pub budget_tokens: Option<u32>,
    /// Exchanges of history to show, where it differs from the window.
    pub history_turns: Option<u64>,
    /// Whether the message is a query, which has instructions of its own.
    pub way_instructions: bool,
    /// Whether tools are left out, for a model that cannot call any.
    pub without_tools: bool,
    /// Whether the persona's calm-keeping is wanted; the persona's own setting when absent.
    pub keeps_calm: Option<bool>,
}

/// A request that is ready to be sent, with its receipt.
#[derive(Debug, Clone)]
pub struct Context {
    /// The request.
    pub request: ModelRequest,
    /// What it was made of.
    pub receipt: Receipt,
    /// Texts that the receipt names and no record keeps yet.
    pub contents: BTreeMap<ContentHash, String>,
    /// Tools that may be called.
    pub tools: Vec<ToolDefinition>,
    /// The agent.
    pub agent: Arc<Agent>,
    /// The turns of the window, oldest first.
    pub recent: Vec<Arc<TurnRecord>>,
    /// What was noticed in the message.
    pub noticed: Noticed,
    /// What was looked up for it.
    pub found: Vec<Entity>,
    /// All things that the session knows.
    pub known: Arc<KnownEntities>,
    /// The head that all of it was gathered from.
    pub head: Arc<SessionHead>,
    /// Parts of earlier turns that fit the message, best first.
    pub recalled: Vec<Recalled>,
}

impl Context {
    /// The message, understood.
    pub fn understood(&self) -> Understood<'_> {
        Understood { noticed: &self.noticed, entities: &self.head.entities, known: &self.known }
    }
}

/// Selects, fits and lays out the request for a message.
pub async fn assemble(
    engine: &Engine,
    session: &Loaded,
    brought: &Brought,
    enriched: Enriched,
) -> Result<Context> {
    let Enriched { enrichment, known } = enriched;
    let head = &session.head;
    let agent = engine.agents().get(head.agent.as_ref())?;
    let limits = engine.limits();
    let (tools, items) = if brought.without_tools {
        (Vec::new(), without_tools(&head.items))
    } else {
        (engine.tools_of(&agent).await?, head.items.clone())
    };
    let message = (brought.message.as_str(), enrichment.vector.as_slice());
    let selected = engine.selector.select(&agent, &items, &tools, message, limits).await?;

    let (mode, mode_why) = match head.settings.mode {
        Some(mode) => (mode, "set for the session".to_owned()),
        None => mode::infer(&brought.message, &head.last_tools()),
    };
    let turns_max = brought.history_turns.unwrap_or(limits.window_turns);
    let (_, count) = history::window(head, turns_max);
    let recent = engine.sessions.tail(session, count).await?;

    let mut pieces = mode::instructions(!selected.tools.is_empty(), brought.way_instructions);
    pieces.extend(persona_pieces(head, brought));
    pieces.extend(selected.pieces);
    pieces.extend(brought.given.iter().map(|(name, text)| given_piece(name, text)));
    pieces.extend(head.summary.as_ref().map(history::summary_piece));
    pieces.extend(history::recent(&recent, limits));
    pieces.push(mode::guidance(mode, &mode_why));
    pieces.extend(enrichment.pieces.iter().cloned());
    pieces.push(message_piece(&brought.message));

    let parameters = parameters(head, engine);
    let fitted =
        budget::fit(pieces, engine.budget(head, &agent, brought.budget_tokens, parameters))?;
    let request = layout::lay_out(fitted.sent(), parameters);
    let previous = recent.last().and_then(|turn| turn.receipt.as_ref());
    let stable_prefix_tokens = stable_prefix(&fitted, previous);
    let assembled = Assembled { fitted, left_out: selected.left_out, mode, mode_why, parameters };
    let (mut receipt, contents) = assembled.receipt(engine, head, &request);
    receipt.stable_prefix_tokens = stable_prefix_tokens;
    Ok(Context {
        request,
        receipt,
        contents,
        tools: selected.tools,
        agent,
        recent,
        noticed: enrichment.noticed.clone(),
        found: enrichment.found.clone(),
        known,
        head: session.head.clone(),
        recalled: enrichment.recalled.clone(),
    })
}

fn without_tools(items: &[SessionItem]) -> Vec<SessionItem> {
    items.iter().filter(|item| !matches!(item.item, ItemName::Tool { .. })).cloned().collect()
}

fn persona_pieces(head: &SessionHead, brought: &Brought) -> Vec<Piece> {
    let mut persona = head.persona.clone();
    if let (Some(persona), Some(keeps_calm)) = (&mut persona, brought.keeps_calm) {
        persona.keeps_calm = keeps_calm;
    }
    persona::compose(persona.as_ref(), &brought.message)
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
pub fn parameters(head: &SessionHead, engine: &Engine) -> Parameters {
    let limits = engine.limits();
    head.persona.as_ref().map_or(
        Parameters { reply_tokens_max: limits.reply_tokens_max, temperature: limits.temperature },
        |persona| Parameters {
            reply_tokens_max: persona.reply_tokens_max,
            temperature: persona.temperature,
        },
    )
}

/// A request that was put together, on its way to a receipt.
pub(crate) struct Assembled {
    pub fitted: Fitted,
    pub left_out: Vec<(Piece, DropReason)>,
    pub mode: PromptMode,
    pub mode_why: String,
    pub parameters: Parameters,
}

impl Assembled {
    /// The receipt, and the texts that no record keeps yet.
    pub fn receipt(
        self,
        engine: &Engine,
        head: &SessionHead,
        request: &ModelRequest,
    ) -> (Receipt, BTreeMap<ContentHash, String>) {
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
            at: engine.now(),
            layout: layout::CURRENT,
            mode: self.mode,
            mode_why: self.mode_why,
            budget: self.fitted.report,
            parameters: self.parameters,
            pieces,
            stable_prefix_tokens: 0,
            request_hash: hash_of(request),
            handed_on_hash: None,
        };
        (receipt, contents)
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

/// The hash of a request's bytes.
pub fn hash_of(request: &ModelRequest) -> ContentHash {
    ContentHash::of_bytes(&serde_json::to_vec(request).unwrap_or_default())
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
