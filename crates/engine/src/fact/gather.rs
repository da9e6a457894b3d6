//! Finds lasting statements in a user's message, without a model.
//!
//! A statement is explicit ("remember that my rack is R42") or has a form that states something lasting ("I'm
//! allergic to nuts"). Everything else is ignored: questions, conditions, quotes, reported speech, requests,
//! moods. If in doubt, nothing is gathered: a wrong fact costs more than a missing one. The input must be a
//! user's message, never a tool result; nothing is stored here.
//!
//! Invariant: a statement's text is part of its sentence, and its sentence is part of the message.

mod changes;
mod clues;
mod fitting;
mod lexicon;
mod likely;
mod prose;
mod question;
mod reading;
mod reworded;
mod subject;
mod value;

pub use changes::{Ended, stated_over};
use clues::Around;
pub use fitting::{Candidate, candidates};
pub use lexicon::warm_up;
use lexicon::{Form, Language};
use prose::Sentence;
pub(crate) use question::{Question, Unwanted, asked, unwanted};
use reading::{Reading, asserted, clauses, directive, own_sentences, without_leads};
use value::fits;

use super::{Fact, FactKind};

/// A message with more statements is a document; the rest is ignored.
const STATEMENTS_MAX: usize = 12;
/// A longer sentence is not stored whole because one of its clauses ends something.
const ENDING_WORDS_MAX: usize = 20;

/// A lasting statement of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// In the user's words, with a capital first letter.
    pub text: String,
    /// In lower case: "site code for lisbon".
    pub subject: Option<String>,
    pub kind: FactKind,
    /// The sentence as the user wrote it.
    pub sentence: String,
    /// Whether the user asked to remember it.
    pub explicit: bool,
    /// What it says is no longer so, if it says that.
    pub ends: Option<Ended>,
}

/// The lasting statements in `message`, in order.
pub fn stated(message: &str) -> Vec<Statement> {
    claims(message).into_iter().filter(|it| !it.needs_known()).collect()
}

/// The lasting statements in `message`, with those that only end another one.
pub(super) fn claims(message: &str) -> Vec<Statement> {
    let languages = lexicon::languages_of(message);
    let reading = Reading::of(&languages, message);
    let sentences = &reading.sentences;
    let mut statements: Vec<Statement> = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        let found = languages.iter().map(|language| {
            let told = told(language, sentences, at);
            if told.is_empty() && reading.is_open(at) { said(language, sentence) } else { told }
        });
        let found = found.max_by_key(Vec::len).unwrap_or_default();
        for statement in found {
            if !statements.iter().any(|it| it.text == statement.text) {
                statements.push(statement);
            }
        }
    }
    statements.truncate(STATEMENTS_MAX);
    statements
}

/// Whether the user asked not to remember the message.
pub(crate) fn is_unsaved(message: &str) -> bool {
    lexicon::languages_of(message).iter().any(|language| language.unsaved.is_match(message))
}

/// A statement with the value that `message` gives instead of its own: "no wait, 89", "actually it's 89".
///
/// Only a number is taken for a number, and a name for a name.
pub(crate) fn corrected(message: &str, statement: &str) -> Option<String> {
    let message = message.trim().trim_end_matches(['.', '!', ' ']);
    let (rest, last) = statement.rsplit_once(' ')?;
    lexicon::languages_of(message).into_iter().find_map(|language| {
        let groups = language.correction.captures(message)?;
        let value = groups.name("value")?.as_str();
        let fits = match last.contains(|it: char| it.is_ascii_digit()) {
            true => value.contains(|it: char| it.is_ascii_digit()),
            false => [last, value].iter().all(|it| it.starts_with(char::is_uppercase)),
        };
        let was = groups.name("old").is_none_or(|old| old.as_str().eq_ignore_ascii_case(last));
        (fits && was).then(|| format!("{rest} {value}"))
    })
}

/// Whether `newer` replaces an older fact with this subject and text.
///
/// It does if both are about the same thing and say something different. They are not merged: the caller keeps
/// the older one as history.
pub fn supersedes(newer: &Statement, older_subject: Option<&str>, older_text: &str) -> bool {
    let (Some(newer_subject), Some(older_subject)) = (newer.subject.as_deref(), older_subject)
    else {
        return false;
    };
    subject::same(newer_subject, older_subject)
        && newer.text.to_lowercase() != older_text.to_lowercase()
}

/// The subject of a text that somebody wants to store: it may refer to things in more ways than a message does,
/// such as "the user". `None` if it states more than one thing.
pub(super) fn subject_of(text: &str) -> Option<String> {
    in_own_words(text).and_then(|words| one_subject(&words)).or_else(|| one_subject(text.trim()))
}

/// The kind of a text that somebody wants to store, by its form. Nobody has to say "from now on" in it.
pub(super) fn kind_of(text: &str) -> FactKind {
    let text = text.trim();
    let is_rule = |language: &Language| {
        language.instruction_body.is_match(text)
            && subject::of_instruction(language, text).is_some()
    };
    let own = || in_own_words(text).map(|words| stated(&words)).unwrap_or_default();
    let kind = stated(text).into_iter().chain(own()).next().map(|statement| statement.kind);
    match kind.unwrap_or(FactKind::Fact) {
        FactKind::Fact if lexicon::languages_of(text).into_iter().any(is_rule) => {
            FactKind::Instruction
        }
        kind => kind,
    }
}

/// What somebody wrote of "the user", in the user's own words.
pub(super) fn in_own_words(text: &str) -> Option<String> {
    let told_of = lexicon::languages_of(text).into_iter().flat_map(|language| &language.told_of);
    told_of.into_iter().find_map(|(says, own)| {
        let mut words = String::new();
        says.captures(text.trim())?.expand(own, &mut words);
        Some(words)
    })
}

/// The subject of a text that states one thing.
fn one_subject(text: &str) -> Option<String> {
    match <[_; 1]>::try_from(stated(text)) {
        Ok([statement]) => statement.subject,
        Err(several) if !several.is_empty() => None,
        Err(_) => named(text),
    }
}

/// The subject of a single clause that has a form, whatever the value: "my scooter is red".
fn named(text: &str) -> Option<String> {
    let languages = lexicon::languages_of(text);
    let sentences = own_sentences(&languages, text);
    let [sentence] = sentences.as_slice() else { return None };
    languages.into_iter().filter(|_| !sentence.is_question).find_map(|language| {
        let clauses = clauses(language, sentence.text);
        let [clause] = clauses.as_slice() else { return None };
        let named = language.forms.iter().filter(|form| form.subject.contains("{what}"));
        let (form, groups) =
            named.filter_map(|form| Some((form, form.says.captures(clause)?))).next()?;
        Some(subject::from_template(language, &form.subject, &groups))
    })
}

/// A key that is equal for subjects naming the same thing.
pub(super) fn subject_key(subject: &str) -> String {
    Vec::from_iter(subject::words(subject)).join(" ")
}

/// The statements that the sentence asks to remember, or asks to remember from its neighbour.
fn told(language: &Language, sentences: &[Sentence<'_>], at: usize) -> Vec<Statement> {
    let sentence = &sentences[at];
    if language.never_sentence.is_match(sentence.text) || language.report.is_match(sentence.text) {
        return Vec::new();
    }
    let is_question = sentence.is_question && !language.explicit_asks.is_match(sentence.text);
    let is_trailer = |other: &Sentence<'_>| language.explicit_trailer.is_match(other.text);
    let text = without_leads(language, sentence.text);
    if let Some(lead) = language.explicit_lead.find(text)
        && !is_question
    {
        // "remember my …": the possessive belongs to the statement.
        let start = match lead.as_str().ends_with(char::is_alphanumeric) {
            true => lead.as_str().rfind(char::is_whitespace).map_or(lead.end(), |space| space + 1),
            false => lead.end(),
        };
        let rest = text[start..].trim();
        // "Remember, small steps count" is advice; "remember, my rack is R42" has a form.
        let is_advice = language.advice_lead.is_match(lead.as_str())
            && !clauses(language, rest).iter().any(|clause| form_of(language, clause).is_some());
        if !is_advice {
            return remembered(language, rest, sentence.text);
        }
    }
    let asked_after = sentences.get(at + 1).is_some_and(is_trailer);
    let asked_before = at == 1 && is_trailer(&sentences[0]);
    if (asked_after || asked_before) && !sentence.is_question {
        return remembered(language, text, sentence.text);
    }
    Vec::new()
}

/// What was asked to be remembered: each clause by its form, or all of it as a fact.
fn remembered(language: &Language, rest: &str, sentence: &str) -> Vec<Statement> {
    let rest = rest.trim_end_matches(['.', '!', '?', ' ']);
    if rest.split_whitespace().count() < 2 || language.explicit_reject.is_match(rest) {
        return Vec::new();
    }
    let clauses = clauses(language, rest);
    let forms: Vec<_> = clauses.iter().map(|clause| form_of(language, clause)).collect();
    if forms.iter().all(Option::is_some) {
        let found = clauses.iter().zip(forms.into_iter().flatten());
        return found.map(|(clause, form)| statement(clause, form, sentence, true)).collect();
    }
    let form = forms.into_iter().flatten().next().unwrap_or(Meaning::of(FactKind::Fact, None));
    vec![statement(rest, form, sentence, true)]
}

/// The statements the sentence makes by its form.
fn said(language: &Language, sentence: &Sentence<'_>) -> Vec<Statement> {
    if language.never_sentence.is_match(sentence.text) {
        return Vec::new();
    }
    if let Some(bare) = directive(language, sentence)
        && language.instruction_form.is_match(bare)
        && !language.never_instruction.is_match(bare)
        && !language.report.is_match(bare)
    {
        // "Call me Sam from now on" is about the user's name.
        let plain = plain_form(language, bare).filter(|it| it.kind != FactKind::Instruction);
        let subject = || subject::of_instruction(language, bare);
        let meaning = plain.unwrap_or_else(|| Meaning::of(FactKind::Instruction, subject()));
        return vec![statement(bare, meaning, sentence.text, false)];
    }
    if language.trouble.is_match(sentence.text) {
        return Vec::new();
    }
    let text = without_leads(language, sentence.text);
    if let Some(lead) = language.tell_lead.find(text)
        && !language.condition.is_match(text)
        && !language.report.is_match(text)
    {
        return announced(language, &text[lead.end()..], sentence);
    }
    weighed(language, &asserted(language, sentence), sentence)
}

/// The statements among clauses: by their form, or because their words are those of a statement.
fn weighed(language: &Language, clauses: &[&str], sentence: &Sentence<'_>) -> Vec<Statement> {
    let found = clauses.iter().filter_map(|clause| {
        let around = Around::of(sentence);
        let likely = || {
            let other = || reworded::others(language, clause);
            let reworded = || other().find_map(|it| likely::meaning(language, &it, around));
            likely::meaning(language, clause, around).or_else(reworded)
        };
        let meaning = form_of(language, clause).or_else(likely)?;
        // "Answer in French: where is the station?" is about this answer.
        let is_for_now = sentence.is_question && meaning.kind == FactKind::Instruction;
        (!is_for_now).then(|| statement(clause, meaning, sentence.text, false))
    });
    let mut found: Vec<Statement> = found.collect();
    // "I quit the bakery, I'm at a flower shop now": what came instead is in the other clause.
    if let [ended] = &mut found[..]
        && ended.needs_known()
        && !sentence.is_question
        && sentence.text.split_whitespace().count() <= ENDING_WORDS_MAX
    {
        ended.text = sentence.text.trim_end_matches(['.', '!', ' ']).to_owned();
    }
    found
}

/// What is announced by words such as "for your information": by its form, or any statement that is not news.
fn announced(language: &Language, rest: &str, sentence: &Sentence<'_>) -> Vec<Statement> {
    if sentence.is_question || language.never_clause.is_match(rest) {
        return Vec::new();
    }
    let has_form = clauses(language, rest).iter().any(|clause| form_of(language, clause).is_some());
    if !has_form && language.tell_reject.is_match(rest) {
        return weighed(language, &clauses(language, rest), sentence);
    }
    let found = remembered(language, rest, sentence.text).into_iter();
    found.map(|statement| Statement { explicit: false, ..statement }).collect()
}

/// What a clause states by its form.
struct Meaning {
    kind: FactKind,
    subject: Option<String>,
    ends: Option<Ended>,
}

impl Meaning {
    fn of(kind: FactKind, subject: Option<String>) -> Self {
        Self { kind, subject, ends: None }
    }
}

fn statement(text: &str, meaning: Meaning, sentence: &str, explicit: bool) -> Statement {
    let Meaning { kind, subject, ends } = meaning;
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    Statement {
        text: first + characters.as_str(),
        subject,
        kind,
        sentence: sentence.to_owned(),
        explicit,
        ends,
    }
}

/// What a clause means, if it has a form that states something lasting.
fn form_of(language: &Language, clause: &str) -> Option<Meaning> {
    if language.never_instruction.is_match(clause) {
        return None;
    }
    let plain = plain_form(language, clause);
    match reworded::ended(language, clause) {
        Some(ends) => {
            let form = plain.or_else(|| reworded::form(language, clause));
            let ends = Ended { needs_known: form.is_none(), ..ends };
            let meaning = form.unwrap_or(Meaning::of(FactKind::Fact, None));
            Some(Meaning { ends: Some(ends), ..meaning })
        }
        None => plain.or_else(|| reworded::form(language, clause)),
    }
}

/// What a clause means by its own words, without or with the adverb of time at its end.
fn plain_form(language: &Language, clause: &str) -> Option<Meaning> {
    let end = language.time.find(clause).map_or(clause.len(), |time| time.start());
    let (kind, subject) = (end > 0)
        .then(|| matching_form(language, &clause[..end]))
        .flatten()
        .or_else(|| (end < clause.len()).then(|| matching_form(language, clause)).flatten())?;
    Some(Meaning::of(kind, subject))
}

fn matching_form(language: &Language, clause: &str) -> Option<(FactKind, Option<String>)> {
    let (body, is_rule) = match language.instruction_lead.find(clause) {
        Some(lead) => (&clause[lead.end()..], true),
        None => (clause, false),
    };
    let first = lexicon::first_word(body);
    let forms = language.forms.iter();
    let mut forms = forms.filter(|form| form.starts.as_ref().is_none_or(|it| it.contains(&first)));
    if let Some(found) = forms.find_map(|form| matched(language, form, body)) {
        return Some(found);
    }
    let is_rule = is_rule && language.instruction_body.is_match(body);
    (is_rule || language.instruction_form.is_match(body))
        .then(|| (FactKind::Instruction, subject::of_instruction(language, body)))
}

fn matched(language: &Language, form: &Form, clause: &str) -> Option<(FactKind, Option<String>)> {
    // Most forms do not match, and checking without groups is cheaper.
    if !form.says.is_match(clause) {
        return None;
    }
    let groups = form.says.captures(clause)?;
    let value = groups.name("value");
    let start = value.map_or(0, |value| value.start());
    let end = groups.name("since").map_or(clause.len(), |since| since.start());
    if language.never_clause.is_match(&clause[start..end]) {
        return None;
    }
    if groups.name("what").is_some_and(|what| language.never_what.is_match(what.as_str())) {
        return None;
    }
    if let Some(value) = value.map(|value| value.as_str())
        && (language.never_value.is_match(value)
            || form.never.as_ref().is_some_and(|never| never.is_match(value))
            || !fits(language, form.value, value))
    {
        return None;
    }
    let subject = subject::from_template(language, &form.subject, &groups);
    // A profile is in every request, and a password is not for every request.
    let is_secret = subject.split(' ').any(|word| language.secret.contains(word));
    let kind = match form.kind {
        FactKind::Profile if is_secret => FactKind::Fact,
        kind => kind,
    };
    Some((kind, Some(subject)))
}

#[cfg(test)]
mod tests;
