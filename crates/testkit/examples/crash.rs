//! Runs the crash driver by hand, on any store:
//! `cargo run -p throughline-testkit --example crash -- BINARY STORE_URL SEED [KILLS [SERVERS]]`.
//!
//! The server inherits this process' environment, including the keys of an S3 store. Exits with 1 if something is
//! wrong.

use std::process::ExitCode;

use throughline_testkit::crash::{self, CrashPlan};
use throughline_testkit::served::Launch;

#[tokio::main]
async fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, otherwise: u64| {
        given.get(at).map_or(Some(otherwise), |text| text.parse::<u64>().ok())
    };
    let (Some(seed), Some(kills), Some(servers), true) =
        (number(2, 1), number(3, 10), number(4, 1), given.len() >= 3)
    else {
        eprintln!("usage: crash BINARY STORE_URL SEED [KILLS [SERVERS]]");
        return ExitCode::from(2);
    };
    let plan = CrashPlan::short(Launch::new(&given[0], &given[1]), seed);
    let report = crash::run(&CrashPlan { kills, servers, ..plan }).await;
    println!("{report:#?}");
    if report.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
