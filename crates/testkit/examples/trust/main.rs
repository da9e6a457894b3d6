//! The trust report: runs attacks on every promise, counts them, and repeats each with its promise broken on purpose.
//!
//! `./scripts/trust [--quick] [--continue] [--seed N] [--hours N] [--only PROMISE]… [--to FILE]`. The attacks are the tests of this
//! workspace, run with the seed and at the sizes of the table in [`promises`]; with `--hours` they are run again with the next
//! seed until the time is over. What was found of each promise is kept under the target folder ([`kept`]), so that a run of some
//! promises replaces these in the page and leaves the others; `--continue` runs only those that did not hold yet in a run like
//! this one. Exits with 1 when a promise did not hold or a broken one was not noticed.

mod build;
mod kept;
mod promises;
mod report;
mod run;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use throughline_testkit::trust::Count;

use build::Binaries;
use promises::{PROMISES, Promise};
use report::{Facts, Found, Run};
use run::{Outcome, Plan};

/// The default seed.
const SEED: u64 = 20_261_116;

struct Settings {
    /// The version of the sources when the program began: what it builds is of these.
    version: String,
    seed: u64,
    hours: f64,
    /// Use the sizes of CI.
    quick: bool,
    /// Leave out what held in a run of the same version, seed and size.
    go_on: bool,
    only: Vec<String>,
    to: PathBuf,
}

fn main() -> ExitCode {
    let settings = match settings(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(wrong) => {
            eprintln!(
                "{wrong}\nhint: trust [--quick] [--continue] [--seed N] [--hours N] [--only PROMISE] [--to FILE]"
            );
            return ExitCode::from(2);
        }
    };
    match attack_all(&settings) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn settings(mut given: impl Iterator<Item = String>) -> Result<Settings, String> {
    let mut settings = Settings {
        version: version(),
        seed: SEED,
        hours: 0.0,
        quick: false,
        go_on: false,
        only: Vec::new(),
        to: "docs/trust.md".into(),
    };
    while let Some(name) = given.next() {
        match name.as_str() {
            "--quick" => settings.quick = true,
            "--continue" => settings.go_on = true,
            _ => {}
        }
        if matches!(name.as_str(), "--quick" | "--continue") {
            continue;
        }
        let value = given.next().ok_or(format!("{name} needs a value"))?;
        let wrong = || format!("{name} cannot be {value:?}");
        match name.as_str() {
            "--seed" => settings.seed = value.parse().map_err(|_| wrong())?,
            "--hours" => settings.hours = value.parse().map_err(|_| wrong())?,
            "--only" => settings.only.push(value),
            "--to" => settings.to = value.into(),
            _ => return Err(format!("there is no {name}")),
        }
    }
    Ok(settings)
}

/// Returns whether every promise held and every switch was detected.
fn attack_all(settings: &Settings) -> Result<bool, String> {
    if let Some(wrong) = settings.only.iter().find(|only| PROMISES.iter().all(|p| p.name != *only))
    {
        let names: Vec<&str> = PROMISES.iter().map(|promise| promise.name).collect();
        return Err(format!("there is no promise {wrong:?}\nhint: there are {}", names.join(", ")));
    }
    let held = |promise: &Promise| {
        kept::of(promise).is_some_and(|found| {
            let same = Run { date: found.run.date.clone(), ..run_of(settings, 1) };
            found.holds(promise) && found.run == same
        })
    };
    let chosen = |promise: &&Promise| {
        let named = settings.only.is_empty() || settings.only.iter().any(|o| promise.name == o);
        named && !(settings.go_on && held(promise))
    };
    let chosen: Vec<&Promise> = PROMISES.iter().filter(chosen).collect();
    let attacks = chosen.iter().flat_map(|promise| promise.attacks);
    let wanted: Vec<(&str, &str)> = attacks.map(|attack| (attack.package, attack.binary)).collect();
    let began = Instant::now();
    let binaries = build::build(&wanted)?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let counts = scratch.path().join("counts");
    let attacking = Instant::now();
    let end = attacking + Duration::from_secs_f64(settings.hours * 3_600.0);
    let mut all: Vec<(&Promise, Found)> =
        chosen.into_iter().map(|promise| (promise, Found::default())).collect();
    let mut rounds = 0;
    loop {
        for (promise, found) in &mut all {
            if rounds == 0 {
                break_promise(promise, found, &binaries, settings.seed, &counts);
            }
            attack(promise, found, &binaries, settings, rounds, &counts);
            // A run that is ended early leaves what it has found.
            found.run = run_of(settings, rounds + 1);
            kept::keep(promise, found)?;
            let page = report::page(&facts(rounds + 1, began, attacking), &kept::all());
            std::fs::write(&settings.to, page).map_err(|error| error.to_string())?;
        }
        rounds += 1;
        if Instant::now() >= end {
            break;
        }
    }
    println!("written: {}", settings.to.display());
    Ok(all.iter().all(|(promise, found)| found.holds(promise)))
}

fn attack(
    promise: &Promise,
    found: &mut Found,
    binaries: &Binaries,
    settings: &Settings,
    round: u64,
    counts: &Path,
) {
    for attack in promise.attacks {
        let times = if settings.quick { 1 } else { attack.times };
        let plan = Plan { tests: attack.tests, seed: settings.seed + round, times, sabotage: None };
        let Some(outcome) = run_one(binaries, (attack.package, attack.binary), &plan, counts)
        else {
            found.failed.push(format!("{} {} was not built", attack.package, attack.binary));
            continue;
        };
        outcome
            .counts
            .iter()
            .filter(|count| count.promise == promise.name)
            .for_each(|count| found.add(count));
        // A test that counts nothing itself is one attempt.
        if outcome.counts.iter().all(|count| count.promise != promise.name) {
            let on = format!("tests of {}", attack.binary);
            let (attempts, failures) = (outcome.passed, 0);
            found.add(&Count { promise: promise.name.into(), on, attempts, failures });
        }
        if outcome.passed == 0 && outcome.failed.is_empty() {
            found.failed.push(format!("{:?} of {} names no test", attack.tests, attack.binary));
        }
        found.seconds += outcome.took.as_secs();
        let said = if outcome.failed.is_empty() { "held" } else { "BROKEN" };
        println!(
            "{:<26} {said:<7} {:>5} s  {} tests of {}",
            promise.name,
            outcome.took.as_secs(),
            outcome.passed,
            attack.binary
        );
        outcome.failed.iter().for_each(|failed| println!("    {failed}"));
        found.failed.extend(outcome.failed);
    }
}

/// Runs the attack with its promise broken: it must detect that.
fn break_promise(
    promise: &Promise,
    found: &mut Found,
    binaries: &Binaries,
    seed: u64,
    counts: &Path,
) {
    let Some((switch, place, test)) = promise.sabotage else { return };
    let attack = &promise.attacks[place];
    let plan = Plan { tests: &[test], seed, times: 1, sabotage: Some(switch) };
    let outcome = run_one(binaries, (attack.package, attack.binary), &plan, counts);
    found.noticed = outcome.and_then(|outcome| outcome.failed.into_iter().next());
    let said = found.noticed.as_deref().unwrap_or("NOT NOTICED");
    println!("{:<26} {switch}: {said}", promise.name);
}

fn run_one(
    binaries: &Binaries,
    (package, binary): (&str, &str),
    plan: &Plan<'_>,
    counts: &Path,
) -> Option<Outcome> {
    let built = binaries.get(&(package.to_owned(), binary.to_owned()))?;
    Some(run::run(built, plan, counts))
}

/// What a program says.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default()
}

fn version() -> String {
    let is_clean = said("git", &["status", "--porcelain", "crates"]).is_empty();
    let changed = if is_clean { "" } else { " with changes" };
    let commit = said("git", &["rev-parse", "--short=10", "HEAD"]);
    format!("{} ({commit}{changed})", env!("CARGO_PKG_VERSION"))
}

fn run_of(settings: &Settings, rounds: u64) -> Run {
    let seeds = match rounds {
        0 | 1 => settings.seed.to_string(),
        rounds => format!("{} to {}", settings.seed, settings.seed + rounds - 1),
    };
    Run {
        version: settings.version.clone(),
        date: said("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
        seeds,
        size: if settings.quick { "that of CI (`--quick`)".into() } else { "usual".into() },
    }
}

/// What holds for the whole page.
fn facts(rounds: u64, began: Instant, attacking: Instant) -> Facts {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        processor.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    vec![
        ("rounds of the last run", rounds.to_string()),
        (
            "minutes of the last run",
            format!(
                "{} of attacks, {} in all",
                attacking.elapsed().as_secs() / 60,
                began.elapsed().as_secs() / 60
            ),
        ),
        (
            "machine",
            format!(
                "{}, {threads} threads, Linux {}",
                model.unwrap_or("?"),
                said("uname", &["-r"])
            ),
        ),
        ("compiler", said("rustc", &["--version"])),
        ("build", "debug, with the feature `sabotage` and no switch on".into()),
        (
            "Redis",
            said("redis-server", &["--version"])
                .split(" sha")
                .next()
                .unwrap_or_default()
                .to_owned(),
        ),
        (
            "S3",
            std::env::var("THROUGHLINE_TEST_WEED")
                .map_or("not there".into(), |_| "SeaweedFS".into()),
        ),
    ]
}
