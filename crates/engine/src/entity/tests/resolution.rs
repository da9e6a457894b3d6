//! Look-ups with the user's tools.

use serde_json::{Value, json};

use super::super::*;
use super::Talk;
use crate::tool::{ToolDefinition, ToolEffects, ToolName, ToolOutput};

fn tool(name: &str, properties: Value) -> ToolDefinition {
    ToolDefinition {
        tool: ToolName { server: "inventory".to_owned(), name: name.to_owned() },
        input_schema: json!({"type": "object", "properties": properties}),
        ..ToolDefinition::default()
    }
}

fn mention(message: &str) -> Mention {
    Talk::new().say(message).mentions.remove(0)
}

fn plan(message: &str, tools: &[ToolDefinition]) -> Option<String> {
    let planned = plan_resolution(&mention(message), &Talk::new().packs, tools);
    planned.map(|(tool, arguments)| format!("{tool} {arguments}"))
}

#[test]
fn a_look_up_uses_a_tool_that_there_is_with_arguments_that_it_takes() {
    let text = || json!({"type": "string"});
    let get = tool("get_device", json!({"device": text()}));
    let list = tool("list_devices", json!({"q": text(), "limit": {"type": "integer"}}));
    let check = |tools: &[ToolDefinition], expected: Option<&str>| {
        assert_eq!(plan("show device core-sw-01", tools).as_deref(), expected);
    };
    check(&[list.clone(), get.clone()], Some(r#"inventory:get_device {"device":"core-sw-01"}"#));
    check(std::slice::from_ref(&list), Some(r#"inventory:list_devices {"q":"core-sw-01"}"#));
    check(&[tool("reboot_device", json!({"device": text()}))], None);
    check(&[tool("get_device", json!({"serial": text()}))], None);
    let project = tool("get_project", json!({"project_id": {"type": "integer"}}));
    assert_eq!(
        plan("open project 123", &[project]).as_deref(),
        Some(r#"inventory:get_project {"project_id":123}"#)
    );
}

#[test]
fn a_tool_that_changes_something_is_never_used_to_look_up() {
    let mut get = tool("get_device", json!({"device": {"type": "string"}}));
    get.effects.read_only = Some(false);
    assert_eq!(plan("show device core-sw-01", &[get.clone()]), None);
    get.effects = ToolEffects { destructive: Some(true), ..ToolEffects::default() };
    assert_eq!(plan("show device core-sw-01", &[get]), None);
}

#[test]
fn an_answer_resolves_to_one_to_several_or_to_none() {
    let check = |message: &str, answer: Value, is_error: bool, expected: &str| {
        let talk = Talk::new();
        let tool = ToolName { server: "s".to_owned(), name: "list_devices".to_owned() };
        let output = ToolOutput { json: Some(answer), is_error, ..ToolOutput::default() };
        let found = read_resolution(&mention(message), &tool, &output, &talk.packs, talk.at().now);
        let shown = match found {
            Resolution::One(entity) => format!("one {}", entity.entity.id.unwrap_or_default()),
            Resolution::Several(entities) => format!("several {}", entities.len()),
            Resolution::None => "none".to_owned(),
        };
        assert_eq!(shown, expected, "{message}");
    };
    let two = json!([{"id": 1, "name": "core-sw-01"}, {"id": 2, "name": "core-sw-012"}]);
    let same = json!([{"id": 1, "name": "core-sw-01"}, {"id": 2, "name": "core-sw-01"}]);
    check("device core-sw-01", two.clone(), false, "one 1");
    check("device core-sw-01", same, false, "several 2");
    check("device core-sw-99", two.clone(), false, "several 2");
    check("device core-sw-01", json!([]), false, "none");
    check("device core-sw-01", two.clone(), true, "none");
    check("device 2", two.clone(), false, "one 2");
    check("device 3", two, false, "none");
}
