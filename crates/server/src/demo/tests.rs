//! Tests of the demo inventory, called directly and over MCP with and without sessions.

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};

use super::DemoInventory;
use super::records::Inventory;

fn call(demo: &DemoInventory, tool: &str, arguments: Value) -> Result<Value, String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    demo.call(tool, arguments).expect("the tool exists")
}

#[test]
fn every_name_in_the_data_file_refers_to_a_record() {
    let inventory = Inventory::load().unwrap();
    for rack in &inventory.racks {
        inventory.site(&rack.site).unwrap();
    }
    for device in &inventory.devices {
        assert_eq!(inventory.rack(&device.rack).unwrap().site, device.site, "{}", device.name);
        assert!(inventory.roles.iter().any(|role| role.slug == device.role), "{}", device.role);
        assert!(inventory.types.iter().any(|kind| kind.slug == device.kind), "{}", device.kind);
    }
    for address in &inventory.addresses {
        let device = inventory.device(&address.device).unwrap();
        let kind = inventory.types.iter().find(|kind| kind.slug == device.kind).unwrap();
        assert!(kind.interfaces.contains(&address.interface), "{}", address.address);
        let known = |vid| inventory.vlans.iter().any(|v| v.vid == vid && v.site == device.site);
        assert!(address.vlan.is_none_or(known), "{}", address.address);
    }
    let known = |id: &String| inventory.answers.iter().any(|answer| answer.id == *id);
    for answer in &inventory.answers {
        assert!(answer.implies.iter().chain(&answer.conflicts).all(known), "{}", answer.id);
    }
    for survey in &inventory.surveys {
        inventory.project(survey.project).unwrap();
        assert!(survey.selected.iter().all(known), "survey of {}", survey.project);
    }
}

#[test]
fn adding_answers_brings_along_eight_and_names_the_three_that_conflict() {
    let demo = DemoInventory::load().unwrap();
    let arguments = json!({"project_id": 123, "answers": ["C++", "Python"]});
    let result = call(&demo, "add_survey_answers", arguments.clone()).unwrap();
    assert_eq!(
        result["message"],
        "Added 8 answers to the survey. 3 conflicting answers were automatically deselected."
    );
    assert_eq!(result["added_count"], 8);
    assert_eq!(
        result["deselected"],
        json!([
            {"id": "A2297", "text": "Java", "question": "Programming languages", "reason": "conflicts with C++"},
            {"id": "A2298", "text": "Ruby", "question": "Programming languages", "reason": "conflicts with Python"},
            {"id": "A2304", "text": "Go", "question": "Programming languages", "reason": "conflicts with C++"},
        ])
    );
    let again = call(&demo, "add_survey_answers", arguments).unwrap();
    assert_eq!(
        (again["added_count"].clone(), again["deselected_count"].clone()),
        (json!(0), json!(0))
    );
    assert_eq!(again["selected_count"], result["selected_count"]);
}

#[test]
fn a_reset_takes_every_change_back() {
    let demo = DemoInventory::load().unwrap();
    let look = || {
        let survey = call(&demo, "get_survey", json!({"project_id": 123})).unwrap();
        (survey, call(&demo, "list_devices", json!({})).unwrap())
    };
    let before = look();
    call(&demo, "add_survey_answers", json!({"project_id": 123, "answers": ["C++"]})).unwrap();
    call(&demo, "delete_device", json!({"device": "ams1-srv-03"})).unwrap();
    assert_ne!(look(), before);
    call(&demo, "reset_inventory", json!({})).unwrap();
    assert_eq!(look(), before);
}

#[test]
fn answers_that_conflict_with_each_other_are_refused_and_change_nothing() {
    let demo = DemoInventory::load().unwrap();
    let before = call(&demo, "get_survey", json!({"project_id": 124})).unwrap();
    let refused =
        call(&demo, "add_survey_answers", json!({"project_id": 124, "answers": ["C++", "Java"]}));
    assert_eq!(refused.unwrap_err(), "C++ (A2290) and Java (A2297) conflict; add only one of them");
    assert_eq!(call(&demo, "get_survey", json!({"project_id": 124})).unwrap(), before);
}

#[test]
fn devices_are_filtered_and_show_their_relations_nested() {
    let demo = DemoInventory::load().unwrap();
    let found =
        call(&demo, "list_devices", json!({"site": "Amsterdam", "status": "offline"})).unwrap();
    assert_eq!(found["count"], 1);
    insta::assert_json_snapshot!(found["results"][0]);
    let page = call(&demo, "list_devices", json!({"limit": 2, "offset": 2})).unwrap();
    assert_eq!(page["count"], 21);
    assert_eq!(page["next"], json!({"offset": 4, "limit": 2}));
    assert_eq!(page["results"][0]["name"], "ams1-sw-01");
}

#[test]
fn wrong_arguments_are_refused_with_their_names() {
    let demo = DemoInventory::load().unwrap();
    let check = |tool, arguments, expected: &str| {
        assert_eq!(call(&demo, tool, arguments).unwrap_err(), expected);
    };
    check("get_site", json!({}), "the arguments are not valid: \"site\" is a required property");
    check(
        "get_project",
        json!({"project_id": "x"}),
        "the arguments are not valid: project_id: \"x\" is not of type \"integer\"",
    );
    check(
        "get_device",
        json!({"device": "ams1-sw-9"}),
        "there is no device \"ams1-sw-9\"; did you mean one of: ams1-core-01, ams1-core-02, ams1-sw-01, ams1-sw-02, ams1-fw-01?",
    );
    check(
        "update_device",
        json!({"device": "ams1-sw-01", "rack": "fra1-r01"}),
        "ams1-sw-01 cannot move to fra1-r01: the device is at ams1 and the rack at fra1",
    );
    check(
        "create_workflow",
        json!({"name": "task management"}),
        "there is already a workflow \"Task Management\" (wf-1)",
    );
}

#[test]
fn changes_are_seen_by_later_calls_and_ids_are_not_given_again() {
    let demo = DemoInventory::load().unwrap();
    let moved =
        call(&demo, "update_device", json!({"device": "ams1-sw-02", "status": "active"})).unwrap();
    assert_eq!(moved["changes"], json!([{"field": "status", "from": "offline", "to": "active"}]));
    let gone = call(&demo, "delete_device", json!({"device": "ams1-core-01"})).unwrap();
    assert_eq!(
        (&gone["interfaces_deleted"], &gone["ip_addresses_deleted"]),
        (&json!(4), &json!(2))
    );
    call(&demo, "get_device", json!({"device": "ams1-core-01"})).unwrap_err();
    assert_eq!(call(&demo, "get_device", json!({"device": "4"})).unwrap()["name"], "ams1-sw-02");
    let report = json!({"title": "Devices", "kind": "devices", "site": "ams1"});
    assert_eq!(call(&demo, "create_report", report).unwrap()["summary"]["devices"], 7);
    let created = call(&demo, "create_workflow", json!({"name": "Audit"})).unwrap();
    assert_eq!(created["spec_id"], "wf-3");
    let changed =
        call(&demo, "update_workflow", json!({"workflow": "wf-3", "add_steps": ["Look"]})).unwrap();
    assert_eq!(changed["steps"], json!(["Look"]));
}

#[test]
fn the_published_tools_are_these() {
    let demo = DemoInventory::load().unwrap();
    let lines: Vec<String> = (demo.tools().iter())
        .map(|tool| {
            let hints = tool.annotations.as_ref().unwrap();
            format!(
                "{}: read only {:?}, destructive {:?}, idempotent {:?}",
                tool.name, hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    for tool in demo.tools() {
        assert!(
            demo.call(&tool.name, Default::default()).is_some(),
            "{} is not carried out",
            tool.name
        );
    }
}

async fn speaks(lifecycle: ClientLifecycleMode, version: ProtocolVersion) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let server = tokio::spawn(async move {
        let running = DemoInventory::load().unwrap().serve(theirs).await.unwrap();
        running.waiting().await.unwrap();
    });
    let client = ClientConfig::default().serve_with_lifecycle(ours, lifecycle).await.unwrap();
    assert_eq!(client.peer_info().unwrap().protocol_version, version);
    assert_eq!(client.list_all_tools().await.unwrap().len(), 19);
    let arguments = json!({"site": "fra1"}).as_object().cloned().unwrap();
    let request = CallToolRequestParams::new("get_site").with_arguments(arguments);
    let answer = client.call_tool(request).await.unwrap();
    assert_eq!(answer.structured_content.unwrap()["name"], "Frankfurt");
    client.cancel().await.unwrap();
    server.await.unwrap();
}

#[tokio::test]
async fn it_speaks_the_older_era() {
    speaks(ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25).await;
}

#[tokio::test]
async fn it_speaks_the_newer_era() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let newer = ClientLifecycleMode::Discover { preferred_versions };
    speaks(newer, ProtocolVersion::V_2026_07_28).await;
}
