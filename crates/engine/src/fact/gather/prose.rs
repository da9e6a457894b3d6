//! The sentences of a message that are the user's own words.
//!
//! Pasted text is data: code, logs, mails, quotes, and what follows the colon of a task. This looks only at form;
//! the caller decides what a sentence means.
//!
//! Invariant: a sentence is a slice of the message.

use std::sync::LazyLock;

use regex::Regex;

use crate::full_stop::stop_goes_on;

/// A longer message is a document; the rest is ignored.
const MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// A longer sentence is not a short statement.
const SENTENCE_CHARACTERS_MAX: usize = 400;

static LOG_OR_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        ^\s*\[?\d{4}-\d{2}-\d{2}[T\s] | ^\s*\[?\d{2}:\d{2}:\d{2} | ^\s*(?:\$|>>>|PS|root@\S+)\s
        | ^\s*<\d+>|^\s*(?:at\s\S+\(|Traceback|File\s") | \b(?:ERROR|WARN|INFO|DEBUG|FATAL|TRACE)\b
        | [;{}]\s*$ | ^\s*(?://|/\*|\#include|\#!|import\s\S+|def\s|fn\s|class\s\w+[:{(]|let\s\w+\s=|const\s|var\s|return\s|SELECT\s|INSERT\s|UPDATE\s\w+\sSET)
        | ^\s*[\w.-]+\s*=\s*\S+\s*$ | ^\s*"?[\w-]+"?\s*:\s*["{\[] | ^\s*</?[a-zA-Z][^>]*> | ^\s*[|+]
        | => | ::\w | \w\(\) | == | && "#,
    )
    .expect("the pattern is valid")
});
static MAIL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        ^\s*(?:from|to|cc|subject|sent|date|von|an|betreff|gesendet|datum|de|objet|asunto)\s*:\s\S
        | ^\s*-{2,}\s*(?:original|forwarded|ursprüngliche|weitergeleitete) | ^\s*begin\sforwarded
        | ^\s*on\s.+\swrote:\s*$ | ^\s*am\s.+\sschrieb\s.+:\s*$
        | ^\s*(?:dear|sehr\sgeehrte\w*|liebe[rs]?|hi|hello|hallo)\s[\w\s.]+,\s*$",
    )
    .expect("the pattern is valid")
});
static SPEAKER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\p{Lu}[\w.'-]*(?: \p{Lu}[\w.'-]*)?:\s").expect("the pattern is valid")
});
pub(super) struct Sentence<'m> {
    pub text: &'m str,
    pub is_question: bool,
}

/// The sentences of `message` that are neither pasted nor quoted.
///
/// A line that begins with a name and a colon is that person's words. `is_label` tells other words before a
/// colon, such as "Update:".
pub(super) fn own_sentences(message: &str, is_label: impl Fn(&str) -> bool) -> Vec<Sentence<'_>> {
    let message = &message[..message.floor_char_boundary(MESSAGE_BYTES_MAX)];
    let mut sentences = Vec::new();
    let mut in_code = false;
    for line in message.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        if MAIL.is_match(line) {
            // A mail continues to the end, because nothing marks its end.
            break;
        }
        let pasted = in_code
            || trimmed.starts_with(['>', '#'])
            || line.starts_with("    ")
            || line.starts_with('\t')
            || LOG_OR_CODE.is_match(line)
            || SPEAKER.is_match(trimmed) && !is_label(trimmed);
        if !pasted {
            let bare = trimmed.trim_start_matches(['-', '*', '•', ' ']);
            sentences.extend(split(bare).into_iter().filter(|it| is_talk(it.text)));
        }
    }
    sentences
}

fn split(line: &str) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, character) in line.char_indices() {
        if !matches!(character, '.' | '!' | '?' | '…' | '。' | '？') {
            continue;
        }
        let end = at + character.len_utf8();
        let ends_here = line[end..]
            .chars()
            .next()
            .is_none_or(|next| next.is_whitespace() || "\")”»".contains(next));
        if ends_here && !stop_goes_on(&line[start..end], &line[end..]) {
            sentences.push(&line[start..end]);
            start = end;
        }
    }
    sentences.push(&line[start..]);
    let sentences = sentences.into_iter().map(str::trim).filter(|text| !text.is_empty());
    sentences.map(|text| Sentence { text, is_question: text.ends_with(['?', '？']) }).collect()
}

/// Not a quote, and short enough for a statement.
fn is_talk(sentence: &str) -> bool {
    let quoted = sentence.starts_with(['"', '“', '„', '«', '\'', '‘'])
        || sentence.contains(|it| "\"“”„«»".contains(it)) && quote_is_a_sentence(sentence);
    !quoted && sentence.chars().count() <= SENTENCE_CHARACTERS_MAX
}

/// A quote of four words or more is somebody's words, a shorter one is a name. It may continue in the next
/// sentence.
fn quote_is_a_sentence(sentence: &str) -> bool {
    sentence
        .split(|it| "\"“”„«»".contains(it))
        .skip(1)
        .step_by(2)
        .any(|quote| quote.split_whitespace().count() > 3)
}
