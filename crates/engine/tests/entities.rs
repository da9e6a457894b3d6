//! How well entities are noticed, on labelled conversations (`tests/entities/`, with its README).
//!
//! The figures are printed per type and must not fall below the floors. Run it with `--nocapture` to
//! see the table and every miss.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use throughline_engine::entity::{
    Entities, EntityRef, KnownEntities, Moment, Noticed, harvest, notice,
};
use throughline_engine::pack::PackSet;
use throughline_engine::tool::ToolName;

/// The floors, over all types together. They lie a little under what is measured; a change that goes
/// below one has made things worse.
const PRECISION_MIN: f64 = 0.95;
const RECALL_MIN: f64 = 0.95;
/// The floor for each type that is expected often enough for a figure to mean something.
const TYPE_MIN: f64 = 0.85;
const TYPE_EXPECTED_MIN: usize = 8;
/// The floors for questions back and for corrections.
const ASKED_MIN: f64 = 0.75;
const MESSAGES_MIN: usize = 150;

const FILES: [(&str, &str); 8] = [
    ("netbox-daily", include_str!("entities/netbox-daily.txt")),
    ("netbox-traps", include_str!("entities/netbox-traps.txt")),
    ("netbox-demo", include_str!("entities/netbox-demo.txt")),
    ("sdelements", include_str!("entities/sdelements.txt")),
    ("workflow", include_str!("entities/workflow.txt")),
    ("unseen", include_str!("entities/unseen.txt")),
    ("unseen-second", include_str!("entities/unseen-second.txt")),
    ("unseen-third", include_str!("entities/unseen-third.txt")),
];

#[derive(Default, Clone, Copy)]
struct Tally {
    expected: usize,
    found: usize,
    right: usize,
}

impl Tally {
    fn precision(self) -> f64 {
        if self.found == 0 { 1.0 } else { self.right as f64 / self.found as f64 }
    }

    fn recall(self) -> f64 {
        if self.expected == 0 { 1.0 } else { self.right as f64 / self.expected as f64 }
    }
}

#[derive(Default)]
struct Score {
    by_row: BTreeMap<String, Tally>,
    misses: String,
    messages: usize,
}

impl Score {
    fn count(&mut self, row: &str, expected: &[String], found: &[Shown], place: &str) {
        let mut left: Vec<&Shown> = found.iter().collect();
        for label in expected {
            let kind = label.split(' ').next().unwrap_or_default();
            let row = if row.is_empty() { kind } else { row };
            let tally = self.by_row.entry(row.to_owned()).or_default();
            tally.expected += 1;
            if let Some(index) = left.iter().position(|shown| shown.labels.contains(label)) {
                left.remove(index);
                tally.right += 1;
                tally.found += 1;
            } else {
                let _ = writeln!(self.misses, "{place}\n    missed {label}");
            }
        }
        for shown in left {
            let kind = shown.labels[0].split(' ').next().unwrap_or_default();
            let row = if row.is_empty() { kind } else { row };
            self.by_row.entry(row.to_owned()).or_default().found += 1;
            let _ = writeln!(self.misses, "{place}\n    wrong {}", shown.labels[0]);
        }
    }

    fn total(&self) -> Tally {
        let types = self.by_row.iter().filter(|(row, _)| !row.starts_with('('));
        types.fold(Tally::default(), |sum, (_, tally)| Tally {
            expected: sum.expected + tally.expected,
            found: sum.found + tally.found,
            right: sum.right + tally.right,
        })
    }

    fn table(&self) -> String {
        let mut table = String::from(
            "| type | expected | found | precision | recall |\n|---|---|---|---|---|\n",
        );
        let total = self.total();
        let rows = self.by_row.iter().map(|(row, tally)| (row.as_str(), *tally));
        for (row, tally) in rows.chain([("**all types**", total)]) {
            let (precision, recall) = (tally.precision(), tally.recall());
            let _ = writeln!(
                table,
                "| {row} | {} | {} | {precision:.3} | {recall:.3} |",
                tally.expected, tally.found
            );
        }
        table
    }
}

/// The ways to write one mention in a label.
struct Shown {
    labels: Vec<String>,
}

impl Shown {
    fn of(entity: &EntityRef, doubt: &str) -> Self {
        let kind = &entity.kind;
        let mut labels = vec![format!("{doubt}{kind} {}", entity.label())];
        if let Some(id) = &entity.id {
            labels.push(format!("{doubt}{kind} {id}"));
            labels.push(format!("{doubt}{kind} {} #{id}", entity.name));
        }
        Self { labels }
    }
}

#[derive(Default)]
struct Expected {
    sure: Vec<String>,
    asked: Vec<String>,
    meant: Vec<String>,
    guessed: Vec<String>,
}

struct Talk {
    entities: Entities,
    known: KnownEntities,
    turn: u64,
}

impl Talk {
    fn new() -> Self {
        Self { entities: Entities::default(), known: KnownEntities::new(), turn: 0 }
    }

    fn at(&self) -> Moment {
        let start: Timestamp = "2026-11-15T09:00:00Z".parse().expect("a time");
        let minutes = SignedDuration::from_mins(i64::try_from(self.turn).expect("few turns"));
        Moment { turn: self.turn, now: start.checked_add(minutes).expect("within range") }
    }

    fn say(&mut self, message: &str, packs: &PackSet) -> Noticed {
        self.turn += 1;
        let at = self.at();
        let noticed = notice(message, &self.entities, &self.known, packs);
        self.entities.apply_noticed(&noticed, message, &mut self.known, packs, at);
        noticed
    }

    fn answer(&mut self, line: &str, packs: &PackSet) {
        let (tool, json) = line.split_once(' ').expect("a tool and JSON");
        let tool = ToolName { server: "inventory".to_owned(), name: tool.to_owned() };
        let json: Value = serde_json::from_str(json).expect("the answer is JSON");
        let at = self.at();
        let found = harvest(&tool, &Value::Null, &json, packs, at.now);
        self.entities.apply_harvest(&found, &mut self.known, packs, at);
    }
}

fn measure(files: &[(&str, &str)]) -> Score {
    let packs = PackSet::builtin();
    let mut score = Score::default();
    for (file, text) in files {
        let mut talk = Talk::new();
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            if line.starts_with('#') {
                talk = Talk::new();
            } else if let Some(answer) = line.strip_prefix("< ") {
                talk.answer(answer, &packs);
            } else if let Some(message) = line.strip_prefix("> ") {
                let message = message.replace("\\n", "\n");
                let noticed = talk.say(&message, &packs);
                let place = format!("{file}:{} {message:?}", number + 1);
                compare(&mut score, &expected_after(&lines[number + 1..]), &noticed, &place);
            }
        }
    }
    score
}

/// The labels that follow a message.
fn expected_after(lines: &[&str]) -> Expected {
    let mut expected = Expected::default();
    let several = |text: &str, doubt: &str| -> Vec<String> {
        text.split("; ").map(|label| format!("{doubt}{label}")).collect()
    };
    for line in lines {
        match line.split_once(' ') {
            Some(("=", text)) => expected.sure.extend(several(text, "")),
            Some(("~", text)) => expected.sure.extend(several(text, "~")),
            Some(("?", text)) => expected.asked.push(format!("(asked) {text}")),
            Some(("%", text)) => expected.guessed.push(format!("(guessed) {text}")),
            Some(("->", text)) => expected.meant.push(format!("(corrected) {text}")),
            _ => break,
        }
    }
    expected
}

fn compare(score: &mut Score, expected: &Expected, noticed: &Noticed, place: &str) {
    score.messages += 1;
    let mut found: Vec<Shown> = Vec::new();
    for mention in &noticed.mentions {
        let doubt = if mention.is_sure() { "" } else { "~" };
        let shown = Shown::of(&mention.target(), doubt);
        if !found.iter().any(|known| known.labels == shown.labels) {
            found.push(shown);
        }
    }
    score.count("", &expected.sure, &found, place);
    let asked = noticed.ambiguous.iter();
    let asked: Vec<Shown> =
        asked.map(|asked| Shown { labels: vec![format!("(asked) {}", asked.text)] }).collect();
    score.count("(asked back)", &expected.asked, &asked, place);
    let right = noticed.correction.iter().filter_map(|correction| correction.right.as_ref());
    let right: Vec<Shown> = right.map(|right| Shown::of(right, "(corrected) ")).collect();
    score.count("(corrected)", &expected.meant, &right, place);
    let guessed = noticed.guesses.iter();
    let guessed: Vec<Shown> =
        guessed.map(|guess| Shown { labels: vec![format!("(guessed) {}", guess.text)] }).collect();
    score.count("(guessed)", &expected.guessed, &guessed, place);
}

#[test]
fn entities_are_noticed_with_stated_precision_and_recall() {
    let score = measure(&FILES);
    println!("{} messages\n\n{}\n{}", score.messages, score.table(), score.misses);
    for file in &FILES {
        let score = measure(std::slice::from_ref(file));
        let (total, messages) = (score.total(), score.messages);
        let (precision, recall) = (total.precision(), total.recall());
        println!("| {} | {messages} | {precision:.3} | {recall:.3} |", file.0);
    }
    assert!(score.messages >= MESSAGES_MIN, "{} messages", score.messages);
    let total = score.total();
    assert!(total.precision() >= PRECISION_MIN, "precision {:.3}", total.precision());
    assert!(total.recall() >= RECALL_MIN, "recall {:.3}", total.recall());
    for (row, tally) in &score.by_row {
        let floor = if row.starts_with('(') { ASKED_MIN } else { TYPE_MIN };
        if tally.expected >= TYPE_EXPECTED_MIN || row.starts_with('(') {
            let worst = tally.precision().min(tally.recall());
            assert!(worst >= floor, "{row}: {worst:.3} is below {floor}");
        }
    }
}
