//! How well the lexicon tells what a message is after, on labelled messages (`tests/words/*.jsonl`).
//!
//! The messages were written by people who had not seen the lexicon. Rows with `from_brief` quote our own
//! documents and are left out. The figures are printed and must not fall below the floors, which lie a little
//! under what is measured.

use std::collections::BTreeMap;

use serde_json::Value;
use throughline_engine::entity::{Entities, KnownEntities, notice};
use throughline_engine::lexicon::{self, AsksBack};
use throughline_engine::mode::{self, PromptMode};
use throughline_engine::pack::PackSet;
use throughline_engine::persona::heat;

/// The floor for precision and recall of questions that ask back, in every language.
const ASKS_MIN: f64 = 0.8;
/// The floors for heat, in the languages with enough rows.
const HEAT_MIN: f64 = 0.85;
/// The floor for the share of messages with the right guidance, or rightly none.
const MODES_MIN: f64 = 0.9;
/// Rows of a language below which a figure says nothing.
const ROWS_MIN: usize = 20;

fn rows(text: &str) -> Vec<Value> {
    let rows = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    rows.filter(|row: &Value| row["from_brief"] != true).collect()
}

fn text(row: &Value) -> &str {
    row["text"].as_str().expect("a text")
}

#[derive(Default)]
struct Tally {
    rows: usize,
    right: usize,
    found: usize,
    expected: usize,
}

impl Tally {
    fn count(&mut self, expected: bool, found: bool) {
        self.rows += 1;
        self.right += usize::from(expected && found);
        self.found += usize::from(found);
        self.expected += usize::from(expected);
    }

    fn precision(&self) -> f64 {
        self.right as f64 / self.found.max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / self.expected.max(1) as f64
    }
}

/// Precision and recall by language, printed; each at least `min`.
fn check(name: &str, rows: &[Value], key: &str, min: f64, found: impl Fn(&str) -> bool) {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut wrong = String::new();
    for row in rows {
        let (expected, found) = (row[key] == true, found(text(row)));
        tallies
            .entry(row["lang"].as_str().expect("a language"))
            .or_default()
            .count(expected, found);
        if expected != found {
            wrong.push_str(&format!("  {found} instead of {expected}: {}\n", text(row)));
        }
    }
    println!("{wrong}");
    for (language, tally) in &tallies {
        let (precision, recall) = (tally.precision(), tally.recall());
        println!("{name} {language}: precision {precision:.2}, recall {recall:.2}");
        let enough = tally.rows >= ROWS_MIN;
        assert!(!enough || precision >= min, "{name} {language}: precision {precision:.3}");
        assert!(!enough || recall >= min, "{name} {language}: recall {recall:.3}");
    }
}

#[test]
fn questions_for_what_was_said_earlier_are_told_in_eight_languages() {
    let rows = rows(include_str!("words/asks.jsonl"));
    check("asks", &rows, "asks", ASKS_MIN, |text| lexicon::asks_back(text, false) == AsksBack::Yes);
}

#[test]
fn heat_is_told_from_joy_and_from_reports_of_it() {
    let rows = rows(include_str!("words/heat.jsonl"));
    check("heat", &rows, "heated", HEAT_MIN, |text| heat(text).is_some());
}

#[test]
fn guidance_is_given_only_for_the_mode_that_is_meant() {
    let rows = rows(include_str!("words/modes.jsonl"));
    let (mut right, mut wrong) = (0, Vec::new());
    for row in &rows {
        let inferred = mode::infer(text(row), &[]);
        // Plain talk and unclear messages get no guidance.
        let expected = row["mode"].as_str().filter(|mode| *mode != "general");
        let given = Some(inferred.mode).filter(|mode| *mode != PromptMode::General);
        let given = given.map(PromptMode::as_str);
        match given == expected {
            true => right += 1,
            false => wrong.push(format!("{given:?} instead of {expected:?}: {}", text(row))),
        }
    }
    let share = f64::from(right) / rows.len() as f64;
    println!("{wrong:#?}\nmodes: {right} of {} right", rows.len());
    assert!(share >= MODES_MIN, "{share:.3}");
}

#[test]
fn social_talk_names_no_thing_of_a_pack() {
    let packs = PackSet::builtin();
    let mut wrong = Vec::new();
    for row in rows(include_str!("words/social.jsonl")) {
        let (entities, known) = (Entities::default(), KnownEntities::new());
        let noticed = notice(text(&row), &entities, &known, &packs);
        let sure = noticed.mentions.iter().filter(|mention| mention.is_sure());
        for mention in sure {
            wrong.push(format!("{} in {}", mention.target(), text(&row)));
        }
        if let Some(topic) = noticed.topic {
            wrong.push(format!("the topic {topic} of {}", text(&row)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
