//! What a test reports to the trust report: how often a promise was tested, and how often it broke.
//!
//! In CI, a test runs with its usual size and seed. The trust program (`scripts/trust`) runs the same test with its own
//! seed and size, and reads the counts from a file. Nothing here decides whether a test passes.
//!
//! Invariant: a count is written before the test asserts, so that a failure is counted, too.

use std::io::Write as _;

use serde::{Deserialize, Serialize};

/// The file that counts are appended to.
pub const COUNTS: &str = "THROUGHLINE_TRUST_COUNTS";
/// The seed of the run.
pub const SEED: &str = "THROUGHLINE_TRUST_SEED";
/// Factor on a test's usual size.
pub const TIMES: &str = "THROUGHLINE_TRUST_TIMES";

/// How often a promise was tested on a backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The promise, as named in the report.
    pub promise: String,
    /// The backend, or where else it was tested.
    pub on: String,
    /// Attempts to break it.
    pub attempts: u64,
    /// Attempts that succeeded.
    pub failures: u64,
}

/// The run's seed, or the test's usual one.
pub fn seed(usual: u64) -> u64 {
    number(SEED).unwrap_or(usual)
}

/// The test's usual size, times the run's factor.
pub fn times(usual: u64) -> u64 {
    usual * number(TIMES).unwrap_or(1).max(1)
}

/// Adds a count to the report, if there is one.
pub fn count(promise: &str, on: &str, attempts: u64, failures: u64) {
    let Some(path) = std::env::var_os(COUNTS) else { return };
    let count = Count { promise: promise.into(), on: on.into(), attempts, failures };
    let line = serde_json::to_string(&count).expect("a count is plain data") + "\n";
    let file = std::fs::File::options().create(true).append(true).open(path);
    // A single write, so that lines of several tests do not mix.
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("a count can be written");
}

/// Like [`count`], and fails the test if anything is wrong.
///
/// # Panics
///
/// When `wrong` is not empty.
pub fn settle(promise: &str, on: &str, attempts: u64, wrong: &[String]) {
    count(promise, on, attempts, wrong.len() as u64);
    assert!(wrong.is_empty(), "{promise}, {on}: {} of {attempts}: {wrong:#?}", wrong.len());
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
