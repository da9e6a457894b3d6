//! Answers without tool or model: the user's own statements, the agent's rules and references, and earlier turns.
//!
//! Invariant: everything is quoted with its source.

use std::fmt::Write;

use crate::agent::Document;
use crate::fact::gather::{self, Question};
use crate::fact::{Fact, FactSource, Forgetting};
use crate::history;
use crate::id::SessionId;
use crate::lexicon::{self, Class, Language, Say};
use crate::memory::Recalled;
use crate::piece::{HistoryPart, Source};
use crate::search::words::{content_stems, each_word, stems};
use crate::session::record::{CallRecord, ReplyForm};

use super::{ReplyRequest, wording};

/// Minimum score of earlier turns worth quoting.
const SCORE_MIN: f32 = 0.5;
/// Minimum words of a question that is not about the user.
const WORDS_MIN: usize = 2;
/// Minimum words an earlier turn shares with the topic of a question about what was said, if it has as many.
const SHARED_MIN: usize = 2;
/// Maximum texts quoted.
const QUOTED_MAX: usize = 3;
/// Maximum statements of the user that are quoted if all are asked for.
const QUOTED_OF_ALL_MAX: usize = 20;
/// Maximum characters of each.
const CHARACTERS_MAX: usize = 400;

/// The user's own statements that answer the message: they have the requested subject, or all content words of
/// the question.
pub(super) fn told_by_user(asked: &ReplyRequest<'_>) -> Option<String> {
    let questions = gather::asked(asked.message);
    let answers = |fact: &&Fact| questions.iter().any(|question| question.is_answered_by(fact));
    let facts: Vec<&Fact> = facts(asked).filter(answers).collect();
    if questions.iter().any(Question::is_for_all) && !facts.is_empty() {
        return quoted(asked, Say::Told, &facts, QUOTED_OF_ALL_MAX);
    }
    if !facts.is_empty() || questions.iter().any(Question::is_closed) {
        return quoted(asked, Say::Told, &facts, QUOTED_MAX);
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
    // "my sister's birthday" does not answer "my birthday".
    let other = |fact: &Fact| questions.iter().any(|question| question.is_narrowed_by(fact));
    // "My colleague is vegan" does not answer "am I vegan?".
    let words = |text: &str| -> Vec<String> {
        text.split_whitespace().take(2).map(str::to_lowercase).collect()
    };
    let of_oneself = words(asked.message).get(1).is_some_and(|it| language.is(Class::I, it));
    let of_another = |fact: &Fact| match &words(&fact.text)[..] {
        [my, thing] if language.is(Class::My, my) => {
            !stems(thing).iter().any(|stem| wanted.contains(stem))
        }
        _ => false,
    };
    let facts = self::facts(asked)
        .filter(|fact| !other(fact) && covers(fact, &wanted) && !(of_oneself && of_another(fact)));
    quoted(asked, Say::Told, &Vec::from_iter(facts), QUOTED_MAX)
}

/// The user's own statements that have every word of a question that nothing else answers.
pub(super) fn told_before(asked: &ReplyRequest<'_>) -> Option<String> {
    let wanted = content_stems(asked.message);
    let asks = lexicon::of(asked.message).asks_for_something(asked.message);
    if !asks || wanted.len() < WORDS_MIN {
        return None;
    }
    let facts = facts(asked).filter(|fact| covers(fact, &wanted));
    quoted(asked, Say::Told, &Vec::from_iter(facts), QUOTED_MAX)
}

/// The user's own statements about the same thing, which may not answer the message.
pub(super) fn told_near(asked: &ReplyRequest<'_>) -> Option<String> {
    let questions = gather::asked(asked.message);
    let near = |fact: &&Fact| questions.iter().any(|question| question.is_near(fact));
    quoted(asked, Say::ToldNear, &facts(asked).filter(near).collect::<Vec<_>>(), QUOTED_MAX)
}

/// Whether nobody but the user can answer the message, so that no tool is asked.
pub(super) fn only_user_knows(asked: &ReplyRequest<'_>) -> bool {
    gather::asked(asked.message).iter().any(Question::is_personal)
}

/// The reply to a question that only a statement of the user could answer, and none does.
pub(super) fn not_told(asked: &ReplyRequest<'_>) -> Option<String> {
    let closed = gather::asked(asked.message).iter().any(Question::is_closed);
    closed.then(|| related(asked).unwrap_or_else(|| say(asked, Say::NotTold, &[])))
}

/// The statement in another session that is nearest to a question in meaning, which may not answer it. Only in
/// English, whose meaning the built-in embedder knows, does it need no common word.
fn related(asked: &ReplyRequest<'_>) -> Option<String> {
    let language = lexicon::of(asked.message);
    if !is_question(asked.message) || language.cues.recounts(asked.message) {
        return None;
    }
    let wanted = content_stems(asked.message);
    let is_meant = |message: &str| {
        let shares = || stems(message).iter().any(|word| wanted.contains(word));
        std::ptr::eq(lexicon::of(message), language)
            && (std::ptr::eq(language, lexicon::english()) || shares())
    };
    let states = |recalled: &&Recalled| {
        recalled.session.is_some()
            && recalled.part == HistoryPart::Message
            && recalled.score >= SCORE_MIN
            && says_something(recalled)
            && is_meant(&recalled.record.message)
    };
    let stated = asked.assembled.recalled.iter().filter(states);
    let nearest = stated.max_by(|left, right| left.score.total_cmp(&right.score))?;
    let what = format!("\"{}\" ({})", start_of(&words_of(nearest)), place_of(asked, nearest));
    Some(say(asked, Say::ToldNear, &[("what", &what)]))
}

/// The session and turn of an earlier message.
fn place_of(asked: &ReplyRequest<'_>, recalled: &Recalled) -> String {
    let turn = recalled.record.turn.to_string();
    match &recalled.session {
        None => format!("turn {turn}"),
        Some(session) => say(asked, Say::ToldIn, &[("session", session.as_str()), ("turn", &turn)]),
    }
}

/// The reply to a request to forget something, and whether it was done.
pub(super) fn forgetting(asked: &ReplyRequest<'_>) -> Option<(String, bool)> {
    let listed = |texts: &Vec<String>| format!("\"{}\"", texts.join("\", \""));
    Some(match asked.forgetting? {
        Forgetting::Done { what: Some(what) } => {
            (say(asked, Say::Forgotten, &[("what", &format!("\"{what}\""))]), true)
        }
        Forgetting::Done { what: None } => (say(asked, Say::ForgottenThat, &[]), true),
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

/// Whether a fact has all these words, and says more.
fn covers(fact: &Fact, wanted: &[String]) -> bool {
    let held = stems(&fact.text);
    wanted.iter().all(|word| held.contains(word)) && held.len() > wanted.len()
}

fn quoted(asked: &ReplyRequest<'_>, how: Say, facts: &[&Fact], max: usize) -> Option<String> {
    let line = |fact: &&Fact| match &fact.source {
        Some(FactSource { session, turn, sentence }) => {
            let (session, turn) = (session.to_string(), turn.to_string());
            let place = say(asked, Say::ToldIn, &[("session", &session), ("turn", &turn)]);
            format!("\"{sentence}\" ({place})")
        }
        None => format!("\"{}\" (memory {})", fact.text, fact.id),
    };
    let lines: Vec<String> = facts.iter().take(max).map(line).collect();
    (!lines.is_empty()).then(|| say(asked, how, &[("what", &lines.join("; "))]))
}

/// The languages to read a text of the message in, and to answer it in.
pub(super) fn languages(
    asked: &ReplyRequest<'_>,
    text: &str,
) -> (&'static Language, &'static Language) {
    let earlier = asked.assembled.recent.iter().rev();
    lexicon::in_talk(text, earlier.map(|turn| turn.message.as_str()))
}

/// A sentence in the language of the reply.
pub(super) fn say(asked: &ReplyRequest<'_>, what: Say, with: &[(&str, &str)]) -> String {
    let said = languages(asked, asked.message).1.say(what, with);
    said.or_else(|| lexicon::english().say(what, with)).unwrap_or_default()
}

/// What rules and references of the request say about the message, best first. Permanent and manual ones are
/// quoted if they match as well as one that would be chosen for the message, or have all its content words.
pub(super) async fn written(asked: &ReplyRequest<'_>) -> Option<String> {
    let (is_command, wanted) = topic(asked.message);
    let agent = asked.agent;
    let mut documents: Vec<(Option<f32>, &'static str, &Document)> = Vec::new();
    for piece in asked.assembled.receipt.pieces.iter().filter(|piece| piece.sent()) {
        let (kind, name, all) = match &piece.source {
            Source::Rule { name, .. } => ("rule ", name, &agent.rules),
            Source::Reference { name, .. } => ("", name, &agent.references),
            _ => continue,
        };
        let document = all.iter().find(|document| document.name == *name);
        // The score of a piece added earlier refers to an earlier message.
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
        // A document that only knows how to list things does not answer "list the cables".
        let score = score.filter(|_| covered || !is_command);
        let line = || format!("- {kind}{}: {}", document.name, start_of(document.text.trim()));
        found.extend(score.map(|score| (score, line())));
    }
    found.sort_by(|left, right| right.0.total_cmp(&left.0));
    found.truncate(QUOTED_MAX);
    found.first()?;
    let lines: Vec<String> = found.into_iter().map(|(_, line)| line).collect();
    Some(format!("The rules and references say:\n{}", lines.join("\n")))
}

/// Whether a message begins with a verb of a request, and the stems of its other content words.
fn topic(message: &str) -> (bool, Vec<String>) {
    let language = lexicon::of(message);
    let mut verb = None;
    each_word(message, |word| {
        let family = language.family(word);
        verb = family.map(|_| stems(word));
        family.is_none() && language.is(Class::Filler, word)
    });
    let mut topic = stems(message);
    topic.retain(|word| !verb.iter().flatten().any(|verb| verb == word));
    (verb.is_some(), topic)
}

/// Matching earlier turns, and a sentence about what is missing.
pub(super) fn said_earlier(asked: &ReplyRequest<'_>, why: &str, hint: &str) -> String {
    let plain = say(asked, Say::WithoutModel, &[("why", why)]);
    // What was said of another thing does not answer a question about one's own.
    let own = gather::asked(asked.message).iter().find_map(Question::thing).map(|it| stems(&it));
    let found = match own.filter(|own| !own.is_empty()) {
        Some(own) => match earlier(asked, &own, own.len(), says_something) {
            None => return related(asked).unwrap_or_else(|| say(asked, Say::NotTold, &[])),
            found => found,
        },
        None => {
            let (is_command, topic) = topic(asked.message);
            let shared_min = if is_command { topic.len().max(1) } else { 1 };
            earlier(asked, &topic, shared_min, says_something)
        }
    };
    let Some(text) = found.or_else(|| related(asked)) else {
        let nothing = match asked.unavailable.is_empty() {
            true => say(asked, Say::NoTool, &[]),
            false => say(asked, Say::NothingEarlier, &[]),
        };
        let hint = if hint.is_empty() { String::new() } else { format!(" {hint}") };
        return format!("{nothing}{hint} {plain}");
    };
    match asked.unavailable.is_empty() {
        true => format!("{text}\n\n{plain}"),
        false => format!("{text}\n\n{hint} {plain}"),
    }
}

/// What was said, for a message that asks exactly for that.
pub(super) fn recounted(asked: &ReplyRequest<'_>) -> Option<String> {
    let wanted = content_stems(asked.message);
    // One of the words is that of saying.
    let topic = wanted.len().saturating_sub(1);
    let recounts = lexicon::of(asked.message).cues.recounts(asked.message) && topic > 0;
    // Every message says something, except a question.
    let says = |recalled: &Recalled| match recalled.part {
        HistoryPart::Message => !is_question(&recalled.record.message),
        _ => says_something(recalled),
    };
    recounts.then(|| earlier(asked, &wanted, SHARED_MIN.min(topic), says)).flatten()
}

/// Earlier turns, best first, that share `shared_min` of the wanted words. Without a model it is unknown whether
/// merely similar words answer anything.
fn earlier(
    asked: &ReplyRequest<'_>,
    wanted: &[String],
    shared_min: usize,
    says: impl Fn(&Recalled) -> bool,
) -> Option<String> {
    // A number tells nothing by itself.
    let numeric = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    if !wanted.is_empty() && wanted.iter().all(|word| numeric(word)) {
        return None;
    }
    let shares = |recalled: &&Recalled| {
        // What a tool gave is quoted if it has every word.
        let worded = matches!(recalled.record.form, ReplyForm::Offline { .. });
        let given =
            recalled.part == HistoryPart::Results || recalled.part == HistoryPart::Reply && worded;
        let message = if given { "" } else { recalled.record.message.as_str() };
        let shared_min = if given { wanted.len() } else { shared_min };
        let held = stems(&format!("{message} {}", words_of(recalled)));
        let shared = wanted.iter().filter(|word| held.contains(word)).count();
        wanted.is_empty() && !given || shared >= shared_min
    };
    let recalled = asked.assembled.recalled.iter().filter(|recalled| recalled.score >= SCORE_MIN);
    let recalled = recalled.filter(|recalled| says(recalled)).filter(shares);
    let mut lines = String::new();
    // The reply to a call without a model is its result.
    let mut quoted: Vec<(&Option<SessionId>, u64)> = Vec::new();
    for recalled in recalled {
        let of = (&recalled.session, recalled.record.turn);
        if quoted.len() == QUOTED_MAX {
            break;
        }
        if quoted.contains(&of) && recalled.part != HistoryPart::Message {
            continue;
        }
        quoted.push(of);
        let place = place_of(asked, recalled);
        let _ = write!(lines, "\n- {place}: {}", start_of(&words_of(recalled)));
    }
    (!lines.is_empty()).then(|| format!("{}{lines}", say(asked, Say::SaidEarlier, &[])))
}

/// Whether a message asks: it ends or begins as a question.
fn is_question(message: &str) -> bool {
    let language = lexicon::of(message);
    let words: Vec<String> = message.split_whitespace().map(str::to_lowercase).collect();
    let begins = |class: Class| language.starts(class, words.iter().map(String::as_str)).is_some();
    let asks = begins(Class::What) || begins(Class::Who) || begins(Class::Count);
    message.trim_end().ends_with('?') || asks && language.asks_for_something(message)
}

fn words_of(recalled: &Recalled) -> String {
    match recalled.part {
        HistoryPart::Results => wording::results(&recalled.record.calls),
        part => history::text_of(&recalled.record, part),
    }
}

/// Whether a turn can answer anything: a question or request cannot, nor can an offline reply that found nothing.
fn says_something(recalled: &Recalled) -> bool {
    let record = &recalled.record;
    match recalled.part {
        HistoryPart::Message => !lexicon::of(&record.message).asks_for_something(&record.message),
        HistoryPart::Reply => record.is_recallable(HistoryPart::Reply),
        _ => record.calls.iter().any(CallRecord::ok),
    }
}

fn start_of(text: &str) -> String {
    text.chars().take(CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_needs_no_mark() {
        for (message, expected) in [
            ("which books by Mira do we have", true),
            ("And the rest?", true),
            ("how many are left", true),
            ("Mira wrote three books.", false),
            ("We have what we need", false),
        ] {
            assert_eq!(is_question(message), expected, "{message}");
        }
    }
}
