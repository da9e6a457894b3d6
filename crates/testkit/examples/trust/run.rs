//! Runs a test binary and reads its counts and results.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use throughline_testkit::trust::{COUNTS, Count, SEED, TIMES};

use crate::build::Built;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub counts: Vec<Count>,
    /// Number of passed tests.
    pub passed: u64,
    /// Failed tests, with the start of their output.
    pub failed: Vec<String>,
    pub took: Duration,
}

/// How to run a binary.
pub(crate) struct Plan<'a> {
    pub tests: &'a [&'a str],
    pub seed: u64,
    pub times: u64,
    /// The switch to turn on.
    pub sabotage: Option<&'a str>,
}

/// Runs the tests of `built` named by `plan`.
pub(crate) fn run(built: &Built, plan: &Plan<'_>, counts: &Path) -> Outcome {
    // It may not exist.
    let _ = std::fs::remove_file(counts);
    let mut command = Command::new(&built.program);
    command.args(plan.tests).args(["--test-threads", "2"]).current_dir(&built.folder);
    command.env(COUNTS, counts).env(SEED, plan.seed.to_string()).env(TIMES, plan.times.to_string());
    command.env("CARGO_MANIFEST_DIR", &built.folder).env("RUST_BACKTRACE", "0");
    if let Some(switch) = plan.sabotage {
        command.env("THROUGHLINE_SABOTAGE", switch);
    }
    let began = Instant::now();
    let output = command.stdin(Stdio::null()).output();
    let took = began.elapsed();
    let said = match &output {
        Ok(output) => {
            String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
        }
        Err(error) => format!("panicked: {error}"),
    };
    let lines = std::fs::read_to_string(counts).unwrap_or_default();
    let counts = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let passed =
        said.lines().filter(|line| line.starts_with("test ") && line.ends_with("... ok")).count()
            as u64;
    let mut failed = failures(&said);
    if failed.is_empty() && !output.is_ok_and(|output| output.status.success()) {
        failed.push(format!("the run ended badly: {}", said.lines().last().unwrap_or_default()));
    }
    Outcome { counts, passed, failed, took }
}

/// The failed tests, with the first lines of their output.
fn failures(said: &str) -> Vec<String> {
    let sections = said.split("\n---- ").skip(1);
    let told = sections.filter_map(|section| {
        let (name, rest) = section.split_once(" stdout ----")?;
        let words = rest.lines().map(str::trim).filter(|line| !line.is_empty());
        let words = words.skip_while(|line| !line.contains("panicked")).skip(1).take(4);
        let words: String = words.collect::<Vec<_>>().join(" ").chars().take(240).collect();
        Some(format!("`{name}`: {words}"))
    });
    told.collect()
}
