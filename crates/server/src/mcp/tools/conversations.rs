//! `conversation-manage`: lists and erases the messages of a context.

use jiff::Timestamp;
use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::{Order, Unwanted};
use throughline_engine::error::{Error, Result};

use super::{Call, answered, define};
use crate::persona_view::ConversationView;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Delete,
    Clear,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    action: Action,
    #[serde(alias = "sessionId", alias = "session_id")]
    context_id: String,
    page: Option<usize>,
    page_size: Option<usize>,
    /// Newest first.
    #[schemars(extend("default" = true))]
    reverse: Option<bool>,
    conversation_ids: Option<Vec<String>>,
    older_than: Option<String>,
    idempotency_key: Option<String>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// Whether it succeeded.
    success: bool,
    /// The messages of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversations: Option<Vec<ConversationView>>,
    /// Number of messages on all pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_count: Option<u64>,
    /// Number of messages deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_count: Option<u64>,
    /// What happened.
    message: String,
    /// Stable error code.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// What to try.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

pub(super) fn tool() -> Tool {
    define::<Arguments, Answer>(
        "conversation-manage",
        "Manage a context's history",
        "A context's messages. delete takes conversationIds (from list) or olderThan (ISO 8601) and, like clear, erases \
         messages with their replies for good.",
        ToolAnnotations::new()
            .read_only(false)
            .destructive(true)
            .idempotent(true)
            .open_world(false),
    )
}

pub(super) async fn run(call: &Call<'_>) -> Result<CallToolResult> {
    let arguments: Arguments = call.arguments()?;
    call.key(arguments.idempotency_key.as_ref())?;
    let loaded = call.mcp.engine.context(&call.caller, &arguments.context_id).await?;
    let id = &loaded.head.id;
    let answer = match arguments.action {
        Action::List => {
            let (page, size) = (arguments.page.unwrap_or(1), arguments.page_size.unwrap_or(20));
            let order = match arguments.reverse {
                Some(false) => Order::Ascending,
                _ => Order::Descending,
            };
            let page = call.mcp.engine.messages(&call.caller, id, page, size, order).await?;
            let conversations: Vec<ConversationView> = page
                .messages
                .into_iter()
                .map(|said| ConversationView::of(id.as_str(), said))
                .collect();
            Answer {
                success: true,
                message: format!("{} of {} messages", conversations.len(), page.total),
                conversations: Some(conversations),
                total_count: Some(page.total),
                ..Answer::default()
            }
        }
        Action::Delete => {
            let unwanted = unwanted(arguments.conversation_ids, arguments.older_than)?;
            deleted(call, id, unwanted).await?
        }
        Action::Clear => deleted(call, id, Unwanted::All).await?,
    };
    let text = serde_json::to_string_pretty(&answer).unwrap_or_default();
    Ok(answered(&answer, text))
}

fn unwanted(ids: Option<Vec<String>>, older_than: Option<String>) -> Result<Unwanted> {
    match (ids, older_than) {
        (Some(ids), None) => Ok(Unwanted::Named(ids)),
        (None, Some(time)) => time.parse::<Timestamp>().map(Unwanted::OlderThan).map_err(|_| {
            let shown: String = time.chars().take(40).collect();
            Error::invalid(
                "olderThan",
                format!("{shown:?} is not an ISO 8601 time such as 2026-11-15T09:00:00Z"),
            )
        }),
        _ => Err(Error::invalid(
            "conversationIds",
            "delete needs either conversationIds or olderThan",
        )),
    }
}

async fn deleted(
    call: &Call<'_>,
    id: &throughline_engine::id::SessionId,
    unwanted: Unwanted,
) -> Result<Answer> {
    let count = call.mcp.engine.delete_messages(&call.caller, id, unwanted).await?;
    call.mcp.changes.tell(&call.caller, format!("context/{id}"), false);
    Ok(Answer {
        success: true,
        deleted_count: Some(count),
        message: format!("deleted {count} messages ({} exchanges)", count / 2),
        ..Answer::default()
    })
}
