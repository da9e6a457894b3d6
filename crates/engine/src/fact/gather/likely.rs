//! Statements that no form lists, decided by fitted weights: "I coach the under-12s", "our shop opens at ten".
//!
//! A clause is weighed only if it is about the user or something of theirs and is in the present tense. The weights
//! were fitted to labelled messages by `examples/fit_facts.rs`; nothing is learned while the program runs. Forms come
//! first: they know more exactly what a statement is about.
//!
//! Invariant: without weights for a language, nothing is likely.

use std::collections::HashSet;

use super::clues::{self, Around, Token};
use super::lexicon::{Language, LikelyWords, ValueRule};
use super::{FactKind, Meaning, fits, subject};

/// A longer clause tells a story.
const WORDS_MAX: usize = 18;
/// How far from its start a clause names the user.
const OWN_WITHIN: usize = 12;
/// Where a verb of liking makes a preference: "I just like …", not "I carve spoons like …".
const LIKING_WITHIN: usize = 5;
/// Where the verb of "my old bike …" is looked for.
const VERB_WITHIN: usize = 7;

/// A clause to weigh, for fitting the weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub text: String,
    /// Whether the weights decide; if not, it states nothing.
    pub is_open: bool,
    /// Without repetitions.
    pub clues: Vec<String>,
}

/// Whom a clause is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// The user or the user's things.
    Own,
    /// A certain thing.
    Thing,
    /// The assistant: "never use …".
    Rule,
}

/// What a clause means if it probably states something lasting.
pub(super) fn meaning(language: &Language, clause: &str, around: Around<'_>) -> Option<Meaning> {
    let words = language.likely.as_ref()?;
    let tokens = clues::tokens(clause);
    let about = about(words, clause, &tokens)?;
    if weight(words, &tokens, around) < words.threshold {
        return None;
    }
    if about == About::Rule {
        let subject = subject::of_instruction(language, clause);
        return Some(Meaning::of(FactKind::Instruction, subject));
    }
    let subject = subject_of(language, words, clause, &tokens);
    let is_secret = subject.split(' ').any(|word| language.secret.contains(word));
    let kind = match &tokens[..] {
        tokens
            if tokens.iter().take(LIKING_WITHIN).any(|it| words.preference.contains(&it.lower)) =>
        {
            FactKind::Preference
        }
        [first, ..] if words.personal.contains(&first.lower) && !is_secret => FactKind::Profile,
        _ => FactKind::Fact,
    };
    Some(Meaning::of(kind, Some(subject)))
}

/// The clause as the weights see it.
pub(super) fn candidate(words: &LikelyWords, clause: &str, around: Around<'_>) -> Candidate {
    let tokens = clues::tokens(clause);
    let mut clues = Vec::new();
    clues::each(words, &tokens, around, |clue| clues.push(clue.to_owned()));
    clues.sort_unstable();
    clues.dedup();
    let is_open = about(words, clause, &tokens).is_some();
    Candidate { text: clause.to_owned(), is_open, clues }
}

/// The logarithm of the odds that a clause states something lasting.
fn weight(words: &LikelyWords, tokens: &[Token], around: Around<'_>) -> f32 {
    let mut seen: Vec<u64> = Vec::with_capacity(8 * tokens.len());
    let mut known: Vec<(u64, f32)> = Vec::with_capacity(4 * tokens.len());
    clues::each(words, tokens, around, |clue| {
        let hash = words.weights.hash(clue);
        seen.push(hash);
        known.extend(words.weights.get(hash).map(|weight| (hash, weight)));
    });
    seen.sort_unstable();
    seen.dedup();
    known.sort_unstable_by_key(|(hash, _)| *hash);
    known.dedup_by_key(|(hash, _)| *hash);
    // A long clause has many clues; without the root its weight would always be extreme.
    let sum: f32 = known.iter().map(|(_, weight)| weight).sum();
    words.bias + sum / (seen.len().max(1) as f32).sqrt()
}

/// Whom a clause is about, if it may state something.
fn about(words: &LikelyWords, clause: &str, tokens: &[Token]) -> Option<About> {
    let first = &tokens.first()?.lower;
    let count = clause.split_whitespace().count();
    if !(2..=WORDS_MAX).contains(&count) || words.never_first.contains(first) {
        return None;
    }
    let has = |set: &HashSet<String>| {
        tokens.iter().take(OWN_WITHIN).any(|token| set.contains(&token.lower))
    };
    let about = match first {
        first if words.own.contains(first) => About::Own,
        first if words.articles.contains(first) => About::Thing,
        first if words.rule_first.contains(first) && has(&words.rule) => About::Rule,
        _ if has(&words.own) => About::Own,
        _ => return None,
    };
    let is_shouted = !clause.contains(char::is_lowercase);
    (!is_shouted && !is_passing(words, tokens)).then_some(about)
}

/// Whether a clause tells what happened, happens just now or may happen.
fn is_passing(words: &LikelyWords, tokens: &[Token]) -> bool {
    let subject = tokens.iter().take(OWN_WITHIN).position(|it| words.subject.contains(&it.lower));
    // "Years ago I had": a verb of the past may come first.
    let before = tokens.iter().take(subject.unwrap_or(VERB_WITHIN).min(VERB_WITHIN)).skip(1);
    let mut before = before.take_while(|token| !words.present.contains(&token.lower));
    if before.any(|it| words.past.contains(&it.lower) || words.is_past(&it.lower)) {
        return true;
    }
    let Some(subject) = subject else { return false };
    let rest = &tokens[subject + 1..];
    let is_adverb = |token: &&Token| words.adverb.contains(&token.lower);
    let mut rest = rest.iter().skip_while(is_adverb).map(|token| &token.lower);
    let Some(verb) = rest.next() else { return false };
    if words.be.contains(verb) {
        let next = rest.find(|word| !words.adverb.contains(*word));
        return next.is_some_and(|next| words.feeling.contains(next) || words.is_progressive(next));
    }
    if words.able.contains(verb) {
        return rest.next().is_none_or(|next| !words.able_before.contains(next));
    }
    words.past.contains(verb) || words.is_past(verb)
}

/// What a likely statement is about: the thing that is named, or the statement without its numbers and times.
fn subject_of(language: &Language, words: &LikelyWords, clause: &str, tokens: &[Token]) -> String {
    let is_owned = tokens.first().is_some_and(|first| words.starts_thing(&first.lower));
    if is_owned
        && let Some((what, value)) =
            words.copula.iter().find_map(|is| clause.split_once(&format!(" {is} ")))
        && fits(language, ValueRule::Thing, value)
    {
        return subject::normalised(language, what);
    }
    let is_value = |word: &&str| {
        let lower = word.to_lowercase();
        let bare = lower.trim_matches(|it: char| !it.is_alphanumeric());
        bare.contains(|it: char| it.is_ascii_digit()) || words.value.contains(bare)
    };
    let lasting: Vec<&str> = clause.split_whitespace().filter(|word| !is_value(word)).collect();
    subject::normalised(language, &lasting.join(" "))
}
