//! Combines word and vector scores into one ranking.
//!
//! Both scores are scaled to 0–1 over the candidates, then added with the caller's weights. Scaling makes them
//! comparable but also relative, so scores shown to users or compared with thresholds come from
//! [`super::calibrate`].
//!
//! Invariant: if no text has a vector, vectors add nothing; if none shares a word, words add nothing.

/// Scores compared in parallel, so that no comparison waits for the previous one.
const LANES: usize = 16;

#[derive(Debug, Clone, Copy)]
pub struct Span {
    low: f32,
    high: f32,
}

impl Span {
    /// An empty span if there are no scores.
    pub fn of(scores: impl Iterator<Item = f32>) -> Self {
        scores.fold(Self { low: f32::INFINITY, high: f32::NEG_INFINITY }, |span, score| Self {
            low: span.low.min(score),
            high: span.high.max(score),
        })
    }

    /// Over a slice; NaN is ignored.
    pub fn over(scores: &[f32]) -> Self {
        let (mut low, mut high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
        let (chunks, rest) = scores.as_chunks::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                low[lane] = if chunk[lane] < low[lane] { chunk[lane] } else { low[lane] };
                high[lane] = if chunk[lane] > high[lane] { chunk[lane] } else { high[lane] };
            }
        }
        // A lane without scores is still infinite.
        let (rest, lanes) = (rest.iter().copied(), low.into_iter().chain(high));
        Self::of(
            rest.filter(|score| !score.is_nan()).chain(lanes.filter(|score| score.is_finite())),
        )
    }

    /// Scales a score to 0–1; 0 if all are equal. NaN stays NaN.
    pub fn place(self, score: f32) -> f32 {
        let (above, width) = (score - self.low, self.high - self.low);
        if width > f32::EPSILON { above / width } else { above * 0.0 }
    }
}

/// The `keep` highest `scores` with their positions, highest first; of equal ones the later position. NaN is
/// ignored.
pub fn best(scores: impl Iterator<Item = (u32, f32)>, keep: usize) -> Vec<(u32, f32)> {
    let mut best: Vec<(u32, f32)> = Vec::with_capacity(2 * keep + 1);
    let mut floor = f32::NEG_INFINITY;
    for (place, score) in scores {
        if score.is_nan() || score < floor || keep == 0 {
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
    fn a_span_over_a_slice_is_that_of_its_scores_and_knows_no_nan() {
        for length in [0, 1, 15, 16, 17, 100] {
            let mut scores: Vec<f32> =
                (0..length).map(|at| ((at * 37) % 101) as f32 - 9.0).collect();
            let exact = Span::of(scores.iter().copied());
            scores.extend([f32::NAN; 3]);
            scores.insert(0, f32::NAN);
            let over = Span::over(&scores);
            assert_eq!((over.low, over.high), (exact.low, exact.high), "{length}");
        }
        let scores = [1.0, f32::NAN, 2.0].into_iter().enumerate();
        assert_eq!(best(scores.map(|(at, score)| (at as u32, score)), 3), [(2, 2.0), (0, 1.0)]);
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
