//! A server on a fresh SQLite file, how much is measured, and what the machine was doing.

use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;
use throughline_testkit::served::{Launch, Served};
use tokio::runtime::Runtime;

use super::table::{Report, Times, ms};
use super::wire::Wire;

/// How much is measured.
pub(crate) struct Size {
    /// Turns at which the cost of one more is measured.
    pub lengths: &'static [u64],
    /// Measurements a cell.
    pub samples: u64,
    /// Turns a client writes when several write at once.
    pub turns_each: u64,
    /// Sessions in the large store.
    pub sessions: u64,
    /// Of those, sessions that are then used.
    pub active: u64,
    /// Sessions of 50 turns whose size on disk is measured.
    pub stored: u64,
}

impl Size {
    /// All of it.
    pub(crate) fn full() -> Self {
        let lengths = &[10, 100, 1_000, 10_000];
        let (sessions, active, stored) = (100_000, 1_000, 1_000);
        Self { lengths, samples: 300, turns_each: 300, sessions, active, stored }
    }

    /// Enough for ratios, in a few minutes on a busy machine.
    pub(crate) fn quick() -> Self {
        let lengths = &[10, 100, 1_000, 10_000];
        let (sessions, active, stored) = (10_000, 500, 100);
        Self { lengths, samples: 100, turns_each: 60, sessions, active, stored }
    }
}

/// A running server and its store.
pub(crate) struct Bench {
    /// The server.
    pub served: Served,
    /// Where it keeps everything.
    pub folder: TempDir,
    host: String,
}

impl Bench {
    /// A server on an empty store, with these variables.
    pub(crate) fn start(runtime: &Runtime, environment: &[(&str, String)]) -> Self {
        // Beside the build, so that the disk is measured and not a file system in memory.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let served = runtime.block_on(Served::start(&launch(&folder, environment)));
        let host = host_of(&served);
        Self { served, folder, host }
    }

    /// One more connection.
    pub(crate) fn wire(&self) -> Wire {
        Wire::to(&self.host)
    }
}

/// How to start a server on the store in `folder`.
pub(crate) fn launch(folder: &TempDir, environment: &[(&str, String)]) -> Launch {
    let store = format!("sqlite:{}", folder.path().join("throughline.db").display());
    let launch = Launch::new(env!("CARGO_BIN_EXE_throughline"), store);
    environment.iter().fold(launch, |launch, (name, value)| launch.with(*name, value))
}

/// A server's `host:port`.
pub(crate) fn host_of(served: &Served) -> String {
    served.url("").trim_start_matches("http://").trim_end_matches("/api/v1").to_owned()
}

/// An exchange of 200 and 800 characters, as the comparison with others uses.
pub(crate) fn exchange(number: u64) -> Value {
    json!({ "message": words(number, 200), "reply": words(number + 7, 800) })
}

/// Text of about this many characters, of words that differ from number to number.
pub(crate) fn words(number: u64, characters: usize) -> String {
    const WORDS: [&str; 16] = [
        "rack",
        "switch",
        "uplink",
        "answer",
        "project",
        "maintenance",
        "window",
        "power",
        "prefix",
        "survey",
        "before",
        "tomorrow",
        "failed",
        "the",
        "with",
        "router",
    ];
    let mut seeded = throughline_testkit::seeded::Seeded::new(number);
    let mut text = format!("Number {number}:");
    while text.len() < characters {
        text.push(' ');
        text.push_str(seeded.one_of::<&str>(&WORDS));
    }
    text.truncate(characters);
    text
}

/// Makes a session of so many turns.
pub(crate) fn fill(wire: &mut Wire, session: &str, from: u64, to: u64) {
    if from == 0 {
        wire.post("/api/v1/conversations", &json!({ "id": session }));
    }
    for number in from..to {
        wire.post(&format!("/api/v1/conversations/{session}/turns"), &exchange(number));
    }
}

/// Appends of 4 KiB with fdatasync, one after the other, in milliseconds.
pub(crate) fn disk() -> (f64, f64) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut file = File::create(folder.path().join("probe")).unwrap();
    let mut times = Times::default();
    for _ in 0..200 {
        let begin = Instant::now();
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
        times.add(begin.elapsed());
    }
    (times.percentile(50), times.percentile(99))
}

/// What the machine is and does.
pub(crate) fn machine(report: &mut Report) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let (p50, p99) = disk();
    report.say(&format!(
        "{cores} cores; load average {}; a 4 KiB append with fdatasync on this disk takes {} ms p50, {} ms p99.",
        load(),
        ms(p50),
        ms(p99)
    ));
}

/// The load when all was measured.
pub(crate) fn load_at_end(report: &mut Report) {
    report.say(&format!("Load average at the end: {}.", load()));
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}
