//! Compression of stored bytes, either standalone or as a delta against bytes already stored.
//!
//! A delta is zstd with the earlier bytes as a raw dictionary, so it works for any content. Contexts are
//! reused per OS thread, because creating one costs more than compressing most records.
//!
//! Invariant: [`decompress`] returns the original bytes if given the same `base`, and never allocates more
//! than `limit` bytes for them.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

/// Inputs shorter than this are not compressed.
const SMALL_BYTES: usize = 256;
/// Compression must save at least one part in this many.
const SAVED_SHARE: usize = 8;
/// Fast: about ten microseconds per record. Level 3 saves 4 % more but takes twice as long.
const LEVEL: i32 = 1;
/// Magic number of a trained dictionary. zstd would interpret a raw base that starts with it as one.
const DICTIONARY_MAGIC: [u8; 4] = 0xEC30_A437_u32.to_le_bytes();

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses `bytes`; returns `None` if that saves too little.
pub(crate) fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < SMALL_BYTES {
        return None;
    }
    let compressed = with_base(&[], bytes).ok()?;
    (compressed.len() + bytes.len() / SAVED_SHARE <= bytes.len()).then_some(compressed)
}

/// Encodes `bytes` as a delta against `base`; returns `None` if `base` cannot serve as one.
pub(crate) fn delta(base: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    if base.is_empty() || base.starts_with(&DICTIONARY_MAGIC) {
        return None;
    }
    with_base(base, bytes).ok()
}

fn with_base(base: &[u8], bytes: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|slot| {
        let mut compressor = match slot.take() {
            Some(compressor) => compressor,
            None => Compressor::new(LEVEL)?,
        };
        compressor.set_dictionary(LEVEL, base)?;
        let compressed = compressor.compress(bytes)?;
        Ok(slot.insert(compressor)).map(|_| compressed)
    })
}

/// Returns the uncompressed size stated in the frame header.
pub(crate) fn original_size(start: &[u8]) -> Option<u64> {
    get_frame_content_size(start).ok().flatten()
}

/// Decompresses a standalone frame, or a delta against `base`. Fails if the result exceeds `limit` bytes.
pub(crate) fn decompress(
    base: Option<&[u8]>,
    compressed: &[u8],
    limit: usize,
) -> io::Result<Vec<u8>> {
    let size = original_size(compressed).and_then(|size| usize::try_from(size).ok());
    let size = size.filter(|size| *size <= limit);
    let Some(size) = size else { return Err(io::Error::from(io::ErrorKind::InvalidData)) };
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let mut decompressor = match slot.take() {
            Some(decompressor) => decompressor,
            None => Decompressor::new()?,
        };
        decompressor.set_dictionary(base.unwrap_or_default())?;
        let bytes = decompressor.decompress(compressed, size)?;
        Ok(slot.insert(decompressor)).map(|_| bytes)
    })
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
        let changed = delta(&base, &next).unwrap();
        assert!(changed.len() * 20 < compress(&next).unwrap().len(), "{} bytes", changed.len());
        assert_eq!(decompress(Some(&base), &changed, 1 << 20).unwrap(), next);
        assert!(decompress(Some(&head(13)[1..]), &changed, 1 << 20).ok() != Some(next));
    }

    #[test]
    fn contexts_do_not_remember_the_base_of_another() {
        let (base, next) = (head(1), head(2));
        delta(&base, &next).unwrap();
        let alone = compress(&next).unwrap();
        assert_eq!(decompress(None, &alone, 1 << 20).unwrap(), next);
    }

    #[test]
    fn little_and_random_bytes_are_left_as_they_are() {
        assert_eq!(compress(b"short"), None);
        let noise: Vec<u8> = (0..64_u8).flat_map(|n| sha2::Sha256::digest([n])).collect();
        assert_eq!(compress(&noise), None);
        assert_eq!(delta(&DICTIONARY_MAGIC, &noise), None);
    }

    #[test]
    fn more_than_the_limit_is_refused_before_it_is_made() {
        let compressed = compress(&vec![b'a'; 1 << 20]).unwrap();
        assert!(decompress(None, &compressed, (1 << 20) - 1).is_err());
        assert!(decompress(None, b"no frame", 1 << 20).is_err());
    }
}
