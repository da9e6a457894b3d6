//! Fewer bytes for what is stored: compressed by itself, or as the difference to something that is stored already.
//!
//! A difference is zstd with the earlier bytes as its dictionary: what both have in common is one reference, whatever
//! the bytes mean. Contexts are kept by thread, since making one costs more than most of our records.
//!
//! Invariant: what [`decompress`] answers is what was compressed, provided that `base` is the same; it never takes
//! more memory than the caller allows.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

/// Bytes that are not worth compressing.
const SMALL_BYTES: usize = 256;
/// The share of the bytes that must be saved: one in this many.
const SAVED_SHARE: usize = 8;
/// Fast: a record takes some ten microseconds. Level 3 saves 4 % more and takes twice as long.
const LEVEL: i32 = 1;
/// What a trained dictionary begins with. Bytes that begin with it would be taken for one.
const DICTIONARY_MAGIC: [u8; 4] = 0xEC30_A437_u32.to_le_bytes();

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The bytes compressed; none where that saves little.
pub(crate) fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < SMALL_BYTES {
        return None;
    }
    let compressed = with_base(&[], bytes).ok()?;
    (compressed.len() + bytes.len() / SAVED_SHARE <= bytes.len()).then_some(compressed)
}

/// The bytes as the difference to `base`; none where these bytes cannot be a base.
pub(crate) fn difference(base: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    if base.is_empty() || base.starts_with(&DICTIONARY_MAGIC) {
        return None;
    }
    with_base(base, bytes).ok()
}

fn with_base(base: &[u8], bytes: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let mut compressor = match kept.take() {
            Some(compressor) => compressor,
            None => Compressor::new(LEVEL)?,
        };
        compressor.set_dictionary(LEVEL, base)?;
        let compressed = compressor.compress(bytes)?;
        Ok(kept.insert(compressor)).map(|_| compressed)
    })
}

/// How many bytes were compressed, as the start of what came of it tells.
pub(crate) fn plain_bytes(start: &[u8]) -> Option<u64> {
    get_frame_content_size(start).ok().flatten()
}

/// What was compressed, or of which this is the difference to `base`. More than `limit` bytes are an error.
pub(crate) fn decompress(
    base: Option<&[u8]>,
    compressed: &[u8],
    limit: usize,
) -> io::Result<Vec<u8>> {
    let size = plain_bytes(compressed).and_then(|size| usize::try_from(size).ok());
    let size = size.filter(|size| *size <= limit);
    let Some(size) = size else { return Err(io::Error::from(io::ErrorKind::InvalidData)) };
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let mut decompressor = match kept.take() {
            Some(decompressor) => decompressor,
            None => Decompressor::new()?,
        };
        decompressor.set_dictionary(base.unwrap_or_default())?;
        let bytes = decompressor.decompress(compressed, size)?;
        Ok(kept.insert(decompressor)).map(|_| bytes)
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
    fn a_difference_is_small_and_gives_the_bytes_back() {
        let (base, next) = (head(11), head(12));
        let changed = difference(&base, &next).unwrap();
        assert!(changed.len() * 20 < compress(&next).unwrap().len(), "{} bytes", changed.len());
        assert_eq!(decompress(Some(&base), &changed, 1 << 20).unwrap(), next);
        assert!(decompress(Some(&head(13)[1..]), &changed, 1 << 20).ok() != Some(next));
    }

    #[test]
    fn contexts_do_not_remember_the_base_of_another() {
        let (base, next) = (head(1), head(2));
        difference(&base, &next).unwrap();
        let alone = compress(&next).unwrap();
        assert_eq!(decompress(None, &alone, 1 << 20).unwrap(), next);
    }

    #[test]
    fn little_and_random_bytes_are_left_as_they_are() {
        assert_eq!(compress(b"short"), None);
        let noise: Vec<u8> = (0..64_u8).flat_map(|n| sha2::Sha256::digest([n])).collect();
        assert_eq!(compress(&noise), None);
        assert_eq!(difference(&DICTIONARY_MAGIC, &noise), None);
    }

    #[test]
    fn more_than_the_limit_is_refused_before_it_is_made() {
        let compressed = compress(&vec![b'a'; 1 << 20]).unwrap();
        assert!(decompress(None, &compressed, (1 << 20) - 1).is_err());
        assert!(decompress(None, b"no frame", 1 << 20).is_err());
    }
}
