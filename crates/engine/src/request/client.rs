//! What is added to the request of a drop-in client, and where.
//!
//! A client that sends only its message gets the history before it. One that sends the history itself gets texts
//! next to its messages; those added to an earlier message are added there again, so that the provider's prefix
//! stays valid.

use std::sync::Arc;

use crate::hash::ContentHash;
use crate::layout;
use crate::model::{Block, Message};
use crate::piece::{HistoryPart, Piece, Position, Rank, SentPiece, Source};
use crate::receipt::Parameters;

use super::ClientRequest;

#[derive(Debug, Clone, Default)]
pub struct Addition {
    /// Messages before the user's; the first is the user's, the last the assistant's.
    pub before: Vec<Message>,
    /// Texts before the words of earlier user messages: the message, and the texts.
    pub earlier: Vec<(String, Vec<String>)>,
    /// Texts before the words of the user's message.
    pub beside: Vec<String>,
}

/// What the pieces of a request add to what the client sends.
pub fn addition(sent: &[Arc<SentPiece>], parameters: Parameters, resends: bool) -> Addition {
    let Some((last, before)) = sent.split_last() else { return Addition::default() };
    let pieces = before.iter().chain([last]).map(|sent| &sent.piece);
    if !resends {
        let mut messages = layout::lay_out(pieces, parameters, layout::CURRENT).messages;
        let mut own = messages.pop().map(|message| message.content).unwrap_or_default();
        own.pop();
        return Addition { before: messages, earlier: Vec::new(), beside: texts(own) };
    }
    let mut earlier = Vec::new();
    let mut group: Vec<&Piece> = Vec::new();
    for sent in before {
        match sent.piece.source {
            Source::History { part: HistoryPart::Message, .. } | Source::Message => {
                let beside = framed(&std::mem::take(&mut group), parameters);
                if !beside.is_empty() {
                    earlier.push((sent.piece.text.to_string(), beside));
                }
            }
            Source::History { .. } | Source::ClientRequest { .. } => {}
            _ => group.push(&sent.piece),
        }
    }
    Addition { before: Vec::new(), earlier, beside: framed(&group, parameters) }
}

/// Pieces as texts of one message.
fn framed(pieces: &[&Piece], parameters: Parameters) -> Vec<String> {
    let laid_out = layout::lay_out(pieces.iter().copied(), parameters, layout::CURRENT);
    laid_out.messages.into_iter().flat_map(|message| texts(message.content)).collect()
}

fn texts(blocks: Vec<Block>) -> Vec<String> {
    let texts = blocks.into_iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text),
        Block::Image { .. } | Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    });
    texts.collect()
}

/// The position of each of `messages` among the user messages a client sends, in order; `None` if it no longer
/// sends it.
pub fn place<'a>(
    messages: impl Iterator<Item = &'a str>,
    users: &[impl AsRef<str>],
) -> Vec<Option<usize>> {
    let mut next = 0;
    messages
        .map(|message| {
            let rest = users.get(next..).unwrap_or_default();
            let at = next + rest.iter().position(|user| user.as_ref() == message)?;
            next = at + 1;
            Some(at)
        })
        .collect()
}

/// The pieces whose messages the client still sends; it sends replies itself.
pub(super) fn placed(before: &[Arc<SentPiece>], users: &[String]) -> Vec<Arc<SentPiece>> {
    let is_message = |sent: &&Arc<SentPiece>| {
        matches!(sent.piece.source, Source::History { part: HistoryPart::Message, .. })
    };
    let messages = before.iter().filter(is_message).map(|sent| sent.piece.text.as_ref());
    let mut places = place(messages, users).into_iter();
    let (mut kept, mut group) = (Vec::new(), Vec::new());
    for sent in before {
        if is_message(&sent) || !matches!(sent.piece.source, Source::History { .. }) {
            group.push(sent.clone());
        }
        if is_message(&sent) {
            match places.next().flatten() {
                Some(_) => kept.append(&mut group),
                None => group.clear(),
            }
        }
    }
    kept
}

/// The rest of what the client sends, for the receipt.
pub(super) fn own_piece(client: &ClientRequest) -> Piece {
    let source = Source::ClientRequest { bytes: client.body.len() as u64 };
    Piece {
        source,
        why: "what the client sent itself".into(),
        place: Position::Message,
        rank: Rank::Required,
        score: None,
        text: "".into(),
        tokens: client.tokens,
        hash: ContentHash::of(&client.body),
    }
}
