//! The terminal conversation through a pipe, with the demo inventory as its MCP server.

use crate::place::Place;

#[test]
fn three_turns_follow_each_other_without_a_model() {
    let place = Place::empty();
    let lines = "Which devices are in the Amsterdam site?\nwhat about the first one?\n\
                 which interfaces does it have?\n/entities\n/context\n/session\n/quit\nnever said\n";
    let said = place.ok(&["chat", "--demo", "demo"], lines);
    assert!(said.contains("8 devices"), "{said}");
    assert!(said.contains("understood: device ams1-core-01"), "{said}");
    assert!(said.contains("inventory:list_interfaces"), "{said}");
    assert!(said.contains("Entities (") && said.contains("[always]"), "{said}");
    assert!(!said.contains('\u{1b}'), "no colours in a pipe");
    assert_eq!(place.json(&["session", "show", "demo", "--json"])["turns"], 3);
}

#[test]
fn a_call_that_changes_something_waits_until_it_is_approved() {
    let place = Place::empty();
    let lines = "Delete the device ams1-sw-02\n/refuse\n";
    let said = place.ok(&["chat", "--demo", "change"], lines);
    assert!(said.contains("inventory:delete_device") && said.contains("waits"), "{said}");
    assert!(said.contains("not approved"), "{said}");
}

#[test]
fn a_configured_server_is_used_without_an_agent_folder_and_left_alone_by_one() {
    let place = Place::empty();
    let program = env!("CARGO_BIN_EXE_throughline");
    let server = format!("[servers.stock]\ncommand = {program:?}\nargs = [\"demo-inventory\"]\n");
    std::fs::write(place.path("throughline.toml"), server).expect("written");
    let said = place.ok(&["chat", "own"], "Which devices are in the Amsterdam site?\n");
    assert!(said.contains("stock:list_devices") && said.contains("8 devices"), "{said}");
    std::fs::create_dir_all(place.path("agents/default/rules")).expect("a folder");
    std::fs::write(place.path("agents/default/agent.toml"), "").expect("written");
    let said = place.ok(&["chat", "none"], "Which devices are in the Amsterdam site?\n");
    assert!(!said.contains("list_devices"), "{said}");
}

#[test]
fn a_server_that_takes_longer_to_start_than_a_message_waits_is_listed() {
    let place = Place::empty();
    let start = format!("sleep 6; exec '{}' demo-inventory", env!("CARGO_BIN_EXE_throughline"));
    let server = format!("[servers.late]\ncommand = \"sh\"\nargs = [\"-c\", {start:?}]\n");
    std::fs::write(place.path("throughline.toml"), server).expect("written");
    let listed = place.ok(&["tools", "list"], "");
    assert!(listed.contains("late:list_devices"), "{listed}");
}

#[test]
fn a_program_gets_one_object_a_line() {
    let place = Place::empty();
    let said = place.ok(&["chat", "--json", "p"], "hello\nhello again\n");
    let turns: Vec<u64> = said
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .map(|told| told["turn"]["turn"].as_u64().expect("a turn"))
        .collect();
    assert_eq!(turns, [1, 2]);
}

#[test]
fn items_and_personas_are_set_while_talking() {
    let place = Place::empty();
    let lines = "/pin reference maintenance\n/persona calm-counselor\n";
    let said = place.ok(&["chat", "--demo", "set"], lines);
    assert!(said.contains("reference maintenance is in this session"), "{said}");
    assert!(said.contains("from now on"), "{said}");
}

#[test]
fn a_wrong_line_is_reported_the_rest_is_done_and_the_end_tells() {
    let place = Place::empty();
    let lines = "/pin nothing-such\n/nope\nhello\n";
    let output = place.run(&["chat", "wrong"], lines);
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(complained.contains("error: there is no item \"nothing-such\""), "{complained}");
    assert!(complained.contains("error: there is no command /nope"), "{complained}");
    assert!(complained.contains("2 lines failed"), "{complained}");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(place.json(&["session", "show", "wrong", "--json"])["turns"], 1);
    let told = place.run(&["chat", "--json", "wrong"], "/nope\nhello\n");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let objects: Vec<serde_json::Value> =
        told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(objects[0]["error"]["message"], "there is no command /nope");
    assert_eq!(objects[1]["turn"]["turn"], 2);
}

#[test]
fn tools_are_listed_found_called_and_approved() {
    let place = Place::empty();
    let listed = place.json(&["tools", "list", "--demo", "--json"]);
    assert!(listed["tools"].as_array().expect("a list").len() > 10, "{listed}");
    let found = place.ok(&["tools", "search", "--demo", "which", "racks", "are", "there"], "");
    assert!(found.contains("inventory:list_racks"), "{found}");
    let called = place.ok(&["tools", "call", "--demo", "inventory:list_sites"], "");
    assert!(called.contains("Amsterdam"), "{called}");
    let approved = place.json(&["tools", "approve", "--demo", "inventory:list_sites", "--json"]);
    assert_eq!(approved["name"], "list_sites");
    assert_eq!(place.fails(&["tools", "call", "--demo", "inventory:nothing"]).0, 1);
}
