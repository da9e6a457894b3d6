//! Parses conversations exported by other products.
//!
//! Each format has its own file; all produce the same value. Whatever is not text (images, abandoned drafts, tool
//! traffic) is skipped.
//!
//! Invariant: pure functions; every exchange has a message.

mod chatgpt;
mod claude;
mod markdown;

use jiff::Timestamp;

use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatFormat {
    /// `conversations.json` of a ChatGPT data export.
    ChatGpt,
    /// `conversations.json` of a Claude data export.
    Claude,
    /// Markdown: our own export, or headings that name the speaker.
    Markdown,
}

impl ChatFormat {
    /// The name in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChatGpt => "chatgpt",
            Self::Claude => "claude",
            Self::Markdown => "markdown",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::ChatGpt, Self::Claude, Self::Markdown].into_iter().find(|f| f.as_str() == name)
    }

    /// Guesses the format of `text`.
    pub fn detect(text: &str) -> Option<Self> {
        let start = text.trim_start();
        if start.starts_with('#') {
            return Some(Self::Markdown);
        }
        if !start.starts_with(['[', '{']) {
            return None;
        }
        if text.contains("\"chat_messages\"") {
            Some(Self::Claude)
        } else if text.contains("\"mapping\"") {
            Some(Self::ChatGpt)
        } else {
            None
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chat {
    /// Its id in the other product; empty if it has none.
    pub id: String,
    pub title: Option<String>,
    pub created_at: Option<Timestamp>,
    /// Oldest first.
    pub exchanges: Vec<Exchange>,
}

/// A message and its reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Exchange {
    pub message: String,
    /// Empty if there was none.
    pub reply: String,
    pub at: Option<Timestamp>,
}

pub fn read(text: &str, format: ChatFormat) -> Result<Vec<Chat>> {
    match format {
        ChatFormat::ChatGpt => chatgpt::read(text),
        ChatFormat::Claude => claude::read(text),
        ChatFormat::Markdown => Ok(vec![markdown::read(text)]),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

/// Joins messages into exchanges: consecutive texts of one speaker become one.
#[derive(Default)]
struct Exchanges(Vec<Exchange>);

impl Exchanges {
    fn say(&mut self, speaker: Speaker, text: &str, at: Option<Timestamp>) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match (speaker, self.0.last_mut()) {
            (Speaker::User, Some(last)) if last.reply.is_empty() => join(&mut last.message, text),
            (Speaker::User, _) => {
                self.0.push(Exchange { message: text.into(), reply: String::new(), at });
            }
            (Speaker::Assistant, Some(last)) => join(&mut last.reply, text),
            (Speaker::Assistant, None) => {
                let message = "(the conversation starts with a reply)".into();
                self.0.push(Exchange { message, reply: text.into(), at });
            }
        }
    }
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// Parses a list of conversations, or a single one.
fn parse<T: serde::de::DeserializeOwned>(text: &str, product: &str) -> Result<Vec<T>> {
    let unreadable = |error: serde_json::Error| {
        Error::invalid("file", format!("it is not {product}'s conversations.json: {error}"))
    };
    if text.trim_start().starts_with('[') {
        serde_json::from_str(text).map_err(unreadable)
    } else {
        serde_json::from_str(text).map(|one| vec![one]).map_err(unreadable)
    }
}

#[cfg(test)]
mod tests;
