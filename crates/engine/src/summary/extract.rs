//! Selects the sentences of a summary.
//!
//! Independent of the language: a sentence has a fact if it has a number, a name or an identifier, and is
//! distinctive if its words are rare among the candidates.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use jiff::civil::Date;

use crate::history::HistoryTurn;
use crate::layout;
use crate::piece::{HistoryPart, Source};
use crate::search::words::stems;
use crate::sentence::sentences;
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
/// Share of the room that is left for sentences beside a model's notes: one part in so many.
const SENTENCES_PART: u32 = 3;

struct Candidate {
    turn: u64,
    day: Option<Date>,
    speaker: &'static str,
    text: String,
    stems: BTreeSet<String>,
    worth: f32,
    tokens: u32,
}

/// A summary, and whether it has notes that a model wrote.
pub(super) struct Notes {
    pub text: String,
    pub has_prose: bool,
}

/// The summary of `turns` and of what `previous` covers.
pub(super) fn notes(previous: Option<&Summary>, turns: &[HistoryTurn], tokens_max: u32) -> Notes {
    let (mut candidates, prose) = previous.map(again).unwrap_or_default();
    for turn in turns {
        for sent in &turn.pieces {
            let Source::History { part, .. } = sent.piece.source else { continue };
            let speaker = match part.of_turn() {
                HistoryPart::Message => "user",
                HistoryPart::Reply => "assistant",
                _ => continue,
            };
            let sentences = sentences(&sent.piece.text);
            candidates.extend(
                sentences
                    .filter_map(|text| Candidate::of(turn.turn, Some(turn.day), speaker, text)),
            );
        }
    }
    let newest = candidates.len().saturating_sub(CANDIDATES_MAX);
    let candidates = &candidates[newest..];
    // A model's notes are dense and cover more: they keep what the newer sentences do not need.
    let wanted: u32 = candidates.iter().map(|candidate| candidate.tokens).sum();
    let prose = within(&prose, tokens_max - wanted.min(tokens_max / SENTENCES_PART));
    let from = previous.map(|previous| previous.from).or(turns.first().map(|turn| turn.turn));
    let room = tokens_max.saturating_sub(tokens::count(&prose));
    let mut chosen = choose(candidates, from.unwrap_or(1), room);
    loop {
        let text = written(&prose, &chosen);
        // The least useful sentence was chosen last.
        if tokens::count(&text) <= tokens_max || chosen.pop().is_none() {
            return Notes { text, has_prose: !prose.is_empty() };
        }
    }
}

/// The first sentences of a text, as many as fit.
fn within(text: &str, tokens_max: u32) -> String {
    if tokens::count(text) <= tokens_max {
        return text.to_owned();
    }
    let mut end = 0;
    for sentence in sentences(text) {
        let start = end + text[end..].find(sentence).unwrap_or(0);
        if tokens::count(&text[..start + sentence.len()]) > tokens_max {
            break;
        }
        end = start + sentence.len();
    }
    text[..end].to_owned()
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

/// The candidates that cover most within `room`, with a share for each section of the range from turn `first` on.
fn choose(candidates: &[Candidate], first: u64, room: u32) -> Vec<&Candidate> {
    let mut frequency: HashMap<&str, f32> = HashMap::new();
    for stem in candidates.iter().flat_map(|candidate| &candidate.stems) {
        *frequency.entry(stem).or_default() += 1.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a weight")]
    let all = candidates.len() as f32;
    let weight = |stem: &String| (1.0 + all / frequency[stem.as_str()]).ln();
    let last = candidates.iter().map(|candidate| candidate.turn).max().unwrap_or(first);
    // Where there is room for a few sentences only, each is of another section.
    let mean = candidates.iter().map(|candidate| candidate.tokens).sum::<u32>()
        / u32::try_from(candidates.len()).unwrap_or(u32::MAX).max(1);
    let lines = usize::try_from(room / mean.max(1)).unwrap_or(STRETCHES).max(1);
    let (stretches, is_tight) = (STRETCHES.min(lines), lines < STRETCHES);
    let stretch = |turn: u64| {
        let place = turn.saturating_sub(first) * stretches as u64 / (last.max(first) - first + 1);
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
        let fewest = |candidate: &Candidate| match is_tight {
            true => -taken_of[stretch(candidate.turn)],
            false => 0.0,
        };
        let best = open
            .iter()
            .enumerate()
            .map(|(at, candidate)| (at, gain(candidate), fewest(candidate)))
            .filter(|(_, gained, _)| *gained > 0.0)
            .max_by(|(_, left, few), (_, right, fewer)| {
                few.total_cmp(fewer).then(left.total_cmp(right))
            });
        let Some((at, _, _)) = best else { break };
        let candidate = open.swap_remove(at);
        left -= candidate.tokens;
        taken_of[stretch(candidate.turn)] += 1.0;
        covered.extend(candidate.stems.iter().map(String::as_str));
        chosen.push(candidate);
    }
    chosen
}

/// A model's notes, then lines `turn speaker: sentence` in order, with a line where the day changes.
fn written(prose: &str, chosen: &[&Candidate]) -> String {
    let mut text = String::new();
    if !prose.is_empty() {
        let _ = writeln!(text, "{prose}");
    }
    let mut chosen = chosen.to_vec();
    chosen.sort_by_key(|candidate| candidate.turn);
    let mut day = None;
    for candidate in chosen {
        if candidate.day.is_some() && candidate.day != day {
            day = candidate.day;
            let _ = writeln!(text, "[{}]", day.map(layout::day).unwrap_or_default());
        }
        let _ = writeln!(text, "{} {}: {}", candidate.turn, candidate.speaker, candidate.text);
    }
    text.truncate(text.trim_end().len());
    text
}

/// The sentences of an earlier summary as candidates, and what a model wrote in it.
fn again(previous: &Summary) -> (Vec<Candidate>, String) {
    if !previous.is_extract() {
        return (Vec::new(), previous.text.clone());
    }
    let mut day = None;
    let (mut found, mut prose) = (Vec::new(), Vec::new());
    for line in previous.text.lines() {
        if let Some(written) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            day = Date::strptime("%d %B %Y", written).ok();
            continue;
        }
        match Summary::sentence(line) {
            Some((turn, speaker, text)) => found.extend(Candidate::of(turn, day, speaker, text)),
            None => prose.push(line),
        }
    }
    (found, prose.join("\n"))
}
