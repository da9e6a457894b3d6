//! The power fails while a server writes: what it acknowledged is there afterwards, once and in order.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;
use throughline_testkit::power_cut::{self, Moment, Recorder};
use throughline_testkit::seeded::Seeded;
use throughline_testkit::trust;

use crate::place::Place;

/// Turns that are acknowledged while everything is recorded.
const TURNS: usize = 24;
/// Cuts of a usual run.
const CUTS: u64 = 8;
/// Any number will do.
const SEED: u64 = 20_261_116;

/// Messages with the moment after each was acknowledged.
fn acknowledged(place: &Place, recorder: &Recorder, store: &str) -> Vec<(Moment, String)> {
    let mut command = place.command(&["serve", "--bind", "127.0.0.1:0", "--store", store]);
    recorder.record(&mut command);
    let (server, _) = Place::started(command);
    let mut told = Vec::new();
    for number in 0..TURNS {
        let message = format!("message {number}");
        let body = json!({"message": message, "reply": "noted ".repeat(200)}).to_string();
        let (status, answer) = server.post("/api/v1/conversations/trip/turns", &body);
        assert_eq!(status, 201, "{answer}");
        told.push((recorder.now(), message));
    }
    server.end();
    told
}

fn survives(store: &str, kind: &str) {
    let place = Place::with_trip();
    place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", store], "");
    fs::remove_dir_all(place.path("throughline")).expect("moved");
    let before = place.copy();
    let recorder = Recorder::build();
    let told = acknowledged(&place, &recorder, store);
    let calls = recorder.calls();
    let mut seeded = Seeded::new(trust::seed(SEED));
    let mut wrong = Vec::new();
    let cuts = trust::times(CUTS);
    for number in 0..cuts {
        let after = Place::empty();
        let folder = place.folder().canonicalize().expect("a folder");
        let moment = power_cut::cut(before.folder(), &folder, &calls, &mut seeded, after.folder());
        let history = ["session", "history", "trip", "--limit", "1000", "--json", "--store", store];
        let output = after.run(&history, "");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let found: serde_json::Value = serde_json::from_str(&said).unwrap_or_default();
        let turns = found["turns"].as_array().into_iter().flatten();
        let found: Vec<&str> = turns.filter_map(|turn| turn["message"].as_str()).collect();
        let due = told.iter().filter(|(at, _)| *at <= moment).map(|(_, message)| message.as_str());
        let missing: Vec<&str> = due.filter(|message| !found.contains(message)).collect();
        let doubled = found.len() - found.iter().collect::<BTreeSet<_>>().len();
        let checked = after.run(&["check", "--store", store], "");
        if !missing.is_empty() || doubled > 0 || !checked.status.success() {
            let problems =
                String::from_utf8_lossy(&[output.stderr, checked.stdout].concat()).into_owned();
            wrong.push(format!(
                "cut {number} at {moment:?}: {missing:?} missing, {doubled} doubled; {problems}"
            ));
        }
    }
    trust::settle("power cuts", kind, cuts, &wrong);
}

#[test]
fn sqlite_keeps_what_it_acknowledged_when_the_power_fails() {
    survives("sqlite:data/t.db", "sqlite");
}

#[test]
fn files_keep_what_they_acknowledged_when_the_power_fails() {
    survives("files:data/conversations", "files");
}
