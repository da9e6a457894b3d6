//! Which sentences and clauses of a message can state something, each judged by itself.
//!
//! A request to rewrite a text closes the text that it is about, a condition ends its clause, and somebody's words
//! close the rest of their sentence: what stands elsewhere in the message is still the user's own. What a clause
//! means is decided elsewhere.
//!
//! Invariant: a clause is a slice of the message.

use super::lexicon::Language;
use super::prose::{self, Sentence};

/// A clause that a condition cuts off must have so many words left.
const WORDS_BEFORE_CONDITION_MIN: usize = 3;
/// A shorter last clause of a question belongs to the statement before it: "I'm vegan, am I?"
const QUESTION_WORDS_MIN: usize = 4;

/// The sentences of a message that are neither pasted nor quoted.
pub(super) struct Reading<'m> {
    pub sentences: Vec<Sentence<'m>>,
    /// Whether each may state something by its form.
    open: Vec<bool>,
}

impl<'m> Reading<'m> {
    pub(super) fn of(languages: &[&Language], message: &'m str) -> Self {
        let sentences = own_sentences(languages, before_quote(languages, message));
        let any = |has: fn(&Language, &str) -> bool, text: &str| {
            languages.iter().any(|language| has(language, text))
        };
        let is_closed = any(|language, text| language.never_message.is_match(text), message)
            || any(|language, text| language.unsaved.is_match(text), message);
        let is_task = |language: &Language, text: &str| language.never_after.is_match(text);
        let is_about_all = |language: &Language, text: &str| language.never_around.is_match(text);
        let task =
            sentences.iter().position(|it| any(is_task, it.text) || any(is_about_all, it.text));
        let from = match task {
            Some(at) if any(is_about_all, sentences[at].text) => 0,
            task => task.unwrap_or(sentences.len()),
        };
        // What follows a colon is the text of the task, to its end.
        let has_asides = task.is_none_or(|at| !sentences[at].text.contains(':'));
        let is_aside = |text: &str| any(|language, text| language.aside.is_match(text), text);
        let open = sentences.iter().enumerate().map(|(at, sentence)| {
            !is_closed && (at < from || has_asides && is_aside(sentence.text))
        });
        Self { open: open.collect(), sentences }
    }

    /// Whether a sentence may state something without being asked to be remembered.
    pub(super) fn is_open(&self, at: usize) -> bool {
        self.open[at]
    }
}

pub(super) fn own_sentences<'m>(languages: &[&Language], message: &'m str) -> Vec<Sentence<'m>> {
    prose::own_sentences(message, |line| {
        languages.iter().any(|language| {
            [
                &language.lead,
                &language.explicit_lead,
                &language.tell_lead,
                &language.instruction_lead,
            ]
            .iter()
            .any(|lead| lead.is_match(line))
        })
    })
}

/// The message up to words that introduce somebody's text: "here is the customer's message: …".
///
/// Nothing marks where such a text ends, so it continues to the end of the message.
fn before_quote<'m>(languages: &[&Language], message: &'m str) -> &'m str {
    let starts = languages.iter().filter_map(|language| language.quoting.find(message));
    &message[..starts.map(|found| found.start()).min().unwrap_or(message.len())]
}

/// The clauses of a sentence that the user asserts: not the one that asks, nor what is wished, reported or only so on a
/// condition.
pub(super) fn asserted<'s>(language: &Language, sentence: &Sentence<'s>) -> Vec<&'s str> {
    let text = without_leads(language, sentence.text);
    if language.condition.find(text).is_some_and(|found| found.start() == 0) {
        return Vec::new();
    }
    let mut clauses = clauses(language, sentence.text);
    if sentence.is_question {
        // "I'm vegan, what can I cook?" states something; "I'm vegan, am I?" does not.
        let question = clauses.pop().unwrap_or_default();
        if question.split_whitespace().count() < QUESTION_WORDS_MIN {
            return Vec::new();
        }
    }
    let reported = clauses.iter().position(|clause| language.report.is_match(clause));
    clauses.truncate(reported.unwrap_or(clauses.len()));
    clauses.retain(|clause| !language.wish.is_match(clause));
    clauses.into_iter().filter_map(|clause| before_condition(language, clause)).collect()
}

/// A clause without the condition at its end: "I take the aisle seat if I can get one".
fn before_condition<'c>(language: &Language, clause: &'c str) -> Option<&'c str> {
    let Some(found) = language.condition.find(clause) else { return Some(clause) };
    let rest = clause[..found.start()].trim_end_matches(|it: char| !it.is_alphanumeric());
    (rest.split_whitespace().count() >= WORDS_BEFORE_CONDITION_MIN).then_some(rest)
}

/// A sentence that tells the assistant what to do, also as a question: "could you always …?", "never …, okay?"
pub(super) fn directive<'s>(language: &Language, sentence: &Sentence<'s>) -> Option<&'s str> {
    let text = without_leads(language, sentence.text);
    if !sentence.is_question {
        return Some(text.trim_end_matches(['.', '!', ' ']));
    }
    let text = text.trim_end_matches(['?', ' ']);
    match language.ask_lead.find(text) {
        Some(lead) => Some(&text[lead.end()..]),
        None => language.ask_tag.find(text).map(|tag| &text[..tag.start()]),
    }
}

/// The clauses of a sentence, without introductions, closing thanks and final punctuation.
pub(super) fn clauses<'s>(language: &Language, sentence: &'s str) -> Vec<&'s str> {
    let tail = language.tail.find(sentence);
    let sentence = &sentence[..tail.map_or(sentence.len(), |tail| tail.start())];
    let inserted = language.inserted.find(sentence).map(|found| found.range());
    let mut clauses = Vec::new();
    let mut start = 0;
    for joint in language.joint.captures_iter(sentence) {
        let (Some(whole), Some(next)) = (joint.get(0), joint.name("next")) else { continue };
        let is_inserted = inserted.as_ref().is_some_and(|it| it.contains(&whole.start()));
        if is_inserted || language.elided.is_match(whole.as_str()) {
            continue;
        }
        clauses.push(&sentence[start..whole.start()]);
        start = next.start();
    }
    clauses.push(&sentence[start..]);
    let clauses = clauses.into_iter().map(|clause| without_leads(language, clause));
    clauses.map(|clause| clause.trim_end_matches(['.', '!', '?', ',', ';', ' '])).collect()
}

pub(super) fn without_leads<'c>(language: &Language, mut clause: &'c str) -> &'c str {
    while let Some(lead) = language.lead.find(clause)
        && lead.end() < clause.len()
        && !language.explicit_lead.is_match(clause)
        && lead.as_str().ends_with(|it: char| !it.is_alphanumeric())
    {
        clause = &clause[lead.end()..];
    }
    clause.trim()
}
