//! `remember`, `recall`, `forget` and `list_memories`: memories of the user beyond one conversation.
//!
//! A memory from a model is trusted less than the user's own words and never supersedes them.

use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::SourceTurns;
use throughline_engine::error::Result;
use throughline_engine::fact::{FactDraft, FactFilter, FactKind, Trust};
use throughline_engine::store::Page;

use super::{Call, answered, define};
use crate::memory_view::{ForgottenMemories, FoundMemory, KeptMemory, Memory, MemoryKind};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Remember {
    text: String,
    /// A newer memory of the same subject replaces the older.
    subject: Option<String>,
    kind: Option<MemoryKind>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Recall {
    query: String,
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Forget {
    id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListMemories {
    kind: Option<MemoryKind>,
    subject: Option<String>,
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Recalled {
    /// Matching memories, best first.
    memories: Vec<FoundMemory>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    /// The memories, most recently changed first.
    memories: Vec<Memory>,
    /// Number of memories in total.
    total: usize,
}

pub(super) fn remember_tool() -> Tool {
    define::<Remember, KeptMemory>(
        "remember",
        "Remember a statement",
        "Keeps one statement about the user that stands on its own (\"The user's rack is R42\") for later conversations: \
         when they ask for it, or state a lasting name, preference or fact. Not for what a tool returned.",
        ToolAnnotations::new()
            .read_only(false)
            .destructive(false)
            .idempotent(true)
            .open_world(false),
    )
}

pub(super) fn recall_tool() -> Tool {
    define::<Recall, Recalled>(
        "recall",
        "Recall what is known",
        "Finds what is known about the user beyond this conversation. Use it before asking them; for words that were \
         said earlier, memory-search.",
        ToolAnnotations::new().read_only(true).open_world(false),
    )
}

pub(super) fn forget_tool() -> Tool {
    define::<Forget, ForgottenMemories>(
        "forget",
        "Forget a memory",
        "Erases a memory (id from recall or list_memories) for good, only when the user asks. To correct one, remember \
         the new statement.",
        ToolAnnotations::new()
            .read_only(false)
            .destructive(true)
            .idempotent(false)
            .open_world(false),
    )
}

pub(super) fn list_tool() -> Tool {
    define::<ListMemories, Listed>(
        "list_memories",
        "List memories",
        "What is known about the user, newest first, with ids. To answer a question use recall.",
        ToolAnnotations::new().read_only(true).open_world(false),
    )
}

pub(super) async fn remember(call: &Call<'_>) -> Result<CallToolResult> {
    let Remember { text, subject, kind } = call.arguments()?;
    let kind = kind.map_or_else(|| FactKind::of_text(&text), Into::into);
    let draft = FactDraft { text, subject, kind, trust: Trust::Model, source: None };
    let added = call.mcp.engine.facts().add(&call.caller, draft).await?;
    let known = added.known;
    let kept = KeptMemory::from(added);
    let mut text = match known {
        true => format!("already known: {}", line(&kept.memory)),
        false => format!("remembered: {}", line(&kept.memory)),
    };
    for old in &kept.superseded {
        text.push_str(&format!("\nreplaces: {}", line(old)));
    }
    for other in &kept.contradicts {
        text.push_str(&format!("\ncontradicts the user's own words, which stay: {}", line(other)));
    }
    Ok(answered(&kept, text))
}

pub(super) async fn recall(call: &Call<'_>) -> Result<CallToolResult> {
    let Recall { query, limit } = call.arguments()?;
    let hits = call.mcp.engine.search_facts(&call.caller, &query, limit.unwrap_or(10)).await?;
    let memories: Vec<FoundMemory> = hits.into_iter().map(Into::into).collect();
    let text = lines(memories.iter().map(|found| &found.memory), "nothing matching is known");
    Ok(answered(&Recalled { memories }, text))
}

pub(super) async fn forget(call: &Call<'_>) -> Result<CallToolResult> {
    let Forget { id } = call.arguments()?;
    let forgotten = call.mcp.engine.forget_fact(&call.caller, &id, SourceTurns::Withheld).await?;
    let forgotten = ForgottenMemories::from(forgotten);
    let mut lines = vec![format!("{id} is forgotten")];
    lines.extend(forgotten.notes.iter().cloned());
    Ok(answered(&forgotten, lines.join("\n")))
}

pub(super) async fn list(call: &Call<'_>) -> Result<CallToolResult> {
    let ListMemories { kind, subject, limit } = call.arguments()?;
    let filter = FactFilter { kind: kind.map(Into::into), subject, ..FactFilter::default() };
    let page = Page { limit: limit.unwrap_or(50), after: None };
    let listed = call.mcp.engine.facts().list(&call.caller, &filter, page).await?;
    let memories: Vec<Memory> = listed.facts.into_iter().map(Into::into).collect();
    let text = lines(memories.iter(), "nothing is known yet");
    Ok(answered(&Listed { memories, total: listed.total }, text))
}

fn line(memory: &Memory) -> String {
    format!("{} ({}, {})", memory.text, memory.kind.as_str(), memory.id)
}

fn lines<'a>(memories: impl Iterator<Item = &'a Memory>, none: &str) -> String {
    let lines: Vec<String> = memories.map(line).collect();
    if lines.is_empty() { none.to_owned() } else { lines.join("\n") }
}
