//! Shared by the measuring examples: reading a data file, percentiles, table rows.
//!
//! Not part of the product; the data sets are not part of the repository.

use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

/// Reads the data file named by the first argument, with its hash; prints a message and returns `None` without it.
pub(crate) fn read_data(what: &str) -> Option<(String, serde_json::Value)> {
    let Some(path) = std::env::args().nth(1) else {
        println!("skipped: give the path of {what} as the only argument");
        return None;
    };
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            println!("skipped: {path} cannot be read ({error})");
            return None;
        }
    };
    let hash = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    match serde_json::from_slice(&bytes) {
        Ok(value) => Some((hash, value)),
        Err(error) => {
            println!("skipped: {path} is not {what} ({error})");
            None
        }
    }
}

/// Durations of one kind of work.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Runs `work` and records its duration.
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.0.push(start.elapsed());
        result
    }

    /// `best … p50 … p99 …` in microseconds; the best is the least affected by a busy machine.
    pub(crate) fn summary(&mut self) -> String {
        self.0.sort_unstable();
        let at = |share: f64| {
            let place = ((self.0.len().max(1) - 1) as f64 * share).round() as usize;
            self.0.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        format!("best {:.1}, p50 {:.1}, p99 {:.1} µs", at(0.0), at(0.5), at(0.99))
    }
}

/// A row of a Markdown table, with a wide first cell.
pub(crate) fn row(first: &str, cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().collect();
    format!("| {first:<24} | {} |", cells.join(" | "))
}

/// A share as a percentage with one decimal.
pub(crate) fn percent(share: f64) -> String {
    format!("{:4.1}", 100.0 * share)
}

/// The mean, or 0 for no values.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0), |(sum, count), v| (sum + v, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}
