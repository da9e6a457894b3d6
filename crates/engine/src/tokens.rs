//! Token counts.
//!
//! Counted with the o200k vocabulary, which is exact for the models that use it. For others a factor per model is
//! learnt from the usage reported with each reply, and the budget is scaled by it. Pieces keep their plain
//! counts, so receipts stay comparable.
//!
//! Invariant: counting never fails, and its cost is bounded by `EXACT_BYTES_MAX`.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock, RwLock};

use crate::hash::ContentHash;

/// Longer texts are estimated at four characters per token, which bounds the cost of hostile text.
const EXACT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Shorter texts are counted faster than looked up in the cache.
const REMEMBERED_BYTES_MIN: usize = 256;
/// Maximum texts whose counts are cached: instructions, tool definitions, frequently recalled texts.
const REMEMBERED_TEXTS_MAX: u64 = 16_384;

/// Weight of one reply's usage in a model's factor.
const LEARNING_RATE: f32 = 0.3;

fn vocabulary() -> Option<&'static tiktoken::CoreBpe> {
    static VOCABULARY: OnceLock<Option<&'static tiktoken::CoreBpe>> = OnceLock::new();
    *VOCABULARY.get_or_init(|| tiktoken::get_encoding("o200k_base"))
}

/// Loads the vocabulary ahead of the first turn.
pub fn warm_up() {
    count("warm");
}

pub fn count(text: &str) -> u32 {
    if text.is_empty() {
        return 0;
    }
    match vocabulary() {
        Some(vocabulary) if text.len() <= EXACT_BYTES_MAX => {
            u32::try_from(vocabulary.count(text)).unwrap_or(u32::MAX)
        }
        _ => estimate(text),
    }
}

/// Tokens of `text` with a known hash; cached.
pub fn count_content(hash: &ContentHash, text: &str) -> u32 {
    static COUNTED: LazyLock<moka::sync::Cache<ContentHash, u32>> =
        LazyLock::new(|| moka::sync::Cache::new(REMEMBERED_TEXTS_MAX));
    if text.len() < REMEMBERED_BYTES_MIN {
        return count(text);
    }
    COUNTED.get(hash).unwrap_or_else(|| {
        let tokens = count(text);
        COUNTED.insert(*hash, tokens);
        tokens
    })
}

/// Estimates four characters per token.
pub fn estimate(text: &str) -> u32 {
    u32::try_from(text.chars().count().div_ceil(4)).unwrap_or(u32::MAX)
}

/// Each model's token count relative to ours.
#[derive(Debug, Default)]
pub struct Factors(RwLock<HashMap<String, f32>>);

impl Factors {
    /// The factor of a model; 1 until a reply has reported usage.
    pub fn of(&self, model: &str) -> f32 {
        let factors = self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        factors.get(model).copied().unwrap_or(1.0)
    }

    /// Learns from a reply: we counted `ours`, the provider `theirs`.
    pub fn learn(&self, model: &str, ours: u32, theirs: u64) {
        if ours < 50 || theirs == 0 {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than 24 bits")]
        let seen = (theirs as f32 / ours as f32).clamp(0.25, 4.0);
        let mut factors = self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let factor = factors.entry(model.to_owned()).or_insert(seen);
        *factor += LEARNING_RATE * (seen - *factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_the_published_vocabulary() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        assert_eq!(count("The quick brown fox jumps over the lazy dog."), 10);
    }

    #[test]
    fn a_remembered_count_is_that_of_its_own_text() {
        let [first, second] = ["one ", "twenty-seven "].map(|word| word.repeat(100));
        for text in [&first, &second, &first, &second] {
            assert_eq!(count_content(&ContentHash::of(text), text), count(text));
        }
    }

    #[test]
    fn a_model_that_counts_more_gets_a_factor_above_one() {
        let factors = Factors::default();
        factors.learn("a", 1_000, 1_100);
        assert!((factors.of("a") - 1.1).abs() < 0.001);
        assert!((factors.of("b") - 1.0).abs() < f32::EPSILON);
    }
}
