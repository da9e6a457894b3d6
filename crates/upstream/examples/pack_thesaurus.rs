//! Builds the engine's thesaurus from the vectors of the built-in embedder.
//!
//! `cargo run --release -p throughline-upstream --example pack_thesaurus -- OUTPUT`
//!
//! Each stem is represented by the first, and thus most frequent, word of the vocabulary. The result is the same on
//! every run.

use std::collections::BTreeMap;

use throughline_engine::search::vectors::Vectors;
use throughline_engine::search::words::{is_stop_word, stems};
use throughline_upstream::embed::Embedded;

const NEIGHBOURS_MAX: usize = 16;
const CLOSENESS_MIN: f32 = 0.4;
const LETTERS_MIN: usize = 3;

fn main() {
    let output = std::env::args().nth(1).expect("the path to write is the only argument");
    let embedder = Embedded::load();
    let mut words = BTreeMap::new();
    for token in embedder.vocabulary() {
        let is_word = token.len() >= LETTERS_MIN && token.bytes().all(|b| b.is_ascii_lowercase());
        if is_word
            && !is_stop_word(token)
            && let [stem] = stems(token).as_slice()
        {
            words.entry(stem.clone()).or_insert_with(|| embedder.vector(token));
        }
    }
    let mut vectors = Vectors::default();
    for (slot, vector) in words.values().enumerate() {
        vectors.set(slot as u32, vector);
    }

    let text = words.keys().cloned().collect::<Vec<_>>().join("\n");
    let (mut counts, mut pairs) = (Vec::new(), Vec::new());
    for (own, vector) in words.values().enumerate() {
        let mut near: Vec<(usize, f32)> = vectors
            .scan(vector)
            .into_iter()
            .enumerate()
            .filter(|(slot, closeness)| *slot != own && *closeness >= CLOSENESS_MIN)
            .collect();
        near.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        near.truncate(NEIGHBOURS_MAX);
        counts.push(near.len() as u8);
        for (slot, closeness) in near {
            let slot = u16::try_from(slot).expect("the vocabulary has fewer than 65,536 stems");
            pairs.extend(slot.to_le_bytes());
            pairs.push((closeness.min(1.0) * 255.0).round() as u8);
        }
    }
    let mut file = b"TLWORDS1".to_vec();
    file.extend((text.len() as u32).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(&counts);
    file.extend(&pairs);
    std::fs::write(&output, &file).expect("the output can be written");
    println!("{} stems, {} pairs, {} bytes", words.len(), pairs.len() / 3, file.len());
}
