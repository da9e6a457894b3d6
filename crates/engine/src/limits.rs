//! Every size, time and count that bounds a conversation, with its default.
//!
//! The numbers come from the requirement; configuration may change each. Limits of the transport (body
//! size, JSON depth) are the server's own.
//!
//! Invariant: going over a limit is a clear error or a recorded drop, never a silent cut.

use serde::{Deserialize, Serialize};

/// Bounds of sessions, turns and prompts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Turns kept verbatim in the prompt.
    pub window_turns: u64,
    /// Exchanges that a query is shown.
    pub query_exchanges: u64,
    /// The model's context window.
    pub context_tokens: u32,
    /// History within the window.
    pub history_tokens: u32,
    /// Entities, recalled turns and other enrichment within the window.
    pub enrichment_tokens: u32,
    /// Share of the window at which a warning is recorded.
    pub warning_share: f32,
    /// Messages at the end of the history that pruning keeps.
    pub keep_recent_messages: usize,
    /// Important messages (with tools or entities) that pruning keeps.
    pub keep_important_messages: usize,
    /// Longest reply.
    pub reply_tokens_max: u32,
    /// Temperature without a persona.
    pub temperature: f32,
    /// Longest message, in bytes.
    pub message_bytes_max: usize,
    /// Longest reply that is recorded, in bytes.
    pub reply_bytes_max: usize,
    /// Longest tool result that is kept with a turn, in bytes.
    pub tool_result_bytes_max: usize,
    /// Tool executions in one recorded turn.
    pub tool_executions_max: usize,
    /// Metadata of a recorded turn, in bytes.
    pub metadata_bytes_max: usize,
    /// Rounds of tool calls in one turn.
    pub tool_rounds_max: usize,
    /// Tool calls in one turn.
    pub tool_calls_max: usize,
    /// Time for one turn, in seconds.
    pub turn_seconds_max: u64,
    /// Time for looking things up before a turn goes on, in milliseconds; 0: only afterwards.
    pub look_up_ms_max: u64,
    /// Time to answer a request for approval, in seconds.
    pub approval_seconds_max: u64,
    /// Items that semantic search considers.
    pub candidates: usize,
    /// Items that semantic search keeps.
    pub candidates_kept: usize,
    /// The lowest score that is kept, on the selector's own 0–1 scale.
    pub score_min: f32,
    /// Parts of older turns recalled for a message, as far as the enrichment budget goes.
    pub recalled_turns: usize,
    /// Share of the window's turns at which the oldest are summarised.
    pub summary_threshold: f32,
    /// Share of the window's turns that one summary takes.
    pub summary_share: f32,
    /// Whether summaries are made at all.
    pub summaries: bool,
    /// Tags of a session.
    pub tags_max: usize,
    /// Longest title, tag or name, in characters.
    pub title_characters_max: usize,
    /// Items in a session.
    pub session_items_max: usize,
    /// Days from the last interaction until a persona's session expires.
    pub expiry_days: u32,
    /// Contexts of one user: sessions that were created with a persona.
    pub contexts_max: usize,
    /// Turns of one session.
    pub turns_max: u64,
    /// Idempotency keys remembered in a session.
    pub idempotency_keys: usize,
    /// Attempts to commit against concurrent writers.
    pub commit_attempts_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            window_turns: 15,
            query_exchanges: 50,
            context_tokens: 16_000,
            history_tokens: 15_000,
            enrichment_tokens: 4_000,
            warning_share: 0.8,
            keep_recent_messages: 10,
            keep_important_messages: 5,
            reply_tokens_max: 1_000,
            temperature: 0.7,
            message_bytes_max: 256 * 1024,
            reply_bytes_max: 1024 * 1024,
            tool_result_bytes_max: 256 * 1024,
            tool_executions_max: 64,
            metadata_bytes_max: 64 * 1024,
            tool_rounds_max: 8,
            tool_calls_max: 24,
            turn_seconds_max: 300,
            look_up_ms_max: 2_000,
            approval_seconds_max: 3_600,
            candidates: 20,
            candidates_kept: 5,
            score_min: 0.7,
            recalled_turns: 20,
            summary_threshold: 0.7,
            summary_share: 0.4,
            summaries: true,
            tags_max: 32,
            title_characters_max: 200,
            session_items_max: 256,
            expiry_days: 7,
            contexts_max: 1_000,
            turns_max: 10_000_000,
            idempotency_keys: 64,
            commit_attempts_max: 200,
        }
    }
}
