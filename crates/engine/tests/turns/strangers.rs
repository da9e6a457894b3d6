//! Answers without a model on the shapes of servers that nobody here wrote: one answer inside another, failures in
//! good envelopes, units as choices, the same tools on two servers.

use serde_json::{Value, json};
use throughline_engine::agent::{Agent, AgentBook, AgentServer};
use throughline_engine::id::AgentName;
use throughline_engine::session::record::{TurnRecord, TurnStatus};
use throughline_engine::tool::{ToolDefinition, ToolEffects, ToolName};

use crate::bench::{Bench, bench};

/// A tool that only reads: `server:name`, what is said of it, its parameters; those with a `!` are required.
fn reads(tool: &str, description: &str, parameters: &Value) -> ToolDefinition {
    let (server, name) = tool.split_once(':').unwrap();
    let (mut properties, mut required) = (serde_json::Map::new(), Vec::new());
    for (key, schema) in parameters.as_object().unwrap() {
        let plain = key.trim_end_matches('!');
        required.extend((plain != key).then(|| plain.to_owned()));
        properties.insert(plain.to_owned(), schema.clone());
    }
    ToolDefinition {
        tool: ToolName { server: server.into(), name: name.into() },
        description: description.into(),
        input_schema: json!({"type": "object", "properties": properties, "required": required}),
        effects: ToolEffects { read_only: Some(true), ..ToolEffects::default() },
        ..ToolDefinition::default()
    }
}

/// A bench with these tools, and what they answer.
async fn with(tools: Vec<ToolDefinition>, answers: &[(&'static str, Value)]) -> Bench {
    let bench = bench().tools().start().await;
    let mut agent = Agent::plain(AgentName::new("default").unwrap());
    let mut servers: Vec<String> = tools.iter().map(|tool| tool.tool.server.clone()).collect();
    servers.dedup();
    let server = |server| AgentServer { server, include: None, tools: [].into() };
    agent.servers = servers.into_iter().map(server).collect();
    bench.engine.replace_agents(AgentBook::new(agent.name.clone(), [agent]));
    *bench.tools.own.lock().unwrap() = tools;
    bench.tools.answers.lock().unwrap().extend(answers.iter().cloned());
    bench
}

fn calls(turn: &TurnRecord) -> Vec<String> {
    turn.calls.iter().map(|call| format!("{} {}", call.tool, call.arguments)).collect()
}

fn text() -> Value {
    json!({"type": "string"})
}

async fn board() -> Bench {
    let item = json!({"id": 3, "title": "Solar lights on the pier", "priority": 2, "parent": null});
    let found = json!({"matches": {"Berths": ["B3"]}});
    let gone = json!({"success": false, "message": "Invalid path", "error": "File not found"});
    let tools = vec![
        reads("board:get_item", "Get one item.", &json!({"item_id!": {"type": "integer"}})),
        reads("board:list_items", "List items.", &json!({"status": text()})),
        reads("board:list_tags", "List all tags.", &json!({})),
        reads("board:get_item_tags", "Tags of an item.", &json!({"item_id!": {"type": "integer"}})),
        reads("board:find_cells", "Find cells by text.", &json!({"query!": text()})),
        reads("board:check_file", "Check a file.", &json!({"file_path!": text()})),
        reads("board:search", "Search everything.", &json!({"query!": text()})),
    ];
    let answers = [
        ("get_item", json!({"success": true, "item": item.clone()})),
        ("list_items", json!({"success": true, "items": [item], "count": 1})),
        ("list_tags", json!({"success": true, "tags": [{"id": 8, "name": "urgent"}], "count": 1})),
        ("get_item_tags", json!({"success": true, "tags": [{"id": 9, "name": "outdoor"}]})),
        ("find_cells", found),
        ("check_file", gone),
        ("search", json!({"success": true, "items": [], "updates": []})),
    ];
    with(tools, &answers).await
}

#[tokio::test]
async fn what_an_answer_frames_is_told_and_not_only_its_number() {
    let bench = board().await;
    let turn = bench.query("show item 3").await;
    assert!(turn.reply.contains("Solar lights on the pier (id 3)"), "{}", turn.reply);
    assert!(turn.reply.contains("priority: 2"), "{}", turn.reply);
    let turn = bench.query("find cells with Drake").await;
    assert!(turn.reply.contains("B3") && !turn.reply.contains("none"), "{}", turn.reply);
}

#[tokio::test]
async fn a_failure_in_a_good_envelope_is_a_failure() {
    let bench = board().await;
    let turn = bench.query("check file /srv/boats.csv").await;
    assert_eq!(turn.status, TurnStatus::Failed, "{}", turn.reply);
    assert_eq!(turn.reply, "There is no \"/srv/boats.csv\".");
}

#[tokio::test]
async fn what_belongs_to_one_thing_is_asked_of_the_tool_for_that() {
    let bench = board().await;
    bench.query("show item 3").await;
    let turn = bench.query("what tags does it have?").await;
    assert_eq!(calls(&turn).last().unwrap(), r#"board:get_item_tags {"item_id":3}"#);
    assert!(turn.reply.contains("outdoor"), "{}", turn.reply);
}

#[tokio::test]
async fn a_list_of_something_unknown_is_no_search() {
    let bench = board().await;
    let turn = bench.query("list widgets").await;
    assert_eq!(turn.status, TurnStatus::Failed, "{}", turn.reply);
    assert!(turn.reply.contains("widgets"), "{}", turn.reply);
}

async fn units() -> Bench {
    let number = json!({"type": "number"});
    let length = json!({"type": "string", "enum": ["kilometer", "mile", "meter"]});
    let heat = json!({"type": "string", "enum": ["celsius", "fahrenheit", "kelvin"]});
    let convert = |name: &str, unit: &Value| {
        let parameters = json!({"value!": number, "from_unit!": unit, "to_unit!": unit});
        reads(name, "Convert between units.", &parameters)
    };
    let tools =
        vec![convert("units:convert_temperature", &heat), convert("units:convert_length", &length)];
    let answers = [
        ("convert_length", json!({"converted_value": 7.45})),
        ("convert_temperature", json!({"converted_value": 310.15})),
    ];
    with(tools, &answers).await
}

#[tokio::test]
async fn numbers_and_units_find_their_tool_and_their_parameters() {
    let bench = units().await;
    for (said, called) in [
        (
            "convert 12 kilometers to miles",
            r#"units:convert_length {"value":12.0,"from_unit":"kilometer","to_unit":"mile"}"#,
        ),
        (
            "and 26 kilometers?",
            r#"units:convert_length {"value":26.0,"from_unit":"kilometer","to_unit":"mile"}"#,
        ),
        (
            "what is 37 celsius in kelvin?",
            r#"units:convert_temperature {"value":37.0,"from_unit":"celsius","to_unit":"kelvin"}"#,
        ),
        (
            "no, to fahrenheit",
            r#"units:convert_temperature {"value":37.0,"from_unit":"celsius","to_unit":"fahrenheit"}"#,
        ),
    ] {
        let turn = bench.query(said).await;
        let arguments: Vec<Value> = turn.calls.iter().map(|call| call.arguments.clone()).collect();
        let (tool, wanted) = called.split_once(' ').unwrap();
        assert_eq!(arguments, [serde_json::from_str::<Value>(wanted).unwrap()], "{said}");
        assert_eq!(turn.calls[0].tool.to_string(), tool, "{said}");
    }
    let turn = bench.query("convert 5 kilometers").await;
    assert_eq!(turn.status, TurnStatus::Failed);
    assert!(turn.reply.contains("to unit") && turn.calls.is_empty(), "{}", turn.reply);
}

async fn two_lists() -> Bench {
    let status = json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null});
    let list = |server: &str| {
        reads(&format!("{server}:task_list"), "List tasks.", &json!({"status": status}))
    };
    let bench = with(
        vec![list("home"), list("work")],
        &[("task_list", json!([{"id": 1, "name": "Order toner"}]))],
    )
    .await;
    *bench.tools.missing.lock().unwrap() = vec![("calendar".into(), "it did not start".into())];
    // A tool with the name of another server's waits until somebody has vouched for it.
    for server in ["home", "work"] {
        let tool = ToolName { server: server.into(), name: "task_list".into() };
        bench.engine.approve_tool(&bench.caller, &tool).await.unwrap();
    }
    bench
}

#[tokio::test]
async fn of_two_servers_with_the_same_tool_the_one_that_is_named_is_asked() {
    let bench = two_lists().await;
    let turn = bench.query("list the tasks at work").await;
    assert_eq!(calls(&turn), ["work:task_list {}"], "{}", turn.reply);
    assert!(turn.reply.starts_with("1 task:"), "a pack's word for it: {}", turn.reply);
    let turn = bench.query("and at home?").await;
    assert_eq!(calls(&turn), ["home:task_list {}"], "{}", turn.reply);
    let turn = bench.query("list all tasks").await;
    assert!(turn.calls.is_empty(), "{:?}", calls(&turn));
    assert!(turn.reply.contains("home, work"), "{}", turn.reply);
    let turn = bench.query("work").await;
    assert_eq!(calls(&turn), ["work:task_list {}"], "{}", turn.reply);
}

#[tokio::test]
async fn a_server_that_is_named_and_down_is_said_to_be_down() {
    let bench = two_lists().await;
    let mut agent = Agent::plain(AgentName::new("default").unwrap());
    let server =
        |server: &str| AgentServer { server: server.into(), include: None, tools: [].into() };
    agent.servers = ["home", "work", "calendar"].map(server).into();
    bench.engine.replace_agents(AgentBook::new(agent.name.clone(), [agent]));
    let turn = bench.query("what's on my calendar today?").await;
    assert_eq!(turn.status, TurnStatus::Failed, "{}", turn.reply);
    assert!(turn.reply.contains("calendar (it did not start)"), "{}", turn.reply);
    assert!(turn.calls.is_empty());
}

#[tokio::test]
async fn what_the_user_says_of_themselves_is_noted_and_a_greeting_is_one_in_german_too() {
    let bench = board().await;
    for (said, reply) in [
        ("My name is Priya.", "Noted: \"My name is Priya.\""),
        ("My boat is called Bora.", "Noted: \"My boat is called Bora.\""),
        ("Danke!", "Gern. Frag mich, wann immer du etwas brauchst."),
    ] {
        let turn = bench.query(said).await;
        assert_eq!((turn.reply.as_str(), turn.calls.len()), (reply, 0), "{said}");
    }
    let turn = bench.query("What is my boat called?").await;
    assert!(turn.reply.contains("Bora"), "{}", turn.reply);
}
