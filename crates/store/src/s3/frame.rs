//! The object format: one line of readable JSON, then the body.
//!
//! The line contains the object's fields, the lengths of the body's parts, a hash of the body and whether it is
//! compressed. The meaning of the parts is up to the caller.
//!
//! Invariant: [`decode`] returns the parts only if their hash matches.

use std::io::{Read as _, Write as _};

use bytes::{BufMut as _, Bytes, BytesMut};
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::options::Compression;
use crate::limit::CHANGE_BYTES_MAX;

/// Bodies smaller than this are not compressed.
const COMPRESS_FROM_BYTES: usize = 512;
/// Maximum uncompressed size of a body: an open tail and one change.
const UNPACKED_BYTES_MAX: u64 = 2 * CHANGE_BYTES_MAX as u64 + 16 * 1024 * 1024;
/// Usual maximum size of the header line; a listing fetches this much of an object.
pub(super) const LINE_BYTES_USUAL: u64 = 4 * 1024;

/// The header line: `facts`, and what is needed to decode the body.
#[derive(Serialize, Deserialize)]
struct Line<F> {
    facts: F,
    parts: Vec<usize>,
    deflate: bool,
    sha256: String,
}

/// Encodes an object.
pub(super) fn encode<F: Serialize>(facts: &F, parts: &[Bytes], compression: Compression) -> Bytes {
    let plain: Vec<u8> = parts.concat();
    let sha256 = hash(&plain);
    let packed = match compression {
        Compression::Deflate if plain.len() >= COMPRESS_FROM_BYTES => deflate(&plain),
        _ => None,
    };
    let line = Line {
        facts,
        parts: parts.iter().map(Bytes::len).collect(),
        deflate: packed.is_some(),
        sha256,
    };
    let line = serde_json::to_vec(&line).expect("facts are plain data and always serialize");
    let body = packed.unwrap_or(plain);
    let mut object = BytesMut::with_capacity(line.len() + 1 + body.len());
    object.put_slice(&line);
    object.put_u8(b'\n');
    object.put_slice(&body);
    object.freeze()
}

/// Decodes an object; the error says what is wrong with it.
pub(super) fn decode<F: DeserializeOwned>(object: &Bytes) -> Result<(F, Vec<Bytes>), String> {
    let end = object.iter().position(|byte| *byte == b'\n').ok_or("it has no first line")?;
    let line: Line<F> = serde_json::from_slice(&object[..end]).map_err(|e| e.to_string())?;
    let body = object.slice(end + 1..);
    let body = if line.deflate { inflate(&body)? } else { body };
    if hash(&body) != line.sha256 {
        return Err("hash mismatch".into());
    }
    let mut parts = Vec::with_capacity(line.parts.len());
    let mut at = 0_usize;
    for length in line.parts {
        let end = at.checked_add(length).filter(|end| *end <= body.len());
        let end = end.ok_or("it is truncated")?;
        parts.push(body.slice(at..end));
        at = end;
    }
    Ok((line.facts, parts))
}

/// Decodes only the facts, from the start of an object; `None` if the header line is incomplete.
pub(super) fn facts_of<F: DeserializeOwned>(beginning: &[u8]) -> Result<Option<F>, String> {
    let Some(end) = beginning.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
    let line: Line<F> = serde_json::from_slice(&beginning[..end]).map_err(|e| e.to_string())?;
    Ok(Some(line.facts))
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn deflate(plain: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).expect("writing to memory does not fail");
    let packed = encoder.finish().expect("writing to memory does not fail");
    (packed.len() < plain.len()).then_some(packed)
}

fn inflate(packed: &[u8]) -> Result<Bytes, String> {
    let mut plain = Vec::new();
    let read = DeflateDecoder::new(packed).take(UNPACKED_BYTES_MAX).read_to_end(&mut plain);
    read.map_err(|error| format!("its body cannot be decompressed: {error}"))?;
    Ok(plain.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(compression: Compression) {
        let parts = [Bytes::from(vec![7; 4000]), Bytes::new(), Bytes::from_static(b"\n{}\n")];
        let object = encode(&"facts", &parts, compression);
        assert_eq!(decode::<String>(&object), Ok(("facts".into(), parts.to_vec())));
        assert_eq!(facts_of::<String>(&object), Ok(Some("facts".into())));
        let mut damaged = object.to_vec();
        *damaged.last_mut().unwrap() ^= 1;
        assert!(decode::<String>(&damaged.into()).is_err());
        assert!(decode::<String>(&object.slice(..object.len() - 1)).is_err());
    }

    #[test]
    fn an_object_reads_back_whole_or_not_at_all() {
        check(Compression::None);
        check(Compression::Deflate);
    }
}
