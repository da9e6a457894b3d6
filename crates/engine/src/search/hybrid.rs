//! How words and vectors become one ranking.
//!
//! Both scores are stretched to 0–1 over what can be found, then added with fixed weights. Stretching
//! makes them comparable; it also makes them relative, so what is shown to a user, and held against a
//! threshold, is a score of [`super::calibrate`] instead.
//!
//! Invariant: with no vector at all, the ranking is that of the words; with no common word, that of the
//! vectors.

/// Weight of the words; the vectors have the rest.
pub const WORDS_WEIGHT: f32 = 0.4;

/// The lowest and highest of some scores.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    low: f32,
    high: f32,
}

impl Span {
    /// Over all scores given; none give an empty span.
    pub fn of(scores: impl Iterator<Item = f32>) -> Self {
        scores.fold(Self { low: f32::INFINITY, high: f32::NEG_INFINITY }, |span, score| Self {
            low: span.low.min(score),
            high: span.high.max(score),
        })
    }

    /// Where a score lies between the lowest (0) and the highest (1); 0 where all are alike.
    pub fn place(self, score: f32) -> f32 {
        let width = self.high - self.low;
        if width > f32::EPSILON { (score - self.low) / width } else { 0.0 }
    }
}

/// The places of the `keep` highest of `scores`, highest first; of equal ones the later place.
pub fn best(scores: impl Iterator<Item = (u32, f32)>, keep: usize) -> Vec<(u32, f32)> {
    let mut best: Vec<(u32, f32)> = Vec::with_capacity(2 * keep + 1);
    let mut floor = f32::NEG_INFINITY;
    for (place, score) in scores {
        if score < floor || keep == 0 {
            continue;
        }
        best.push((place, score));
        if best.len() > 2 * keep {
            best.sort_unstable_by(higher_then_later);
            best.truncate(keep);
            floor = best[keep - 1].1;
        }
    }
    best.sort_unstable_by(higher_then_later);
    best.truncate(keep);
    best
}

fn higher_then_later(left: &(u32, f32), right: &(u32, f32)) -> std::cmp::Ordering {
    right.1.total_cmp(&left.1).then(right.0.cmp(&left.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_stretched_from_nought_to_one() {
        let span = Span::of([-1.0, 0.0, 3.0].into_iter());
        assert_eq!([-1.0, 1.0, 3.0].map(|score| span.place(score)), [0.0, 0.5, 1.0]);
        assert_eq!(Span::of([2.0, 2.0].into_iter()).place(2.0), 0.0);
    }

    #[test]
    fn the_best_are_the_highest_and_of_equal_ones_the_latest() {
        let scores = [3.0, 9.0, 1.0, 9.0, 4.0, 0.0, 7.0];
        let places = |keep| {
            let scores = scores.iter().enumerate().map(|(place, score)| (place as u32, *score));
            best(scores, keep).into_iter().map(|(place, _)| place).collect::<Vec<_>>()
        };
        assert_eq!(places(3), [3, 1, 6]);
        assert_eq!(places(0), [0_u32; 0]);
        assert_eq!(places(50), [3, 1, 6, 4, 0, 2, 5]);
    }
}
