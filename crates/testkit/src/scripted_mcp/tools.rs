//! The built-in tools of the scripted server, one per kind of behaviour that a client must handle.

use serde_json::{Value, json};

use super::table::TableAnswer;
use super::{Era, Reaction, ScriptedMcp, error};

/// Name and description.
const TOOLS: [(&str, &str); 10] = [
    ("echo", "Answers its arguments."),
    ("fail", "Answers an error of the tool."),
    ("refuse", "Answers an error of the protocol."),
    ("slow", "Never answers."),
    ("crash", "Ends the server."),
    ("huge", "Answers as many bytes as asked."),
    ("ask", "Wants input from a person."),
    ("change", "Changes the tools and says so."),
    ("environment", "Names the variables of the process."),
    ("pids", "Names the process and the one it started."),
];

pub(super) fn definitions(server: &ScriptedMcp) -> Vec<Value> {
    if let Some(table) = &server.table {
        return table.definitions();
    }
    let told = server.state.lock().expect("no test panics while it holds the state").changed;
    let changed = told || server.script.changed_by.as_ref().is_some_and(|file| file.exists());
    let padding = "x".repeat(server.script.description_bytes);
    let tool = |(name, description): &(&str, &str)| {
        let description = match *name {
            "echo" if changed => "Answers its arguments, and something else.",
            _ => description,
        };
        json!({
            "name": name, "description": format!("{description}{padding}"),
            "inputSchema": server.script.input_schema.clone().unwrap_or(json!({"type": "object"})),
            "annotations": {"readOnlyHint": *name == "echo", "destructiveHint": *name == "crash"},
        })
    };
    TOOLS.iter().map(tool).collect()
}

pub(super) fn call(server: &ScriptedMcp, id: &Value, message: &Value) -> Reaction {
    if let Some(table) = &server.table {
        return match table.call(&message["params"]) {
            TableAnswer::Result(result) => server.complete(id, result),
            TableAnswer::Error(code, text) => error(id, code, &text),
        };
    }
    let arguments = &message["params"]["arguments"];
    let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
    let result = match message["params"]["name"].as_str().unwrap_or_default() {
        "echo" => json!({
            "content": [{"type": "text", "text": arguments.to_string()}],
            "structuredContent": arguments,
        }),
        "fail" => {
            json!({"content": [{"type": "text", "text": "it did not work"}], "isError": true})
        }
        "refuse" => return error(id, -32603, "the server is not well"),
        "slow" => return Reaction::Send(Vec::new()),
        "crash" => return Reaction::End,
        "huge" => text("é".repeat(arguments["bytes"].as_u64().unwrap_or(0) as usize / 2)),
        "ask" if server.script.era == Era::Newer => {
            let asked = json!({
                "resultType": "input_required",
                "inputRequests": {"name": {
                    "method": "elicitation/create",
                    "params": {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
                }},
            });
            return Reaction::Send(vec![json!({"jsonrpc": "2.0", "id": id, "result": asked})]);
        }
        "change" => {
            let mut messages: Vec<Value> = server.change_notice().into_iter().collect();
            if let Reaction::Send(answer) = server.complete(id, text("changed".to_owned())) {
                messages.extend(answer);
            }
            return Reaction::Send(messages);
        }
        "environment" => {
            let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
            names.sort();
            text(names.join(" "))
        }
        "pids" => {
            let grandchild = server.state.lock().expect("no panic").grandchild;
            json!({"content": [], "structuredContent": {"server": std::process::id(), "grandchild": grandchild}})
        }
        _ => return error(id, -32602, "unknown tool"),
    };
    server.complete(id, result)
}
