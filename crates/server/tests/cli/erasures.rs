//! What was erased stays erased: in logs that were cut short, in copies that are kept, and whatever a clock says.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use throughline_testkit::file_faults::{Counted, FileFaults};

use crate::place::Place;
use crate::stdio::Client;

const DAY: i64 = 24 * 60 * 60;

/// A place whose backups are in its folder `backups`, wherever the store is.
fn with_backups(place: Place) -> Place {
    fs::write(place.path("throughline.toml"), "[backups]\nfolder = \"backups\"\n")
        .expect("written");
    fs::create_dir_all(place.path("backups")).expect("a folder");
    place
}

fn log(place: &Place) -> std::path::PathBuf {
    place.path("backups/erasures.jsonl")
}

/// Removes the store and what is derived from it, and brings the backup back.
fn lose_and_restore(place: &Place) -> Value {
    for file in ["throughline/throughline.db", "throughline/throughline.index.db"] {
        fs::remove_file(place.path(file)).expect("the store is lost");
    }
    place.json(&["restore", "copy.db", "--json"])
}

#[test]
fn a_torn_line_does_not_swallow_the_next_erasure() {
    let place = with_backups(Place::with_trip());
    place.ok(&["backup", "copy.db"], "");
    let mut file =
        fs::File::options().append(true).create(true).open(log(&place)).expect("the log");
    file.write_all(b"{\"key\":\"sha2").expect("a write that was cut short");
    drop(file);
    place.ok(&["session", "erase", "trip", "--yes"], "");
    let restored = lose_and_restore(&place);
    assert_eq!(restored["erased_again"]["threads"], 1, "{restored}");
    assert_eq!(place.fails(&["session", "show", "trip"]).0, 1);
}

#[test]
fn a_changed_line_of_the_log_is_named() {
    let place = with_backups(Place::with_trip());
    place.ok(&["backup", "copy.db"], "");
    place.ok(&["session", "erase", "trip", "--yes"], "");
    let text = fs::read_to_string(log(&place)).expect("the log");
    assert_eq!(fs::metadata(log(&place)).expect("it").permissions().mode() & 0o777, 0o600);
    let line = text.lines().last().expect("a line");
    fs::write(log(&place), text.replace(line, &line.replacen("at\":\"2", "at\":\"1", 1)))
        .expect("it");
    let (server, said) = place.serve_and_listen(&[]);
    server.end();
    assert!(said.contains("erasures.jsonl") && said.contains("damaged"), "{said}");
    let output = place.run(&["restore", "copy.db", "--force"], "");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("erasures.jsonl line") && said.contains("may be back"), "{said}");
    // The store itself knew.
    assert_eq!(place.fails(&["session", "show", "trip"]).0, 1);
}

/// Runs a command in a folder that nobody can write to.
fn elsewhere(place: &Place, arguments: &[&str]) -> Output {
    let store = format!("sqlite:{}", place.path("throughline/throughline.db").display());
    let mut command = place.command(&[arguments, &["--store", &store]].concat());
    command.current_dir("/proc").stdin(Stdio::null()).output().expect("the binary runs")
}

#[test]
fn nothing_depends_on_the_folder_that_a_command_is_started_in() {
    let place = Place::with_trip();
    let output = elsewhere(&place, &["backup"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = elsewhere(&place, &["session", "erase", "trip", "--yes"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let beside = place.path("throughline/throughline.db.backups");
    assert!(beside.join("erasures.jsonl").is_file());
    assert_eq!(fs::metadata(&beside).expect("it").permissions().mode() & 0o777, 0o700);
    assert_eq!(place.names(), ["in.json", "throughline"].map(str::to_owned));
}

fn is_private(path: &Path) -> bool {
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode();
    mode(path) & 0o777 == 0o600 && mode(path.parent().expect("a folder")) & 0o777 == 0o700
}

#[test]
fn over_stdio_backups_are_made_and_contexts_expire_beside_the_store() {
    let place = Place::with_trip();
    let id = place.ok(&["context", "create"], "").trim().to_owned();
    place.ok(&["context", "delete", &id], "");
    let store = format!("sqlite:{}", place.path("throughline/throughline.db").display());
    let faults = FileFaults::build(Counted::Files);
    let mut command = place.command(&["mcp", "--store", &store]);
    // The copy's own time is that of the machine.
    command.current_dir("/proc").env("THROUGHLINE_BACKUPS__KEPT_DAYS", "0");
    faults.move_clock(&mut command, 60 * DAY);
    let mut client = Client::start(command);
    let beside = place.path("throughline/throughline.db.backups");
    let purged = beside.join(format!("purged/local/local/{id}.json"));
    let backup = || {
        let entries = fs::read_dir(&beside).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).any(|name| {
            let name = name.to_string_lossy();
            name.starts_with("throughline-") && name.ends_with(".db")
        })
    };
    client.until(|| purged.is_file() && backup());
    client.end();
    assert!(is_private(&purged));

    // Of a context that is gone, the copy is what an erasure is asked for.
    place.ok(&["session", "erase", &id, "--yes"], "");
    assert!(!purged.exists());
    assert_eq!(place.fails(&["session", "erase", &id, "--yes"]).0, 1);
}

/// What lies in a folder, as text.
pub(crate) fn bytes_of(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => text.push_str(&bytes_of(&path)),
            false => text.push_str(&String::from_utf8_lossy(&fs::read(&path).expect("a file"))),
        }
    }
    text
}

#[test]
fn an_erasure_reaches_what_a_restore_replaced() {
    for store in ["sqlite:data/t.db", "files:data/conversations"] {
        let place = Place::with_trip();
        place.import("other", &[("Where is Samarkand?", "On the road."), ("And Merv?", "Too.")]);
        place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", store], "");
        fs::remove_dir_all(place.path("throughline")).expect("moved");
        fs::remove_file(place.path("in.json")).expect("not needed any more");
        place.ok(&["backup", "copy.db", "--store", store], "");
        let restored = place.json(&["restore", "copy.db", "--force", "--json", "--store", store]);
        assert!(place.path(restored["kept"].as_str().expect("a path")).exists());
        place.ok(&["session", "erase", "trip", "--yes", "--store", store], "");
        place.ok(&["session", "erase", "other", "--turn", "1", "--yes", "--store", store], "");
        let left = bytes_of(&place.path("data"));
        assert!(!left.contains("Zanzibar"), "{store}: a session in a kept copy");
        assert!(!left.contains("Samarkand"), "{store}: a turn in a kept copy");
        assert!(left.contains("Merv"), "{store}: what was not erased is kept");
    }
}

#[test]
fn a_kept_copy_that_cannot_be_cleared_goes_as_a_whole() {
    let place = Place::with_trip();
    place.ok(&["backup", "copy.db"], "");
    let restored = place.json(&["restore", "copy.db", "--force", "--json"]);
    let kept = place.path(restored["kept"].as_str().expect("a path"));
    fs::write(&kept, "Zanzibar, in a file that is no database").expect("damaged");
    place.ok(&["session", "erase", "trip", "--yes"], "");
    assert!(!kept.exists());
}

#[test]
fn a_session_made_anew_while_the_clock_is_behind_survives_a_restore() {
    let faults = FileFaults::build(Counted::Files);
    for store in ["sqlite:throughline/throughline.db", "files:conversations"] {
        let place = Place::with_trip();
        if store.starts_with("files") {
            place
                .ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", store], "");
        }
        let with = |arguments: &[&str]| place.command(&[arguments, &["--store", store]].concat());
        place.ok(&["session", "erase", "trip", "--turn", "2", "--yes", "--store", store], "");
        place.ok(&["session", "erase", "trip", "--yes", "--store", store], "");
        let mut again = with(&["session", "import", "in.json"]);
        faults.move_clock(&mut again, -DAY);
        assert!(again.output().expect("the binary runs").status.success());
        place.ok(&["backup", "copy.db", "--store", store], "");
        let restored = place.json(&["restore", "copy.db", "--force", "--json", "--store", store]);
        assert_eq!(restored["erased_again"], json!({"threads": 0, "turns": 0}), "{store}");
        let history = place.ok(&["session", "history", "trip", "--store", store], "");
        assert!(history.contains("Zanzibar") && history.contains("How far?"), "{store}: {history}");
    }
}

/// Runs a server whose clock is a day behind, and ends it.
fn a_day_behind(place: &Place, store: &str, work: impl FnOnce(&crate::place::Server)) {
    let mut command = place.command(&["serve", "--bind", "127.0.0.1:0", "--store", store]);
    let faults = FileFaults::build(Counted::Files);
    faults.move_clock(&mut command, -DAY);
    let (server, _) = Place::started(command);
    work(&server);
    server.end();
}

const PRESET: &str = r#"{"name": "tutor", "systemPrompt": "Teach about Zanzibar patiently."}"#;
const FILE: &str =
    r#"{"command": "create", "path": "/memories/trip.md", "file_text": "Zanzibar in June"}"#;

/// Stores one thing of each kind; returns the ids of the fact, the preset and the link, and the link's token.
fn one_of_each(server: &crate::place::Server) -> [String; 4] {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let (_, fact) = server.post("/api/v1/memories", r#"{"text": "My boat lies in Zanzibar"}"#);
    assert_eq!(server.post("/api/v1/memories/tool", FILE).0, 200);
    let (_, preset) = server.post("/api/v1/presets", PRESET);
    let (_, link) = server.post("/api/v1/conversations/trip/shares", "{}");
    let fact = fact.get("memory").unwrap_or(&fact).clone();
    let preset = preset.get("preset").unwrap_or(&preset).clone();
    [text(&fact["id"]), text(&preset["id"]), text(&link["id"]), text(&link["token"])]
}

/// Everything of these kinds, as text.
fn told(server: &crate::place::Server) -> String {
    let memories = server.get("/api/v1/memories").to_string();
    let (_, files) =
        server.post("/api/v1/memories/tool", r#"{"command": "view", "path": "/memories"}"#);
    format!("{memories}\n{files}\n{}", server.get("/api/v1/presets"))
}

#[test]
fn what_was_erased_while_the_clock_was_behind_does_not_come_back() {
    for store in ["sqlite:throughline/throughline.db", "files:conversations"] {
        let place = with_backups(Place::with_trip());
        if store.starts_with("files") {
            place
                .ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", store], "");
        }
        let (server, _) = place.serve_and_listen(&["--store", store]);
        let [fact, preset, link, token] = one_of_each(&server);
        let (status, _) = server.ask(&format!("/api/v1/shared/{token}"));
        assert_eq!((status, told(&server).matches("Zanzibar").count()), (200, 2), "{store}");
        server.end();
        place.ok(&["backup", "copy.db", "--store", store], "");
        a_day_behind(&place, store, |server| {
            server.delete(&format!("/api/v1/memories/{fact}"));
            server.delete(&format!("/api/v1/presets/{preset}"));
            server.delete(&format!("/api/v1/conversations/trip/shares/{link}"));
            let delete = r#"{"command": "delete", "path": "/memories/trip.md"}"#;
            assert_eq!(server.post("/api/v1/memories/tool", delete).0, 200);
        });
        place.ok(&["restore", "copy.db", "--force", "--store", store], "");
        let (server, _) = place.serve_and_listen(&["--store", store]);
        let left = told(&server);
        assert!(!left.contains("Zanzibar") && !left.contains("trip.md"), "{store}: {left}");
        assert_eq!(server.ask(&format!("/api/v1/shared/{token}")).0, 404, "{store}");
    }
}

#[test]
fn what_was_made_anew_while_the_clock_was_behind_survives_a_restore() {
    for store in ["sqlite:throughline/throughline.db", "files:conversations"] {
        let place = with_backups(Place::empty());
        let (server, _) = place.serve_and_listen(&["--store", store]);
        let named = PRESET.replacen('{', r#"{"id": "tutor-1", "#, 1);
        for _ in 0..2 {
            assert_eq!(server.post("/api/v1/presets", &named).0, 201);
            assert_eq!(server.post("/api/v1/memories/tool", FILE).0, 200);
            let delete = r#"{"command": "delete", "path": "/memories/trip.md"}"#;
            assert_eq!(server.post("/api/v1/memories/tool", delete).0, 200);
            server.delete("/api/v1/presets/tutor-1");
        }
        server.end();
        a_day_behind(&place, store, |server| {
            assert_eq!(server.post("/api/v1/presets", &named).0, 201);
            assert_eq!(server.post("/api/v1/memories/tool", FILE).0, 200);
            // Changed since, it is still the same one.
            let insert = r#"{"command": "insert", "path": "/memories/trip.md", "insert_line": 0,
                "insert_text": "Packing list"}"#;
            assert_eq!(server.post("/api/v1/memories/tool", insert).0, 200);
        });
        place.ok(&["backup", "copy.db", "--store", store], "");
        let restored = place.json(&["restore", "copy.db", "--force", "--json", "--store", store]);
        assert_eq!(restored["erased_again"], json!({"threads": 0, "turns": 0}), "{store}");
        let (server, _) = place.serve_and_listen(&["--store", store]);
        let left = told(&server);
        assert!(left.contains("Zanzibar") && left.contains("trip.md"), "{store}: {left}");
    }
}
