//! BM25 over an inverted index that grows, changes and shrinks one document at a time.
//!
//! Documents are *slots*: small numbers that the front doors hand out and reuse. A query costs what its
//! words' postings cost, whatever else the index holds.
//!
//! Invariant: the postings hold exactly the words of the documents that were set and not removed.

use std::collections::HashMap;

/// How fast a repeated word stops counting.
const SATURATION: f32 = 1.2;
/// How much a long text is held against a match. Low: turns are short, and length says little.
const LENGTH_PENALTY: f32 = 0.3;

/// The number of a document in an index.
pub type Slot = u32;

/// A word's number.
type Term = u32;

/// The words of many documents.
#[derive(Debug, Default)]
pub struct WordIndex {
    terms: HashMap<Box<str>, Term>,
    postings: Vec<Vec<Posting>>,
    documents: Vec<Document>,
    present: usize,
    words_total: u64,
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    slot: Slot,
    count: u16,
}

#[derive(Debug, Clone, Default)]
struct Document {
    terms: Box<[Term]>,
    words: u32,
}

impl WordIndex {
    /// What a word that occurs once in a text of average length adds, in units of its weight.
    pub const ONCE: f32 = 1.0;

    /// Sets the words of a document; what it held before is gone.
    pub fn set(&mut self, slot: Slot, words: &[String]) {
        self.remove(slot);
        if self.documents.len() <= slot as usize {
            self.documents.resize_with(slot as usize + 1, Document::default);
        }
        if words.is_empty() {
            return;
        }
        let mut terms: Vec<Term> = words.iter().map(|word| self.term(word)).collect();
        terms.sort_unstable();
        for run in terms.chunk_by(|left, right| left == right) {
            let count = u16::try_from(run.len()).unwrap_or(u16::MAX);
            self.postings[run[0] as usize].push(Posting { slot, count });
        }
        terms.dedup();
        self.present += 1;
        self.words_total += words.len() as u64;
        self.documents[slot as usize] =
            Document { terms: terms.into_boxed_slice(), words: words.len() as u32 };
    }

    /// Takes a document out.
    pub fn remove(&mut self, slot: Slot) {
        let Some(document) = self.documents.get_mut(slot as usize).map(std::mem::take) else {
            return;
        };
        if document.words == 0 {
            return;
        }
        self.present -= 1;
        self.words_total -= u64::from(document.words);
        for term in document.terms {
            let postings = &mut self.postings[term as usize];
            if let Some(at) = postings.iter().rposition(|posting| posting.slot == slot) {
                postings.swap_remove(at);
            }
        }
    }

    /// How many content words a document has.
    pub fn words(&self, slot: Slot) -> u32 {
        self.documents.get(slot as usize).map_or(0, |document| document.words)
    }

    /// Each different word of a query with its weight: the rarer here, the heavier.
    pub fn weigh(&self, words: &[String]) -> Vec<(Option<Term>, f32)> {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.sort_unstable();
        words.dedup();
        words
            .into_iter()
            .map(|word| {
                let term = self.terms.get(word).copied();
                let found = term.map_or(0, |term| self.postings[term as usize].len());
                (term, self.rarity(found))
            })
            .collect()
    }

    /// Adds each document's score for `words` to `scores`, which has one place a slot.
    pub fn score(&self, words: &[String], scores: &mut [f32]) {
        if self.present == 0 {
            return;
        }
        let average = self.words_total as f32 / self.present as f32;
        for (term, weight) in self.weigh(words) {
            let Some(term) = term else { continue };
            for posting in &self.postings[term as usize] {
                let words = self.documents[posting.slot as usize].words as f32;
                let length = 1.0 - LENGTH_PENALTY + LENGTH_PENALTY * words / average;
                let count = f32::from(posting.count);
                scores[posting.slot as usize] +=
                    weight * count * (SATURATION + 1.0) / (count + SATURATION * length);
            }
        }
    }

    /// Bytes held, without what the allocator adds.
    pub fn bytes(&self) -> usize {
        let terms: usize = self.terms.keys().map(|word| word.len() + 24).sum();
        let postings: usize = self
            .postings
            .iter()
            .map(|list| list.capacity() * size_of::<Posting>() + size_of::<Vec<Posting>>())
            .sum();
        let documents: usize = self
            .documents
            .iter()
            .map(|document| document.terms.len() * size_of::<Term>() + size_of::<Document>())
            .sum();
        terms + postings + documents
    }

    fn rarity(&self, found: usize) -> f32 {
        let (all, found) = (self.present as f32, found as f32);
        (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
    }

    fn term(&mut self, word: &str) -> Term {
        if let Some(term) = self.terms.get(word) {
            return *term;
        }
        let term = self.postings.len() as Term;
        self.terms.insert(word.into(), term);
        self.postings.push(Vec::new());
        term
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::words::stems;

    fn index(texts: &[&str]) -> WordIndex {
        let mut index = WordIndex::default();
        for (slot, text) in texts.iter().enumerate() {
            index.set(slot as Slot, &stems(text));
        }
        index
    }

    fn scores(index: &WordIndex, query: &str) -> Vec<f32> {
        let mut scores = vec![0.0; index.documents.len()];
        index.score(&stems(query), &mut scores);
        scores
    }

    #[test]
    fn a_rare_word_weighs_more_than_a_common_one() {
        let index = index(&["red switch", "red router", "red cable", "blue cable"]);
        let scores = scores(&index, "red switch");
        assert!(scores[0] > 2.0 * scores[1], "{scores:?}");
        assert_eq!(scores[3], 0.0);
    }

    #[test]
    fn a_shorter_text_wins_between_equal_matches() {
        let index = index(&["switch", "switch in the dusty corner rack of building seven"]);
        let scores = scores(&index, "switches");
        assert!(scores[0] > scores[1], "{scores:?}");
    }

    #[test]
    fn an_index_that_changed_scores_like_one_built_anew() {
        let mut changed = index(&["alpha beta", "gamma gamma delta", "epsilon", "beta"]);
        changed.set(1, &stems("beta zeta"));
        changed.remove(3);
        changed.set(0, &[]);
        changed.set(0, &stems("alpha alpha gamma"));
        let fresh = index(&["alpha alpha gamma", "beta zeta", "epsilon", ""]);
        for query in ["alpha", "beta gamma", "delta", "zeta epsilon alpha"] {
            assert_eq!(scores(&changed, query), scores(&fresh, query), "{query}");
        }
    }

    #[test]
    fn removing_what_is_not_there_changes_nothing() {
        let mut index = index(&["alpha"]);
        index.remove(7);
        index.remove(0);
        index.remove(0);
        assert_eq!(scores(&index, "alpha"), [0.0]);
    }
}
