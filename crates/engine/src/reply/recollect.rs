//! Answers that need neither a tool nor a model: what the user told of themselves, what is written in the agent's
//! rules and references, and what was said earlier.
//!
//! Invariant: everything is quoted, with where it is from.

use std::fmt::Write;

use crate::agent::Document;
use crate::fact::gather::{self, Question};
use crate::fact::{Fact, FactSource, Forgetting};
use crate::history;
use crate::lexicon::{self, Class, Say};
use crate::memory::Recalled;
use crate::piece::{HistoryPart, Source};
use crate::search::words::{content_stems, stems};
use crate::session::record::ReplyForm;

use super::{ReplyRequest, wording};

/// Earlier words worth quoting.
const SCORE_MIN: f32 = 0.5;
/// Words that a question needs which does not speak of the user.
const WORDS_MIN: usize = 2;
/// Texts that are quoted at most.
const QUOTED_MAX: usize = 3;
/// Characters of each.
const CHARACTERS_MAX: usize = 400;

/// What the user has told of themselves that answers the message: it is about what is asked for, or has every word of
/// the question that matters.
pub fn told_by_user(asked: &ReplyRequest<'_>) -> Option<String> {
    let questions = gather::asked(asked.message);
    let answers = |fact: &&Fact| questions.iter().any(|question| question.is_answered_by(fact));
    let facts: Vec<&Fact> = facts(asked).filter(answers).collect();
    if !facts.is_empty() || questions.iter().any(Question::is_closed) {
        return quoted(asked, Say::Told, &facts);
    }
    let language = lexicon::of(asked.message);
    let own = |word: &str| {
        let lower = word.to_lowercase();
        language.is(Class::My, &lower) || language.is(Class::I, &lower)
    };
    let asks = asked.message.split(|c: char| !c.is_alphanumeric()).any(own)
        && language.asks_for_something(asked.message);
    let wanted = stems(asked.message);
    if !asks || wanted.is_empty() {
        return None;
    }
    // "my birthday" is not what was told of "my sister's birthday".
    let other = |fact: &Fact| questions.iter().any(|question| question.is_narrowed_by(fact));
    let facts = self::facts(asked).filter(|fact| !other(fact) && covers(fact, &wanted));
    quoted(asked, Say::Told, &Vec::from_iter(facts))
}

/// What the user has told that has every word of a question that nothing else answers.
pub fn told_before(asked: &ReplyRequest<'_>) -> Option<String> {
    let wanted = content_stems(asked.message);
    let asks = lexicon::of(asked.message).asks_for_something(asked.message);
    if !asks || wanted.len() < WORDS_MIN {
        return None;
    }
    let facts = facts(asked).filter(|fact| covers(fact, &wanted));
    quoted(asked, Say::Told, &Vec::from_iter(facts))
}

/// What the user has told about the thing that the message asks about, without certainty that it answers it.
pub fn told_near(asked: &ReplyRequest<'_>) -> Option<String> {
    let questions = gather::asked(asked.message);
    let near = |fact: &&Fact| questions.iter().any(|question| question.is_near(fact));
    quoted(asked, Say::ToldNear, &facts(asked).filter(near).collect::<Vec<_>>())
}

/// What is said of a request to forget something, and whether it was done.
pub fn forgetting(asked: &ReplyRequest<'_>) -> Option<(String, bool)> {
    let listed = |texts: &Vec<String>| format!("\"{}\"", texts.join("\", \""));
    Some(match asked.forgetting? {
        Forgetting::Done(texts) => (say(asked, Say::Forgotten, &[("what", &listed(texts))]), true),
        Forgetting::Nothing { what } => {
            (say(asked, Say::NothingToForget, &[("what", what)]), false)
        }
        Forgetting::Which { what, known } => {
            let with = [("what", what.as_str()), ("known", &listed(known))];
            (say(asked, Say::ForgetWhich, &with), false)
        }
    })
}

fn facts<'a>(asked: &ReplyRequest<'a>) -> impl Iterator<Item = &'a Fact> {
    asked.assembled.facts.iter().map(|hit| &hit.fact)
}

/// Whether a fact has all of these words, and says more.
fn covers(fact: &Fact, wanted: &[String]) -> bool {
    let held = stems(&fact.text);
    wanted.iter().all(|word| held.contains(word)) && held.len() > wanted.len()
}

fn quoted(asked: &ReplyRequest<'_>, how: Say, facts: &[&Fact]) -> Option<String> {
    let line = |fact: &&Fact| match &fact.source {
        Some(FactSource { session, turn, sentence }) => {
            let (session, turn) = (session.to_string(), turn.to_string());
            let place = say(asked, Say::ToldIn, &[("session", &session), ("turn", &turn)]);
            format!("\"{sentence}\" ({place})")
        }
        None => format!("\"{}\" (memory {})", fact.text, fact.id),
    };
    let lines: Vec<String> = facts.iter().take(QUOTED_MAX).map(line).collect();
    (!lines.is_empty()).then(|| say(asked, how, &[("what", &lines.join("; "))]))
}

/// A sentence in the language of the message.
fn say(asked: &ReplyRequest<'_>, what: Say, with: &[(&str, &str)]) -> String {
    let said = lexicon::of(asked.message).say(what, with);
    said.or_else(|| lexicon::english().say(what, with)).unwrap_or_default()
}

/// What rules and references of the request say about the message, the best first. One that is always in the
/// request, or was added by hand, is quoted where it fits as well as one that would be chosen for the message, or
/// has every word of it that matters.
pub async fn written(asked: &ReplyRequest<'_>) -> Option<String> {
    let wanted: Vec<String> = stems(asked.message);
    let agent = asked.agent;
    let mut documents: Vec<(Option<f32>, &'static str, &Document)> = Vec::new();
    for piece in asked.assembled.receipt.pieces.iter().filter(|piece| piece.sent()) {
        let (kind, name, all) = match &piece.source {
            Source::Rule { name, .. } => ("rule ", name, &agent.rules),
            Source::Reference { name, .. } => ("", name, &agent.references),
            _ => continue,
        };
        let document = all.iter().find(|document| document.name == *name);
        // The score of what came in earlier is that of an earlier message.
        let score = piece.score.filter(|_| piece.since.is_none());
        documents.extend(document.map(|document| (score, kind, document)));
    }
    let unscored: Vec<&Document> =
        documents.iter().filter(|(score, ..)| score.is_none()).map(|(.., d)| *d).collect();
    let scores = asked.ports.selector.score_documents(&unscored, asked.message).await;
    let score_min = asked.ports.limits.score_min;
    let mut found: Vec<(f32, String)> = Vec::new();
    for (score, kind, document) in documents {
        let held = stems(&format!("{} {} {}", document.name, document.description, document.text));
        let covered = !wanted.is_empty() && wanted.iter().all(|word| held.contains(word));
        let shares = wanted.iter().any(|word| held.contains(word));
        let own = scores.get(&document.hash).filter(|score| **score >= score_min && shares);
        let score = score.or(covered.then_some(1.0)).or(own.copied());
        let line = || format!("- {kind}{}: {}", document.name, start_of(document.text.trim()));
        found.extend(score.map(|score| (score, line())));
    }
    found.sort_by(|left, right| right.0.total_cmp(&left.0));
    found.truncate(QUOTED_MAX);
    found.first()?;
    let lines: Vec<String> = found.into_iter().map(|(_, line)| line).collect();
    Some(format!("This is written down about it:\n{}", lines.join("\n")))
}

/// What the conversation already holds, and a plain word on what is not there.
pub fn said_earlier(asked: &ReplyRequest<'_>, why: &str, hint: &str) -> String {
    let plain = format!(
        "This was answered without a model ({why}), so only tools, references and what the conversation \
         already holds can be used."
    );
    let wanted = stems(asked.message);
    // Without a model nobody can tell whether words that are merely near answer anything.
    let shares = |recalled: &&Recalled| {
        let held = stems(&format!("{} {}", recalled.record.message, words_of(recalled)));
        wanted.is_empty() || wanted.iter().any(|word| held.contains(word))
    };
    let recalled = asked.assembled.recalled.iter().filter(|recalled| recalled.score >= SCORE_MIN);
    let recalled: Vec<&Recalled> =
        recalled.filter(|r| says_something(r)).filter(shares).take(QUOTED_MAX).collect();
    if recalled.is_empty() {
        let nothing = match asked.unavailable.is_empty() {
            true => "I found no tool and nothing said earlier that answers this.",
            false => "Nothing said earlier answers this.",
        };
        let hint = if hint.is_empty() { String::new() } else { format!(" {hint}") };
        return format!("{nothing}{hint} {plain}");
    }
    let mut text = "The conversation already holds this:".to_owned();
    for recalled in recalled {
        let words = words_of(recalled);
        let _ = write!(text, "\n- turn {}: {}", recalled.record.turn, start_of(&words));
    }
    match asked.unavailable.is_empty() {
        true => format!("{text}\n\n{plain}"),
        false => format!("{text}\n\n{hint} {plain}"),
    }
}

fn words_of(recalled: &Recalled) -> String {
    match recalled.part {
        HistoryPart::Results => wording::results(&recalled.record.calls),
        part => history::text_of(&recalled.record, part),
    }
}

/// Whether it can answer anything: a question or a request cannot, nor can a reply of this kind that found nothing.
fn says_something(recalled: &Recalled) -> bool {
    let record = &recalled.record;
    match recalled.part {
        HistoryPart::Message => !lexicon::of(&record.message).asks_for_something(&record.message),
        HistoryPart::Reply => {
            !(matches!(record.form, ReplyForm::Offline { .. }) && record.calls.is_empty())
        }
        HistoryPart::Results => true,
    }
}

fn start_of(text: &str) -> String {
    text.chars().take(CHARACTERS_MAX).collect()
}
