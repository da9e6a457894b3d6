//! A part of a turn as indexed: everything derived from its text, but no text.
//!
//! The same unit is made from a text and read from a store, so a loaded index finds the same as one that was
//! built.
//!
//! Invariant: [`VERSION`] is raised with every change of what is derived from a text.

use jiff::civil::Date;

use super::speakers::{hashed_name, split_name};
use super::turns::Part;
use super::vectors::Packed;
use super::words::{WordHash, counted, stems};

/// Version of the derivation. Units of another version are rebuilt.
pub const VERSION: u32 = 2;

#[derive(Debug, Clone, PartialEq)]
pub struct TurnUnit {
    /// The turn's number in its session.
    pub turn: u64,
    pub part: Part,
    pub day: Option<Date>,
    pub asks: bool,
    /// Number of content words.
    pub content_words: u16,
    /// The speaker; empty for a role.
    pub speaker: Vec<WordHash>,
    /// Its words and those of its date, with their counts.
    pub words: Vec<(WordHash, u16)>,
    pub vector: Packed,
}

impl TurnUnit {
    /// Makes the unit of a text. `vector` is that of the text, or empty; with a date it is also found by that.
    pub fn new(
        (turn, part): (u64, Part),
        speaker: &str,
        text: &str,
        vector: &[f32],
        date: Option<Date>,
    ) -> Self {
        let (name, said) = split_name(text);
        let mut words = stems(said);
        let content_words = u16::try_from(words.len()).unwrap_or(u16::MAX);
        if let Some(date) = date {
            words.extend(stems(&date.strftime("%-d %B %Y").to_string()));
        }
        Self {
            turn,
            part,
            day: date,
            asks: said.trim_end().ends_with(['?', '？', '؟']),
            content_words,
            speaker: hashed_name(name.unwrap_or(speaker)),
            words: counted(&words),
            vector: Packed::of(vector),
        }
    }
}
