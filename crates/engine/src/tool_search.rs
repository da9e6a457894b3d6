//! The engine's own tools `find_tools` and `call_tool`.
//!
//! They give a model access to tools that its request does not declare. Their definitions list what can be found
//! and change only when the tools do. A call through `call_tool` is checked, approved and recorded like a direct
//! call of the tool.
//!
//! Invariant: nothing is called here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::model::ToolSpec;
use crate::piece::{IncludeMode, Piece, Position, Rank, Source};
use crate::tokens;
use crate::tool::{ToolDefinition, ToolName};
use crate::tool_spec::spec_of;

const FIND: &str = "find_tools";
const CALL: &str = "call_tool";
/// Maximum tokens of all tool names; beyond that only servers are named.
const NAMES_TOKENS_MAX: u32 = 1_000;
/// Maximum tools returned by a search.
pub const FOUND: usize = 5;

/// Whether a tool is `find_tools`.
pub fn is_search(tool: &ToolName) -> bool {
    tool.server.is_empty() && tool.name == FIND
}

pub fn is_offered_by(source: &Source) -> bool {
    matches!(source, Source::Tool { server, name, .. } if server.is_empty() && name == FIND)
}

pub fn search_name() -> ToolName {
    ToolName { server: String::new(), name: FIND.into() }
}

/// The definitions of both, listing `tools`.
pub fn pieces<'a>(tools: impl Iterator<Item = &'a ToolName>) -> Vec<Piece> {
    let directory = directory(tools);
    let find = ToolSpec {
        name: FIND.into(),
        description: format!(
            "Finds more tools by what they do or by their names, and returns their definitions. \
             Call one with {CALL}.\n{directory}"
        ),
        input_schema: json!({
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What the tool should do, or its name"}},
            "required": ["query"],
        }),
    };
    let call = ToolSpec {
        name: CALL.into(),
        description: format!("Calls a tool that {FIND} found."),
        input_schema: json!({
            "type": "object",
            "properties": {
                "tool": {"type": "string", "description": "Its name"},
                "arguments": {"type": "object", "description": "Its arguments, as its definition says"},
            },
            "required": ["tool", "arguments"],
        }),
    };
    [find, call].into_iter().filter_map(|spec| piece(&spec)).collect()
}

fn piece(spec: &ToolSpec) -> Option<Piece> {
    let source =
        Source::Tool { server: String::new(), name: spec.name.clone(), mode: IncludeMode::Always };
    let why = "finds and calls the tools that are not declared one by one";
    let text = serde_json::to_string(spec).ok()?;
    Some(Piece::new(source, why, Position::Tools, Rank::SessionItem, text))
}

/// The tools that can be found: names by server, or only counts if the names are too long.
fn directory<'a>(tools: impl Iterator<Item = &'a ToolName>) -> String {
    let mut servers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for tool in tools {
        servers.entry(&tool.server).or_default().push(&tool.name);
    }
    let lines = |line: &dyn Fn(&[&str]) -> String| {
        servers.iter().fold(String::new(), |mut text, (server, names)| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{server}: {}", line(names));
            text
        })
    };
    let names = lines(&|names| names.join(", "));
    match tokens::count(&names) <= NAMES_TOKENS_MAX {
        true => format!("Tools by server:\n{names}"),
        false => {
            format!("Servers:\n{}", lines(&|names| format!("{} tools", names.len())))
        }
    }
}

/// A call of one of the two tools.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchRequest {
    Find(String),
    /// Call a tool: its name and arguments.
    Call(String, Value),
    /// An invalid call, with the reason.
    Wrong(String),
}

/// Parses a call of `find_tools` or `call_tool`; `None` for any other tool.
pub fn read(name: &str, input: &Value) -> Option<SearchRequest> {
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::trim);
    match name {
        FIND => Some(match text("query").filter(|query| !query.is_empty()) {
            Some(query) => SearchRequest::Find(query.to_owned()),
            None => SearchRequest::Wrong(format!("{FIND} takes a \"query\"")),
        }),
        CALL => Some(match text("tool").filter(|tool| !tool.is_empty()) {
            Some(tool) => match arguments(input.get("arguments")) {
                Some(arguments) => SearchRequest::Call(tool.to_owned(), arguments),
                None => SearchRequest::Wrong(format!("{CALL} takes \"arguments\", an object")),
            },
            None => SearchRequest::Wrong(format!("{CALL} takes the name of a \"tool\"")),
        }),
        _ => None,
    }
}

/// Models sometimes write the inner object as text.
fn arguments(given: Option<&Value>) -> Option<Value> {
    match given {
        None | Some(Value::Null) => Some(json!({})),
        Some(Value::Object(map)) => Some(Value::Object(map.clone())),
        Some(Value::String(text)) => {
            serde_json::from_str(text).ok().filter(|value: &Value| value.is_object())
        }
        Some(_) => None,
    }
}

/// The result of a search: one definition per line.
pub fn found(tools: &[&ToolDefinition]) -> String {
    if tools.is_empty() {
        return "No tool fits. Try other words.".to_owned();
    }
    let specs = tools.iter().filter_map(|tool| serde_json::to_string(&spec_of(tool)).ok());
    specs.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(count: usize) -> Vec<ToolName> {
        let tool = |at| ToolName { server: format!("s{}", at % 3), name: format!("get_item_{at}") };
        (0..count).map(tool).collect()
    }

    #[test]
    fn the_names_of_all_tools_are_told_while_they_are_few() {
        let few = directory(tools(6).iter());
        assert!(few.contains("s1: get_item_1, get_item_4\n"), "{few}");
        let many = directory(tools(600).iter());
        assert_eq!(many, "Servers:\ns0: 200 tools\ns1: 200 tools\ns2: 200 tools\n");
    }

    #[test]
    fn a_call_is_unwrapped_and_what_cannot_be_read_is_told() {
        let call = |input| read(CALL, &input);
        let wanted = Some(SearchRequest::Call("a__b".into(), json!({"x": 1})));
        assert_eq!(call(json!({"tool": "a__b", "arguments": {"x": 1}})), wanted);
        assert_eq!(call(json!({"tool": "a__b", "arguments": "{\"x\": 1}"})), wanted);
        assert_eq!(
            call(json!({"tool": "a__b"})),
            Some(SearchRequest::Call("a__b".into(), json!({})))
        );
        assert!(matches!(
            call(json!({"tool": "a__b", "arguments": [1]})),
            Some(SearchRequest::Wrong(_))
        ));
        assert!(matches!(call(json!({"arguments": {}})), Some(SearchRequest::Wrong(_))));
        assert!(matches!(read(FIND, &json!({"query": " "})), Some(SearchRequest::Wrong(_))));
        assert_eq!(read("a__b", &json!({})), None);
    }
}
