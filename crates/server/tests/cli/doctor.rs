//! `throughline doctor`: what works, what does not, and what to do about it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use throughline_testkit::file_faults::{Counted, FileFaults};

use crate::place::Place;

/// What the doctor says, and its exit code.
fn look(place: &Place) -> (Option<i32>, Value) {
    let output = place.run(&["doctor", "--json"], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    (output.status.code(), found)
}

fn check<'a>(found: &'a Value, name: &str) -> &'a Value {
    let checks = found["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {found}"))
}

fn configured(text: &str) -> Place {
    let place = Place::with_trip();
    std::fs::write(place.path("throughline.toml"), text).expect("written");
    place
}

/// A provider that refuses every key.
fn refusing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut head = [0; 8192];
            let _ = stream.read(&mut head);
            let body = r#"{"error": {"message": "invalid api key"}}"#;
            let _ = write!(
                stream,
                "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    format!("http://{address}/v1")
}

#[test]
fn a_healthy_place_is_healthy_and_an_empty_one_too() {
    for place in [Place::with_trip(), Place::empty()] {
        let (code, found) = look(&place);
        assert_eq!((code, &found["ok"]), (Some(0), &true.into()), "{found}");
        for name in
            ["configuration", "store", "data folder", "backups folder", "models", "MCP servers"]
        {
            assert_eq!(check(&found, name)["status"], "ok", "{found}");
        }
    }
    let place = Place::empty();
    place.ok(&["doctor"], "");
    assert_eq!(place.names(), Vec::<String>::new(), "it makes nothing");
    let said = Place::with_trip().ok(&["doctor"], "");
    assert!(said.contains("clock") && said.contains("0 failed"), "{said}");
}

#[test]
fn a_server_that_starts_is_counted_and_one_that_does_not_is_named() {
    let program = env!("CARGO_BIN_EXE_throughline");
    let place = configured(&format!(
        "[servers.stock]\ncommand = {program:?}\nargs = [\"demo-inventory\"]\n\
         [servers.broken]\ncommand = \"no-such-program\"\n\
         [servers.away]\nurl = \"http://127.0.0.1:1/mcp\"\n"
    ));
    let (code, found) = look(&place);
    assert_eq!(code, Some(1), "{found}");
    let detail = check(&found, "MCP server stock")["detail"].as_str().expect("text");
    assert!(detail.contains("tools") && !detail.contains(" 0 tools"), "{detail}");
    let broken = check(&found, "MCP server broken");
    assert_eq!(broken["status"], "failed");
    assert!(broken["fix"].as_str().expect("what to do").contains("[servers.broken]"), "{broken}");
    let away = check(&found, "MCP server away");
    assert!(away["detail"].as_str().expect("text").contains("127.0.0.1:1/"), "{away}");
    let fix = away["fix"].as_str().expect("what to do");
    assert!(fix.contains("check url") && !fix.contains("by hand"), "{away}");
}

#[test]
fn a_store_that_was_named_and_is_not_there_is_a_failure() {
    let place = Place::empty();
    let (code, said) = place.fails(&["doctor", "--store", "sqlite:typo.db"]);
    assert_eq!(code, 1, "{said}");
    assert_eq!(place.names(), Vec::<String>::new(), "it makes nothing");
}

#[test]
fn a_model_that_is_away_and_one_that_refuses_the_key_are_told_apart() {
    let refusing = refusing();
    let place = configured(&format!(
        "[[model]]\nname = \"keyless\"\nprovider = \"openai\"\nmodel = \"m\"\napi_key_env = \"NO_SUCH_KEY\"\n\
         [[model]]\nname = \"away\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
         [[model]]\nname = \"strict\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{refusing}\"\n"
    ));
    let (code, found) = look(&place);
    assert_eq!(code, Some(1), "{found}");
    let fix = |name| check(&found, name)["fix"].as_str().expect("what to do").to_owned();
    assert!(
        fix("model keyless").contains("api_key_env"),
        "the others are asked all the same: {found}"
    );
    assert!(fix("model away").contains("base_url"), "{found}");
    assert!(fix("model strict").contains("the key was rejected"), "{found}");
}

#[test]
fn what_others_can_open_is_a_warning_and_a_wrong_setting_a_failure() {
    let place = Place::with_trip();
    let store = place.path("throughline/throughline.db");
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o644)).expect("set");
    let (code, found) = look(&place);
    assert_eq!(code, Some(0), "{found}");
    let open = check(&found, "permissions");
    assert_eq!(open["status"], "warning");
    assert!(open["fix"].as_str().expect("what to do").starts_with("chmod 600"), "{open}");

    let (code, found) = look(&configured("[limits]\nsummary_threshold = 7\n"));
    assert_eq!(
        (code, &check(&found, "configuration")["status"]),
        (Some(1), &"failed".into()),
        "{found}"
    );
}

#[test]
fn a_damaged_store_is_a_failure_with_something_to_do() {
    let place = Place::with_trip();
    let store = place.path("throughline/throughline.db");
    std::fs::write(&store, b"this is no database, but it is long enough to look like one")
        .expect("written");
    let (code, found) = look(&place);
    assert_eq!((code, &check(&found, "store")["status"]), (Some(1), &"failed".into()), "{found}");
    assert!(check(&found, "store")["fix"].is_string(), "{found}");
}

#[test]
fn a_clock_that_is_behind_what_is_stored_is_a_failure() {
    let (place, faults) = (Place::with_trip(), FileFaults::build(Counted::Files));
    let mut command = place.command(&["doctor", "--json"]);
    faults.move_clock(&mut command, -24 * 60 * 60);
    let output = command.output().expect("it runs");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(1), "{found}");
    assert!(check(&found, "clock")["fix"].as_str().expect("what to do").contains("NTP"), "{found}");
}
