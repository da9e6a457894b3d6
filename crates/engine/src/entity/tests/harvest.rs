//! Extraction from tool results.

use serde_json::{Value, json};

use super::super::harvest::harvest_counted;
use super::super::*;
use super::Talk;
use crate::pack::{Action, PackSet};
use crate::tool::ToolName;

fn device() -> Value {
    json!({
        "id": 5, "url": "https://nb.example/api/dcim/devices/5/", "name": "core-sw-01",
        "device_type": {"id": 3, "model": "EX4300", "manufacturer": {"id": 1, "name": "Juniper"}},
        "role": {"id": 2, "name": "Core"},
        "site": {"id": 7, "name": "Berlin", "slug": "berlin"},
        "rack": "R12", "status": {"value": "active", "label": "Active"}, "serial": "X1",
        "physical_address": "Kabelweg 12", "port": 22,
    })
}

fn shown(harvest: &Harvest) -> Vec<String> {
    let relation = |relation: &Relation| format!("{:?} {}", relation.relation, relation.to);
    let line = |entity: &Entity| {
        let relations: Vec<String> = entity.relations.iter().map(relation).collect();
        format!("{}: {}", entity.entity, relations.join(", "))
    };
    harvest.entities.iter().map(line).collect()
}

#[test]
fn objects_become_entities_and_what_is_inside_is_related() {
    let found = Talk::new().answer("get_device", &device());
    assert_eq!(
        shown(&found),
        [
            "device core-sw-01: Parent device_type EX4300, Parent device_role Core, \
             Parent site Berlin, Parent rack R12",
            "device_type EX4300: Child device core-sw-01, Parent manufacturer Juniper",
            "manufacturer Juniper: Child device_type EX4300",
            "device_role Core: Child device core-sw-01",
            "site Berlin: Child device core-sw-01",
            "rack R12: Child device core-sw-01",
        ]
    );
    assert_eq!(found.listed.len(), 1);
    assert_eq!(found.listed[0].id.as_deref(), Some("5"));
}

#[test]
fn cached_data_is_short_and_holds_for_an_hour() {
    let mut talk = Talk::new();
    talk.answer("get_device", &device());
    let entity = talk.known.iter().find(|entity| entity.entity.name == "core-sw-01").cloned();
    let entity = entity.expect("the device is known");
    let now = talk.at().now;
    assert_eq!(entity.fresh_data(now).and_then(|data| data.get("status")), Some(&json!("Active")));
    let later = now.checked_add(jiff::SignedDuration::from_secs(DATA_SECONDS)).expect("in range");
    assert_eq!(entity.fresh_data(later), None);
}

#[test]
fn the_verb_of_a_tool_says_what_was_done_to_its_subject() {
    let mut talk = Talk::new();
    let workflow = json!({"spec_id": "wf-1", "name": "Task Management"});
    talk.answer("create_workflow", &workflow);
    talk.say("what is the workflow about?");
    talk.answer("get_workflow", &workflow);
    let references = talk.known.references(Some(&Kind::new("workflow")));
    assert_eq!(references.len(), 1);
    let reference = &references[0];
    assert_eq!((reference.spec_id.as_str(), reference.action), ("wf-1", Action::Created));
    for alias in ["task management workflow", "my task", "my task workflow"] {
        assert!(reference.aliases.iter().any(|known| known == alias), "{alias}");
    }
}

#[test]
fn one_create_is_one_create() {
    let mut talk = Talk::new();
    talk.say("create a workflow called Onboarding");
    talk.answer("create_workflow", &json!({"spec_id": "wf-2", "name": "Onboarding"}));
    let kind = Kind::new("workflow");
    let references = talk.known.references(Some(&kind));
    assert_eq!(references.len(), 1, "{references:?}");
    assert_eq!((references[0].spec_id.as_str(), references[0].action), ("wf-2", Action::Created));
    let tracked = talk.entities.tracked.iter().filter(|entity| entity.entity.kind == kind);
    let actions: Vec<Action> = tracked.flat_map(|e| e.actions.iter().map(|at| at.action)).collect();
    assert_eq!(actions, [Action::Discussed, Action::Created]);
}

#[test]
fn lists_keep_their_order_and_say_under_what_they_stood() {
    let found = Talk::new().answer(
        "add_survey_answers",
        &json!({
            "project": {"id": 123, "name": "Payments"},
            "added": [{"id": "A2293", "text": "C++"}],
            "deselected": [{"id": "A2297", "text": "Java"}, {"id": "A2298", "text": "Ruby"}],
        }),
    );
    let listed: Vec<&str> = found.listed.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!(listed, ["C++", "Java", "Ruby"]);
    let java = found.entities.iter().find(|entity| entity.entity.name == "Java").expect("Java");
    assert_eq!(java.data["listed_under"], "deselected");
}

#[test]
fn a_hostile_answer_costs_no_more_than_the_limit() {
    let wide: Vec<Value> = (0..60_000).map(|id| json!({"id": id, "name": "x"})).collect();
    let mut deep = json!({"id": 1, "name": "x"});
    for _ in 0..100 {
        deep = json!({"device": [deep]});
    }
    let keys: serde_json::Map<String, Value> =
        (0..100_000).map(|key| (format!("device_{key}_site"), json!("x"))).collect();
    let long = json!({"name": "n".repeat(1 << 20), "site": "s".repeat(1 << 20)});
    let packs = PackSet::builtin();
    let tool = ToolName { server: "s".to_owned(), name: "list_devices".to_owned() };
    let now = Talk::new().at().now;
    for hostile in [json!(wide), deep, Value::Object(keys), long] {
        let (found, visited) = harvest_counted(&tool, &Value::Null, &hostile, &packs, now);
        assert!(visited <= HARVEST_VALUES_MAX + 1, "{visited}");
        assert!(found.entities.len() <= HARVEST_ENTITIES_MAX);
        let bytes = serde_json::to_string(&found).expect("it is JSON").len();
        assert!(bytes < 1_000_000, "{bytes}");
    }
}
