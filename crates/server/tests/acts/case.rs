//! What a case of the table says, as calls and failures of the scripted parts.

use serde_json::{Map, Value, json};
use throughline_engine::tool::ToolName;
use throughline_engine::tool_spec::spec_name;
use throughline_testkit::scripted_model::{Step, Turn};

/// The elements of a list; none where it is no list.
pub(crate) fn entries(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A call as an export has it.
pub(crate) fn imported_call(call: &Value) -> Value {
    let (server, name) = call["tool"].as_str().unwrap().split_once('/').unwrap();
    let mut made = call.as_object().cloned().unwrap_or_else(Map::new);
    made.remove("tool");
    let text = made.remove("result").unwrap_or_default();
    made.extend([
        ("id".to_owned(), json!("imported")),
        ("server".to_owned(), json!(server)),
        ("name".to_owned(), json!(name)),
        ("arguments".to_owned(), json!({})),
        ("output".to_owned(), json!({"text": text})),
    ]);
    Value::Object(made)
}

/// A call of the scripted model.
pub(crate) fn step(at: usize, call: &Value) -> Step {
    let tool = call["tool"].as_str().unwrap();
    let name = match tool.split_once('/') {
        Some((server, name)) => spec_name(&ToolName { server: server.into(), name: name.into() }),
        None => tool.to_owned(),
    };
    Step::Call { id: format!("call_{at}"), name, arguments: call["arguments"].to_string() }
}

/// How the scripted model fails.
pub(crate) fn failure(turn: &Value) -> Turn {
    let error = turn["model_fails"]["error"].as_str().unwrap();
    if let Some(partial) = turn.get("partial_call") {
        let tool = json!({"tool": partial["tool"], "arguments": {}});
        let Step::Call { id, name, .. } = step(0, &tool) else { unreachable!("a call") };
        let arguments = partial["arguments_text"].as_str().unwrap().to_owned();
        return Turn::Say(vec![Step::Call { id, name, arguments }, Step::Cut]);
    }
    let number = error.get(..3).and_then(|start| start.parse::<u16>().ok());
    match number.filter(|status| (400..600).contains(status)) {
        Some(status) => Turn::refuse(status, error),
        None if error.contains("length") => Turn::refuse(400, error),
        None => Turn::Say(vec![Step::Cut]),
    }
}
