//! What makes a terminal pleasant: completions, manual pages, examples, ids by their beginning, JSON everywhere.

use serde_json::{Value, json};

use crate::place::Place;

/// An error as a program is told it, and its exit code.
fn error(place: &Place, arguments: &[&str]) -> (i32, Value) {
    let (code, text) = place.fails(arguments);
    let told: Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{arguments:?}: {text}"));
    assert!(told["error"]["message"].is_string() && told["error"]["code"].is_string(), "{told}");
    (code, told["error"].clone())
}

#[test]
fn completions_know_every_command_and_a_strange_shell_is_wrong_use() {
    let place = Place::empty();
    for (shell, mark) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef throughline"),
        ("fish", "complete -c throughline"),
    ] {
        let script = place.ok(&["completions", shell], "");
        for part in [mark, "doctor", "session", "forget", "server"] {
            assert!(script.contains(part), "{shell}: {part}");
        }
    }
    let (code, said) = place.fails(&["completions", "tcsh"]);
    assert_eq!((code, said.contains("bash")), (2, true), "{said}");
}

#[test]
fn every_command_has_a_manual_page_with_examples() {
    let place = Place::empty();
    let written = place.json(&["man", "pages", "--json"]);
    let pages = written["pages"].as_array().expect("a list");
    for name in ["throughline.1", "throughline-session-erase.1", "throughline-doctor.1"] {
        assert!(pages.contains(&json!(name)), "{written}");
        let page = std::fs::read_to_string(place.path("pages").join(name)).expect("a page");
        assert!(page.starts_with(".ie") && page.contains("Examples:"), "{page}");
    }
    assert!(place.ok(&["man"], "").contains("throughline"));
    assert_eq!(place.fails(&["man", "/dev/null/pages"]).0, 1);
}

#[test]
fn an_id_may_be_shortened_until_it_means_several() {
    let place = Place::with_trip();
    for id in ["tripod", "tripoli"] {
        place.ok(&["session", "fork", "trip", "--id", id], "");
    }
    assert_eq!(
        place.json(&["session", "show", "trip", "--json"])["id"],
        "trip",
        "a whole id is itself"
    );
    assert_eq!(place.json(&["session", "show", "tripod", "--json"])["id"], "tripod");
    assert_eq!(place.json(&["session", "show", "tripol", "--json"])["id"], "tripoli");
    let (code, told) = error(&place, &["session", "history", "tripo", "--json"]);
    assert_eq!((code, &told["code"]), (2, &json!("ambiguous_id")));
    let named = told["message"].as_str().expect("text");
    assert!(named.contains("tripod, tripoli") || named.contains("tripoli, tripod"), "{named}");
    assert!(place.ok(&["session", "history", "tripol"], "").contains("Zanzibar"));
    assert!(place.ok(&["session", "delete", "tripol"], "").contains("session extend tripoli"));
    assert_eq!(place.json(&["session", "show", "tripol", "--json"])["active"], false);
    assert_eq!(place.json(&["session", "extend", "tripol", "--json"])["active"], true);
    let (code, said) = place.fails(&["session", "erase", "tripol", "--yes"]);
    assert_eq!((code, said.contains("only a prefix of tripoli")), (2, true), "{said}");
    assert_eq!(place.fails(&["session", "show", "zzz"]).0, 1);
}

#[test]
fn memories_presets_and_keys_go_by_their_beginning_too() {
    let place = Place::empty();
    let id = place.json(&["memory", "add", "I like tea", "--json"])["id"].clone();
    let id = id.as_str().expect("an id");
    let part = &id[..id.len() - 4];
    assert_eq!(place.json(&["memory", "show", part, "--json"])["text"], "I like tea");
    assert_eq!(place.json(&["memory", "forget", part, "--json"])["memories"], 1);
    let shown = place.json(&["preset", "show", "preset-calm", "--json"]);
    assert_eq!(shown["id"], "preset-calm-counselor");
    let key = place.json(&["key", "create", "--json"])["record"]["id"].clone();
    let key = key.as_str().expect("an id");
    assert_eq!(place.json(&["key", "revoke", &key[..key.len() - 2], "--json"])["id"], key);
    let context =
        place.json(&["context", "create", "--preset", "preset-calm", "--json"])["id"].clone();
    let context = context.as_str().expect("an id");
    let shown = place.json(&["context", "show", &context[..context.len() - 2], "--json"]);
    assert_eq!(shown["context"]["id"], context);
    let said = place.ok(&["chat", &context[..context.len() - 2]], "/session\n");
    assert_eq!(said.trim(), context, "an id that was made up may be shortened in chat");
}

#[test]
fn every_answer_and_every_error_can_be_json() {
    let place = Place::with_trip();
    for arguments in [
        &["session", "list"][..],
        &["--json", "session", "show", "trip"],
        &["session", "history", "trip"],
        &["session", "export", "trip"],
        &["session", "export", "trip", "--format", "markdown"],
        &["session", "extend", "trip"],
        &["item", "available"],
        &["item", "list", "trip"],
        &["item", "usage", "trip"],
        &["search", "zanzibar"],
        &["index", "rebuild"],
        &["memory", "list"],
        &["memory", "search", "tea"],
        &["memory", "export"],
        &["tools", "list"],
        &["preset", "list"],
        &["preset", "show", "preset-calm-counselor"],
        &["context", "list"],
        &["context", "create"],
        &["key", "list"],
        &["check"],
        &["backup", "copy.db"],
        &["config", "init"],
        &["config", "check"],
        &["config", "show"],
        &["config", "document"],
        &["ask", "hello", "--session", "asked"],
        &["receipt", "asked", "1"],
        &["replay", "asked", "1"],
        &["session", "delete", "asked"],
        &["doctor"],
        &["session", "erase", "trip", "--yes"],
    ] {
        let first = arguments.contains(&"--json");
        let flag: &[&str] = if first { &[] } else { &["--json"] };
        place.json(&[arguments, flag].concat());
    }
    for (arguments, code) in [
        (&["session", "show", "none"][..], "no_session"),
        (&["session", "list", "--store", "sqlite:nowhere.db"][..], "no_store"),
        (&["session", "show"][..], "wrong_use"),
        (&["nothing-such"][..], "wrong_use"),
        (&["session", "list", "--limit", "0"][..], "invalid"),
        (&["receipt", "diff", "a", "b"][..], "wrong_use"),
    ] {
        assert_eq!(
            error(&place, &[arguments, &["--json"]].concat()).1["code"],
            code,
            "{arguments:?}"
        );
    }
}

#[test]
fn one_question_gets_one_answer() {
    let place = Place::empty();
    let said = place
        .ok(&["ask", "--demo", "--session", "a", "Which devices are in the Amsterdam site?"], "");
    assert!(said.contains("8 devices") && !said.contains('\u{1b}'), "{said}");
    let asked =
        ["ask", "--demo", "--session", "a", "Delete", "the", "device", "ams1-sw-02", "--json"];
    let output = place.run(&asked, "");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(told["awaiting_approval"][0]["name"], "delete_device", "{told}");
    assert_eq!(output.status.code(), Some(1));
}
