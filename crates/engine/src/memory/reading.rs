//! Limits how many hits are read from the log: no more than there is room for.

/// Minimum parts of earlier turns that are read, whatever the room.
const PARTS_READ_MIN: usize = 12;

/// How much is recalled for a message.
#[derive(Debug, Clone, Copy)]
pub struct RecallBounds {
    /// Maximum parts of turns.
    pub parts_max: usize,
    /// Tokens that there is room for. Weaker matches beyond it are not read.
    pub tokens: u32,
}

/// Reads hits in steps, best first, until the room is full.
pub(super) struct Reading {
    left: u32,
    read: usize,
    spent: u32,
}

impl Reading {
    pub(super) fn of(tokens: u32) -> Self {
        Self { left: tokens, read: 0, spent: 0 }
    }

    /// How many parts are read next: as many as the room holds of those like the ones before.
    pub(super) fn step(&self) -> usize {
        match self.read {
            0 => PARTS_READ_MIN,
            read => self.left as usize * read / self.spent.max(1) as usize + PARTS_READ_MIN,
        }
    }

    /// Counts parts that were read, and whether there is room for more.
    pub(super) fn goes_on(&mut self, parts: usize, tokens: u32) -> bool {
        self.read += parts;
        self.spent += tokens;
        let goes_on = tokens <= self.left;
        self.left = self.left.saturating_sub(tokens);
        goes_on
    }
}
