//! The built-in embedder: potion-base-8M, with a vector for each of 29,528 word pieces.
//!
//! A text's vector is the mean of its pieces' vectors. No model runs and nothing is downloaded; the table is read in
//! place from the binary. `assets/README.md` documents its origin.
//!
//! Invariant: the same text gives the same vector on every machine, up to floating-point rounding.

use std::sync::LazyLock;

use async_trait::async_trait;
use throughline_engine::embed::{Embedder, Vector};
use throughline_engine::failure::UpstreamError;

use super::normalize;
use super::wordpiece::WordPieces;

/// Maximum number of word pieces of a text; the rest is ignored.
const PIECES_MAX: usize = 2_048;

static ASSET: &[u8] = include_bytes!("../../assets/potion-base-8M.int8");
static TABLE: LazyLock<Table> = LazyLock::new(Table::open);

/// Embeds without a network or a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Embedded;

impl Embedded {
    /// Size of the table in the binary.
    pub const BYTES: usize = ASSET.len();

    /// Prepares the vocabulary, which takes about a millisecond, so that the first message need not wait.
    pub fn load() -> Self {
        LazyLock::force(&TABLE);
        Self
    }

    /// The word pieces in table order, frequent ones first.
    pub fn vocabulary(&self) -> impl Iterator<Item = &'static str> + use<> {
        TABLE.vocabulary.split('\n')
    }

    /// The vector of a text.
    pub fn vector(&self, text: &str) -> Vector {
        let table = &*TABLE;
        let mut sum = vec![0.0; table.dimensions];
        for row in table.pieces.rows(text, PIECES_MAX) {
            let (bytes, scale) = table.row(row as usize);
            for (sum, byte) in sum.iter_mut().zip(bytes) {
                *sum += f32::from(*byte as i8) * scale;
            }
        }
        normalize(&mut sum);
        sum
    }
}

#[async_trait]
impl Embedder for Embedded {
    fn name(&self) -> &str {
        "potion-base-8M/int8-1"
    }

    fn dimensions(&self) -> usize {
        TABLE.dimensions
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, UpstreamError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

struct Table {
    dimensions: usize,
    vocabulary: &'static str,
    scales: Vec<f32>,
    rows: &'static [u8],
    pieces: WordPieces,
}

impl Table {
    /// Parses the layout described in `scripts/pack-embedder`. The asset is compiled in and its hash is tested, so a
    /// wrong one cannot ship.
    fn open() -> Self {
        let mut rest = ASSET.strip_prefix(b"TLEMBED1").expect("the asset starts with its mark");
        let mut take = |length: usize| {
            let (taken, left) = rest.split_at(length);
            rest = left;
            taken
        };
        let number = |bytes: &[u8]| {
            u32::from_le_bytes(bytes.try_into().expect("a number has four bytes")) as usize
        };
        let count = number(take(4));
        let dimensions = number(take(4));
        let vocabulary_bytes = number(take(4));
        let vocabulary =
            std::str::from_utf8(take(vocabulary_bytes)).expect("the vocabulary is UTF-8");
        let vocabulary = vocabulary.trim_end_matches(' ');
        let (scales, _) = take(4 * count).as_chunks::<4>();
        Self {
            dimensions,
            vocabulary,
            scales: scales.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            rows: take(count * dimensions),
            pieces: WordPieces::new(vocabulary.split('\n'), count),
        }
    }

    fn row(&self, row: usize) -> (&'static [u8], f32) {
        (&self.rows[row * self.dimensions..][..self.dimensions], self.scales[row])
    }
}

#[cfg(test)]
#[path = "embedded_tests.rs"]
mod tests;
