//! BM25 over an inverted index that grows, changes and shrinks one document at a time.
//!
//! Documents are *slots*: small numbers that the front doors hand out and reuse. A query costs what its
//! words' postings cost, whatever else the index holds. A word of a query is also found by words that
//! mean nearly the same, for less.
//!
//! Invariant: the postings hold exactly the words of the documents that were set and not removed.

use std::collections::HashMap;

use super::thesaurus;

/// How fast a repeated word stops counting.
const SATURATION: f32 = 1.2;

/// A near word that would score less than this share of the word itself is not looked for: it is common,
/// so it costs much and says little.
const FORM_SHARE_MIN: f32 = 0.1;

/// A word that weighs less than this share of the query's heaviest is in nearly every text, so it costs
/// most of all and tells none of them apart: it is not looked for.
const WORD_SHARE_MIN: f32 = 0.05;

/// The number of a document in an index.
pub type Slot = u32;

/// A word's number.
type Term = u32;

/// The words of many documents.
#[derive(Debug)]
pub struct WordIndex {
    /// How much a long text is held against a match, 0–1.
    length_penalty: f32,
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
    /// Words of the whole text, kept here so that scoring reads postings alone.
    words: u16,
}

#[derive(Debug, Clone, Default)]
struct Document {
    terms: Box<[Term]>,
    words: u32,
}

/// A word of a query as this index knows it.
#[derive(Debug, Clone, Default)]
pub struct QueryWord {
    /// What a text of average length that holds it once scores: the rarer here, the more.
    pub weight: f32,
    /// The words that count as it, and what each scores in its place.
    forms: Vec<(Term, f32)>,
}

impl WordIndex {
    /// An empty index; `length_penalty` says how much a long text is held against a match, 0–1.
    pub fn new(length_penalty: f32) -> Self {
        Self {
            length_penalty,
            terms: HashMap::new(),
            postings: Vec::new(),
            documents: Vec::new(),
            present: 0,
            words_total: 0,
        }
    }

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
        let length = u16::try_from(words.len()).unwrap_or(u16::MAX);
        for run in terms.chunk_by(|left, right| left == right) {
            let count = u16::try_from(run.len()).unwrap_or(u16::MAX);
            self.postings[run[0] as usize].push(Posting { slot, count, words: length });
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

    /// Each different word of a query, found by itself and by the words near it.
    pub fn weigh(&self, words: &[String]) -> Vec<QueryWord> {
        let mut query = self.weigh_exactly(words);
        let heaviest = query.iter().map(|word| word.weight).fold(0.0, f32::max);
        for (word, weighed) in different(words).into_iter().zip(&mut query) {
            if weighed.weight < WORD_SHARE_MIN * heaviest {
                weighed.forms.clear();
                continue;
            }
            for (near, closeness) in thesaurus::near(word) {
                let Some(term) = self.terms.get(near) else { continue };
                let rarity = weighed.weight.min(self.rarity(Some(*term)));
                let weight = closeness * closeness * rarity;
                if weight >= FORM_SHARE_MIN * weighed.weight {
                    weighed.forms.push((*term, weight));
                }
            }
        }
        query
    }

    /// Each different word of a query, found by itself alone.
    pub fn weigh_exactly(&self, words: &[String]) -> Vec<QueryWord> {
        different(words)
            .into_iter()
            .map(|word| {
                let term = self.terms.get(word).copied();
                let weight = self.rarity(term);
                QueryWord { weight, forms: term.map(|term| (term, weight)).into_iter().collect() }
            })
            .collect()
    }

    /// Each document's score, one a slot up to `slots`. Of the forms of one word the best counts.
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

/// The words without repetition, in order of the alphabet.
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
