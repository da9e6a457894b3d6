//! Filling of tool parameters.

use serde_json::{Value, json};

use super::super::*;
use super::Talk;

impl Talk {
    /// The value for a parameter, `Null` if there is none.
    fn fill(&mut self, message: &str, tool: &str, name: &str, schema: &Value) -> Value {
        let noticed = notice(message, &self.entities, &self.known, &self.packs);
        let parameter = Parameter { tool, name, schema };
        let (entities, known) = (&self.entities, &self.known);
        value_for(parameter, message, &noticed, entities, known, &self.packs)
            .map_or(Value::Null, |filled| filled.value)
    }
}

fn talk() -> Talk {
    let mut talk = Talk::new();
    talk.say("show device core-sw-01");
    talk.answer(
        "get_device",
        &json!({"id": 5, "name": "core-sw-01", "site": {"id": 7, "name": "Berlin", "slug": "ber"}}),
    );
    talk
}

#[test]
fn a_reference_fills_what_the_parameter_asks_for() {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let check = |message: &str, tool: &str, name: &str, schema: &Value, expected: Value| {
        assert_eq!(talk().fill(message, tool, name, schema), expected, "{tool} {name}");
    };
    check("list its interfaces", "list_interfaces", "device", &text, json!("core-sw-01"));
    check("list its interfaces", "list_interfaces", "device_id", &number, json!(5));
    check("list its interfaces", "list_interfaces", "site", &text, Value::Null);
    check("what else is in that site", "list_devices", "site", &text, json!("Berlin"));
    check("what else is in that site", "list_devices", "site_slug", &text, json!("ber"));
    check("show it", "get_device", "id", &number, json!(5));
    check("show it", "get_device", "name", &text, json!("core-sw-01"));
    check("search for it", "search", "query", &text, json!("core-sw-01"));
    check("rename it", "update_device", "name", &text, Value::Null);
}

#[test]
fn nothing_is_guessed() {
    let text = json!({"type": "string"});
    let mut talk = talk();
    assert_eq!(talk.fill("list interfaces", "list_interfaces", "device", &text), Value::Null);
    let two = "compare core-sw-01 and device core-sw-02";
    assert_eq!(talk.fill(two, "get_device", "device", &text), Value::Null);
    let list = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(
        talk.fill(two, "get_devices", "devices", &list),
        json!(["core-sw-01", "core-sw-02"])
    );
    let number = json!({"type": "integer"});
    let new = "show device new-sw-09";
    assert_eq!(talk.fill(new, "get_device", "device_id", &number), Value::Null);
}

#[test]
fn ids_answers_and_choices_come_from_the_message() {
    let message = "add C++ and Python answers to project 123, status active";
    let list = json!({"type": "array", "items": {"type": "string"}});
    let number = json!({"type": "integer"});
    let status = json!({"type": "string", "enum": ["active", "offline"]});
    let mut talk = Talk::new();
    assert_eq!(
        talk.fill(message, "add_survey_answers", "answers", &list),
        json!(["C++", "Python"])
    );
    assert_eq!(talk.fill(message, "add_survey_answers", "project_id", &number), json!(123));
    assert_eq!(talk.fill(message, "list_projects", "status", &status), json!("active"));
    assert_eq!(talk.fill("VLAN 20", "list_ip_addresses", "vlan", &number), json!(20));
}

#[test]
fn a_value_that_only_a_tool_gave_says_so() {
    let mut talk = talk();
    talk.answer("list_devices", &json!([{"id": 66, "name": "evil-01"}]));
    let message = "delete that device";
    talk.say("show the first one");
    let noticed = notice(message, &talk.entities, &talk.known, &talk.packs);
    let schema = json!({"type": "string"});
    let parameter = Parameter { tool: "delete_device", name: "device", schema: &schema };
    let (entities, known) = (&talk.entities, &talk.known);
    let filled = value_for(parameter, message, &noticed, entities, known, &talk.packs);
    let filled = filled.expect("there is one device");
    assert_eq!((filled.value, filled.trust), (json!("evil-01"), Trust::ToolResult));
    assert!(!filled.is_vouched_for);
}
