//! Selects the sentences of a summary.
//!
//! Independent of the language: a sentence has a fact if it has a number, a name or an identifier, and is
//! distinctive if its words are rare among the candidates.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use jiff::civil::Date;

use crate::history::HistoryTurn;
use crate::layout;
use crate::piece::{HistoryPart, Source};
use crate::search::words::stems;
use crate::session::head::Summary;
use crate::tokens;

/// Longer sentences are cut.
const SENTENCE_CHARACTERS_MAX: usize = 240;
/// Sentences with fewer content words say nothing: greetings, thanks, exclamations.
const CONTENT_WORDS_MIN: usize = 3;
/// Maximum candidates compared with each other.
const CANDIDATES_MAX: usize = 2_000;
/// Number of sections of the range that each get their share.
const STRETCHES: usize = 12;
/// What a number, a name and an identifier add to a sentence's value, and the factor of a question.
const NUMBER: f32 = 1.0;
const NAME: f32 = 0.7;
const IDENTIFIER: f32 = 0.5;
const QUESTION: f32 = 0.4;
/// The value of a sentence without any of them.
const PLAIN: f32 = 0.3;
/// Tokens of a line besides its sentence.
const LINE_TOKENS: u32 = 5;

struct Candidate {
    turn: u64,
    day: Option<Date>,
    speaker: &'static str,
    text: String,
    stems: BTreeSet<String>,
    worth: f32,
    tokens: u32,
}

/// The summary of `turns` and of what `previous` covers.
pub(super) fn notes(previous: Option<&Summary>, turns: &[HistoryTurn], tokens_max: u32) -> String {
    let mut candidates = Vec::new();
    let mut kept_whole = String::new();
    if let Some(previous) = previous {
        match previous.is_extract() {
            true => candidates.extend(again(&previous.text)),
            // A model's summary is already dense and stays as is.
            false => kept_whole.clone_from(&previous.text),
        }
    }
    for turn in turns {
        for sent in &turn.pieces {
            let Source::History { part, .. } = sent.piece.source else { continue };
            let speaker = match part {
                HistoryPart::Message => "user",
                HistoryPart::Reply => "assistant",
                HistoryPart::Results => continue,
            };
            let sentences = sentences(&sent.piece.text);
            candidates.extend(
                sentences
                    .filter_map(|text| Candidate::of(turn.turn, Some(turn.day), speaker, text)),
            );
        }
    }
    let newest = candidates.len().saturating_sub(CANDIDATES_MAX);
    let room = tokens_max.saturating_sub(tokens::count(&kept_whole));
    let chosen = choose(&candidates[newest..], room);
    let mut lines = written(&chosen);
    if !kept_whole.is_empty() {
        lines.insert_str(0, &format!("{kept_whole}\n"));
    }
    lines.trim_end().to_owned()
}

impl Candidate {
    fn of(turn: u64, day: Option<Date>, speaker: &'static str, text: &str) -> Option<Self> {
        let stems: BTreeSet<String> = stems(text).into_iter().collect();
        if stems.len() < CONTENT_WORDS_MIN {
            return None;
        }
        let text: String = text.chars().take(SENTENCE_CHARACTERS_MAX).collect();
        let (worth, tokens) = (worth(&text), tokens::count(&text) + LINE_TOKENS);
        Some(Self { turn, day, speaker, text, stems, worth, tokens })
    }
}

/// How likely a sentence is to have a fact.
fn worth(text: &str) -> f32 {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let has_digit = |word: &str| word.chars().any(|c| c.is_ascii_digit());
    let mut worth = PLAIN;
    if has_digit(text) {
        worth += NUMBER;
    }
    let is_name = |word: &str| {
        let mut characters = word.chars().filter(|c| c.is_alphanumeric());
        characters.next().is_some_and(char::is_uppercase) && word.chars().count() > 1
    };
    if words.clone().any(is_name) {
        worth += NAME;
    }
    let is_identifier = |word: &str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        inner.contains(['_', '/', '@', ':']) || (inner.contains(['-', '.']) && has_digit(inner))
    };
    if words.chain([first]).any(is_identifier) {
        worth += IDENTIFIER;
    }
    if text.trim_end().ends_with(['?', '？', '؟']) {
        worth *= QUESTION;
    }
    worth
}

/// The candidates that cover most within `room`, with a share for each section of the range.
fn choose(candidates: &[Candidate], room: u32) -> Vec<&Candidate> {
    let mut frequency: HashMap<&str, f32> = HashMap::new();
    for stem in candidates.iter().flat_map(|candidate| &candidate.stems) {
        *frequency.entry(stem).or_default() += 1.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a weight")]
    let all = candidates.len() as f32;
    let weight = |stem: &String| (1.0 + all / frequency[stem.as_str()]).ln();
    let first = candidates.iter().map(|candidate| candidate.turn).min().unwrap_or(1);
    let last = candidates.iter().map(|candidate| candidate.turn).max().unwrap_or(1);
    let stretch = |turn: u64| {
        let place = (turn - first) * STRETCHES as u64 / (last - first + 1);
        usize::try_from(place).unwrap_or(0)
    };
    let mut taken_of = [0.0_f32; STRETCHES];
    let mut covered: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&Candidate> = candidates.iter().collect();
    let mut chosen = Vec::new();
    let mut left = room;
    loop {
        open.retain(|candidate| candidate.tokens <= left);
        let gain = |candidate: &Candidate| {
            let new = candidate.stems.iter().filter(|stem| !covered.contains(stem.as_str()));
            let new: f32 = new.map(weight).sum();
            #[expect(clippy::cast_precision_loss, reason = "a small count")]
            let price = (candidate.tokens as f32).sqrt();
            candidate.worth * new / price / (1.0 + taken_of[stretch(candidate.turn)])
        };
        let best = open
            .iter()
            .enumerate()
            .map(|(at, candidate)| (at, gain(candidate)))
            .max_by(|(_, left), (_, right)| left.total_cmp(right));
        let Some((at, gained)) = best.filter(|(_, gained)| *gained > 0.0) else { break };
        let candidate = open.swap_remove(at);
        let _ = gained;
        left -= candidate.tokens;
        taken_of[stretch(candidate.turn)] += 1.0;
        covered.extend(candidate.stems.iter().map(String::as_str));
        chosen.push(candidate);
    }
    chosen.sort_by_key(|candidate| candidate.turn);
    chosen
}

/// Lines `turn speaker: sentence`, with a line where the day changes.
fn written(chosen: &[&Candidate]) -> String {
    let mut text = String::new();
    let mut day = None;
    for candidate in chosen {
        if candidate.day.is_some() && candidate.day != day {
            day = candidate.day;
            let _ = writeln!(text, "[{}]", day.map(layout::day).unwrap_or_default());
        }
        let _ = writeln!(text, "{} {}: {}", candidate.turn, candidate.speaker, candidate.text);
    }
    text
}

/// The lines of an earlier summary as candidates.
fn again(notes: &str) -> Vec<Candidate> {
    let mut day = None;
    let mut found = Vec::new();
    for line in notes.lines() {
        if let Some(written) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            day = Date::strptime("%d %B %Y", written).ok();
            continue;
        }
        let parts = line.split_once(' ').and_then(|(turn, rest)| {
            let (speaker, text) = rest.split_once(": ")?;
            let speaker = match speaker {
                "user" => "user",
                "assistant" => "assistant",
                _ => return None,
            };
            Some((turn.parse().ok()?, speaker, text))
        });
        let candidate =
            parts.and_then(|(turn, speaker, text)| Candidate::of(turn, day, speaker, text));
        found.extend(candidate);
    }
    found
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut parts = Vec::new();
        let mut start = 0;
        let ends: BTreeMap<usize, ()> = line
            .match_indices(['.', '?', '!', '。', '？', '！'])
            .map(|(at, mark)| (at + mark.len(), ()))
            .collect();
        for end in ends.into_keys() {
            let rest = &line[end..];
            let wide = line[..end].ends_with(['。', '？', '！']);
            if rest.is_empty() || wide || rest.starts_with(' ') {
                parts.push(line[start..end].trim());
                start = end;
            }
        }
        parts.push(line[start..].trim());
        parts.into_iter().filter(|part| !part.is_empty())
    })
}
