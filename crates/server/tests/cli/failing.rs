//! Every single call that changes a file fails once: a command that says it has done something has, and one that could
//! not leaves the store sound.

use throughline_testkit::file_faults::{Counted, EIO, EMFILE, ENOSPC, Fault, FileFaults};
use throughline_testkit::seeded::Seeded;
use throughline_testkit::trust;

use crate::place::Place;

/// Calls of each store that fail in a usual run.
const FAILURES: u64 = 12;
/// Any number will do.
const SEED: u64 = 20_261_116;

fn one_call_fails(store: &str, kind: &str) {
    let place = Place::with_trip();
    place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", store], "");
    let faults = FileFaults::build(Counted::Files);
    let command = ["session", "fork", "trip", "--id", "second", "--store", store];
    let watched = place.copy();
    let mut whole = watched.command(&command);
    faults.watch(&mut whole);
    assert!(whole.output().expect("the binary runs").status.success());
    let calls = faults.calls();
    let mut seeded = Seeded::new(trust::seed(SEED));
    let (mut wrong, mut refused) = (Vec::new(), 0);
    let failures = trust::times(FAILURES);
    for _ in 0..failures {
        let number = 1 + seeded.below(calls.len() as u64) as usize;
        let error = *seeded.one_of(&[ENOSPC, EIO, EMFILE]);
        let struck = place.copy();
        let mut run = struck.command(&command);
        faults.strike(&mut run, number, Fault::Error(error));
        let output = run.output().expect("the binary runs");
        let done = output.status.success();
        refused += u64::from(!done);
        let when =
            format!("call {number} of {} ({}) fails with {error}", calls.len(), calls[number - 1]);
        let shown = struck.run(&["session", "show", "second", "--json", "--store", store], "");
        if done && !shown.status.success() {
            wrong.push(format!("{when}: it said that it was done"));
        }
        let checked = struck.run(&["check", "--store", store], "");
        let kept = struck.run(&["session", "history", "trip", "--store", store], "");
        let kept = String::from_utf8_lossy(&kept.stdout).into_owned();
        if !checked.status.success() || !kept.contains("Zanzibar") || !kept.contains("How far?") {
            let said = String::from_utf8_lossy(&checked.stdout).into_owned();
            wrong.push(format!("{when}: the store is not sound: {said} {kept}"));
        }
    }
    assert!(refused > 0, "no failure was noticed");
    trust::settle("failing file calls", kind, failures, &wrong);
}

#[test]
fn a_failing_call_is_told_and_harms_nothing_in_sqlite() {
    one_call_fails("sqlite:data/t.db", "sqlite");
}

#[test]
fn a_failing_call_is_told_and_harms_nothing_in_files() {
    one_call_fails("files:data/conversations", "files");
}
