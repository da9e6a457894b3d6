//! Items on the command line: what is available, in a session, used.

use serde_json::json;

use crate::place::Place;

/// An agent with one rule of each mode.
fn with_rules() -> Place {
    let place = Place::empty();
    let rules = place.path("agents/default/rules");
    std::fs::create_dir_all(&rules).expect("a folder");
    for (name, mode) in [("greeting", "always"), ("cabling", "manual"), ("colours", "agent")] {
        let text = format!("---\nname: {name}\ninclude: {mode}\n---\nThe {name} matter.\n");
        std::fs::write(rules.join(format!("{name}.md")), text).expect("written");
    }
    place
}

#[test]
fn items_of_every_mode_are_added_and_removed_by_hand() {
    let place = with_rules();
    let offered = place.ok(&["item", "available"], "");
    for (name, mode) in [("greeting", "always"), ("cabling", "manual"), ("colours", "agent")] {
        let line = offered.lines().find(|line| line.contains(name)).expect("a line");
        assert!(line.contains(mode), "{offered}");
    }
    place.ok(&["chat", "talk"], "Hello.\n");
    let names = |arguments: &[&str]| {
        let view = place.json(arguments);
        let items = view["items"].as_array().expect("a list");
        items.iter().map(|i| format!("{} {}", i["name"], i["includeMode"])).collect::<Vec<_>>()
    };
    assert_eq!(names(&["item", "list", "talk", "--json"]), [r#""greeting" "always""#]);
    names(&["item", "add", "talk", "rule:cabling", "--json"]);
    let all = names(&["item", "add", "talk", "rule:colours", "--json"]);
    assert_eq!(all, [r#""greeting" "always""#, r#""cabling" "manual""#, r#""colours" "manual""#]);
    assert_eq!(names(&["item", "add", "talk", "rule:colours", "--json"]), all, "no duplicates");
    let left = names(&["item", "remove", "talk", "rule:greeting", "--json"]);
    assert_eq!(left, [r#""cabling" "manual""#, r#""colours" "manual""#]);
    assert_eq!(place.fails(&["item", "remove", "talk", "rule:greeting"]).0, 1);
    assert_eq!(place.fails(&["item", "add", "talk", "rule:nothing"]).0, 1);
    assert_eq!(place.fails(&["item", "add", "talk", "cabling"]).0, 2);
    std::fs::remove_file(place.path("agents/default/rules/cabling.md")).expect("removed");
    let listed = place.ok(&["item", "list", "talk"], "");
    let line = listed.lines().find(|line| line.contains("cabling")).expect("still listed");
    assert!(line.contains("missing"), "{listed}");
}

#[test]
fn usage_is_shown_and_exported() {
    let place = with_rules();
    place.ok(&["chat", "talk"], "Hello.\nAgain.\nAnd again.\nOnce more.\nThe last.\n");
    let shown = place.ok(&["item", "usage", "talk"], "");
    assert!(shown.contains("never used: remove it?"), "{shown}");
    let usage = place.json(&["item", "usage", "--agent", "default", "--json"]);
    let greeting = json!({"type": "rule", "name": "greeting", "sent": 5, "used": 0, "sessions": 1});
    assert_eq!(usage, json!({"sessions": 1, "items": [greeting]}));
    place.ok(&["item", "usage", "talk", "--format", "csv", "--output", "usage.csv"], "");
    let csv = std::fs::read_to_string(place.path("usage.csv")).expect("a file");
    assert_eq!(csv, "type,server,name,sent,used,suggestion\r\nrule,,greeting,5,0,remove\r\n");
    assert_eq!(place.fails(&["item", "usage"]).0, 2);
}
