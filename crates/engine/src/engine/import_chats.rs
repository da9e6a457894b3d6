//! Imports conversations from other products.
//!
//! Each becomes a session whose id is derived from the product's own id, so that importing a file twice changes
//! nothing.

use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use crate::access::{Action, Caller, authorize};
use crate::chats::{self, Chat};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::permission::Named;
use crate::session::apply;
use crate::session::head::SessionHead;
use crate::session::record::{SaidTokens, TurnKind, TurnRecord, TurnStatus};
use crate::session::sessions::encode;
use crate::tokens;

use super::Engine;

pub use crate::chats::ChatFormat;

/// Maximum conversations per file.
const CHATS_MAX: usize = 100_000;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ImportedChats {
    pub imported: Vec<ImportedChat>,
    /// Conversations imported earlier.
    pub already_there: Vec<SessionId>,
    /// Conversations that could not be imported, with the reason.
    pub skipped: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedChat {
    pub session: SessionId,
    pub title: Option<String>,
    pub turns: u64,
}

impl Engine {
    /// Imports all conversations of a file; `format` is detected if absent.
    pub async fn import_chats(
        &self,
        caller: &Caller,
        text: &str,
        format: Option<ChatFormat>,
    ) -> Result<ImportedChats> {
        authorize(caller, Action::Write)?;
        let format = format.or_else(|| ChatFormat::detect(text)).ok_or_else(|| {
            Error::invalid(
                "format",
                "the file is not in a known format: chatgpt, claude or markdown",
            )
        })?;
        let chats = chats::read(text, format)?;
        if chats.len() > CHATS_MAX {
            return Err(Error::OverLimit {
                what: "the number of conversations in the file".into(),
                size: chats.len() as u64,
                limit: "chats_max",
                allowed: CHATS_MAX as u64,
            });
        }
        let mut report = ImportedChats::default();
        for chat in chats {
            let name = chat.title.clone().unwrap_or_else(|| chat.id.clone());
            match self.import_chat(caller, chat, format).await {
                Ok(Ok(imported)) => report.imported.push(imported),
                Ok(Err(there)) => report.already_there.push(there),
                Err(error) => report.skipped.push(format!("{name}: {error}")),
            }
        }
        Ok(report)
    }

    async fn import_chat(
        &self,
        caller: &Caller,
        chat: Chat,
        format: ChatFormat,
    ) -> Result<std::result::Result<ImportedChat, SessionId>> {
        if chat.exchanges.is_empty() {
            return Err(Error::invalid("conversation", "it has no messages"));
        }
        let id = self.chat_id(&chat, format)?;
        let key = caller.session_key(&id);
        let mut at = chat.created_at.unwrap_or_else(|| self.now());
        let mut head = SessionHead::new(id.clone(), at);
        head.title = chat.title.map(|title| shortened(&title, self.limits().title_characters_max));
        head.tags = vec![format!("from-{}", format.as_str())];
        let mut log = Vec::with_capacity(chat.exchanges.len());
        for exchange in chat.exchanges {
            at = exchange.at.unwrap_or(at);
            let mut record = record_of(exchange, at);
            crate::turn::check_message(&record.message, &self.limits)?;
            apply::turn(&mut head, &mut record, None, 0, at);
            Named::of(&record).remember(&mut head.tool_words);
            log.push(encode(&key, &record)?);
        }
        let (title, turns) = (head.title.clone(), head.turns);
        match self.sessions.create(&key, head, log).await {
            Ok(_) => Ok(Ok(ImportedChat { session: id, title, turns })),
            Err(Error::SessionExists(id)) => Ok(Err(id)),
            Err(error) => Err(error),
        }
    }

    /// The same for the same conversation; random if the product gave no id.
    fn chat_id(&self, chat: &Chat, format: ChatFormat) -> Result<SessionId> {
        let id = if chat.id.is_empty() {
            self.new_id()
        } else {
            let name = format!("{}/{}", format.as_str(), chat.id);
            Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes())
        };
        Ok(SessionId::new(id.to_string())?)
    }
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

fn record_of(exchange: chats::Exchange, at: Timestamp) -> TurnRecord {
    TurnRecord {
        kind: TurnKind::Imported,
        status: TurnStatus::Complete,
        tokens: SaidTokens {
            message: tokens::count(&exchange.message),
            reply: tokens::count(&exchange.reply),
            calls: 0,
        },
        message: exchange.message,
        reply: exchange.reply,
        ..TurnRecord::erased(0, at)
    }
}
