//! Measures how often the turns that answer a question are found, by ranker.
//!
//! `cargo run --release -p throughline-upstream --example recall -- DIALOGUES.json`
//!
//! The file is a list of `{id, turns: [{id, at, speaker, text, image?}], questions: [{question, evidence,
//! category}]}`, made from LoCoMo. A question's recall is the share of its evidence among the first k hits.

mod measure;

use std::collections::HashMap;

use jiff::civil::Date;
use measure::{Times, mean, percent, row};
use serde::Deserialize;
use throughline_engine::search::bm25::WordIndex;
use throughline_engine::search::hybrid::Span;
use throughline_engine::search::words::stems;
use throughline_engine::search::{Part, TurnIndex};
use throughline_upstream::embed::Embedded;

/// Number of hits that a ranker lists.
const LISTED: usize = 200;
/// Number of recent utterances that a window shows.
const WINDOW: usize = 20;
/// The LoCoMo categories that count; 5 is adversarial and reported separately.
const CATEGORIES: [(u8, &str); 5] =
    [(1, "several turns"), (2, "time"), (3, "outside"), (4, "one turn"), (5, "adversarial")];
const CUTS: [usize; 3] = [5, 10, 20];
const BUDGETS: [usize; 2] = [1_000, 4_000];
/// Number of turns of the large session, two parts each.
const LARGE_TURNS: usize = 10_000;

#[derive(Deserialize)]
struct Dialogue {
    id: String,
    turns: Vec<Said>,
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Said {
    id: String,
    at: String,
    speaker: String,
    text: String,
    image: Option<String>,
}

#[derive(Deserialize)]
struct Question {
    question: String,
    evidence: Vec<String>,
    category: u8,
}

impl Said {
    fn text(&self) -> String {
        match &self.image {
            Some(image) => format!("{} ({image})", self.text),
            None => self.text.clone(),
        }
    }

    /// Parses the day from `1:56 pm on 8 May, 2023`.
    fn date(&self) -> Option<Date> {
        let (_, day) = self.at.split_once(" on ")?;
        Date::strptime("%d %B, %Y", day).ok()
    }
}

/// What the rankers need of one dialogue.
struct Prepared {
    words: WordIndex,
    vectors: Vec<Vec<f32>>,
    lengths: Vec<f32>,
    ours: TurnIndex,
    tokens: Vec<usize>,
}

impl Prepared {
    fn new(dialogue: &Dialogue) -> Self {
        let encoding = tiktoken::get_encoding("o200k_base").expect("o200k is compiled in");
        let mut words = WordIndex::new(0.3);
        let mut ours = TurnIndex::default();
        let (mut vectors, mut lengths, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
        for (place, said) in dialogue.turns.iter().enumerate() {
            let line = format!("{}: {}", said.speaker, said.text());
            let stems = stems(&line);
            words.set(place as u32, &stems);
            lengths.push(stems.len() as f32);
            vectors.push(Embedded.vector(&line));
            tokens.push(encoding.encode(&line).len());
            let (text, turn) = (said.text(), place as u64);
            let vector = Embedded.vector(&text);
            match said.date() {
                Some(date) => {
                    ours.add_dated(turn, Part::Message, &said.speaker, &text, &vector, date);
                }
                None => ours.add(turn, Part::Message, &said.speaker, &text, &vector),
            }
        }
        Self { words, vectors, lengths, ours, tokens }
    }

    fn bm25(&self, question: &str) -> Vec<f32> {
        self.words.score(&self.words.weigh_exactly(&stems(question)), self.vectors.len())
    }

    fn cosines(&self, question: &str, vectors: &[Vec<f32>]) -> Vec<f32> {
        let query = Embedded.vector(question);
        vectors.iter().map(|vector| dot(vector, &query)).collect()
    }

    /// The original formula: see docs/benchmarks.md.
    fn formula(&self, question: &str) -> Vec<f32> {
        let words = spread(&self.bm25(question));
        let smooth: Vec<Vec<f32>> = (0..self.vectors.len()).map(|at| self.smooth(at)).collect();
        let mut cosines = self.cosines(question, &smooth);
        for (cosine, length) in cosines.iter_mut().zip(&self.lengths) {
            *cosine *= length / (length + 4.0);
        }
        let (word_span, cosine_span) =
            (Span::of(words.iter().copied()), Span::of(cosines.iter().copied()));
        words
            .iter()
            .zip(&cosines)
            .map(|(word, cosine)| 0.4 * word_span.place(*word) + 0.6 * cosine_span.place(*cosine))
            .collect()
    }

    fn smooth(&self, at: usize) -> Vec<f32> {
        let mut sum = self.vectors[at].clone();
        for near in [at.wrapping_sub(1), at + 1] {
            for (sum, value) in sum.iter_mut().zip(self.vectors.get(near).into_iter().flatten()) {
                *sum += 0.3 * value;
            }
        }
        let length = dot(&sum, &sum).sqrt().max(f32::EPSILON);
        sum.iter().map(|value| value / length).collect()
    }

    fn rank(&self, ranker: &str, question: &str) -> Vec<usize> {
        let scores = match ranker {
            "window only" => {
                let end = self.vectors.len();
                return (end.saturating_sub(WINDOW)..end).rev().collect();
            }
            "BM25" => self.bm25(question),
            "embedding" => self.cosines(question, &self.vectors),
            "formula" => self.formula(question),
            _ => {
                let hits =
                    self.ours.search(question, &Embedded.vector(question), LISTED, |_| false);
                return hits.iter().map(|hit| hit.turn as usize).collect();
            }
        };
        let mut places: Vec<usize> = (0..scores.len()).collect();
        places.sort_by(|left, right| scores[*right].total_cmp(&scores[*left]));
        places
    }

    /// The positions that fit into a budget when hits are taken by rank.
    fn within(&self, ranked: &[usize], budget: usize) -> Vec<usize> {
        let mut left = budget;
        let fits = |place: &&usize| {
            let tokens = self.tokens[**place];
            let fits = tokens <= left;
            left -= if fits { tokens } else { 0 };
            fits
        };
        ranked.iter().filter(fits).copied().collect()
    }
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn spread(scores: &[f32]) -> Vec<f32> {
    let at = |place: usize| scores.get(place).copied().unwrap_or(0.0);
    (0..scores.len())
        .map(|place| at(place) + 0.3 * (at(place.wrapping_sub(1)) + at(place + 1)))
        .collect()
}

/// What one ranker found for one question.
struct Outcome {
    dialogue: String,
    category: u8,
    at_cuts: Vec<f64>,
    in_budgets: Vec<f64>,
}

fn main() {
    let Some((hash, data)) = measure::read_data("a file of dialogues") else { return };
    let dialogues: Vec<Dialogue> = serde_json::from_value(data).expect("dialogues as documented");
    let mut load = Times::default();
    load.time(Embedded::load);
    let prepared: Vec<Prepared> = dialogues.iter().map(Prepared::new).collect();
    println!("dataset SHA-256 {hash}");
    let heads = CATEGORIES.iter().map(|(_, name)| format!("{name} @10"));
    let heads = ["R@5", "R@10", "R@20"]
        .map(String::from)
        .into_iter()
        .chain(heads)
        .chain(BUDGETS.map(|budget| format!("in {budget} tokens")));
    let heads: Vec<String> = heads.collect();
    println!("{}", row("categories 1-4", heads.iter().cloned()));
    println!("{}", row("---", heads.iter().map(|_| "---:".into())));
    for ranker in ["window only", "BM25", "embedding", "formula", "ours"] {
        let outcomes = measure_ranker(ranker, &dialogues, &prepared);
        print_outcomes(ranker, &dialogues, &outcomes);
    }
    print_times(&dialogues, &prepared, &mut load);
    print_large(&dialogues);
}

fn measure_ranker(ranker: &str, dialogues: &[Dialogue], prepared: &[Prepared]) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (dialogue, prepared) in dialogues.iter().zip(prepared) {
        let places: HashMap<&str, usize> =
            dialogue.turns.iter().enumerate().map(|(at, said)| (said.id.as_str(), at)).collect();
        for question in &dialogue.questions {
            let evidence: Vec<usize> = question
                .evidence
                .iter()
                .filter_map(|id| places.get(id.as_str()).copied())
                .collect();
            let share = |found: &[usize]| {
                mean(evidence.iter().map(|place| f64::from(u8::from(found.contains(place)))))
            };
            let ranked = prepared.rank(ranker, &question.question);
            outcomes.push(Outcome {
                dialogue: dialogue.id.clone(),
                category: question.category,
                at_cuts: CUTS.map(|cut| share(&ranked[..cut.min(ranked.len())])).to_vec(),
                in_budgets: BUDGETS.map(|b| share(&prepared.within(&ranked, b))).to_vec(),
            });
        }
    }
    outcomes
}

fn print_outcomes(ranker: &str, dialogues: &[Dialogue], outcomes: &[Outcome]) {
    let counted = || outcomes.iter().filter(|outcome| outcome.category != 5);
    let cuts = (0..CUTS.len()).map(|cut| mean(counted().map(|outcome| outcome.at_cuts[cut])));
    let categories = CATEGORIES.iter().map(|(category, _)| {
        mean(outcomes.iter().filter(|o| o.category == *category).map(|o| o.at_cuts[1]))
    });
    let budgets = (0..BUDGETS.len()).map(|at| mean(counted().map(|o| o.in_budgets[at])));
    println!("{}", row(ranker, cuts.chain(categories).chain(budgets).map(percent)));
    if ranker == "ours" {
        let each = dialogues.iter().map(|dialogue| {
            let own = counted().filter(|o| o.dialogue == dialogue.id).map(|o| o.at_cuts[1]);
            format!("{} {}", dialogue.id, percent(mean(own)))
        });
        println!("\nours, R@10 by dialogue: {}", each.collect::<Vec<_>>().join(", "));
    }
}

fn print_times(dialogues: &[Dialogue], prepared: &[Prepared], load: &mut Times) {
    let (mut embed, mut search) = (Times::default(), Times::default());
    for (dialogue, prepared) in dialogues.iter().zip(prepared) {
        for question in &dialogue.questions {
            let vector = embed.time(|| Embedded.vector(&question.question));
            search.time(|| prepared.ours.search(&question.question, &vector, 10, |_| false));
        }
    }
    let units: usize = prepared.iter().map(|prepared| prepared.ours.len()).sum();
    let bytes: usize = prepared.iter().map(|prepared| prepared.ours.bytes()).sum();
    println!("embedder: loaded in {}, {} bytes in the binary", load.summary(), Embedded::BYTES);
    println!("embedding of a question: {}", embed.summary());
    println!("search of these dialogues: {}; {} bytes a unit", search.summary(), bytes / units);
}

/// A session of all dialogues repeated, as long as the longest sessions.
fn print_large(dialogues: &[Dialogue]) {
    let said: Vec<&Said> = dialogues.iter().flat_map(|dialogue| &dialogue.turns).collect();
    let mut index = TurnIndex::default();
    let mut add = Times::default();
    for (place, said) in said.iter().cycle().take(2 * LARGE_TURNS).enumerate() {
        let text = format!("{} {}", said.text(), place / 7);
        let vector = Embedded.vector(&text);
        let part = if place % 2 == 0 { Part::Message } else { Part::Reply };
        add.time(|| index.add(place as u64 / 2 + 1, part, &said.speaker, &text, &vector));
    }
    let mut search = Times::default();
    for question in dialogues.iter().flat_map(|dialogue| &dialogue.questions) {
        let vector = Embedded.vector(&question.question);
        search.time(|| index.search(&question.question, &vector, 10, |turn| turn > 9_985));
    }
    println!(
        "search of {LARGE_TURNS} turns of two parts: {}; adding a part: {}; {} bytes a turn",
        search.summary(),
        add.summary(),
        index.bytes() / LARGE_TURNS
    );
}
