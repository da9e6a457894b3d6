//! `throughline memory`: what is known about a user, from the command line.

use serde_json::json;

use crate::place::Place;

#[test]
fn a_memory_is_added_superseded_found_corrected_and_forgotten() {
    let place = Place::empty();
    let add = |text| ["memory", "add", text, "--subject", "my rack", "--json"];
    let old = place.json(&add("My rack is R41"));
    let new = place.json(&add("My rack is R42"));
    assert_eq!(new["superseded"][0]["id"], old["id"]);
    let id = new["id"].as_str().unwrap();
    let listed = place.json(&["memory", "list", "--json"]);
    assert_eq!(listed["memories"].as_array().unwrap().len(), 1);
    assert!(place.ok(&["memory", "search", "which", "rack"], "").contains("My rack is R42"));
    place.ok(&["memory", "change", id, "--text", "My rack is R43"], "");
    assert_eq!(place.json(&["memory", "show", id, "--json"])["text"], "My rack is R43");
    let history = place.json(&["memory", "history", id, "--json"]);
    let texts: Vec<&str> = history["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["My rack is R41", "My rack is R42", "My rack is R43"]);
    assert!(place.ok(&["memory", "list", "--user", "bob"], "").contains("there are no memories"));
    assert_eq!(place.fails(&["memory", "forget", id, "--user", "bob"]).0, 1);
    assert_eq!(place.json(&["memory", "forget", id, "--json"])["memories"], 2);
    assert_eq!(place.fails(&["memory", "show", id]).0, 1);
}

#[test]
fn memories_are_taken_out_and_brought_in_and_all_are_forgotten_only_on_a_clear_word() {
    let place = Place::empty();
    place.ok(&["memory", "add", "I like tea", "--kind", "preference"], "");
    place.ok(&["memory", "export", "memories.json"], "");
    assert_eq!(place.fails(&["memory", "export", "memories.json"]).0, 1, "an existing file stays");
    assert_eq!(place.fails(&["memory", "forget", "--all"]).0, 2);
    assert_eq!(place.json(&["memory", "forget", "--all", "--yes", "--json"])["memories"], 1);
    let report = |imported: u32, forgotten: u32| json!({"imported": imported, "known": 0, "superseded": 0, "contradicting": 0, "contradictions": [], "forgotten": forgotten});
    let import = ["memory", "import", "memories.json", "--json"];
    assert_eq!(
        place.json(&import),
        report(0, 1),
        "what was forgotten does not come back by itself"
    );
    let brought_back = ["memory", "import", "memories.json", "--with-forgotten", "--json"];
    assert_eq!(place.json(&brought_back), report(1, 0));
    assert_eq!(place.json(&import)["known"], 1);
    let (code, error) = place.fails(&["memory", "add", &"x".repeat(100_000)]);
    assert_eq!(code, 1);
    assert!(error.contains("the limit fact_bytes_max is 2000"), "{error}");
}

#[test]
fn everything_of_a_user_is_handed_over_and_erased() {
    let place = Place::empty();
    for user in ["ann", "bob"] {
        place.ok(&["memory", "add", "My rack is R41", "--user", user], "");
    }
    let exported = place.ok(&["user", "export", "--user", "ann"], "");
    assert!(exported.lines().count() == 2 && exported.contains("R41"), "{exported}");
    let told = place.ok(&["user", "erase", "--user", "ann", "--yes"], "");
    assert!(told.starts_with("erased ann: 0 sessions, 1 memories"), "{told}");
    assert!(place.ok(&["memory", "list", "--user", "ann"], "").contains("there are no memories"));
    assert!(place.ok(&["memory", "list", "--user", "bob"], "").contains("R41"));
}
