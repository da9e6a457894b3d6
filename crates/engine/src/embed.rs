//! The embedder port: turns text into vectors.
//!
//! Implemented in `throughline-upstream`. An embedder does not decide what is relevant; [`crate::search`] ranks.
//!
//! Invariant: vectors of one embedder have the same dimensions and unit length (or are all zero).

use async_trait::async_trait;

use crate::failure::UpstreamError;

/// A unit vector.
pub type Vector = Vec<f32>;

#[async_trait]
pub trait Embedder: Send + Sync + 'static {
    /// Name and revision; part of every cache key.
    fn name(&self) -> &str;

    fn dimensions(&self) -> usize;

    /// One vector for each text, in order.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, UpstreamError>;
}
