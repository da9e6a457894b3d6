//! BM25 over an inverted index that is updated one document at a time.
//!
//! Documents are *slots*: small numbers assigned and reused by the callers. A query costs as much as the postings
//! of its words, whatever else is indexed. A word of a query also matches words of similar meaning, with a lower
//! score.
//!
//! Invariant: the postings contain exactly the words of the documents that were set and not removed.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::thesaurus;
use super::words::{WordHash, counted, word_hash};

/// BM25's `k1`: how fast a repeated word stops counting.
const SATURATION: f32 = 1.2;

/// Minimum share of the word's own score for a similar word: common words cost much and say little.
const FORM_SHARE_MIN: f32 = 0.1;

/// Minimum share of the query's heaviest word: lighter words are in nearly every text, so they cost most and
/// distinguish nothing.
const WORD_SHARE_MIN: f32 = 0.05;

pub type Slot = u32;

type Term = u32;

#[derive(Debug)]
pub struct WordIndex {
    /// BM25's `b`: how much a long text is penalised, 0–1.
    length_penalty: f32,
    terms: HashMap<WordHash, Term, BuildHasherDefault<Spread>>,
    postings: Vec<Vec<Posting>>,
    documents: Vec<Document>,
    present: usize,
    words_total: u64,
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    slot: Slot,
    count: u16,
    /// Words in the whole text, stored here so that scoring reads only postings.
    words: u16,
}

#[derive(Debug, Clone, Default)]
struct Document {
    terms: Box<[Term]>,
    words: u32,
}

#[derive(Debug, Clone, Default)]
pub struct QueryWord {
    /// The score of a text of average length that contains it once: the rarer, the higher.
    pub weight: f32,
    /// The words that count as this one, and the score of each.
    forms: Vec<(Term, f32)>,
}

impl WordIndex {
    /// `length_penalty` is how much a long text is penalised, 0–1.
    pub fn new(length_penalty: f32) -> Self {
        Self {
            length_penalty,
            terms: HashMap::default(),
            postings: Vec::new(),
            documents: Vec::new(),
            present: 0,
            words_total: 0,
        }
    }

    /// Sets the words of a document, replacing earlier ones.
    pub fn set(&mut self, slot: Slot, words: &[String]) {
        self.set_counted(slot, &counted(words));
    }

    /// Sets the words of a document from their counts.
    pub fn set_counted(&mut self, slot: Slot, words: &[(WordHash, u16)]) {
        self.remove(slot);
        if self.documents.len() <= slot as usize {
            self.documents.resize_with(slot as usize + 1, Document::default);
        }
        let total: u32 = words.iter().map(|(_, count)| u32::from(*count)).sum();
        if total == 0 {
            return;
        }
        let length = u16::try_from(total).unwrap_or(u16::MAX);
        let mut terms = Vec::with_capacity(words.len());
        for (word, count) in words {
            let term = self.term(*word);
            self.postings[term as usize].push(Posting { slot, count: *count, words: length });
            terms.push(term);
        }
        self.present += 1;
        self.words_total += u64::from(total);
        self.documents[slot as usize] = Document { terms: terms.into_boxed_slice(), words: total };
    }

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

    pub fn words(&self, slot: Slot) -> u32 {
        self.documents.get(slot as usize).map_or(0, |document| document.words)
    }

    /// Each distinct word of a query, with similar words.
    pub fn weigh(&self, words: &[String]) -> Vec<QueryWord> {
        let mut query = self.weigh_exactly(words);
        let heaviest = query.iter().map(|word| word.weight).fold(0.0, f32::max);
        for (word, weighed) in different(words).into_iter().zip(&mut query) {
            if weighed.weight < WORD_SHARE_MIN * heaviest {
                weighed.forms.clear();
                continue;
            }
            for (near, closeness) in thesaurus::near(word) {
                let Some(term) = self.terms.get(&word_hash(near)) else { continue };
                let rarity = weighed.weight.min(self.rarity(Some(*term)));
                let weight = closeness * closeness * rarity;
                if weight >= FORM_SHARE_MIN * weighed.weight {
                    weighed.forms.push((*term, weight));
                }
            }
        }
        query
    }

    /// Each distinct word of a query, without similar words.
    pub fn weigh_exactly(&self, words: &[String]) -> Vec<QueryWord> {
        different(words)
            .into_iter()
            .map(|word| {
                let term = self.terms.get(&word_hash(word)).copied();
                let weight = self.rarity(term);
                QueryWord { weight, forms: term.map(|term| (term, weight)).into_iter().collect() }
            })
            .collect()
    }

    /// The score of each document, indexed by slot up to `slots`. Of the forms of one word the best counts.
    pub fn score(&self, query: &[QueryWord], slots: usize) -> Vec<f32> {
        let mut scores = vec![0.0; slots];
        let mut of_word = vec![0.0_f32; slots];
        let mut touched: Vec<Slot> = Vec::new();
        let average = self.words_total as f32 / self.present.max(1) as f32;
        for word in query {
            for (term, weight) in &word.forms {
                for posting in &self.postings[*term as usize] {
                    let at = posting.slot as usize;
                    let score = weight * self.frequency(*posting, average);
                    if of_word[at] == 0.0 {
                        touched.push(posting.slot);
                    }
                    of_word[at] = of_word[at].max(score);
                }
            }
            for slot in touched.drain(..) {
                scores[slot as usize] += std::mem::take(&mut of_word[slot as usize]);
            }
        }
        scores
    }

    /// Bytes used, without allocator overhead.
    pub fn bytes(&self) -> usize {
        let terms = self.terms.capacity() * (size_of::<(WordHash, Term)>() + 1);
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

    /// 1 for a word that occurs once in a text of average length.
    fn frequency(&self, posting: Posting, average: f32) -> f32 {
        let words = f32::from(posting.words);
        let length = 1.0 - self.length_penalty + self.length_penalty * words / average;
        let count = f32::from(posting.count);
        count * (SATURATION + 1.0) / (count + SATURATION * length)
    }

    fn rarity(&self, term: Option<Term>) -> f32 {
        let found = term.map_or(0, |term| self.postings[term as usize].len());
        let (all, found) = (self.present as f32, found as f32);
        (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
    }

    fn term(&mut self, word: WordHash) -> Term {
        let next = self.postings.len() as Term;
        let term = *self.terms.entry(word).or_insert(next);
        if term == next {
            self.postings.push(Vec::new());
        }
        term
    }
}

/// Spreads the bits of a [`WordHash`], which is already a hash.
#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// The distinct words in alphabetical order.
fn different(words: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::words::stems;

    fn index(texts: &[&str]) -> WordIndex {
        let mut index = WordIndex::new(0.3);
        for (slot, text) in texts.iter().enumerate() {
            index.set(slot as Slot, &stems(text));
        }
        index
    }

    fn scores(index: &WordIndex, query: &str) -> Vec<f32> {
        index.score(&index.weigh(&stems(query)), index.documents.len())
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
    fn a_near_word_counts_less_than_the_word_itself_and_only_once() {
        let index = index(&["the children", "the kids and infants", "the kids", "the harbour"]);
        let scores = scores(&index, "children");
        assert!(scores[0] > scores[1] && scores[1] > 0.0, "{scores:?}");
        assert!(scores[1] <= scores[2], "two near words are no better than one: {scores:?}");
        assert_eq!(scores[3], 0.0);
        let exact = index.score(&index.weigh_exactly(&stems("children")), 4);
        assert_eq!((exact[0], exact[1]), (scores[0], 0.0));
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
