//! From pieces to the request that a model is sent.
//!
//! A pure function: the same pieces and parameters make the same bytes. What changes least comes first
//! (tools, system, preface, history, aside, message), so that a provider's prompt cache stays warm.
//! It adds no words of its own: every text in the request is a piece.
//!
//! Invariant: text from users and tools stands in user messages only, never in the system.

use crate::model::{Block, Message, ModelRequest, Role, SystemBlock, ToolSpec};
use crate::piece::{HistoryPart, Piece, Place, Source};
use crate::receipt::Parameters;

/// The layout that this version writes; receipts name the one they were made with.
pub const CURRENT: u32 = 1;

/// Tokens that a provider spends on the frame of a message.
pub const MESSAGE_FRAME_TOKENS: u32 = 4;

/// The request made of `pieces`, which are in the order of sending.
pub fn lay_out<'a>(
    pieces: impl IntoIterator<Item = &'a Piece>,
    parameters: Parameters,
) -> ModelRequest {
    let mut request = ModelRequest {
        reply_tokens_max: parameters.reply_tokens_max,
        temperature: parameters.temperature,
        ..ModelRequest::default()
    };
    let mut spoken = Spoken::default();
    for piece in pieces {
        let text = piece.text.to_string();
        match piece.place {
            Place::Tools => request.tools.extend(serde_json::from_str::<ToolSpec>(&text)),
            Place::System => {
                request.system.push(SystemBlock { text, cache_breakpoint: false });
            }
            Place::History if is_reply(&piece.source) => spoken.assistant(text),
            Place::Preface | Place::History | Place::Aside | Place::Message => spoken.user(text),
        }
    }
    if let Some(last) = request.system.last_mut() {
        last.cache_breakpoint = true;
    }
    request.messages = spoken.finish();
    request
}

fn is_reply(source: &Source) -> bool {
    matches!(source, Source::History { part: HistoryPart::Reply, .. })
}

/// Messages in the making: texts of one speaker in a row become blocks of one message.
#[derive(Default)]
struct Spoken(Vec<Message>);

impl Spoken {
    fn user(&mut self, text: String) {
        self.say(Role::User, text);
    }

    fn assistant(&mut self, text: String) {
        self.say(Role::Assistant, text);
    }

    fn say(&mut self, role: Role, text: String) {
        if text.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.role == role => last.content.push(Block::text(text)),
            _ => self.0.push(Message { role, content: vec![Block::text(text)] }),
        }
    }

    /// Marks the last reply of the history, up to which everything stays the same next time.
    fn finish(mut self) -> Vec<Message> {
        let reply = self.0.iter_mut().rev().find(|message| message.role == Role::Assistant);
        if let Some(Block::Text { cache_breakpoint, .. }) =
            reply.and_then(|message| message.content.last_mut())
        {
            *cache_breakpoint = true;
        }
        self.0
    }
}
