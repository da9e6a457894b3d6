//! The clauses of labelled messages, for fitting the weights of `likely`.
//!
//! Only `examples/fit_facts.rs` uses it: a message is read exactly as when statements are gathered.
//!
//! Invariant: a clause is a candidate whether or not a form matches it, so that forms do not hide what is missed.

pub use super::likely::Candidate;
use super::reading::{Reading, asserted};
use super::{Around, lexicon, likely, told};

/// The clauses of a message that are weighed, in the language with this position in the list of languages.
pub fn candidates(message: &str, language: usize) -> Vec<Candidate> {
    let languages = lexicon::languages_of(message);
    let Some(language) = lexicon::languages().get(language) else { return Vec::new() };
    let Some(words) = &language.likely else { return Vec::new() };
    let reading = Reading::of(&languages, message);
    let mut found = Vec::new();
    for (at, sentence) in reading.sentences.iter().enumerate() {
        let is_closed = !reading.is_open(at)
            || language.never_sentence.is_match(sentence.text)
            || language.trouble.is_match(sentence.text)
            || !told(language, &reading.sentences, at).is_empty();
        if is_closed {
            continue;
        }
        let clauses = asserted(language, sentence).into_iter();
        found.extend(clauses.map(|it| likely::candidate(words, it, Around::of(sentence))));
    }
    found
}
