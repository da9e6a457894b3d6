//! A cache around any embedder, keyed by content.
//!
//! The key is the hash of the embedder's name and the text, so a changed text or another embedder never gets an old
//! vector. Memory is bounded.
//!
//! Invariant: a cached vector equals what the embedder returned.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use moka::sync::Cache;
use sha2::{Digest, Sha256};
use throughline_engine::embed::{Embedder, Vector};
use throughline_engine::failure::UpstreamError;

type Key = [u8; 32];

/// Memory overhead of a cached vector: key, list entries, counters.
const ENTRY_BYTES: usize = 160;

/// An embedder that embeds the same text only once.
pub struct Cached {
    inner: Arc<dyn Embedder>,
    vectors: Cache<Key, Arc<[f32]>>,
}

impl Cached {
    /// Caches vectors of `inner` up to about `bytes_max` bytes.
    pub fn new(inner: Arc<dyn Embedder>, bytes_max: u64) -> Self {
        let vectors = Cache::builder()
            .max_capacity(bytes_max)
            .weigher(|_: &Key, vector: &Arc<[f32]>| {
                u32::try_from(size_of_val::<[f32]>(vector) + ENTRY_BYTES).unwrap_or(u32::MAX)
            })
            .build();
        Self { inner, vectors }
    }

    fn key(&self, text: &str) -> Key {
        let name = self.inner.name();
        let mut hash = Sha256::new();
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(text.as_bytes());
        hash.finalize().into()
    }
}

#[async_trait]
impl Embedder for Cached {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, UpstreamError> {
        let keys: Vec<Key> = texts.iter().map(|text| self.key(text)).collect();
        let mut known: HashMap<Key, Arc<[f32]>> = HashMap::new();
        let (mut missing_keys, mut missing) = (Vec::new(), Vec::new());
        for (key, text) in keys.iter().zip(texts) {
            if known.contains_key(key) || missing_keys.contains(key) {
                continue;
            }
            match self.vectors.get(key) {
                Some(vector) => {
                    known.insert(*key, vector);
                }
                None => {
                    missing_keys.push(*key);
                    missing.push(*text);
                }
            }
        }
        if !missing.is_empty() {
            let vectors = self.inner.embed(&missing).await?;
            for (key, vector) in missing_keys.into_iter().zip(vectors) {
                let vector: Arc<[f32]> = vector.into();
                self.vectors.insert(key, vector.clone());
                known.insert(key, vector);
            }
        }
        Ok(keys.iter().map(|key| known.get(key).map_or_else(Vec::new, |v| v.to_vec())).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Returns a text's length, and records its inputs.
    #[derive(Default)]
    struct Counting {
        name: String,
        asked: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl Embedder for Counting {
        fn name(&self) -> &str {
            &self.name
        }

        fn dimensions(&self) -> usize {
            1
        }

        async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, UpstreamError> {
            let mut asked = self.asked.lock().unwrap();
            asked.extend(texts.iter().map(|text| (*text).to_owned()));
            Ok(texts.iter().map(|text| vec![text.len() as f32]).collect())
        }
    }

    #[tokio::test]
    async fn the_same_text_is_embedded_once() {
        let counting = Arc::new(Counting::default());
        let cached = Cached::new(counting.clone(), 1 << 20);
        let first = cached.embed(&["one", "three", "one"]).await.unwrap();
        let second = cached.embed(&["three", "seven", "one"]).await.unwrap();
        assert_eq!(first, [[3.0], [5.0], [3.0]]);
        assert_eq!(second, [[5.0], [5.0], [3.0]]);
        assert_eq!(*counting.asked.lock().unwrap(), ["one", "three", "seven"]);
    }

    #[tokio::test]
    async fn the_memory_that_is_kept_is_bounded() {
        let cached = Cached::new(Arc::new(Counting::default()), 10 * ENTRY_BYTES as u64);
        for number in 0..1_000 {
            cached.embed(&[&format!("text {number}")]).await.unwrap();
        }
        cached.vectors.run_pending_tasks();
        assert!(cached.vectors.weighted_size() <= 10 * ENTRY_BYTES as u64);
    }

    #[test]
    fn a_vector_of_another_embedder_is_not_used() {
        let named = |name: &str| {
            let inner = Counting { name: name.into(), ..Counting::default() };
            Cached::new(Arc::new(inner), 1 << 20).key("text")
        };
        assert_ne!(named("a"), named("b"));
        assert_ne!(named("a"), Cached::new(Arc::new(Counting::default()), 1).key("atext"));
    }
}
