//! A store of files in which something was put, changed or broken from outside.
//!
//! Damage is named, bounded to what is damaged, and never replaced in silence.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::Value;
use throughline_testkit::file_faults::{Counted, ENOSPC, EROFS, FileFaults};

use crate::place::{Place, Server};
use crate::stdio::GIVE_UP_AFTER;

const STORE: &str = "files:conversations";

/// A store of files with sessions `trip` and `other`.
fn filled() -> Place {
    let place = Place::with_trip();
    place.import("other", &[("Still here?", "Yes.")]);
    place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", STORE], "");
    place
}

fn thread(place: &Place, id: &str) -> PathBuf {
    place.path("conversations/threads/local/local/session").join(id)
}

fn turns(place: &Place, id: &str) -> Vec<Value> {
    let shown = place.json(&["session", "history", id, "--json", "--store", STORE]);
    shown["turns"].as_array().expect("turns").clone()
}

#[test]
fn files_of_others_stop_nobody_and_are_named() {
    let place = filled();
    let threads = place.path("conversations/threads");
    let strays = [
        place.path("conversations/Thumbs.db"),
        threads.join("Thumbs.db"),
        threads.join("local/desktop.ini"),
        threads.join("local/local/Thumbs.db"),
        threads.join("local/local/session/Thumbs.db"),
        threads.join("local/local/session/notes~"),
        thread(&place, "trip").join("head.json~"),
        thread(&place, "trip").join("turns-000001.jsonl.bak"),
        thread(&place, "trip").join(".head.json.swp"),
    ];
    for stray in &strays {
        fs::write(stray, "mine").expect("written");
    }
    let (server, said) = place.serve_and_listen(&["--store", STORE]);
    server.end();
    for stray in &strays {
        let shown = stray.strip_prefix(place.path("")).expect("a path in it").display().to_string();
        assert!(said.contains(&shown), "{shown} is not named in {said}");
        assert_eq!(fs::read_to_string(stray).expect("it is still there"), "mine", "{shown}");
    }
    assert_eq!(turns(&place, "trip").len(), 2);
    place.ok(&["chat", "trip", "--store", STORE], "What now?\n");
    assert_eq!(turns(&place, "trip").len(), 3);
    assert_eq!(fs::read_to_string(&strays[7]).expect("an editor's copy"), "mine");
}

#[test]
fn a_changed_line_costs_its_own_turn_and_no_other() {
    for (what, change) in [
        ("a word of another length", ("Zanzibar", "Madagascar, that is")),
        ("a letter", ("Zanzibar", "Zanzibal")),
        ("a line that is no JSON", ("{\"turn\":1,", "\"turn\":1,")),
    ] {
        let place = filled();
        let log = thread(&place, "trip").join("turns-000001.jsonl");
        let text = fs::read_to_string(&log).expect("the log");
        fs::write(&log, text.replacen(change.0, change.1, 1)).expect("changed");
        let seen = turns(&place, "trip");
        assert_eq!(seen.len(), 2, "{what}");
        assert_eq!(seen[1]["message"], "How far?", "{what}");
        assert_eq!(seen[0]["message"], "", "{what}");
        let reason = seen[0]["error"].to_string();
        assert!(reason.contains("turn 1") && reason.contains("cannot be read"), "{what}: {reason}");
        let shown = place.ok(&["session", "history", "trip", "--store", STORE], "");
        assert!(shown.contains("cannot be read") && shown.contains("How far?"), "{what}: {shown}");
        // It goes on, and nothing of the changed line is lost.
        place.ok(&["chat", "trip", "--store", STORE], "What now?\n");
        let seen = turns(&place, "trip");
        assert_eq!((seen.len(), &seen[1]["message"]), (3, &"How far?".into()), "{what}");
        let kept: String = fs::read_dir(thread(&place, "trip"))
            .expect("the thread")
            .filter_map(|entry| fs::read_to_string(entry.expect("a file").path()).ok())
            .collect();
        assert!(kept.contains(change.1), "{what}: {kept}");
        let output = place.run(&["check", "--store", STORE], "");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("local/local/session/trip") && said.contains("line 1"), "{said}");
        assert_eq!(turns(&place, "other").len(), 1, "{what}");
        // An erasure takes what cannot be read, too.
        place.ok(&["session", "erase", "trip", "--turn", "1", "--yes", "--store", STORE], "");
        place.ok(&["check", "--store", STORE], "");
    }
}

#[test]
fn a_missing_line_costs_its_own_turn_and_no_other() {
    let place = filled();
    place.ok(&["chat", "trip", "--store", STORE], "What now?\nAnd then?\n");
    let log = thread(&place, "trip").join("turns-000001.jsonl");
    let text = fs::read_to_string(&log).expect("the log");
    let lines: Vec<&str> =
        text.lines().enumerate().filter(|(n, _)| *n != 1).map(|(_, l)| l).collect();
    fs::write(&log, lines.join("\n")).expect("changed");
    let said: Vec<_> = turns(&place, "trip").iter().map(|turn| turn["message"].clone()).collect();
    assert_eq!(said, ["Where is Zanzibar?", "", "What now?", "And then?"]);
    place.ok(&["chat", "trip", "--store", STORE], "Last?\n");
    let said: Vec<_> = turns(&place, "trip").iter().map(|turn| turn["message"].clone()).collect();
    assert_eq!(said, ["Where is Zanzibar?", "", "What now?", "And then?", "Last?"]);
}

#[test]
fn a_damaged_session_does_not_begin_anew_until_somebody_decides() {
    let place = filled();
    let head = thread(&place, "trip").join("head.json");
    let text = fs::read_to_string(&head).expect("the head");
    fs::write(&head, &text[..text.len() / 2]).expect("cut");
    for start in 1..=2 {
        let (server, said) = place.serve_and_listen(&["--store", STORE]);
        assert!(said.contains("local/local/session/trip") && said.contains("head.json"), "{said}");
        let health = server.get("/api/v1/health");
        assert_eq!(health["status"], "degraded", "start {start}: {health}");
        let warnings = health["warnings"].to_string();
        assert!(warnings.contains("throughline check") && !warnings.contains("trip"), "{warnings}");
        let (status, problem) =
            server.post("/api/v1/chat", r#"{"conversation_id":"trip","message":"Hello?"}"#);
        assert_eq!((status, &problem["code"]), (500, &"store_damaged".into()), "{problem}");
        let hint = problem["hint"].as_str().unwrap_or_default();
        assert!(hint.contains("throughline repair"), "{problem}");
        let (status, _) =
            server.post("/api/v1/chat", r#"{"conversation_id":"new","message":"Hello?"}"#);
        assert_eq!(status, 200, "others go on");
        server.end();
    }
    let output = place.run(&["check", "--store", STORE], "");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("local/local/session/trip: head.json"), "{said}");
    assert_eq!(fs::read_to_string(&head).expect("the head"), text[..text.len() / 2], "untouched");

    // Made anew from the log: nothing that was said is lost.
    let other = place.copy();
    other.ok(&["repair", "trip", "--rebuild", "--store", STORE], "");
    let said: Vec<_> = turns(&other, "trip").iter().map(|turn| turn["message"].clone()).collect();
    assert_eq!(said, ["Where is Zanzibar?", "How far?"]);
    other.ok(&["check", "--store", STORE], "");
    other.ok(&["chat", "trip", "--store", STORE], "What now?\n");

    // Put aside: the name is free again.
    let said = place.ok(&["repair", "trip", "--set-aside", "--store", STORE], "");
    assert!(said.contains("conversations/damaged/local/local/session/trip/1"), "{said}");
    place.ok(&["chat", "trip", "--store", STORE], "A new beginning.\n");
    assert_eq!(turns(&place, "trip").len(), 1);
    let (server, _) = place.serve_and_listen(&["--store", STORE]);
    assert_eq!(server.get("/api/v1/health")["status"], "ok");
    server.end();
}

#[test]
fn what_an_earlier_version_set_aside_does_not_begin_anew_either() {
    let place = filled();
    let aside = place.path("conversations/damaged/local/local/session/trip/1");
    fs::create_dir_all(aside.parent().expect("a folder")).expect("made");
    fs::rename(thread(&place, "trip"), &aside).expect("set aside");
    let (code, error) = place.fails(&["session", "show", "trip", "--store", STORE]);
    assert_eq!((code, error.contains("set aside")), (1, true), "{error}");
    let output = place.run(&["chat", "trip", "--store", STORE], "Hello?\n");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.contains("set aside")), (Some(1), true), "{error}");
    place.ok(&["repair", "local/local/session/trip", "--rebuild", "--store", STORE], "");
    assert_eq!(turns(&place, "trip").len(), 2);
}

const SQLITE: &str = "sqlite:throughline/throughline.db";

/// Flips a bit in the head of session `trip`.
fn flip_head(place: &Place, store: &str) {
    if store == STORE {
        let head = thread(place, "trip").join("head.json");
        let mut bytes = fs::read(&head).expect("the head");
        bytes[200] ^= 1;
        fs::write(&head, bytes).expect("changed");
        return;
    }
    let file = place.path("throughline/throughline.db");
    let sound = fs::read(&file).expect("the store");
    let rows = sound.windows(4).enumerate().filter(|(_, name)| *name == b"trip");
    for (at, _) in rows {
        // Behind the name in the row of the thread are its numbers and its head.
        let mut bytes = sound.clone();
        bytes[at + 80] ^= 1;
        fs::write(&file, bytes).expect("changed");
        let said = place.run(&["check", "--store", store], "").stdout;
        if String::from_utf8_lossy(&said).contains("the head of local/local/session/trip") {
            return;
        }
    }
    panic!("no bit of the head was found");
}

#[test]
fn a_damaged_head_is_named_everywhere_and_stops_nothing_else() {
    for store in [STORE, SQLITE] {
        let place = filled();
        flip_head(&place, store);
        let (server, _) = place.serve_and_listen(&["--store", store]);
        let listed = server.get("/api/v1/conversations");
        assert_eq!(listed["conversations"][0]["id"], "other", "{store}: {listed}");
        assert_eq!(listed["damaged"], serde_json::json!(["trip"]), "{store}: {listed}");
        let health = server.get("/api/v1/health");
        assert_eq!(
            (&health["status"], &health["store"]["damaged"]),
            (&"degraded".into(), &1.into())
        );
        let chat = r#"{"conversation_id":"other","message":"What did I say of Zanzibar?"}"#;
        assert_eq!(server.post("/api/v1/chat", chat).0, 200, "{store}");
        assert_eq!(server.ask("/api/v1/search?q=Still").0, 200, "{store}");
        server.end();
        let list = place.run(&["session", "list", "--store", store], "");
        let told = String::from_utf8_lossy(&list.stderr).into_owned();
        assert!(list.status.success() && told.contains("trip is damaged"), "{store}: {told}");

        let made = place.json(&["backup", "copy.db", "--json", "--store", store]);
        let left_out = made["left_out"].to_string();
        assert!(left_out.contains("local/local/session/trip"), "{store}: {made}");
        let copy = ["session", "history", "other", "--store", "sqlite:copy.db"];
        assert!(place.ok(&copy, "").contains("Still here?"), "{store}");
        let moved = place.run(&["migrate", "--from", store, "--to", "sqlite:moved.db"], "");
        let told = String::from_utf8_lossy(&moved.stdout).into_owned();
        assert!(!moved.status.success() && told.contains("session/trip"), "{store}: {told}");
        place.ok(&["user", "export", "--user", "local", "all.ndjson", "--store", store], "");
        let export = fs::read_to_string(place.path("all.ndjson")).expect("the export");
        assert!(export.contains(r#""kind":"unreadable""#), "{store}: {export}");
        assert!(export.contains(r#""session_id":"trip""#), "{store}: {export}");

        place.ok(&["user", "erase", "--user", "local", "--yes", "--store", store], "");
        if store == STORE {
            let left = crate::erasures::bytes_of(&place.path("conversations"));
            assert!(!left.contains("Zanzibar") && !left.contains("Still here"), "{left}");
        }
        place.ok(&["check", "--store", store], "");
        assert_eq!(place.fails(&["session", "history", "trip", "--store", store]).0, 1);
    }
}

#[test]
fn what_was_set_aside_as_damaged_is_erased_with_its_user() {
    let place = filled();
    place.ok(&["repair", "trip", "--set-aside", "--store", STORE], "");
    place.ok(&["user", "erase", "--user", "local", "--yes", "--store", STORE], "");
    let left = crate::erasures::bytes_of(&place.path("conversations"));
    assert!(!left.contains("Zanzibar"), "{left}");
}

/// A server on `store` says that it cannot write as long as every write fails with `error`.
fn health_tells_of(error: i32, store: &str) {
    let place = filled();
    let faults = FileFaults::build(Counted::Files);
    let mut command = place.command(&["serve", "--bind", "127.0.0.1:0", "--store", store]);
    faults.fail_while(&mut command, error);
    let (server, _) = Place::started(command);
    assert_eq!(server.get("/api/v1/health")["status"], "ok");
    faults.begin();
    let health = health_until(&server, 503);
    assert_eq!(health["status"], "unavailable", "{store}: {health}");
    assert!(health["warnings"].to_string().contains("cannot be written"), "{store}: {health}");
    faults.end();
    assert_eq!(health_until(&server, 200)["status"], "ok", "{store}");
}

/// Health, asked until it answers with `status`: an answer holds for a second.
fn health_until(server: &Server, status: u16) -> Value {
    let began = Instant::now();
    loop {
        let (found, health) = server.ask("/api/v1/health");
        if found == status {
            return health;
        }
        assert!(began.elapsed() < GIVE_UP_AFTER, "never {status}: {health}");
    }
}

#[test]
fn a_full_disk_is_not_healthy() {
    health_tells_of(ENOSPC, STORE);
    health_tells_of(ENOSPC, "sqlite:throughline/throughline.db");
}

#[test]
fn a_folder_that_became_read_only_is_not_healthy() {
    health_tells_of(EROFS, STORE);
    health_tells_of(EROFS, "sqlite:throughline/throughline.db");
}
