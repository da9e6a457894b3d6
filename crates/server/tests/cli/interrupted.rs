//! Restore, migrate, backup, erasure and first start, killed before every single call that changes a file.
//!
//! After each kill the next command finds the store as it was before or as it was to be, complete; or it
//! says what was not finished. The command run again always ends well.

use std::collections::BTreeSet;

use throughline_testkit::file_faults::{Counted, Fault, FileFaults};
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::trust;

use crate::erasures::bytes_of;
use crate::place::Place;

/// Of calls that only fill a file, every so many is tried; of those that make, name or remove one, all are.
const EVERY_WRITE: usize = 20;
/// The same for what is sent to a server.
const EVERY_SEND: usize = 4;

/// Whether it is worth to be killed before this call. A kill before a sync is one after the call before it.
fn counts(number: usize, call: &str) -> bool {
    match call.split(' ').next() {
        Some("fsync" | "fdatasync") => false,
        Some("write" | "pwrite" | "pwrite64" | "ftruncate" | "ftruncate64") => {
            number.is_multiple_of(EVERY_WRITE)
        }
        Some("writev" | "send") => number.is_multiple_of(EVERY_SEND),
        _ => true,
    }
}

/// Runs `command` once to the end, then again and again in a fresh place, killed at each call.
fn killed_everywhere(
    counted: Counted,
    fresh: impl Fn() -> Place,
    command: &[&str],
    after: impl Fn(&Place, &str),
) {
    let faults = FileFaults::build(counted);
    let watched = fresh();
    let mut whole = watched.command(command);
    faults.watch(&mut whole);
    let output = whole.output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let calls = faults.calls();
    assert!(calls.len() > 20, "the calls are seen: {calls:?}");
    let mut killed = 0_u64;
    // The last calls are those that put things in place.
    for (at, call) in calls.iter().enumerate().rev() {
        let number = at + 1;
        if !counts(number, call) {
            continue;
        }
        let struck = fresh();
        let mut run = struck.command(command);
        faults.strike(&mut run, number, Fault::Kill);
        let output = run.output().expect("the binary runs");
        killed += u64::from(!output.status.success());
        after(&struck, &format!("killed before call {number} of {}: {call}", calls.len()));
    }
    trust::count("kills in commands", command[0], killed, 0);
    assert!(killed > 5, "{killed} kills at {} calls", calls.len());
}

/// Ids of the sessions in a store, or what the command says when it fails.
fn sessions(place: &Place, store: &str) -> Result<BTreeSet<String>, String> {
    let output = place.run(&["session", "list", "--json", "--store", store], "");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let listed = listed["conversations"].as_array().or(listed.as_array()).expect("a list");
    Ok(listed.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect())
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn restore_is_killed(store: &str) {
    let place = Place::with_trip();
    if store != "sqlite:throughline/throughline.db" {
        place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", store], "");
    }
    place.ok(&["backup", "copy.db", "--store", store], "");
    place.ok(&["session", "fork", "trip", "--id", "later", "--store", store], "");
    let (before, restored) = (set(&["later", "trip"]), set(&["trip"]));
    assert_eq!(sessions(&place, store), Ok(before.clone()));
    let command = ["restore", "copy.db", "--force", "--store", store];
    killed_everywhere(
        Counted::Files,
        || place.copy(),
        &command,
        |place, when| {
            let found = sessions(place, store).unwrap_or_else(|error| panic!("{when}: {error}"));
            assert!(found == before || found == restored, "{when}: the store has {found:?}");
            let checked = place.json(&["check", "--json", "--store", store]);
            assert_eq!(checked["turns"], 2 * found.len(), "{when}: {checked}");
            place.ok(&command, "");
            assert_eq!(sessions(place, store), Ok(restored.clone()), "{when}, then again");
        },
    );
}

#[test]
fn a_restore_into_sqlite_is_whole_or_not_done_wherever_it_is_killed() {
    restore_is_killed("sqlite:throughline/throughline.db");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_into_redis_is_finished_wherever_it_is_killed() {
    let Some(redis) = RedisServer::start().await else { return };
    let store = redis.url();
    let here = "sqlite:throughline/throughline.db";
    let place = Place::with_trip();
    place.ok(&["backup", "copy.db"], "");
    place.ok(&["session", "fork", "trip", "--id", "later"], "");
    place.ok(&["session", "fork", "trip", "--id", "changed"], "");
    let fresh = || {
        redis.flush();
        place.ok(&["migrate", "--from", here, "--to", &store], "");
        place.copy()
    };
    let (before, restored) = (set(&["changed", "later", "trip"]), set(&["trip"]));
    let command = ["restore", "copy.db", "--force", "--store", &store];
    killed_everywhere(Counted::FilesAndSockets, fresh, &command, |place, when| {
        let found = sessions(place, &store).unwrap_or_else(|error| panic!("{when}: {error}"));
        assert!(found == before || found == restored, "{when}: the store has {found:?}");
        let checked = place.json(&["check", "--json", "--store", &store]);
        assert_eq!(checked["turns"], 2 * found.len(), "{when}: {checked}");
    });
}

/// A restore that was cut short on another machine cannot be finished here, and is not passed over.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_which_a_part_has_arrived_is_refused_by_name() {
    let Some(redis) = RedisServer::start().await else { return };
    let place = Place::with_trip();
    place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", &redis.url()], "");
    let faults = FileFaults::build(Counted::FilesAndSockets);
    place.ok(&["backup", "copy.db"], "");
    let mut at = 60;
    let error = loop {
        let mut run = place.command(&["restore", "copy.db", "--force", "--store", &redis.url()]);
        faults.strike(&mut run, at, Fault::Kill);
        assert!(!run.output().expect("the binary runs").status.success(), "it was cut short");
        // Where the copy was made is not here any more.
        for folder in
            std::fs::read_dir(place.path("throughline")).expect("the data folder").flatten()
        {
            let _ = std::fs::remove_file(folder.path().join("backups/restoring.db"));
        }
        match sessions(&place, &redis.url()) {
            Err(error) => break error,
            Ok(_) => at += 5,
        }
    };
    assert!(error.contains("did not finish") && error.contains("restore again"), "{error}");
}

#[test]
fn a_restore_into_files_is_whole_or_not_done_wherever_it_is_killed() {
    restore_is_killed("files:conversations");
}

fn migrate_is_killed(from: &str, to: &str) {
    let place = Place::with_trip();
    if from != "sqlite:throughline/throughline.db" {
        place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", from], "");
    }
    place.ok(&["session", "fork", "trip", "--id", "second", "--store", from], "");
    let command = ["migrate", "--from", from, "--to", to];
    killed_everywhere(
        Counted::Files,
        || place.copy(),
        &command,
        |place, when| {
            match sessions(place, to) {
                Ok(found) => {
                    assert_eq!(found, set(&["second", "trip"]), "{when}: a part is served")
                }
                Err(error) => {
                    let named =
                        error.contains("there is no store") || error.contains("did not finish");
                    assert!(named && error.contains(to), "{when}: {error}");
                }
            }
            place.ok(&command, "");
            let checked = place.json(&["check", "--json", "--store", to]);
            assert_eq!(checked["turns"], 4, "{when}, then again: {checked}");
        },
    );
}

#[test]
fn a_move_into_sqlite_is_recognised_and_goes_on_wherever_it_is_killed() {
    migrate_is_killed("sqlite:throughline/throughline.db", "sqlite:other/moved.db");
}

#[test]
fn a_move_into_files_is_recognised_and_goes_on_wherever_it_is_killed() {
    migrate_is_killed("sqlite:throughline/throughline.db", "files:moved");
}

#[test]
fn a_backup_is_whole_or_not_there_wherever_it_is_killed() {
    let place = Place::with_trip();
    let command = ["backup", "copy.db"];
    killed_everywhere(
        Counted::Files,
        || place.copy(),
        &command,
        |place, when| {
            if !place.path("copy.db").exists() {
                place.ok(&command, "");
            }
            place.ok(&["restore", "copy.db", "--force"], "");
            let checked = place.json(&["check", "--json"]);
            assert_eq!(checked["turns"], 2, "{when}: {checked}");
        },
    );
}

#[test]
fn an_erasure_is_done_or_asked_for_again_wherever_it_is_killed() {
    for store in ["sqlite:data/t.db", "files:data/conversations"] {
        let place = Place::with_trip();
        place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", store], "");
        std::fs::remove_dir_all(place.path("throughline")).expect("moved");
        let command = ["session", "erase", "trip", "--yes", "--store", store];
        killed_everywhere(
            Counted::Files,
            || place.copy(),
            &command,
            |place, when| {
                let found = sessions(place, store).unwrap_or_else(|e| panic!("{when}: {e}"));
                if found == set(&["trip"]) {
                    place.ok(&command, "");
                }
                assert_eq!(sessions(place, store), Ok(set(&[])), "{when}");
                // The next start does what is left: what lies beside the store, its log, the index.
                place.ok(&["check", "--store", store], "");
                let left = bytes_of(&place.path("data"));
                assert!(!left.contains("Zanzibar"), "{when}: the text is still there");
            },
        );
    }
}

#[test]
fn a_first_start_makes_a_store_or_none_wherever_it_is_killed() {
    for store in ["sqlite:data/t.db", "files:data/conversations"] {
        let command = ["key", "create", "--store", store];
        killed_everywhere(Counted::Files, Place::empty, &command, |place, when| {
            let output = place.run(&["key", "create", "--store", store], "");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{when}: {said}");
            place.ok(&["check", "--store", store], "");
        });
    }
}

#[test]
fn a_store_that_is_lost_is_not_begun_anew_and_what_is_left_of_it_is_named() {
    let serve = ["serve", "--bind", "127.0.0.1:0"];
    let place = Place::with_trip();
    std::fs::remove_file(place.path("throughline/throughline.db")).expect("the store is lost");
    let (code, error) = place.fails(&serve);
    assert_eq!(code, 1, "{error}");
    assert!(
        error.contains("throughline.db.backups/erasures.jsonl shows that there was one"),
        "{error}"
    );
    std::fs::remove_dir_all(place.path("throughline/throughline.db.backups")).expect("moved away");
    let (_, error) = place.fails(&serve);
    assert!(error.contains("throughline/throughline.index.db shows that there was one"), "{error}");
    std::fs::remove_file(place.path("throughline/throughline.index.db"))
        .expect("begun anew on purpose");
    place.serve().end();

    let place = Place::with_trip();
    let files = "files:conversations";
    place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", files], "");
    place.ok(&["backup", "--store", files], "");
    std::fs::remove_dir_all(place.path("conversations")).expect("the store is lost");
    let (_, error) = place.fails(&[&serve[..], &["--store", files]].concat());
    assert!(error.contains("there was one") && error.contains("conversations.backups/"), "{error}");
}
