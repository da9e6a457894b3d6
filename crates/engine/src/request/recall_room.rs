//! How much of a request recalled turns may take: by what the message asks for, and by how much there is to recall.

use crate::budget::Budget;
use crate::lexicon::{self, AsksBack};
use crate::limits::Limits;
use crate::search::split_name;

/// The part of the room for recalled turns that is left to the user's other sessions: one in so many.
pub(super) const ELSEWHERE_PART: u32 = 5;
/// Share of the budget for turns of other sessions beside a first message that asks for nothing.
const FIRST_SHARE: f32 = 0.1;
/// Share of the budget for a message that tells what it needs itself.
const IN_PASSING_SHARE: f32 = 0.15;
/// The parts of the most tokens that weaker kinds of questions and first messages get: one in so many.
const PERHAPS_PART: u32 = 2;
const FIRST_PART: u32 = 4;
const IN_PASSING_PART: u32 = 8;
/// A session with fewer turns than this has little of its own to recall.
const YOUNG_TURNS: u64 = 8;

/// Tokens that recalled turns may take in a request.
#[derive(Debug, Clone, Copy)]
pub struct RecallRoom {
    /// Whether the message asks for something that was said earlier.
    pub asks: AsksBack,
    /// All of them.
    pub tokens: u32,
    /// Those of the user's other sessions.
    pub elsewhere: u32,
}

impl RecallRoom {
    /// The room for a message to a session of `turns` turns.
    pub fn of(message: &str, turns: u64, budget: Budget, limits: &Limits) -> Self {
        let asks = asks(message);
        let (share, most) = match asks {
            AsksBack::Yes => (limits.recall_share_asking, limits.recall_tokens_max),
            // Named speakers ask each other about the present.
            AsksBack::Perhaps if split_name(message).0.is_some() => {
                (limits.recall_share, limits.recall_tokens_max / FIRST_PART)
            }
            AsksBack::Perhaps => (limits.recall_share, limits.recall_tokens_max / PERHAPS_PART),
            AsksBack::InPassing => (IN_PASSING_SHARE, limits.recall_tokens_max / IN_PASSING_PART),
            // What a conversation begins with may go on with another.
            AsksBack::No if turns == 0 => (FIRST_SHARE, limits.recall_tokens_max / FIRST_PART),
            AsksBack::No => (0.0, 0),
        };
        let tokens = budget.share(share).min(most);
        let elsewhere = if turns < YOUNG_TURNS { tokens } else { tokens / ELSEWHERE_PART };
        Self { asks, tokens, elsewhere }
    }
}

/// Whether a message asks for something that was said earlier.
pub fn asks(message: &str) -> AsksBack {
    let (speaker, said) = split_name(message);
    lexicon::asks_back(said, speaker.is_some())
}
