//! Reads compressed text out of raw bytes, for tests that look for what was erased.
//!
//! Invariant: a frame anywhere in the bytes is found, also in a freed page or a log.

use std::io::Read;

/// How a zstd frame begins.
const FRAME: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();

/// The dictionary of stored records.
const RECORDS: &[u8] = include_bytes!("../../store/src/compress/record.dict");

/// What the compressed frames within `bytes` hold, as far as they are whole.
pub fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let starts = bytes.windows(FRAME.len()).enumerate().filter(|(_, window)| *window == FRAME);
    let mut found = Vec::new();
    for (at, _) in starts {
        for dictionary in [&[], RECORDS] {
            let decoder = zstd::stream::read::Decoder::with_dictionary(&bytes[at..], dictionary);
            let Ok(decoder) = decoder else { continue };
            // What comes after the frame, or instead of its end, is an error.
            let _ = decoder.single_frame().read_to_end(&mut found);
        }
    }
    found
}
