//! Binary encoding of turn units.
//!
//! A segment has the units of some turns of a session: a table of word hashes, a table of speakers, and for each
//! unit its counts and vector. Numbers are little-endian base 128; sequences without a length are sized by the
//! preceding table.
//!
//! Invariant: bytes whose checksum does not match do not decode.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::search::vectors::Packed;
use crate::search::words::WordHash;
use crate::search::{Part, TurnUnit};

/// Size of a [`WordHash`].
const HASH_BYTES: usize = 5;
/// Size of the checksum at the end.
const SUM_BYTES: usize = 4;
/// Flags in a unit's first byte, above its part.
const ASKS: u8 = 1 << 2;
const HAS_VECTOR: u8 = 1 << 3;

pub(super) fn encode(units: &[TurnUnit]) -> Vec<u8> {
    let hashes = units.iter().flat_map(|unit| unit.words.iter().map(|(word, _)| *word));
    let words = numbered(hashes);
    let speakers = numbered(units.iter().map(|unit| unit.speaker.clone()));
    let dimensions = units.iter().map(|unit| unit.vector.bytes.len()).max().unwrap_or(0);
    let mut to = Vec::with_capacity(units.len() * (dimensions + 64) + words.len() * HASH_BYTES);
    put_number(&mut to, words.len() as u64);
    words.keys().for_each(|word| put_hash(&mut to, *word));
    put_number(&mut to, speakers.len() as u64);
    for name in speakers.keys() {
        put_number(&mut to, name.len() as u64);
        name.iter().for_each(|part| put_hash(&mut to, *part));
    }
    put_number(&mut to, dimensions as u64);
    put_number(&mut to, units.len() as u64);
    for unit in units {
        let has_vector = !unit.vector.bytes.is_empty() && unit.vector.bytes.len() == dimensions;
        let asks = if unit.asks { ASKS } else { 0 };
        to.push(part_number(unit.part) | asks | if has_vector { HAS_VECTOR } else { 0 });
        put_number(&mut to, unit.turn);
        put_number(&mut to, unit.day.map_or(0, day_number));
        put_number(&mut to, u64::from(unit.content_words));
        put_number(&mut to, speakers[&unit.speaker]);
        put_number(&mut to, unit.words.len() as u64);
        for (word, count) in &unit.words {
            put_number(&mut to, words[word]);
            put_number(&mut to, u64::from(*count));
        }
        if has_vector {
            to.extend(unit.vector.scale.to_le_bytes());
            to.extend(&unit.vector.bytes);
        }
    }
    let sum = crc32fast::hash(&to);
    to.extend(sum.to_le_bytes());
    to
}

/// Decodes the units; `None` if the bytes are damaged.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<TurnUnit>> {
    let (content, sum) = bytes.split_at_checked(bytes.len().checked_sub(SUM_BYTES)?)?;
    if crc32fast::hash(content).to_le_bytes() != *sum {
        return None;
    }
    let mut from = Reader(content);
    let words = from.many(Reader::hash)?;
    let speakers = from.many(|from| from.many(Reader::hash))?;
    let dimensions = usize::try_from(from.number()?).ok()?;
    let units = from.many(|from| {
        let first = from.take(1)?[0];
        let (part, asks) = (part_of_number(first)?, first & ASKS != 0);
        let turn = from.number()?;
        let day = match from.number()? {
            0 => None,
            number => Some(day_of_number(number)?),
        };
        let content_words = u16::try_from(from.number()?).ok()?;
        let speaker = at(&speakers, from.number()?)?.clone();
        let words = from.many(|from| {
            Some((*at(&words, from.number()?)?, u16::try_from(from.number()?).ok()?))
        })?;
        let mut vector = Packed::default();
        if first & HAS_VECTOR != 0 {
            vector.scale = f32::from_le_bytes(*from.take(4)?.first_chunk()?);
            vector.bytes = from.take(dimensions)?.to_vec();
        }
        Some(TurnUnit { turn, part, day, asks, content_words, speaker, words, vector })
    })?;
    from.0.is_empty().then_some(units)
}

/// Numbers the distinct values in order.
fn numbered<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut numbered: BTreeMap<T, u64> = values.map(|value| (value, 0)).collect();
    numbered.values_mut().zip(0..).for_each(|(number, place)| *number = place);
    numbered
}

fn at<T>(table: &[T], number: u64) -> Option<&T> {
    table.get(usize::try_from(number).ok()?)
}

/// A day as a non-zero number made of year, month and day.
fn day_number(day: Date) -> u64 {
    let year = u64::from(day.year().unsigned_abs());
    let (month, day) = (u64::from(day.month().unsigned_abs()), u64::from(day.day().unsigned_abs()));
    (year * 16 + month) * 32 + day
}

fn day_of_number(number: u64) -> Option<Date> {
    let year = i16::try_from(number / 512).ok()?;
    let (month, day) = (i8::try_from(number / 32 % 16).ok()?, i8::try_from(number % 32).ok()?);
    Date::new(year, month, day).ok()
}

fn part_number(part: Part) -> u8 {
    match part {
        Part::Message => 0,
        Part::ToolResult => 1,
        Part::Reply => 2,
    }
}

fn part_of_number(byte: u8) -> Option<Part> {
    match byte & (ASKS - 1) {
        0 => Some(Part::Message),
        1 => Some(Part::ToolResult),
        2 => Some(Part::Reply),
        _ => None,
    }
}

fn put_hash(to: &mut Vec<u8>, hash: WordHash) {
    to.extend(&hash.to_le_bytes()[..HASH_BYTES]);
}

fn put_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(count)?;
        self.0 = left;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn hash(&mut self) -> Option<WordHash> {
        let mut bytes = [0; 8];
        bytes[..HASH_BYTES].copy_from_slice(self.take(HASH_BYTES)?);
        Some(u64::from_le_bytes(bytes))
    }

    /// A count and that many values; each takes at least a byte, so a false count fails at the end of the bytes.
    fn many<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len())?;
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(one(self)?);
        }
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units() -> Vec<TurnUnit> {
        let unit = |turn, part, speaker, text: &str, vector: &[f32]| {
            let date = jiff::civil::date(2026, 3, 1);
            TurnUnit::new((turn, part), speaker, text, vector, Some(date))
        };
        vec![
            unit(1, Part::Message, "User", "Anna: Where are the tulips?", &[0.6, -0.8, 0.0]),
            unit(1, Part::ToolResult, "Tool", "tulips tulips tulips", &[1.0, 0.0, 0.0]),
            unit(1, Part::Reply, "Assistant", "In the red bucket.", &[]),
            unit(300, Part::Message, "User", "", &[0.0, 0.0, 1.0]),
        ]
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for units in [units(), Vec::new()] {
            assert_eq!(decode(&encode(&units)), Some(units));
        }
    }

    #[test]
    fn a_changed_or_shortened_segment_is_none() {
        let bytes = encode(&units());
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_eq!(decode(&changed), None, "byte {at}");
            assert_eq!(decode(&bytes[..at]), None, "{at} bytes");
        }
    }

    #[test]
    fn a_false_content_with_a_right_sum_is_none() {
        for content in [vec![0xff; 40], vec![0x80; 12], vec![3, 1, 2], vec![0, 0, 0, 1, 3]] {
            let sum = crc32fast::hash(&content).to_le_bytes();
            assert_eq!(decode(&[content, sum.to_vec()].concat()), None);
        }
    }

    #[test]
    fn no_word_of_a_text_is_in_its_segment() {
        let bytes = encode(&units());
        for word in ["anna", "tulip", "bucket", "march"] {
            assert!(
                !bytes.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
            );
        }
    }
}
