//! What a request shows already.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::hash::ContentHash;
use crate::piece::{HistoryPart, Piece, SentPiece, Source};

/// What a stream shows.
pub(super) struct Present {
    pub texts: HashMap<ContentHash, u64>,
    /// Parts of turns that are shown from beginning to end.
    pub whole: HashSet<(u64, HistoryPart)>,
}

impl Present {
    pub(super) fn of(stream: &[Arc<SentPiece>]) -> Self {
        let mut present = Self { texts: HashMap::new(), whole: HashSet::new() };
        for sent in stream {
            match (&sent.piece.source, turn_of(&sent.piece)) {
                (source, Some(turn)) if !is_excerpt(source) => {
                    present.whole.insert((turn, part_of(&sent.piece)));
                }
                (Source::History { turn, part }, _) => {
                    present.whole.insert((*turn, part.of_turn()));
                }
                _ => {
                    present.texts.insert(sent.piece.hash, sent.since);
                }
            }
        }
        present
    }

    /// Whether a part of a turn is shown: all of it, or the same excerpt.
    pub(super) fn shows(&self, piece: &Piece, window_from: u64) -> bool {
        let Some(turn) = turn_of(piece) else { return false };
        let is_whole = turn >= window_from || self.whole.contains(&(turn, part_of(piece)));
        is_whole || self.texts.contains_key(&piece.hash)
    }

    /// The turn that added a piece, if it is still valid: guidance is valid until another is given, and a fact
    /// about an entity until a newer one is stated.
    pub(super) fn since(&self, piece: &Piece, stream: &[Arc<SentPiece>]) -> Option<u64> {
        let since = *self.texts.get(&piece.hash)?;
        let same_kind = |sent: &&Arc<SentPiece>| {
            let (one, other) = (&sent.piece.source, &piece.source);
            match (one, other) {
                (Source::Instructions { part: one }, Source::Instructions { part: other }) => {
                    one == other || one.starts_with("mode/") && other.starts_with("mode/")
                }
                (
                    Source::Entity { entity: kind, name },
                    Source::Entity { entity: other_kind, name: other_name },
                ) => kind == other_kind && name == other_name,
                (Source::Preferences, Source::Preferences) => true,
                _ => false,
            }
        };
        match stream.iter().rev().find(same_kind) {
            Some(last) if last.piece.hash != piece.hash => None,
            _ => Some(since),
        }
    }
}

/// The turn of this session that is quoted.
pub(super) fn turn_of(piece: &Piece) -> Option<u64> {
    match piece.source {
        Source::Recalled { turn, .. } | Source::EarlierResult { turn, .. } => Some(turn),
        _ => None,
    }
}

pub(super) fn part_of(piece: &Piece) -> HistoryPart {
    match piece.source {
        Source::Recalled { part, .. } => part,
        _ => HistoryPart::Results,
    }
}

fn is_excerpt(source: &Source) -> bool {
    matches!(source, Source::Recalled { excerpt: Some(_), .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::{Position, Rank};

    fn instructions(part: &str) -> Piece {
        let source = Source::Instructions { part: part.into() };
        Piece::new(source, "test", Position::Aside, Rank::Guidance, part)
    }

    #[test]
    fn instructions_that_are_visible_are_not_repeated() {
        let sent = |(turn, part): (u64, &&str)| {
            let piece = instructions(part);
            Arc::new(SentPiece { piece, since: turn, kept_in: None, day: None })
        };
        let parts = ["entities", "query", "mode/search", "mode/creation"];
        let stream: Vec<_> = (1..).zip(&parts).map(sent).collect();
        let present = Present::of(&stream);
        let since = |part: &str| present.since(&instructions(part), &stream);
        assert_eq!(parts.map(since), [Some(1), Some(2), None, Some(4)]);
        assert_eq!(since("calm"), None);
    }
}
