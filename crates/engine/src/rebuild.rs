//! The exact request of a past turn, made again from its receipt.
//!
//! The texts come from where the receipt says they are kept: the contents of this or an earlier record,
//! or the words of the turns that were quoted. What items say today does not matter.
//!
//! Invariant: the result has the hash that the receipt recorded, or the answer is an error.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::history;
use crate::layout;
use crate::model::{Block, Message, ModelRequest, Role};
use crate::piece::{HistoryPart, Piece, Source};
use crate::receipt::{Receipt, ReceiptPiece};
use crate::request::hash_of;
use crate::select::spec_name;
use crate::session::record::{CallRecord, TurnRecord};
use crate::session::{LoadedSession, Sessions};

/// The request that `record`'s receipt describes.
pub async fn request(
    sessions: &Sessions,
    loaded: &LoadedSession,
    record: &TurnRecord,
) -> Result<ModelRequest> {
    let Some(receipt) = &record.receipt else { return Err(not_kept(loaded, record)) };
    let mut turns = HashMap::new();
    let mut pieces = Vec::new();
    for piece in receipt.pieces.iter().filter(|piece| piece.sent()) {
        let needed = turn_of(piece, record.turn);
        if needed != record.turn && !turns.contains_key(&needed) {
            let found = sessions.turns(loaded, needed - 1..needed).await?;
            turns.extend(found.into_iter().map(|found| (needed, found)));
        }
        let text = text_of(piece, record, turns.get(&needed));
        pieces.push(restored(piece, text.ok_or_else(|| not_kept(loaded, record))?));
    }
    let request = layout::lay_out(&pieces, receipt.parameters);
    if hash_of(&request)? == receipt.request_hash {
        Ok(request)
    } else {
        Err(differs(loaded, record, receipt))
    }
}

/// The text of one piece, if it is kept.
pub async fn piece_text(
    sessions: &Sessions,
    loaded: &LoadedSession,
    record: &TurnRecord,
    piece: &ReceiptPiece,
) -> Result<Option<String>> {
    let needed = turn_of(piece, record.turn);
    let other = match needed {
        turn if turn == record.turn => None,
        turn => sessions.turns(loaded, turn - 1..turn).await?.into_iter().next(),
    };
    Ok(text_of(piece, record, other.as_ref()))
}

/// The turn whose record has the text.
fn turn_of(piece: &ReceiptPiece, own: u64) -> u64 {
    match piece.source {
        Source::History { turn, .. }
        | Source::Recalled { turn, .. }
        | Source::EarlierResult { turn } => turn,
        _ => piece.kept_in.unwrap_or(own),
    }
}

fn text_of(
    piece: &ReceiptPiece,
    own: &TurnRecord,
    other: Option<&Arc<TurnRecord>>,
) -> Option<String> {
    let quoted = || other.map(Arc::as_ref).filter(|turn| !turn.message.is_empty());
    match &piece.source {
        Source::Message => Some(own.message.clone()),
        Source::History { part, .. } => quoted().map(|turn| history::text_of(turn, *part)),
        Source::Recalled { part, .. } => quoted().map(|turn| history::recalled_text(turn, *part)),
        Source::EarlierResult { .. } => {
            quoted().map(|turn| history::recalled_text(turn, HistoryPart::Results))
        }
        _ => {
            let keeper = other.map_or(own, Arc::as_ref);
            keeper.contents.get(&piece.hash).cloned()
        }
    }
}

fn restored(piece: &ReceiptPiece, text: String) -> Piece {
    let ReceiptPiece { source, why, place, rank, tokens, .. } = piece.clone();
    Piece::counted(source, why, place, rank, text, tokens)
}

fn not_kept(loaded: &LoadedSession, record: &TurnRecord) -> Error {
    Error::NotKept {
        session: loaded.head.id.clone(),
        turn: record.turn,
        what: if record.receipt.is_some() { "stored request" } else { "context data" },
    }
}

fn differs(loaded: &LoadedSession, record: &TurnRecord, receipt: &Receipt) -> Error {
    Error::Unreadable {
        what: format!("the request of turn {} of session {}", record.turn, loaded.head.id),
        reason: format!("what is kept does not make the bytes of hash {}", receipt.request_hash),
    }
}

/// The request of a later round: the first one, then each round's calls and results.
pub fn with_rounds(request: &ModelRequest, calls: &[CallRecord]) -> ModelRequest {
    let mut request = request.clone();
    let rounds: BTreeSet<u32> = calls.iter().map(|call| call.round).collect();
    for round in rounds {
        let calls = calls.iter().filter(|call| call.round == round);
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        for call in calls {
            if !call.said_before.is_empty() {
                asked.push(Block::text(call.said_before.clone()));
            }
            asked.push(Block::ToolUse {
                id: call.id.clone(),
                name: spec_name(&call.tool),
                input: call.arguments.clone(),
            });
            answered.push(Block::ToolResult {
                id: call.id.clone(),
                content: call.shown_text(),
                is_error: !call.ok(),
            });
        }
        request.messages.push(Message { role: Role::Assistant, content: asked });
        request.messages.push(Message { role: Role::User, content: answered });
    }
    request
}
