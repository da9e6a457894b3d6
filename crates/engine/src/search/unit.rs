//! A part of a turn as an index takes it in: all that is read from its text, and no text.
//!
//! The same unit is made from a text and read from a store, so an index that was loaded finds what one that was
//! built finds.
//!
//! Invariant: [`VERSION`] is raised with every change of what is read from a text.

use jiff::civil::Date;

use super::speakers::{hashed_name, split_name};
use super::turns::Part;
use super::vectors::Packed;
use super::words::{WordHash, counted, stems};

/// How units are made of texts. A unit of another version is made again.
pub const VERSION: u32 = 1;

/// A part of a turn, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnUnit {
    /// The turn's number in its session.
    pub turn: u64,
    pub part: Part,
    /// The day on which it was said, where that is known.
    pub day: Option<Date>,
    /// Whether it ends in a question.
    pub asks: bool,
    /// Words that say something.
    pub content_words: u16,
    /// Who said it; empty where that is a role.
    pub speaker: Vec<WordHash>,
    /// Its words and those of its date, each with how often it occurs.
    pub words: Vec<(WordHash, u16)>,
    pub vector: Packed,
}

impl TurnUnit {
    /// The unit of a text. `vector` is that of the text, or empty; with a date it is found by that too.
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
