//! Embedders: the built-in one, and any OpenAI-compatible endpoint.
//!
//! - [`Embedded`]: potion-base-8M, a table of word-piece vectors; no network, microseconds per text.
//! - [`OpenAiEmbedder`]: `/v1/embeddings` of OpenAI, Ollama, llama.cpp and others.
//! - [`Cached`]: wraps any of them, so that the same text is embedded only once.
//!
//! Invariant: every returned vector has unit length, or is all zero.

mod cached;
mod embedded;
mod openai;
mod wordpiece;

pub use cached::Cached;
pub use embedded::Embedded;
pub use openai::{OpenAiEmbedder, OpenAiEmbedderSettings};

/// Scales a vector to unit length; a zero or non-finite one becomes all zero.
fn normalize(vector: &mut [f32]) {
    let squared: f32 = vector.iter().map(|value| value * value).sum();
    let factor = if squared > 0.0 && squared.is_finite() { squared.sqrt().recip() } else { 0.0 };
    for value in vector {
        *value = if factor == 0.0 { 0.0 } else { *value * factor };
    }
}
