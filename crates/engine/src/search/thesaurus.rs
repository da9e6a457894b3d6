//! Words of similar meaning: `kid` is near `children`, `job` near `career`.
//!
//! A fixed table of English stems with up to sixteen neighbours each, derived from the vectors of the built-in
//! embedder (see `assets/README.md`). It is part of the word index and independent of the configured embedder; it
//! costs a look-up instead of a scan.
//!
//! Invariant: a stem is never its own neighbour; similarity is within 0–1, nearest first.

use std::sync::LazyLock;

static ASSET: &[u8] = include_bytes!("../../assets/thesaurus.bin");
static TABLE: LazyLock<Thesaurus> = LazyLock::new(Thesaurus::open);

/// The stems near a stem, nearest first, with their similarity.
pub fn near(stem: &str) -> impl Iterator<Item = (&'static str, f32)> + use<> {
    let table = &*TABLE;
    let found = table.stems.binary_search(&stem).ok();
    let pairs = found.map_or(0..0, |at| table.ends[at] as usize..table.ends[at + 1] as usize);
    table.pairs[pairs].iter().map(|[low, high, closeness]| {
        let stem = table.stems[usize::from(u16::from_le_bytes([*low, *high]))];
        (stem, f32::from(*closeness) / 255.0)
    })
}

struct Thesaurus {
    /// Alphabetical.
    stems: Vec<&'static str>,
    /// Where the pairs of each stem begin, plus the end.
    ends: Vec<u32>,
    /// The number of a stem in two bytes, then the similarity.
    pairs: &'static [[u8; 3]],
}

impl Thesaurus {
    /// Reads the output of `examples/pack_thesaurus.rs` of `throughline-upstream`: a magic number, the length of
    /// the text, one stem per line, the number of pairs of each in a byte, all pairs.
    fn open() -> Self {
        let rest = ASSET.strip_prefix(b"TLWORDS1").expect("the asset starts with its mark");
        let (length, rest) = rest.split_first_chunk().expect("the asset holds a length");
        let (text, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        let text = std::str::from_utf8(text).expect("the stems are UTF-8");
        let stems: Vec<&str> = text.split('\n').collect();
        let (counts, pairs) = rest.split_at(stems.len());
        let mut ends = Vec::with_capacity(stems.len() + 1);
        let mut end = 0;
        ends.push(end);
        for count in counts {
            end += u32::from(*count);
            ends.push(end);
        }
        Self { stems, ends, pairs: pairs.as_chunks::<3>().0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_nearest_first() {
        for (stem, expected) in [("kid", "children"), ("job", "career"), ("paint", "art")] {
            let found: Vec<_> = near(stem).collect();
            assert!(found.iter().any(|(near, _)| *near == expected), "{stem}: {found:?}");
            assert!(found.iter().all(|(near, _)| *near != stem), "{stem}: {found:?}");
            assert!(found.is_sorted_by(|left, right| left.1 >= right.1), "{stem}: {found:?}");
        }
        assert_eq!(near("xyzzy").count() + near("").count(), 0);
    }

    #[test]
    fn the_whole_table_is_sound() {
        let table = Thesaurus::open();
        assert!(table.stems.len() > 10_000 && table.stems.is_sorted());
        assert_eq!(*table.ends.last().unwrap() as usize, table.pairs.len());
        for stem in &table.stems {
            assert!(near(stem).all(|(near, closeness)| near != *stem && closeness <= 1.0));
        }
    }
}
