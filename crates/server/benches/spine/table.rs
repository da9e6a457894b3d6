//! Percentiles, and tables as Markdown. What is measured is printed at once, so that an interrupted run
//! has shown something.

use std::fmt::Write as _;
use std::time::Duration;

/// Everything measured so far.
#[derive(Default)]
pub(crate) struct Report(String);

impl Report {
    /// A sentence.
    pub(crate) fn say(&mut self, text: &str) {
        self.add(&format!("{text}\n\n"));
    }

    /// A table with a first column of names.
    pub(crate) fn table(&mut self, columns: &[&str], rows: &[Vec<String>]) {
        let mut text = format!("| {} |\n|---|", columns.join(" | "));
        text.push_str(&"---:|".repeat(columns.len() - 1));
        for row in rows {
            let _ = write!(text, "\n| {} |", row.join(" | "));
        }
        self.add(&format!("{text}\n\n"));
    }

    fn add(&mut self, text: &str) {
        print!("{text}");
        self.0.push_str(text);
    }

    /// All of it.
    pub(crate) fn text(self) -> String {
        self.0
    }
}

/// Times of one sort of work.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// One more.
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The time within which so many percent were done, in milliseconds.
    pub(crate) fn percentile(&mut self, percent: usize) -> f64 {
        self.0.sort_unstable();
        let place = (self.0.len().saturating_sub(1)) * percent / 100;
        self.0.get(place).map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
    }
}

/// Milliseconds.
pub(crate) fn ms(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// Bytes as megabytes.
#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}
