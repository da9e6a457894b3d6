//! Compression of stored bytes, either standalone or as a delta against bytes already stored.
//!
//! A standalone record is zstd with a built-in dictionary of what records have in common (`compress/record.dict`,
//! made by `scripts/pack-dictionary`). A delta is zstd with the earlier bytes as a raw dictionary, so it works for
//! any content. Contexts are reused per OS thread, because creating one costs more than compressing most records.
//!
//! Invariants: the built-in dictionary never changes, because stored records depend on it; a better one would be a
//! second [`Dictionary`]. [`decompress`] returns the original bytes if given the same dictionary, and never
//! allocates more than `limit` bytes for them.

use std::cell::RefCell;
use std::sync::LazyLock;

use zstd::zstd_safe::{CCtx, CDict, DCtx, DDict, compress_bound, get_frame_content_size};

/// Inputs shorter than this are not compressed.
const SMALL_BYTES: usize = 256;
/// Compression must save at least one part in this many.
const SAVED_SHARE: usize = 8;
/// Fast: about ten microseconds per record. Level 3 saves 4 % more but takes twice as long.
const LEVEL: i32 = 1;
/// Magic number of a trained dictionary. zstd would interpret a raw base that starts with it as one.
const DICTIONARY_MAGIC: [u8; 4] = 0xEC30_A437_u32.to_le_bytes();
/// The built-in dictionary.
const RECORDS: &[u8] = include_bytes!("compress/record.dict");

static RECORDS_ENCODER: LazyLock<CDict<'static>> = LazyLock::new(|| CDict::create(RECORDS, LEVEL));
static RECORDS_DECODER: LazyLock<DDict<'static>> = LazyLock::new(|| DDict::create(RECORDS));

thread_local! {
    static COMPRESSOR: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
    static DECOMPRESSOR: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// What a frame was compressed with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dictionary<'a> {
    /// Nothing, as in files of schema version 2.
    None,
    /// The built-in dictionary.
    Records,
    /// The bytes that a delta is based on.
    Base(&'a [u8]),
}

/// Bytes that deltas can be made against, prepared once for many deltas.
pub(crate) struct Base(CDict<'static>);

impl Base {
    /// `None` if the bytes cannot serve as a base.
    pub(crate) fn new(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() || bytes.starts_with(&DICTIONARY_MAGIC) {
            return None;
        }
        CDict::try_create(bytes, LEVEL).map(Self)
    }

    /// Encodes `bytes` as a delta.
    pub(crate) fn delta(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        compress_with(&self.0, bytes)
    }
}

/// Compresses `bytes` with the built-in dictionary; returns `None` if that saves too little.
pub(crate) fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < SMALL_BYTES {
        return None;
    }
    let compressed = compress_with(&RECORDS_ENCODER, bytes)?;
    (compressed.len() + bytes.len() / SAVED_SHARE <= bytes.len()).then_some(compressed)
}

fn compress_with(dictionary: &CDict<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut compressed = Vec::with_capacity(compress_bound(bytes.len()));
    COMPRESSOR.with_borrow_mut(|context| {
        context.compress_using_cdict(&mut compressed, bytes, dictionary).ok()
    })?;
    Some(compressed)
}

/// Returns the uncompressed size stated in the frame header.
pub(crate) fn original_size(start: &[u8]) -> Option<u64> {
    get_frame_content_size(start).ok().flatten()
}

/// Decompresses a frame; returns `None` if it is damaged or exceeds `limit` bytes.
pub(crate) fn decompress(
    dictionary: Dictionary<'_>,
    compressed: &[u8],
    limit: usize,
) -> Option<Vec<u8>> {
    let size = usize::try_from(original_size(compressed)?).ok().filter(|size| *size <= limit)?;
    let mut bytes = Vec::with_capacity(size);
    DECOMPRESSOR.with_borrow_mut(|context| {
        match dictionary {
            Dictionary::None => context.decompress(&mut bytes, compressed),
            Dictionary::Records => {
                context.decompress_using_ddict(&mut bytes, compressed, &RECORDS_DECODER)
            }
            Dictionary::Base(base) => context.decompress_using_dict(&mut bytes, compressed, base),
        }
        .ok()
    })?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use sha2::Digest;

    use super::*;

    fn head(turns: u64) -> Vec<u8> {
        let things: Vec<String> = (0..200)
            .map(|n| format!(r#"{{"name":"core-{n}","seen":{}}}"#, n * 7_919 % 1_000))
            .collect();
        format!(r#"{{"turns":{turns},"things":[{}]}}"#, things.join(",")).into_bytes()
    }

    #[test]
    fn a_delta_is_small_and_gives_the_bytes_back() {
        let (base, next) = (head(11), head(12));
        let changed = Base::new(&base).unwrap().delta(&next).unwrap();
        assert!(changed.len() * 20 < compress(&next).unwrap().len(), "{} bytes", changed.len());
        assert_eq!(decompress(Dictionary::Base(&base), &changed, 1 << 20).unwrap(), next);
        assert!(decompress(Dictionary::Base(&head(13)[1..]), &changed, 1 << 20) != Some(next));
    }

    #[test]
    fn contexts_do_not_remember_the_base_of_another() {
        let (base, next) = (head(1), head(2));
        Base::new(&base).unwrap().delta(&next).unwrap();
        let alone = compress(&next).unwrap();
        assert_eq!(decompress(Dictionary::Records, &alone, 1 << 20).unwrap(), next);
    }

    #[test]
    fn little_and_random_bytes_are_left_as_they_are() {
        assert_eq!(compress(b"short"), None);
        let noise: Vec<u8> = (0..64_u8).flat_map(|n| sha2::Sha256::digest([n])).collect();
        assert_eq!(compress(&noise), None);
        assert!(Base::new(&DICTIONARY_MAGIC).is_none());
    }

    /// A frame of a released build, whose dictionary must never change.
    #[test]
    fn a_stored_record_is_read_by_every_later_build() {
        let hash = format!("{:x}", sha2::Sha256::digest(RECORDS));
        assert_eq!(
            hash, "839cfa0896064e748602bbe0c077ad1bea9264aac7cea30446d5575b3d184f36",
            "add a second dictionary instead"
        );
    }

    #[test]
    fn a_frame_without_a_dictionary_is_still_read() {
        let bytes = head(3);
        let compressed = zstd::bulk::compress(&bytes, LEVEL).unwrap();
        assert_eq!(decompress(Dictionary::None, &compressed, 1 << 20).unwrap(), bytes);
    }

    #[test]
    fn more_than_the_limit_is_refused_before_it_is_made() {
        let compressed = compress(&vec![b'a'; 1 << 20]).unwrap();
        assert!(decompress(Dictionary::Records, &compressed, (1 << 20) - 1).is_none());
        assert!(decompress(Dictionary::Records, b"no frame", 1 << 20).is_none());
    }
}
