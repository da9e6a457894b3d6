//! Scores from 0 to 1 that mean the same for every embedder.
//!
//! A cosine of 0.5 is a near miss for one embedder and a direct hit for another. So each embedder embeds a fixed
//! set of short texts of which the related pairs are known. The positions of related and unrelated pairs
//! calibrate its cosines: halfway between the two is 0.5, the mean of the related ones 0.8, or less if the two
//! overlap, because such an embedder is less reliable. Words are scored by their share of the message's weight. A
//! text matches by words or by meaning, so the two are combined like independent probabilities.
//!
//! The score of a hit is the match of the best hit times the hit's rank value relative to the best; or its own
//! match, if that is higher, because being second of two good matches is no flaw. It never exceeds that of the
//! hit before. So scores never contradict the ranking, and a message that nothing matches finds nothing above a
//! threshold, although something always ranks first.
//!
//! Invariant: scores are within 0–1 and never increase along the ranking.

use super::bm25::QueryWord;
use crate::embed::Vector;

/// Related pairs of texts; every other pairing is unrelated.
const PROBES: [(&str, &str); 24] = [
    ("Which switch is in rack 12?", "The switch in rack twelve is sw-core-01."),
    ("What did the doctor say about my knee?", "The doctor told me to rest my knee for a week."),
    ("How do I reset my password?", "Open the account page to reset your password."),
    ("When does the train to Berlin leave?", "The Berlin train departs at nine."),
    ("Find restaurants nearby", "Search for places to eat in a city"),
    ("Summarise the quarterly sales figures", "Sales report for the last quarter"),
    ("My dog is sick", "The puppy has been ill since Monday"),
    ("Convert this document to PDF", "Exports a file as PDF"),
    ("What is the weather tomorrow?", "Get the weather forecast for a place"),
    ("Book a flight to Madrid", "Search and reserve airline tickets"),
    ("Who wrote that novel?", "The author of the book is a teacher"),
    ("The build fails on Windows", "Compilation error on the Windows machine"),
    ("Add milk to the shopping list", "We need to buy groceries: bread and milk"),
    ("Delete the old backups", "Remove backup files older than a month"),
    ("Play some jazz", "She loves listening to jazz music"),
    ("Resize the image to 800 pixels", "Change the width and height of a picture"),
    ("What is our vacation policy?", "Employees have thirty days of holiday a year"),
    ("Translate this letter into French", "Translation of text between languages"),
    ("Is the database encrypted?", "Data at rest in the database is encrypted"),
    ("Plan a birthday party", "They celebrated her birthday with a cake"),
    ("How tall is that mountain?", "The peak is three thousand metres high"),
    ("Transfer money to my savings account", "Make a payment between bank accounts"),
    ("The garden needs water", "He planted roses and tomatoes in the yard"),
    ("Show failed login attempts", "Audit log of users who could not sign in"),
];

/// Maps the cosines of an embedder to 0–1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The cosine that maps to one half.
    middle: f32,
    /// The steepness of the curve there.
    slope: f32,
}

impl Default for Calibration {
    /// The calibration of the built-in embedder.
    fn default() -> Self {
        Self { middle: 0.324, slope: 4.87 }
    }
}

/// Number of best-ranked hits among which the best match is searched.
const STRONGEST_OF: usize = 5;
/// The logit at the mean of the related pairs: ln(4) gives 0.8.
const RELATED_LOGIT: f32 = 1.386;

impl Calibration {
    /// The texts to embed, in the order that [`Calibration::measure`] expects.
    pub fn probes() -> Vec<&'static str> {
        PROBES.iter().flat_map(|(left, right)| [*left, *right]).collect()
    }

    /// Calibrates from the vectors of [`Calibration::probes`]. `None` if they cannot be distinguished.
    pub fn measure(vectors: &[Vector]) -> Option<Self> {
        if vectors.len() != 2 * PROBES.len() {
            return None;
        }
        let (mut related, mut unrelated) = (Vec::new(), Vec::new());
        for left in (0..vectors.len()).step_by(2) {
            for right in (1..vectors.len()).step_by(2) {
                let cosine = dot(&vectors[left], &vectors[right]);
                if right == left + 1 { related.push(cosine) } else { unrelated.push(cosine) }
            }
        }
        let spread = variance(&related).midpoint(variance(&unrelated));
        let (related, unrelated) = (mean(&related), mean(&unrelated));
        let half_way = (related - unrelated) / 2.0;
        // The maximum that two normal distributions of this distance and width allow to conclude.
        let provable = if spread > 0.0 { 2.0 * half_way / spread } else { f32::INFINITY };
        let slope = (RELATED_LOGIT / half_way).min(provable);
        (half_way > 0.01).then_some(Self { middle: unrelated + half_way, slope })
    }

    /// A cosine of this embedder mapped to 0–1.
    pub fn meaning(&self, cosine: f32) -> f32 {
        1.0 / (1.0 + (-self.slope * (cosine - self.middle)).exp())
    }

    /// How well a text matches: its BM25 score relative to the weight of all query words, combined with its
    /// cosine.
    pub fn fit(&self, bm25: f32, query: &[QueryWord], cosine: f32) -> f32 {
        let all: f32 = query.iter().map(|word| word.weight).sum();
        let words = if all > 0.0 { (bm25 / all).clamp(0.0, 1.0) } else { 0.0 };
        let meaning = if cosine == 0.0 { 0.0 } else { self.meaning(cosine) };
        1.0 - (1.0 - words) * (1.0 - meaning)
    }
}

/// The scores of ranked hits, given as rank value and match, best first.
pub fn scores(ranked: &[(f32, f32)]) -> Vec<f32> {
    let strongest = ranked.iter().take(STRONGEST_OF).fold(0.0_f32, |best, (_, fit)| best.max(*fit));
    let top = ranked.first().map_or(0.0, |(rank, _)| *rank);
    let share = |rank: f32| if top > 0.0 { (rank / top).clamp(0.0, 1.0) } else { 1.0 };
    let mut before = strongest;
    let score = |(rank, fit): &(f32, f32)| {
        before = before.min(fit.max(strongest * share(*rank)));
        before
    };
    ranked.iter().map(score).collect()
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len().max(1) as f32
}

fn variance(values: &[f32]) -> f32 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / values.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred dimensions in which related texts share a direction.
    fn embed(text_number: usize, closeness: f32, common: f32) -> Vector {
        let mut vector = vec![0.0; 2 + 3 * PROBES.len()];
        vector[0] = common;
        vector[2 + text_number / 2] = closeness;
        vector[2 + PROBES.len() + text_number] = (1.0 - closeness * closeness).sqrt();
        let length = dot(&vector, &vector).sqrt();
        vector.iter().map(|value| value / length).collect()
    }

    fn calibration(common: f32) -> Calibration {
        let vectors: Vec<_> = (0..2 * PROBES.len()).map(|at| embed(at, 0.8, common)).collect();
        Calibration::measure(&vectors).unwrap()
    }

    #[test]
    fn a_threshold_means_the_same_for_an_embedder_whose_cosines_are_all_high() {
        let (spread, narrow) = (calibration(0.0), calibration(3.0));
        for closeness in [0.0_f32, 0.3, 0.6, 0.8, 0.95] {
            let read = |calibration: Calibration, common| {
                calibration.meaning(dot(&embed(0, closeness, common), &embed(1, closeness, common)))
            };
            let (left, right) = (read(spread, 0.0), read(narrow, 3.0));
            assert!((left - right).abs() < 0.01, "{closeness}: {left} and {right}");
        }
    }

    #[test]
    fn unrelated_pairs_read_low_and_related_ones_high() {
        for common in [0.0, 1.0, 3.0] {
            let calibration = calibration(common);
            let read = |left, right| {
                calibration.meaning(dot(&embed(left, 0.8, common), &embed(right, 0.8, common)))
            };
            assert!((read(0, 1) - 0.8).abs() < 0.01 && (read(0, 3) - 0.2).abs() < 0.01);
        }
    }

    #[test]
    fn an_embedder_whose_pairs_lie_across_each_other_is_never_sure() {
        let noisy = |at: usize| {
            embed(at, if (at / 2).is_multiple_of(4) { 1.0 } else { 0.1 }, (at % 5) as f32)
        };
        let vectors: Vec<_> = (0..2 * PROBES.len()).map(noisy).collect();
        let calibration = Calibration::measure(&vectors).unwrap();
        assert!(calibration.meaning(1.0) < 0.8, "{calibration:?}");
    }

    #[test]
    fn an_embedder_that_tells_nothing_apart_is_not_calibrated() {
        assert_eq!(Calibration::measure(&vec![vec![1.0]; 2 * PROBES.len()]), None);
        assert_eq!(Calibration::measure(&[]), None);
    }

    #[test]
    fn a_fit_grows_with_words_and_with_meaning_and_stays_within_one() {
        let mut query = vec![QueryWord::default()];
        query[0].weight = 4.0;
        let fit = |bm25, cosine| Calibration::default().fit(bm25, &query, cosine);
        assert!(fit(0.0, 0.1) < fit(0.0, 0.6) && fit(0.0, 0.6) < fit(2.0, 0.6));
        assert!(fit(9.0, 1.0) <= 1.0 && fit(0.0, -1.0) >= 0.0);
        assert_eq!(Calibration::default().fit(0.0, &[], 0.0), 0.0);
    }

    #[test]
    fn scores_follow_the_ranking_and_the_strongest_fit() {
        assert_eq!(scores(&[(2.0, 0.5), (1.0, 0.25), (0.0, 0.75)]), [0.75, 0.375, 0.375]);
        assert_eq!(scores(&[(2.0, 0.9), (1.0, 0.8), (0.0, 0.1)]), [0.9, 0.8, 0.1]);
        assert_eq!(scores(&[(0.0, 0.9)]), [0.9]);
    }
}
