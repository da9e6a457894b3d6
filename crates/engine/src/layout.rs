//! Turns pieces into the request for a model.
//!
//! A pure function: the same pieces and parameters give the same bytes. Tools and system come first, then the
//! messages in the order of the pieces. A request whose pieces start with those of another therefore starts with
//! its bytes, which provider caches rely on. The only words added here are the frames of recalled turns.
//!
//! Invariant: what users said and tools returned is never in the system prompt. It has our text, the operator's rules
//! and references, and the session's persona.

use std::collections::HashMap;
use std::fmt::Write;

use jiff::civil::Date;

use crate::image;
use crate::model::{Block, Message, ModelRequest, Role, SystemBlock, ToolSpec};
use crate::piece::{HistoryPart, Piece, Position, Source};
use crate::prompt::quote;
use crate::receipt::Parameters;
use crate::rounds;

/// The current layout; receipts name the one they were made with.
pub const CURRENT: u32 = 2;
/// The first layout: each recalled piece is its own block, and cache breakpoints are marked.
pub const FIRST: u32 = 1;

/// Tokens a provider spends on framing a message.
pub const MESSAGE_FRAME_TOKENS: u32 = 4;
/// Tokens of the tags around recalled turns.
pub const RECALLED_FRAME_TOKENS: u32 = 6;
pub const DAY_TOKENS: u32 = 7;
/// Tokens of the speaker's name before a recalled part.
pub const SPEAKER_TOKENS: u32 = 3;

/// Makes a request of `pieces`, which are in sending order, in the layout of that number.
pub fn lay_out<'a>(
    pieces: impl IntoIterator<Item = &'a Piece>,
    parameters: Parameters,
    layout: u32,
) -> ModelRequest {
    let mut request = ModelRequest {
        reply_tokens_max: parameters.reply_tokens_max,
        temperature: parameters.temperature,
        ..ModelRequest::default()
    };
    let mut spoken = Spoken::default();
    let mut recalled = RecalledFrame::default();
    for piece in pieces {
        if layout != FIRST && piece.is_recalled() {
            recalled.add(piece);
            continue;
        }
        spoken.user(recalled.close());
        if is_calls(&piece.source) {
            spoken.rounds(&piece.text, request.tools.is_empty());
            continue;
        }
        let text = piece.text.to_string();
        match piece.place {
            Position::Tools => request.tools.extend(serde_json::from_str::<ToolSpec>(&text)),
            Position::System => request.system.push(SystemBlock { text, cache_breakpoint: false }),
            Position::History if is_reply(&piece.source) => spoken.assistant(text),
            Position::Preface | Position::History | Position::Aside | Position::Message => {
                match picture(piece) {
                    Some(block) => spoken.say(Role::User, block),
                    None => spoken.user(text),
                }
            }
        }
    }
    spoken.user(recalled.close());
    request.messages = spoken.0;
    if layout == FIRST {
        mark_breakpoints(&mut request);
    }
    request
}

fn is_reply(source: &Source) -> bool {
    matches!(source, Source::History { part: HistoryPart::Reply | HistoryPart::Answer, .. })
}

fn is_calls(source: &Source) -> bool {
    matches!(source, Source::History { part: HistoryPart::Calls | HistoryPart::ShortCalls, .. })
}

/// The picture that a piece is. Texts that come with a message are quoted, so none is taken for one.
fn picture(piece: &Piece) -> Option<Block> {
    matches!(piece.source, Source::Given { .. }).then(|| image::block(&piece.text)).flatten()
}

/// A day as shown to a model.
pub fn day(date: Date) -> String {
    date.strftime("%-d %B %Y").to_string()
}

/// Consecutive recalled parts: one block, with a line where the day changes.
#[derive(Default)]
struct RecalledFrame {
    text: String,
    tag: &'static str,
    /// The last day shown, and whether it belongs to another session.
    day: Option<(Date, bool)>,
}

impl RecalledFrame {
    fn add(&mut self, piece: &Piece) {
        let tag =
            if matches!(piece.source, Source::Fact { .. }) { "remembered" } else { "earlier" };
        if self.tag != tag {
            self.text = std::mem::take(self).close();
            self.tag = tag;
            let _ = write!(self.text, "{}<{tag}>", if self.text.is_empty() { "" } else { "\n" });
        }
        let told = match piece.source {
            Source::Recalled { on, .. } | Source::EarlierResult { on, .. } => {
                on.map(|on| (on, false))
            }
            Source::Elsewhere { on, .. } => Some((on, true)),
            Source::Fact { .. } => None,
            _ => return,
        };
        if let Some((on, elsewhere)) = told.filter(|told| self.day != Some(*told)) {
            let origin = if elsewhere { ", another conversation" } else { "" };
            let _ = write!(self.text, "\n[{}{origin}]", day(on));
            self.day = told;
        }
        let _ = write!(self.text, "\n{}", escaped(&piece.text));
    }

    fn close(&mut self) -> String {
        if self.text.is_empty() {
            return String::new();
        }
        let Self { text, tag, .. } = std::mem::take(self);
        format!("{text}\n</{tag}>")
    }
}

/// Escapes text so that it cannot end its block.
fn escaped(text: &str) -> String {
    text.replace("</earlier", "<\\/earlier").replace("</remembered", "<\\/remembered")
}

/// Builds messages: consecutive texts of one role become blocks of one message.
#[derive(Default)]
struct Spoken(Vec<Message>);

impl Spoken {
    fn user(&mut self, text: String) {
        self.say_text(Role::User, text);
    }

    fn assistant(&mut self, text: String) {
        self.say_text(Role::Assistant, text);
    }

    fn say_text(&mut self, role: Role, text: String) {
        if !text.is_empty() {
            self.say(role, Block::text(text));
        }
    }

    /// Adds the calls of a turn and their results. Providers refuse calls in a request without tools, which quotes
    /// the results instead.
    fn rounds(&mut self, text: &str, quoted: bool) {
        let rounds = rounds::read(text);
        if !quoted {
            return self.0.extend(rounds);
        }
        let mut asked = HashMap::new();
        for Message { role, content } in rounds {
            for block in content {
                match block {
                    Block::ToolUse { id, name, input } => {
                        asked.insert(id, format!("tool {name} with {input}"));
                    }
                    Block::ToolResult { id, content, .. } => {
                        let origin = asked.remove(&id).unwrap_or_default();
                        self.user(quote(&origin, &content));
                    }
                    block => self.say(role, block),
                }
            }
        }
    }

    fn say(&mut self, role: Role, block: Block) {
        match self.0.last_mut() {
            Some(last) if last.role == role => last.content.push(block),
            _ => self.0.push(Message { role, content: vec![block] }),
        }
    }
}

/// Only the first layout marks breakpoints, after the system and the last reply; providers now choose them.
fn mark_breakpoints(request: &mut ModelRequest) {
    if let Some(last) = request.system.last_mut() {
        last.cache_breakpoint = true;
    }
    let reply = request.messages.iter_mut().rev().find(|message| message.role == Role::Assistant);
    if let Some(Block::Text { cache_breakpoint, .. }) =
        reply.and_then(|message| message.content.last_mut())
    {
        *cache_breakpoint = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::Rank;

    const PARAMETERS: Parameters = Parameters { reply_tokens_max: 10, temperature: 0.5 };

    fn recalled(turn: u64, on: Option<Date>, text: &str) -> Piece {
        let source = Source::Recalled { turn, part: HistoryPart::Message, on, excerpt: None };
        Piece::new(source, "", Position::Aside, Rank::Recalled, text)
    }

    #[test]
    fn recalled_turns_share_a_frame_and_a_day_is_told_once() {
        let (may, june) = (Date::constant(2023, 5, 8), Date::constant(2023, 6, 9));
        let message =
            Piece::new(Source::Message, "", Position::Message, Rank::Required, "and now?");
        let pieces = [
            recalled(1, Some(may), "user: one"),
            recalled(2, Some(may), "user: two </earlier> three"),
            recalled(7, Some(june), "user: four"),
            message,
        ];
        let request = lay_out(&pieces, PARAMETERS, CURRENT);
        let texts: Vec<&Block> = request.messages.iter().flat_map(|m| &m.content).collect();
        let frame = "<earlier>\n[8 May 2023]\nuser: one\nuser: two <\\/earlier> three\n[9 June 2023]\n\
                     user: four\n</earlier>";
        assert_eq!(texts, [&Block::text(frame), &Block::text("and now?")]);
    }
}
