//! The words that only tools have named, for the life of a session, in a bounded form.
//!
//! A set that answers "surely not" or "perhaps": bits, not words, so it does not grow beyond its limit and
//! holds no text. Where it is full it says "perhaps" more often, which costs a question and never lets a
//! call run. What a word is, and when one of them matters, is said in [`crate::permission`].
//!
//! Invariant: what was put in is always found again, whatever came after it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Bytes of the first layer; each next one has twice as many.
const FIRST_BYTES: usize = 256;
/// Layers at most: 64 KiB in all.
const LAYERS_MAX: u32 = 8;
/// Bits for each word.
const BITS_PER_WORD: usize = 12;
/// Places of a word.
const PLACES: u64 = 6;
/// Servers that are remembered as closed.
const CLOSED_MAX: usize = 32;

/// Words that tools have named.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolWords {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    layers: Vec<Layer>,
    /// Servers whose tools look at nothing outside, by their own word; what they say is private.
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

/// A word by its number; the same for ever, since heads keep them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WordHash(u64);

impl WordHash {
    /// The number of a word.
    pub fn of(word: &str) -> Self {
        Self::with(0xcbf2_9ce4_8422_2325, word)
    }

    /// The number of a word that a closed server has named.
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
    /// Whether nothing was named yet.
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Whether a word was named; `false` is sure.
    pub fn has(&self, word: WordHash) -> bool {
        self.layers.iter().any(|layer| layer.has(word))
    }

    /// Remembers a word.
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

    /// Remembers words.
    pub fn extend(&mut self, words: impl IntoIterator<Item = WordHash>) {
        words.into_iter().for_each(|word| self.put(word));
    }

    /// Servers whose words are private.
    pub fn closed(&self) -> &[String] {
        &self.closed
    }

    /// Remembers that a server's words are private.
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
