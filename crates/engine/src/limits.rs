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
    /// Most turns shown word for word; 0: as many as fit.
    pub window_turns: u64,
    /// Share of the budget at which the oldest turns are condensed.
    pub compact_at: f32,
    /// Share of the budget that the history keeps then.
    pub compact_to: f32,
    /// Exchanges that the request of a query keeps word for word then, where they fit.
    pub query_exchanges: usize,
    /// Share of the budget for older turns that fit the message, where it asks for something said earlier.
    pub recall_share_asking: f32,
    /// The same for any other message.
    pub recall_share: f32,
    /// Most tokens of older turns that one message brings in.
    pub recall_tokens_max: u32,
    /// Share of the budget for facts about the user.
    pub facts_share: f32,
    /// The model's context window.
    pub context_tokens: u32,
    /// What is brought in beside one message at most: entities, older turns, items.
    pub enrichment_tokens: u32,
    /// Share of the window at which a warning is recorded.
    pub warning_share: f32,
    /// Longest reply.
    pub reply_tokens_max: u32,
    /// Temperature without a persona.
    pub temperature: f32,
    /// The time zone of users who name none, by its IANA name.
    pub timezone: String,
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
    /// Tokens of tools that are declared because they fit a message.
    pub tools_tokens: u32,
    /// Share of the budget that declared tools may take; larger servers are offered by search.
    pub tools_share: f32,
    /// Parts of older turns that are considered for a message.
    pub recalled_parts: usize,
    /// With `window_turns`: the share of them at which the oldest are condensed.
    pub summary_threshold: f32,
    /// With `window_turns`: the share of the turns that are condensed then.
    pub summary_share: f32,
    /// Share of the budget for the notes on condensed turns.
    pub summary_budget_share: f32,
    /// Longest notes on condensed turns.
    pub summary_tokens_max: u32,
    /// Whether condensed turns leave notes at all.
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
    /// Facts of one user, superseded ones included.
    pub facts_max: usize,
    /// Longest text of a fact, in bytes.
    pub fact_bytes_max: usize,
    /// Files of one user's memory tool.
    pub memory_files_max: usize,
    /// Longest of these files, in bytes.
    pub memory_file_bytes_max: usize,
    /// Read-only links of one session; 0 switches sharing off.
    pub shares_max: usize,
    /// Longest time that such a link opens, in days.
    pub share_days_max: u32,
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
            window_turns: 0,
            compact_at: 0.7,
            compact_to: 0.15,
            query_exchanges: 50,
            recall_share_asking: 0.6,
            recall_share: 0.1,
            recall_tokens_max: 4_800,
            facts_share: 0.05,
            context_tokens: 16_000,
            enrichment_tokens: 4_000,
            warning_share: 0.8,
            reply_tokens_max: 1_000,
            temperature: 0.7,
            timezone: "UTC".into(),
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
            tools_tokens: 500,
            tools_share: 0.3,
            recalled_parts: 120,
            summary_threshold: 0.7,
            summary_share: 0.4,
            summary_budget_share: 0.04,
            summary_tokens_max: 600,
            summaries: true,
            tags_max: 32,
            title_characters_max: 200,
            session_items_max: 256,
            expiry_days: 7,
            contexts_max: 1_000,
            facts_max: 10_000,
            fact_bytes_max: 2_000,
            memory_files_max: 1_000,
            memory_file_bytes_max: 128 * 1024,
            shares_max: 10,
            share_days_max: 90,
            turns_max: 10_000_000,
            idempotency_keys: 64,
            commit_attempts_max: 200,
        }
    }
}

impl Limits {
    /// History that a persona keeps unless it says otherwise: the window less what else it holds.
    pub fn history_tokens(&self) -> u32 {
        self.context_tokens.saturating_sub(self.reply_tokens_max)
    }

    /// Turns in the window at which the oldest are condensed, where turns are counted.
    pub fn turns_condensed_at(&self) -> u64 {
        share(self.window_turns, self.summary_threshold).max(2)
    }

    /// Turns that stay in the window then; all where turns are not counted.
    pub fn turns_kept(&self) -> usize {
        if self.window_turns == 0 {
            return usize::MAX;
        }
        let at = self.turns_condensed_at();
        usize::try_from(at - share(at, self.summary_share).clamp(1, at - 1)).unwrap_or(usize::MAX)
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a small count"
)]
fn share(turns: u64, share: f32) -> u64 {
    (turns as f32 * share).ceil() as u64
}
