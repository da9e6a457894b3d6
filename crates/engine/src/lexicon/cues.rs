//! Classifies a message by cues: questions about something earlier, heat, mode.
//!
//! Cues come in groups with a weight each ([`crate::weights`]); the score of a message is the sum over the
//! matching groups, limited to 0–1.

use serde::Deserialize;

use super::cue::{CueSet, Text};
use super::file::{CueFile, LanguageFile, Script};
use crate::weights;

/// Words that decide the mode; as many more each time they are not enough.
const MODE_WORDS_FIRST: usize = 6;

/// Maximum words that can decide the mode.
const MODE_WORDS_MAX: usize = 48;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// To create something.
    Creation,
    /// To find or list things.
    Search,
    /// To change or remove something.
    Modification,
    /// To understand something.
    Analysis,
}

#[derive(Debug)]
pub struct Cues {
    script: Script,
    /// Whether a capital letter inside a sentence indicates a name.
    names_capitalised: bool,
    asks: Groups,
    heat: Groups,
    modes: Vec<(Mode, Groups)>,
    idioms: CueSet,
    recounts: CueSet,
}

#[derive(Debug)]
struct Groups {
    /// Weight, maximum number of cues counted, and the cues.
    groups: Vec<(f32, usize, CueSet)>,
    /// Forms of a question or request; empty if any message qualifies.
    form: CueSet,
    never: CueSet,
}

impl Cues {
    pub(super) fn new(file: &LanguageFile) -> Self {
        Self {
            script: file.script,
            names_capitalised: file.names_capitalised,
            asks: Groups::new(&file.asks, weights::CUE_HINT),
            heat: Groups::new(&file.heat, weights::HEAT_HINT),
            modes: file
                .modes
                .iter()
                .map(|(mode, cues)| (*mode, Groups::new(cues, weights::CUE_HINT)))
                .collect(),
            idioms: CueSet::new(&file.idioms),
            recounts: CueSet::new(&file.recounts),
        }
    }

    /// Whether a message asks for words that were said.
    pub fn recounts(&self, message: &str) -> bool {
        self.recounts.count(&Text::new(message, self.script)) > 0
    }

    /// How likely a message asks about something said earlier.
    pub fn asks(&self, message: &str) -> f32 {
        let text = match self.names_capitalised {
            true => Text::new(&with_names_marked(message), self.script),
            false => Text::new(message, self.script),
        };
        self.asks.score(|cues| cues.count(&text)).clamp(-1.0, 1.0)
    }

    /// Whether a message names somebody or something, in languages that capitalise names.
    pub fn names_something(&self, message: &str) -> bool {
        self.names_capitalised && with_names_marked(message).contains("@ ")
    }

    /// How likely a message is heated, and the sign of it.
    pub fn heat(&self, message: &str) -> (f32, &'static str) {
        let text = Text::new(message, self.script);
        let said = self.heat.score(|cues| cues.count(&text));
        let letters = message.chars().filter(|c| c.is_alphabetic()).count();
        let capitals = message.chars().filter(|c| c.is_uppercase()).count();
        let shouted = letters >= weights::SHOUTED_LETTERS_MIN && capitals * 10 >= letters * 7;
        let marks = ["!!", "?!", "!?", "??"].iter().any(|marks| message.contains(marks));
        let score = said
            + if shouted { weights::HEAT_CAPITALS } else { 0.0 }
            + if marks { weights::HEAT_MARKS } else { 0.0 };
        let sign = match (said >= weights::CUE_LIKELY, shouted) {
            (true, _) => "its words are strong",
            (false, true) => "it is written in capitals",
            (false, false) => "it is full of exclamation marks",
        };
        (score.clamp(0.0, 1.0), sign)
    }

    /// The mode of a message and its confidence. The beginning decides if it can, because what comes first is to
    /// be done first.
    pub fn mode(&self, message: &str) -> Option<(Mode, f32)> {
        let text = self.idioms.taken_out(Text::new(message, self.script));
        let Text::Words(words) = text else { return None };
        let most = words.len().min(MODE_WORDS_MAX);
        let ends = (MODE_WORDS_FIRST..most).step_by(MODE_WORDS_FIRST).chain([most]);
        ends.into_iter().find_map(|end| {
            let beginning = &words[..end];
            let score = |(mode, groups): &(Mode, Groups)| {
                (*mode, groups.score(|cues| cues.count_words(beginning)))
            };
            let mut scored: Vec<(Mode, f32)> = self.modes.iter().map(score).collect();
            scored.sort_by(|one, two| two.1.total_cmp(&one.1));
            let (mode, best) = *scored.first()?;
            let next = scored.get(1).map_or(0.0, |(_, score)| score.max(0.0));
            let decided = best >= weights::CUE_MIN && best - next >= weights::MODE_LEAD_MIN;
            decided.then_some((mode, best.clamp(0.0, 1.0)))
        })
    }
}

impl Groups {
    fn new(cues: &CueFile, hint: f32) -> Self {
        let groups = [
            (weights::CUE_SURE, 1, &cues.sure),
            (weights::CUE_LIKELY, 1, &cues.likely),
            (hint, usize::MAX, &cues.hint),
            (weights::CUE_AGAINST, 1, &cues.against),
        ];
        Self {
            groups: groups.map(|(weight, most, list)| (weight, most, CueSet::new(list))).into(),
            form: CueSet::new(&cues.form),
            never: CueSet::new(&cues.never),
        }
    }

    /// The sum over the groups; hints count each, other groups once. `count` counts the cues of a set that match.
    fn score(&self, count: impl Fn(&CueSet) -> usize) -> f32 {
        if count(&self.never) > 0 {
            return 0.0;
        }
        let mut score = 0.0;
        if !self.form.is_empty() && count(&self.form) == 0 {
            score += weights::CUE_TELLS;
        }
        for (weight, most, cues) in &self.groups {
            #[expect(clippy::cast_precision_loss, reason = "a handful of cues")]
            let times = count(cues).min(*most) as f32;
            score += weight * times;
        }
        score
    }
}

/// Marks each capitalised word that does not start a sentence.
fn with_names_marked(message: &str) -> String {
    let mut marked = String::with_capacity(message.len() + 16);
    let mut inside = false;
    for word in message.split_inclusive(char::is_whitespace) {
        let mut letters = word.chars();
        let capital = letters.next().is_some_and(char::is_uppercase);
        if inside && capital && letters.next().is_some_and(char::is_lowercase) {
            marked.push_str("@ ");
        }
        marked.push_str(word);
        inside =
            !word.trim_end().ends_with(['.', '!', '?', ':']) || word.trim().is_empty() && inside;
    }
    marked
}
