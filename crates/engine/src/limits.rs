//! The configurable limits of sessions and turns, with their defaults.
//!
//! Limits of the transport (body size, JSON depth) are the server's own; fixed ones are constants beside the code
//! they limit.
//!
//! Invariant: what a caller sends beyond a limit is an error, and what a request leaves out is in its receipt. Only
//! what is remembered for a while, such as idempotency keys, is dropped without a record, the oldest first.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum turns shown verbatim; 0: as many as fit.
    pub window_turns: u64,
    /// Share of the budget at which the oldest turns are summarized.
    pub compact_at: f32,
    /// Share of the budget that the history keeps then.
    pub compact_to: f32,
    /// Exchanges that a query keeps verbatim then, if they fit.
    pub query_exchanges: usize,
    /// Share of the budget for recalled turns if the message asks about something said earlier.
    pub recall_share_asking: f32,
    /// The same if it may ask about something said earlier, up to half of `recall_tokens_max`.
    pub recall_share: f32,
    /// Maximum tokens of recalled turns added to one message.
    pub recall_tokens_max: u32,
    /// Share of the budget for facts about the user.
    pub facts_share: f32,
    /// The context window if the model's is unknown.
    pub context_tokens: u32,
    /// Maximum tokens added to one message: entities, recalled turns, items.
    pub enrichment_tokens: u32,
    /// Share of the window at which a warning is recorded.
    pub warning_share: f32,
    /// Maximum reply.
    pub reply_tokens_max: u32,
    /// Temperature without a persona.
    pub temperature: f32,
    /// IANA time zone of users who have none.
    pub timezone: String,
    pub message_bytes_max: usize,
    /// Maximum stored reply.
    pub reply_bytes_max: usize,
    /// Maximum tool result stored with a turn.
    pub tool_result_bytes_max: usize,
    pub tool_executions_max: usize,
    pub metadata_bytes_max: usize,
    pub tool_rounds_max: usize,
    pub tool_calls_max: usize,
    pub turn_seconds_max: u64,
    /// Time for looking up entities before a turn continues; 0: only afterwards.
    pub look_up_ms_max: u64,
    /// Time to answer an approval request.
    pub approval_seconds_max: u64,
    /// Items considered by semantic search.
    pub candidates: usize,
    /// Items kept by semantic search.
    pub candidates_kept: usize,
    /// Minimum score, on the selector's own 0–1 scale.
    pub score_min: f32,
    /// Tokens of tools declared because they match a message.
    pub tools_tokens: u32,
    /// Tokens of each of these tools if not all can be declared; 0: not shortened.
    pub tool_tokens: u32,
    /// Share of the budget for declared tools; larger servers are offered through search.
    pub tools_share: f32,
    /// Parts of older turns considered for a message.
    pub recalled_parts: usize,
    /// With `window_turns`: the share of them at which the oldest are summarized.
    pub summary_threshold: f32,
    /// With `window_turns`: the share of the turns that is summarized then.
    pub summary_share: f32,
    /// Share of the budget for the summary.
    pub summary_budget_share: f32,
    /// Maximum summary.
    pub summary_tokens_max: u32,
    /// Whether turns that leave the window are summarized at all.
    pub summaries: bool,
    pub tags_max: usize,
    /// Maximum title, tag or name.
    pub title_characters_max: usize,
    pub session_items_max: usize,
    /// Days after the last activity until a session with a persona expires.
    pub expiry_days: u32,
    /// Maximum contexts of a user: sessions created with a persona.
    pub contexts_max: usize,
    /// Maximum facts of a user, including superseded ones.
    pub facts_max: usize,
    /// Maximum text of a fact.
    pub fact_bytes_max: usize,
    /// Maximum files in a user's memory tool.
    pub memory_files_max: usize,
    /// Maximum size of such a file.
    pub memory_file_bytes_max: usize,
    /// Maximum read-only links of a session; 0 disables sharing.
    pub shares_max: usize,
    /// Maximum lifetime of such a link.
    pub share_days_max: u32,
    /// Maximum turns of a session.
    pub turns_max: u64,
    /// Idempotency keys remembered per session.
    pub idempotency_keys: usize,
    /// Attempts to commit against concurrent writers.
    pub commit_attempts_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            window_turns: 0,
            compact_at: 0.75,
            compact_to: 0.15,
            query_exchanges: 50,
            recall_share_asking: 0.6,
            recall_share: 0.5,
            recall_tokens_max: 5_600,
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
            tool_tokens: 60,
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
    /// Default history of a persona: the window minus its other content.
    pub fn history_tokens(&self) -> u32 {
        self.context_tokens.saturating_sub(self.reply_tokens_max)
    }

    /// With `window_turns`: the number of turns at which the oldest are summarized.
    pub fn turns_condensed_at(&self) -> u64 {
        share(self.window_turns, self.summary_threshold).max(2)
    }

    /// With `window_turns`: the number of turns that stay then; otherwise all.
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
