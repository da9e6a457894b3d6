//! The words and weights of a language by which `likely` decides.
//!
//! The words are closed classes, written by hand in the section `likely` of a language's file; the weights are fitted
//! by `examples/fit_facts.rs` and written to `weights-*.tsv`, one clue per line.
//!
//! Invariant: a clue that has no weight counts as zero.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use serde::Deserialize;

/// Weights are written in thousandths.
const UNIT: f32 = 1_000.0;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::fact::gather) struct LikelyWords {
    /// Words of the user: "i", "my", "our".
    pub own: HashSet<String>,
    /// Those of `own` that make a statement one about the user.
    pub personal: HashSet<String>,
    /// Pronouns that are followed by their verb.
    pub subject: HashSet<String>,
    /// Definite articles.
    pub articles: HashSet<String>,
    /// First words of clauses that state nothing of the user's: "he", "this".
    pub never_first: HashSet<String>,
    /// Words of a lasting instruction: "always".
    pub rule: HashSet<String>,
    /// First words of one.
    pub rule_first: HashSet<String>,
    /// Words between a subject and its verb.
    pub adverb: HashSet<String>,
    pub be: HashSet<String>,
    /// What is said of a thing in the present: "is", "has".
    pub present: HashSet<String>,
    /// Verbs of what happened or may happen.
    pub past: HashSet<String>,
    /// The ending of verbs of the past, and the verbs that only look so.
    pub past_ending: Option<String>,
    pub past_never: HashSet<String>,
    pub progressive_ending: Option<String>,
    /// Verbs of what could be done, unless a word of `able_before` follows: "can", but "can't".
    pub able: HashSet<String>,
    pub able_before: HashSet<String>,
    /// Certain days: "today".
    pub moment: Vec<String>,
    /// What somebody is for a moment: "glad", "sure".
    pub feeling: HashSet<String>,
    pub preference: HashSet<String>,
    /// Between a thing and its name.
    pub copula: Vec<String>,
    /// Numbers and times in words, which are no part of a subject.
    pub value: HashSet<String>,
    /// Words that are clues as they are.
    pub common: HashSet<String>,
    /// Endings by which other words are told apart, the first that fits.
    pub endings: Vec<String>,
    #[serde(skip)]
    pub bias: f32,
    /// The smallest weight of a statement.
    #[serde(skip)]
    pub threshold: f32,
    #[serde(skip)]
    pub weights: Weights,
}

impl LikelyWords {
    /// Adds the weights of a `weights-*.tsv`: a number, a tab and a clue per line.
    pub(super) fn with_weights(mut self, file: &str) -> Self {
        self.threshold = f32::INFINITY;
        for line in file.lines().filter(|line| !line.starts_with("# ")) {
            let Some((weight, clue)) = line.split_once('\t') else { continue };
            let Ok(weight) = weight.parse::<i32>() else { continue };
            let weight = weight as f32 / UNIT;
            match clue {
                "bias" => self.bias = weight,
                "threshold" => self.threshold = weight,
                clue => self.weights.insert(clue, weight),
            }
        }
        self
    }

    /// Whether a clause that begins with the word is about a thing: "my …", "the …".
    pub(in crate::fact::gather) fn starts_thing(&self, first: &str) -> bool {
        self.articles.contains(first) || self.own.contains(first) && !self.subject.contains(first)
    }

    pub(in crate::fact::gather) fn is_past(&self, verb: &str) -> bool {
        let ending = self.past_ending.as_deref();
        ending.is_some_and(|ending| is_word_with(verb, ending)) && !self.past_never.contains(verb)
    }

    pub(in crate::fact::gather) fn is_progressive(&self, verb: &str) -> bool {
        self.progressive_ending.as_deref().is_some_and(|ending| is_word_with(verb, ending))
    }
}

fn is_word_with(word: &str, ending: &str) -> bool {
    word.ends_with(ending) && word.len() > ending.len() + 2
}

/// The weight of each clue, by a hash of its text: two clues with the same hash would share a weight.
#[derive(Default)]
pub(in crate::fact::gather) struct Weights(HashMap<u64, f32, BuildHasherDefault<AsIs>>);

impl Weights {
    pub(in crate::fact::gather) fn hash(&self, clue: &str) -> u64 {
        // FNV-1a: short texts, no attacker.
        let start = 0xcbf2_9ce4_8422_2325_u64;
        clue.bytes()
            .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    pub(in crate::fact::gather) fn get(&self, hash: u64) -> Option<f32> {
        self.0.get(&hash).copied()
    }

    fn insert(&mut self, clue: &str, weight: f32) {
        self.0.insert(self.hash(clue), weight);
    }
}

/// Takes a hash for its own hash.
#[derive(Default)]
pub(in crate::fact::gather) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
