//! Backups, restores, moves and checks on the command line.

use std::fs;

use crate::place::Place;

#[test]
fn what_was_erased_after_a_backup_does_not_come_back_with_it() {
    let place = Place::with_trip();
    place.import("other", &[("Still here?", "Yes.")]);
    let made = place.json(&["backup", "copy.db", "--json"]);
    assert!(made["threads"].as_u64().expect("a count") >= 2, "{made}");
    place.ok(&["session", "erase", "trip", "--yes"], "");

    let (code, error) = place.fails(&["restore", "copy.db"]);
    assert_eq!((code, error.contains("--force")), (1, true), "{error}");
    let restored = place.json(&["restore", "copy.db", "--force", "--json"]);
    assert_eq!(restored["erased_again"]["threads"], 1);
    assert_eq!(place.fails(&["session", "show", "trip"]).0, 1);
    assert!(place.ok(&["search", "zanzibar"], "").contains("nothing was found"));
    assert_eq!(place.json(&["session", "show", "other", "--json"])["turns"], 1);
    let kept = restored["kept"].as_str().expect("the old file is kept");
    assert!(place.path(kept).is_file());
    let bytes = fs::read(place.path("throughline/throughline.db")).expect("the store");
    assert!(!String::from_utf8_lossy(&bytes).contains("Zanzibar"), "its bytes are gone too");
    place.ok(&["check"], "");
}

#[test]
fn a_server_that_could_not_note_an_erasure_does_not_start() {
    let place = Place::empty();
    fs::create_dir(place.path("throughline")).expect("the data folder");
    fs::write(place.path("throughline/throughline.db.backups"), "not a folder").expect("a file");
    let (code, error) = place.fails(&["serve", "--bind", "127.0.0.1:0"]);
    assert_eq!((code, error.contains("backups.folder")), (1, true), "{error}");
}

#[test]
fn a_store_that_a_server_has_open_is_not_replaced() {
    let place = Place::with_trip();
    place.ok(&["backup", "copy.db"], "");
    let server = place.serve();
    let (code, error) = place.fails(&["restore", "copy.db", "--force"]);
    assert_eq!((code, error.contains("open in another process")), (1, true), "{error}");
    server.end();
    place.ok(&["restore", "copy.db", "--force"], "");
    assert_eq!(place.json(&["session", "show", "trip", "--json"])["turns"], 2);
}

#[test]
fn the_log_of_erasures_holds_where_the_store_is_lost() {
    let place = Place::with_trip();
    place.ok(&["backup", "copy.db"], "");
    place.ok(&["session", "erase", "trip", "--yes"], "");
    fs::remove_file(place.path("throughline/throughline.db")).expect("the store is lost");
    let restored = place.json(&["restore", "copy.db", "--json"]);
    assert_eq!(restored["erased_again"]["threads"], 1);
    assert_eq!(place.fails(&["session", "show", "trip"]).0, 1);
}

#[test]
fn an_erased_turn_does_not_come_back_and_the_rest_does() {
    let place = Place::with_trip();
    place.ok(&["backup", "copy.db"], "");
    place.ok(&["session", "erase", "trip", "--turn", "1", "--yes"], "");
    let restored = place.json(&["restore", "copy.db", "--force", "--json"]);
    assert_eq!(restored["erased_again"]["turns"], 1);
    let history = place.ok(&["session", "history", "trip"], "");
    assert!(!history.contains("Zanzibar") && history.contains("How far?"), "{history}");
}

#[test]
fn a_key_that_was_revoked_after_a_backup_stays_revoked() {
    let place = Place::empty();
    let made = place.json(&["key", "create", "--json"]);
    let id = made["record"]["id"].as_str().expect("an id");
    place.ok(&["backup", "copy.db"], "");
    place.ok(&["key", "revoke", id], "");
    place.ok(&["restore", "copy.db", "--force"], "");
    assert!(!place.json(&["key", "list", "--json"])[0]["revoked_at"].is_null());
}

#[test]
fn a_revoked_link_does_not_come_back_with_a_backup() {
    let place = Place::with_trip();
    let made = place.json(&["session", "share", "trip", "--json"]);
    let kept = place.json(&["session", "share", "trip", "--days", "30", "--json"]);
    place.ok(&["backup", "copy.db"], "");
    place.ok(&["session", "unshare", "trip", made["id"].as_str().expect("an id")], "");
    let restored = place.json(&["restore", "copy.db", "--force", "--json"]);
    assert_eq!(restored["erased_again"]["threads"], 1, "{restored}");
    let listed = place.json(&["session", "shares", "trip", "--json"]);
    let ids: Vec<_> = listed["shares"].as_array().expect("a list").iter().collect();
    assert_eq!(ids.iter().map(|share| &share["id"]).collect::<Vec<_>>(), [&kept["id"]]);
}

#[test]
fn a_session_that_was_made_anew_after_its_erasure_is_kept() {
    let place = Place::with_trip();
    place.ok(&["session", "erase", "trip", "--yes"], "");
    place.ok(&["session", "import", "in.json"], "");
    place.ok(&["backup", "copy.db"], "");
    let restored = place.json(&["restore", "copy.db", "--force", "--json"]);
    assert_eq!(restored["erased_again"]["threads"], 0);
    assert_eq!(place.json(&["session", "show", "trip", "--json"])["turns"], 2);
}

#[test]
fn a_store_of_files_is_backed_up_and_restored_too() {
    let place = Place::with_trip();
    place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", "files:f"], "");
    place.ok(&["backup", "copy.db", "--store", "files:f"], "");
    place.ok(&["session", "erase", "trip", "--yes", "--store", "files:f"], "");
    let restored = ["restore", "copy.db", "--force", "--json", "--store", "files:f"];
    assert_eq!(place.json(&restored)["erased_again"]["threads"], 1);
    assert_eq!(place.fails(&["session", "show", "trip", "--store", "files:f"]).0, 1);
}

#[test]
fn a_store_moved_there_and_back_is_equal_and_moving_again_does_nothing() {
    let place = Place::with_trip();
    let there =
        ["migrate", "--from", "sqlite:throughline/throughline.db", "--to", "files:f", "--json"];
    assert_eq!(place.json(&there)["problems"], serde_json::json!([]));
    let again = place.json(&there);
    assert_eq!((&again["copied"], &again["caught_up"]), (&0.into(), &0.into()), "{again}");
    place.ok(&["migrate", "--from", "files:f", "--to", "sqlite:back.db", "--verify"], "");
    let export = |store: &str| place.ok(&["session", "export", "trip", "--store", store], "");
    assert_eq!(export("sqlite:throughline/throughline.db"), export("sqlite:back.db"));
    assert_eq!(place.fails(&["migrate", "--from", "files:none", "--to", "files:f"]).0, 1);
}

#[test]
fn a_sound_store_is_said_to_be_and_a_damaged_one_is_named() {
    let place = Place::with_trip();
    let found = place.json(&["check", "--json"]);
    assert_eq!((&found["sessions"], &found["turns"]), (&1.into(), &2.into()));
    fs::write(place.path("broken.db"), "this is no database, whatever it is called").expect("it");
    let (code, error) = place.fails(&["check", "--store", "sqlite:broken.db"]);
    assert_eq!(code, 1);
    assert!(error.contains("broken.db") && error.contains("hint:"), "{error}");
}

#[test]
fn damage_that_keeps_the_engine_from_starting_is_named_all_the_same() {
    let place = Place::empty();
    place.ok(&["chat", "--demo", "--store", "sqlite:demo.db"], "list the sites\n");
    let mut bytes = fs::read(place.path("demo.db")).expect("the store");
    // What a compressed record begins with; pinned tools are compressed.
    let frame = [0x28, 0xB5, 0x2F, 0xFD];
    let found: Vec<usize> =
        (0..bytes.len() - 64).filter(|at| bytes[*at..].starts_with(&frame)).collect();
    assert!(!found.is_empty(), "the pinned tools are in the file");
    for at in found {
        bytes[at + 40] ^= 0xFF;
    }
    fs::write(place.path("demo.db"), bytes).expect("the damaged store");
    let output = place.run(&["check", "--store", "sqlite:demo.db"], "");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/pin/") && said.contains("checksum mismatch"), "{said}");
    assert!(said.contains("the sessions were not read"), "{said}");
}

#[test]
fn a_wrong_pack_is_named_with_its_line() {
    let place = Place::empty();
    fs::create_dir(place.path("packs")).expect("a folder");
    assert!(place.ok(&["pack", "check", "packs"], "").contains("0 packs are valid"));
    fs::write(place.path("packs/mine.toml"), "name = \"mine\"\nnonsense = 1\n").expect("written");
    let output = place.run(&["pack", "check", "packs"], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("packs/mine.toml:2:"), "{text}");
}

#[test]
fn a_move_that_is_killed_goes_on_where_it_was_and_what_was_erased_meanwhile_goes_there_too() {
    let place = Place::with_trip();
    let export = place.ok(&["session", "export", "trip"], "");
    let export: serde_json::Value = serde_json::from_str(&export).expect("JSON");
    for number in 0..40 {
        let mut other = export.clone();
        other["head"]["id"] = format!("copy-{number}").into();
        fs::write(place.path("in.json"), other.to_string()).expect("written");
        place.ok(&["session", "import", "in.json"], "");
    }
    let there =
        ["migrate", "--from", "sqlite:throughline/throughline.db", "--to", "files:f", "--json"];
    let mut killed = place.start(&there);
    let target = place.path("f");
    // In the middle: something has arrived, and it has not ended.
    while !target.is_dir() || fs::read_dir(&target).is_ok_and(|found| found.count() < 2) {
        assert!(killed.try_wait().expect("a process").is_none(), "it ended before it was killed");
        std::thread::yield_now();
    }
    killed.kill().expect("it can be killed");
    killed.wait().expect("it ends");
    let resumed = place.json(&there);
    let count = |name: &str| resumed[name].as_u64().expect("a count");
    assert_eq!(resumed["problems"], serde_json::json!([]));
    assert!(count("copied") + count("caught_up") + count("same") >= 41, "{resumed}");

    place.ok(&["session", "erase", "copy-7", "--yes"], "");
    let caught_up = place.json(&there);
    assert_eq!(caught_up["erased_again"]["threads"], 1, "{caught_up}");
    assert_eq!(place.fails(&["session", "show", "copy-7", "--store", "files:f"]).0, 1);
    let shown = place.json(&["session", "show", "copy-8", "--json", "--store", "files:f"]);
    assert_eq!(shown["turns"], 2);
}
