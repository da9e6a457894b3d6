//! The same commands on a server elsewhere.

use serde_json::{Value, json};

use crate::place::{Place, Server};

/// A server with a key, and an empty place from which it is asked.
struct Away {
    // Before its store: fields end in their order.
    server: Server,
    _there: Place,
    key: String,
    here: Place,
}

impl Away {
    fn new() -> Self {
        let there = Place::with_trip();
        let created = there.json(&["key", "create", "--scope", "admin", "--json"]);
        let key = created["key"].as_str().expect("a key").to_owned();
        let (server, _) = there.serve_and_listen(&["--demo"]);
        Self { server, _there: there, key, here: Place::empty() }
    }

    fn with<'a>(&'a self, url: &'a str, arguments: &[&'a str]) -> Vec<&'a str> {
        [arguments, &["--server", url, "--key", &self.key]].concat()
    }

    fn ok(&self, arguments: &[&str], input: &str) -> String {
        let url = self.server.url();
        self.here.ok(&self.with(&url, arguments), input)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let text = self.ok(&[arguments, &["--json"]].concat(), "");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    fn fails(&self, arguments: &[&str]) -> (i32, String) {
        let url = self.server.url();
        self.here.fails(&self.with(&url, arguments))
    }
}

#[test]
fn a_server_elsewhere_is_asked_the_same_things() {
    let away = Away::new();
    assert!(away.ok(&["session", "list"], "").contains("trip"));
    assert_eq!(away.json(&["session", "show", "tri"])["turns"], 2);
    assert!(away.ok(&["session", "history", "trip"], "").contains("Zanzibar"));
    assert!(away.ok(&["search", "zanzibar"], "").contains("*Zanzibar*"));
    away.ok(&["session", "tag", "trip", "sea"], "");
    assert_eq!(away.json(&["session", "show", "trip"])["tags"], json!(["sea"]));
    assert_eq!(away.json(&["session", "fork", "trip", "--turn", "1", "--id", "half"])["turns"], 1);
    let export = away.ok(&["session", "export", "trip"], "");
    std::fs::write(away.here.path("trip.json"), &export).expect("written");
    away.ok(&["session", "import", "trip.json", "--id", "copied"], "");
    let erased = away.json(&["session", "erase", "copied", "--turn", "1", "--yes"]);
    assert_eq!(erased["erased_turns"], 1, "{erased}");
    assert!(!away.ok(&["session", "history", "copied"], "").contains("Zanzibar"));
    assert_eq!(away.json(&["session", "erase", "half", "--yes"])["heads"], 1);
    away.ok(&["memory", "add", "I like tea", "--user", "ann"], "");
    assert_eq!(
        away.json(&["memory", "list", "--user", "ann"])["memories"][0]["text"],
        "I like tea"
    );
    assert_eq!(away.json(&["memory", "list"])["memories"], json!([]));
    assert!(away.ok(&["user", "export", "--user", "ann"], "").contains("tea"));
    assert_eq!(away.json(&["user", "erase", "--user", "ann", "--yes"])["memories"], 1);
    assert!(away.ok(&["preset", "list"], "").contains("preset-calm-counselor"));
    assert!(away.ok(&["tools", "list"], "").contains("inventory:list_sites"));
    assert!(away.ok(&["item", "available"], "").contains("maintenance"));
    assert_eq!(away.here.names(), ["trip.json"], "nothing was made here");
}

#[test]
fn a_conversation_with_a_server_elsewhere_streams_asks_and_shows_its_receipt() {
    let away = Away::new();
    let lines = "Which devices are in the Amsterdam site?\n/entities\n/context\nDelete the device ams1-sw-02\n/refuse\n";
    let said = away.ok(&["chat", "talk"], lines);
    for part in ["8 devices", "inventory:list_devices", "Instructions (", "waits", "not approved"] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert_eq!(away.json(&["session", "show", "talk"])["turns"], 2);
    assert!(away.ok(&["receipt", "talk", "1"], "").contains("Instructions"));
    let replayed = away.json(&["replay", "talk", "1"]);
    assert!(replayed["messages"].is_array(), "{replayed}");
    assert!(away.ok(&["ask", "hello", "--session", "asked"], "").len() > 2);
}

#[test]
fn tools_of_a_server_elsewhere_are_found_and_called_with_its_rules() {
    let away = Away::new();
    let found = away.ok(&["tools", "search", "which", "racks", "are", "there"], "");
    assert!(found.contains("inventory:list_racks"), "{found}");
    let found = away.json(&["tools", "search", "racks", "--limit", "2"]);
    assert_eq!(found["tools"].as_array().map(Vec::len), Some(2), "{found}");
    assert!(away.ok(&["tools", "call", "inventory:list_sites"], "").contains("Amsterdam"));
    let change = ["tools", "call", "inventory:update_device"];
    let arguments = r#"{"device": "ams1-sw-02", "status": "planned"}"#;
    let (code, error) = away.fails(&[&change[..], &[arguments]].concat());
    assert_eq!((code, error.contains("hint: add --approve")), (1, true), "{error}");
    let made = away.json(&[&change[..], &[arguments, "--approve"]].concat());
    assert_eq!(made["ok"], true, "{made}");
    assert_eq!(away.fails(&["tools", "call", "inventory:nothing"]).0, 1);
}

#[test]
fn a_later_round_of_a_turn_elsewhere_is_printed() {
    let away = Away::new();
    away.ok(
        &["ask", "Which", "devices", "are", "in", "the", "Amsterdam", "site?", "--session", "t"],
        "",
    );
    let rounds = |round: &str| away.json(&["replay", "t", "1", "--round", round]);
    let messages = |request: &Value| request["messages"].as_array().map_or(0, Vec::len);
    let (first, second) = (rounds("1"), rounds("2"));
    assert_eq!(first, away.json(&["replay", "t", "1"]));
    assert!(messages(&second) > messages(&first), "{second}");
    let (code, error) = away.fails(&["replay", "t", "1", "--round", "9"]);
    assert_eq!((code, error.contains("it has 1-2")), (1, true), "{error}");
}

#[test]
fn the_environment_names_a_server_and_a_store_that_is_named_wins() {
    let away = Away::new();
    let run = |arguments: &[&str]| {
        let mut command = away.here.command(arguments);
        command.env("THROUGHLINE_SERVER", away.server.url()).env("THROUGHLINE_KEY", &away.key);
        command.output().expect("it runs")
    };
    let listed = run(&["session", "list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("trip"), "{listed:?}");
    let listed = run(&["session", "list", "--store", "sqlite:mine.db"]);
    assert!(String::from_utf8_lossy(&listed.stderr).contains("there is no store"), "{listed:?}");
    assert_eq!(run(&["backup"]).status.code(), Some(2));
}

#[test]
fn what_a_server_cannot_be_asked_says_so_and_so_does_a_wrong_key_or_address() {
    let away = Away::new();
    for arguments in [
        &["backup"][..],
        &["restore", "copy.db"],
        &["check"],
        &["repair", "trip", "--rebuild"],
        &["migrate", "--from", "files:a", "--to", "files:b"],
        &["index", "rebuild"],
        &["key", "list"],
        &["serve"],
        &["mcp"],
    ] {
        let (code, error) = away.fails(arguments);
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains("cannot run through a server"), "{arguments:?}: {error}");
        assert!(error.contains("hint: run it on the server's machine"), "{arguments:?}: {error}");
    }
    let (_, error) = away.fails(&["key", "create"]);
    assert!(error.contains("a key that leaks must not be able to create others"), "{error}");
    let (code, error) = away.fails(&["session", "list", "--tenant", "other"]);
    assert_eq!((code, error.contains("takes it from the key")), (2, true), "{error}");
    let url = away.server.url();
    let ask = |rest: &[&str]| away.here.fails(&[&["session", "list", "--json"], rest].concat());
    for (rest, code, exit) in [
        (&["--server", &url][..], "key_needed", 1),
        (&["--server", &url, "--key", "tl_no_such"][..], "key_invalid", 1),
        (&["--server", "http://127.0.0.1:1"][..], "server_unreachable", 1),
        (&["--server", "ftp://x"][..], "wrong_use", 2),
        (&["--server", &format!("{url}/nowhere")][..], "no_route", 1),
    ] {
        let (got, told) = ask(rest);
        let told: Value = serde_json::from_str(&told).expect("JSON");
        assert_eq!((&told["error"]["code"], got), (&json!(code), exit), "{told}");
    }
}

#[test]
fn a_server_is_examined_from_outside() {
    let away = Away::new();
    let found = away.json(&["doctor"]);
    let names: Vec<&str> = found["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter_map(|c| c["name"].as_str())
        .collect();
    for name in ["server", "clock", "store", "key"] {
        assert!(names.contains(&name), "{found}");
    }
    assert_eq!(found["ok"], true, "{found}");
    let url = away.server.url();
    let (code, _) = away.here.fails(&["doctor", "--server", &url, "--key", "tl_wrong"]);
    assert_eq!(code, 1);
}
