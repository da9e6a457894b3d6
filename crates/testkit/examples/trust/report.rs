//! Writes `docs/trust.md`: what was tried, how often, where, and what is not covered.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use throughline_testkit::trust::Count;

use crate::promises::{PROMISES, Promise};

/// The text before and after the tables.
const INTRODUCTION: &str = include_str!("introduction.md");
const NOT_COVERED: &str = include_str!("not-covered.md");

/// The results for one promise.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Found {
    /// Attempts and failures by backend.
    pub counts: BTreeMap<String, (u64, u64)>,
    /// Failed tests.
    pub failed: Vec<String>,
    /// The test's output with the switch on; `None` if it passed.
    pub noticed: Option<String>,
    pub seconds: u64,
    /// The run that it was found in.
    pub run: Run,
}

/// What a run was of. Two that are equal made the same choices on the same sources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub version: String,
    pub date: String,
    pub seeds: String,
    pub size: String,
}

impl Found {
    pub(crate) fn add(&mut self, count: &Count) {
        let sum = self.counts.entry(count.on.clone()).or_default();
        sum.0 += count.attempts;
        sum.1 += count.failures;
    }

    /// Whether no attempt broke the promise, and the switch did.
    pub(crate) fn holds(&self, promise: &Promise) -> bool {
        let failures: u64 = self.counts.values().map(|(_, failures)| failures).sum();
        failures == 0
            && self.failed.is_empty()
            && (self.noticed.is_some() || promise.sabotage.is_none())
    }
}

/// Facts of the run, as pairs.
pub(crate) type Facts = Vec<(&'static str, String)>;

/// Renders the page.
pub(crate) fn page(facts: &Facts, all: &[(&Promise, Found)]) -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n## The run\n\n| | |\n|---|---|\n");
    for (name, value) in facts {
        let _ = writeln!(page, "| {name} | {value} |");
    }
    page.push_str("\n## Promises\n\n| promise | attempts | failures | seconds | version | with its switch on |\n|---|--:|--:|--:|---|---|\n");
    for (promise, found) in all {
        let attempts: u64 = found.counts.values().map(|(attempts, _)| attempts).sum();
        let failures: u64 = found.counts.values().map(|(_, failures)| failures).sum();
        let failures = failures.max(found.failed.len() as u64);
        let switch = match (promise.sabotage, &found.noticed) {
            (None, _) => "the harness has a test of its own".to_owned(),
            (Some((switch, ..)), Some(_)) => format!("`{switch}`: fails, as it must"),
            (Some((switch, ..)), None) => format!("`{switch}`: **not noticed**"),
        };
        let (name, seconds) = (promise.name, found.seconds);
        let _ = writeln!(
            page,
            "| {name} | {} | {failures} | {seconds} | {} | {switch} |",
            thousands(attempts),
            found.run.version
        );
    }
    let missing =
        PROMISES.iter().filter(|promise| !all.iter().any(|(known, _)| known.name == promise.name));
    let missing: Vec<&str> = missing.map(|promise| promise.name).collect();
    if !missing.is_empty() {
        let _ = writeln!(page, "\nNot attacked yet: {}.", missing.join(", "));
    }
    page.push_str("\n## Each of them\n");
    for (promise, found) in all {
        let _ = write!(page, "\n### {}\n\n{}.\n\n", promise.name, first_upper(promise.claim));
        let on =
            found.counts.iter().map(|(on, (attempts, _))| format!("{on} {}", thousands(*attempts)));
        let _ = writeln!(page, "Attempts: {}.", on.collect::<Vec<_>>().join(", "));
        let Run { version, date, seeds, size } = &found.run;
        let _ = writeln!(page, "Run: {date}, version {version}, seed {seeds}, size {size}.");
        for failed in &found.failed {
            let _ = writeln!(page, "\n**Failed:** {}", quoted(failed));
        }
        if let (Some((switch, _, test)), Some(noticed)) = (promise.sabotage, &found.noticed) {
            let _ = writeln!(
                page,
                "In the same run, with `THROUGHLINE_SABOTAGE={switch}`, `{test}` fails:\n\n> {}",
                quoted(noticed)
            );
        }
    }
    page.push('\n');
    page.push_str(NOT_COVERED);
    page
}

/// A test's output as a line of Markdown.
fn quoted(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if matches!(c, '<' | '>' | '|' | '*' | '_' | '[' | ']') { ' ' } else { c })
        .collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first_upper(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
