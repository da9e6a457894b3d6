//! Scores from 0 to 1 that mean the same whatever the embedder.
//!
//! A cosine of 0.5 is a near miss for one embedder and a direct hit for another. So each embedder is
//! asked for the vectors of a fixed set of short texts, of which it is known what belongs together.
//! Where the unrelated and the related pairs lie tells how to read its cosines: halfway between the two
//! is 0.5. Words are read by how much of the message's weight they carry. A text fits when its words or
//! its meaning do, so the two are joined as two independent chances are.
//!
//! Invariant: scores are within 0–1 and grow with both inputs.

use super::bm25::WordIndex;
use crate::embed::Vector;

/// Pairs of texts that belong together; every other pairing is unrelated.
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

/// How to read the cosines of one embedder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The cosine that counts as one half.
    middle: f32,
    /// How much a cosine above or below it changes.
    slope: f32,
}

impl Default for Calibration {
    /// What the built-in embedder's probes give.
    fn default() -> Self {
        Self { middle: 0.3, slope: 12.0 }
    }
}

/// What the logistic curve is to answer at the mean of the related pairs: ln(4) is 0.8.
const RELATED_LOGIT: f32 = 1.386;

impl Calibration {
    /// The texts to embed, in the order that [`Calibration::measure`] expects.
    pub fn probes() -> Vec<&'static str> {
        PROBES.iter().flat_map(|(left, right)| [*left, *right]).collect()
    }

    /// Reads off the vectors of [`Calibration::probes`]. `None` when they cannot be told apart.
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
        let (related, unrelated) = (mean(&related), mean(&unrelated));
        let half_way = (related - unrelated) / 2.0;
        (half_way > 0.01)
            .then(|| Self { middle: unrelated + half_way, slope: RELATED_LOGIT / half_way })
    }

    /// A cosine of this embedder, read from 0 to 1.
    pub fn meaning(&self, cosine: f32) -> f32 {
        1.0 / (1.0 + (-self.slope * (cosine - self.middle)).exp())
    }

    /// How well a text fits: its BM25 score against the most it could be, and its cosine.
    pub fn score(&self, bm25: f32, bm25_most: f32, cosine: f32) -> f32 {
        let words = if bm25_most > 0.0 { (bm25 / bm25_most).clamp(0.0, 1.0) } else { 0.0 };
        let meaning = if cosine == 0.0 { 0.0 } else { self.meaning(cosine) };
        1.0 - (1.0 - words) * (1.0 - meaning)
    }
}

/// The BM25 score of a text that holds every word of the query once.
pub fn most_possible<Term>(weights: &[(Term, f32)]) -> f32 {
    weights.iter().map(|(_, weight)| weight).sum::<f32>() * WordIndex::ONCE
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len().max(1) as f32
}
