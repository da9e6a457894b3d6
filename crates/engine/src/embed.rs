//! What turns text into vectors, as the engine sees it.
//!
//! Implementations live in `throughline-upstream`. An embedder never decides what is relevant; it only
//! measures, and [`crate::search`] ranks.
//!
//! Invariant: vectors of one embedder have one length and are of unit length (or all zero).

use async_trait::async_trait;

use crate::failure::UpstreamError;

/// A unit vector.
pub type Vector = Vec<f32>;

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync + 'static {
    /// Name and revision; part of every cache key.
    fn name(&self) -> &str;

    /// Length of each vector.
    fn dimensions(&self) -> usize;

    /// One vector for each text, in order.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, UpstreamError>;
}
