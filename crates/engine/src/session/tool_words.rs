//! The words that only tools have named in a session, as a Bloom filter.
//!
//! Bits, not words, so it does not grow beyond its limit and contains no text. When it is full it has more false
//! positives, which cost a question and never let a call run. [`crate::permission`] defines what a word is and
//! when it matters.
//!
//! Invariant: there are no false negatives: what was added is always found.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Size of the first layer; each next one doubles.
const FIRST_BYTES: usize = 256;
/// Maximum layers: 64 KiB in total.
const LAYERS_MAX: u32 = 8;
const BITS_PER_WORD: usize = 12;
/// Hash functions per word.
const PLACES: u64 = 6;
/// Maximum closed servers remembered.
const CLOSED_MAX: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolWords {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    layers: Vec<Layer>,
    /// Servers that say their tools access nothing outside; their words are private.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    closed: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Layer {
    words: usize,
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    bits: Vec<u8>,
}

fn to_text<S: serde::Serializer>(bits: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bits))
}

fn from_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bits = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
    if bits.is_empty() {
        return Err(serde::de::Error::custom("a layer without bits"));
    }
    Ok(bits)
}

/// The hash of a word; it never changes, because heads contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WordHash(u64);

impl WordHash {
    pub fn of(word: &str) -> Self {
        Self::with(0xcbf2_9ce4_8422_2325, word)
    }

    /// The hash of a word named by a closed server.
    pub fn of_private(server: &str, word: &str) -> Self {
        Self::with(Self::of(server).0, word)
    }

    fn with(start: u64, word: &str) -> Self {
        let hash = word
            .bytes()
            .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(hash ^ (hash >> 31))
    }

    fn places(self, bits: usize) -> impl Iterator<Item = usize> {
        let bits = bits as u64;
        let (start, step) = (self.0 & 0xffff_ffff, (self.0 >> 32) | 1);
        (0..PLACES).map(move |n| {
            usize::try_from(start.wrapping_add(step.wrapping_mul(n)) % bits).unwrap_or_default()
        })
    }
}

impl Layer {
    fn sized(layer: usize) -> Self {
        Self { words: 0, bits: vec![0; FIRST_BYTES << layer] }
    }

    fn has(&self, word: WordHash) -> bool {
        word.places(self.bits.len() * 8).all(|at| self.bits[at / 8] & (1 << (at % 8)) != 0)
    }

    fn put(&mut self, word: WordHash) {
        for at in word.places(self.bits.len() * 8) {
            self.bits[at / 8] |= 1 << (at % 8);
        }
        self.words += 1;
    }

    fn is_full(&self) -> bool {
        self.words >= self.bits.len() * 8 / BITS_PER_WORD
    }
}

impl ToolWords {
    /// These words and those of another.
    pub fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.layers.extend(other.layers.iter().cloned());
        other.closed.iter().for_each(|server| both.close(server));
        both
    }

    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Whether a word was named; `false` is certain.
    pub fn has(&self, word: WordHash) -> bool {
        self.layers.iter().any(|layer| layer.has(word))
    }

    pub fn put(&mut self, word: WordHash) {
        if self.has(word) {
            return;
        }
        let full = self.layers.last().is_none_or(Layer::is_full);
        if full && self.layers.len() < LAYERS_MAX as usize {
            self.layers.push(Layer::sized(self.layers.len()));
        }
        if let Some(last) = self.layers.last_mut() {
            last.put(word);
        }
    }

    pub fn extend(&mut self, words: impl IntoIterator<Item = WordHash>) {
        words.into_iter().for_each(|word| self.put(word));
    }

    /// Servers whose words are private.
    pub fn closed(&self) -> &[String] {
        &self.closed
    }

    /// Marks a server's words as private.
    pub fn close(&mut self, server: &str) {
        if !self.closed.iter().any(|known| known == server) && self.closed.len() < CLOSED_MAX {
            self.closed.push(server.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_and_little_else() {
        let mut words = ToolWords::default();
        words.extend((0..40_000).map(|n| WordHash::of(&format!("named-{n}"))));
        assert!((0..40_000).all(|n| words.has(WordHash::of(&format!("named-{n}")))));
        let wrong = (0..10_000).filter(|n| words.has(WordHash::of(&format!("other-{n}")))).count();
        assert!(wrong < 300, "{wrong} of 10000");
    }

    #[test]
    fn it_stays_within_its_limit_and_comes_back_from_json() {
        let mut words = ToolWords::default();
        words.extend((0..200_000).map(|n| WordHash::of(&n.to_string())));
        words.close("crm");
        let text = serde_json::to_string(&words).unwrap();
        assert!(text.len() < 90_000, "{}", text.len());
        assert_eq!(serde_json::from_str::<ToolWords>(&text).unwrap(), words);
    }

    #[test]
    fn a_word_has_the_same_number_for_ever() {
        assert_eq!(WordHash::of("web-2"), WordHash(585_031_870_262_575_850));
    }
}
