//! The engine's own tools `find_tools` and `call_tool`.
//!
//! They give a model access to tools that its request does not declare. `call_tool` names some of them, by server: all
//! if they are few, else the best for the message that the list was made for. Tools that a later message needs are
//! named beside it. A call through `call_tool` is checked, approved and recorded like a direct call of the tool.
//!
//! Invariant: nothing is called here, and every name that is shown can be called.

use serde_json::{Value, json};

use crate::budget;
use crate::model::ToolSpec;
use crate::piece::{IncludeMode, Piece, Position, Rank, Source};
use crate::tokens;
use crate::tool::{ToolDefinition, ToolName};
use crate::tool_spec::{spec_name, spec_of};

const FIND: &str = "find_tools";
const CALL: &str = "call_tool";
/// Maximum tools returned by a search.
pub(crate) const FOUND: usize = 5;

/// Whether a tool is `find_tools`.
pub(crate) fn is_search(tool: &ToolName) -> bool {
    tool.server.is_empty() && tool.name == FIND
}

pub(crate) fn is_offered_by(source: &Source) -> bool {
    matches!(source, Source::Tool { server, name, .. } if server.is_empty() && name == FIND)
}

pub(crate) fn search_name() -> ToolName {
    ToolName { server: String::new(), name: FIND.into() }
}

/// The definitions of both; `call_tool` names `tools`.
pub(crate) fn pieces(tools: &[ToolName]) -> Vec<Piece> {
    let find = ToolSpec {
        name: FIND.into(),
        description: "Finds more tools by what they do, or definitions by name.".into(),
        input_schema: json!({
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        }),
    };
    let named = match tools {
        [] => String::new(),
        tools => format!("\n{}", directory(tools)),
    };
    let call = ToolSpec {
        name: CALL.into(),
        description: format!("Calls a tool as server__tool.{named}"),
        input_schema: json!({
            "type": "object",
            "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
            "required": ["tool", "arguments"],
        }),
    };
    let own = |name: &str| {
        let (server, name) = (String::new(), name.to_owned());
        Source::Tool { server, name, mode: IncludeMode::Always }
    };
    let of_call = match tools {
        [] => own(CALL),
        tools => Source::ToolNames { tools: tools.to_vec() },
    };
    let why = "finds and calls the tools that are not declared one by one";
    let piece = |spec: ToolSpec, source: Source| {
        let text = serde_json::to_string(&spec).ok()?;
        Some(Piece::new(source, why, Position::Tools, Rank::SessionItem, text))
    };
    [piece(find, own(FIND)), piece(call, of_call)].into_iter().flatten().collect()
}

/// What both cost if they name no tool.
pub(crate) fn tokens() -> u32 {
    pieces(&[]).iter().map(budget::cost).sum()
}

/// Names further tools, next to the message that needs them.
pub(crate) fn beside(tools: &[ToolName]) -> Piece {
    let text = format!("{CALL} can also call:\n{}", directory(tools));
    let source = Source::ToolNames { tools: tools.to_vec() };
    Piece::new(source, "named for the message", Position::Aside, Rank::AgentItem, text)
}

/// As many of `tools`, best first, as can be named in `tokens_max` tokens.
pub(crate) fn that_fit(tools: impl Iterator<Item = ToolName>, tokens_max: u32) -> Vec<ToolName> {
    let mut named: Vec<ToolName> = Vec::new();
    let mut spent = 0;
    for tool in tools {
        let known = named.iter().any(|named| named.server == tool.server);
        let line = if known { format!(", {}", tool.name) } else { directory([&tool]) + "\n" };
        spent += tokens::count(&line);
        if spent > tokens_max {
            break;
        }
        named.push(tool);
    }
    // What is counted name by name can be more or less than the whole.
    while !named.is_empty() && tokens::count(&directory(&named)) > tokens_max {
        named.pop();
    }
    named
}

/// Tool names by server, in the order of `tools`. A name that is not called as `server__tool` is written as it is called.
fn directory<'a>(tools: impl IntoIterator<Item = &'a ToolName>) -> String {
    let mut servers: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut whole = Vec::new();
    for tool in tools {
        let called = spec_name(tool);
        if called != format!("{}__{}", tool.server, tool.name) {
            whole.push(called);
            continue;
        }
        match servers.iter_mut().find(|(server, _)| *server == tool.server) {
            Some((_, names)) => names.push(&tool.name),
            None => servers.push((&tool.server, vec![&tool.name])),
        }
    }
    let lines =
        servers.into_iter().map(|(server, names)| format!("{server}: {}", names.join(", ")));
    lines.chain(whole).collect::<Vec<_>>().join("\n")
}

/// The tool that a model means: by the name of its declaration, or by its own if no other has it.
pub(crate) fn meant<'a>(tools: &'a [ToolDefinition], name: &str) -> Option<&'a ToolDefinition> {
    let is_declared = |definition: &&ToolDefinition| spec_name(&definition.tool) == name;
    if let Some(definition) = tools.iter().find(is_declared) {
        return Some(definition);
    }
    let mut same = tools.iter().filter(|definition| {
        let ToolName { server, name: own } = &definition.tool;
        own == name || [":", ".", "/", "__"].iter().any(|by| format!("{server}{by}{own}") == name)
    });
    let only = same.next()?;
    same.next().is_none().then_some(only)
}

/// A call of one of the two tools.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SearchRequest {
    Find(String),
    /// Call a tool: its name and arguments.
    Call(String, Value),
    /// An invalid call, with the reason.
    Wrong(String),
}

/// Parses a call of `find_tools` or `call_tool`; `None` for any other tool.
pub(crate) fn read(name: &str, input: &Value) -> Option<SearchRequest> {
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
pub(crate) fn found(tools: &[&ToolDefinition]) -> String {
    if tools.is_empty() {
        return "No tool fits. Try other words.".to_owned();
    }
    let specs = tools.iter().filter_map(|tool| serde_json::to_string(&spec_of(tool)).ok());
    specs.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(server: &str, name: &str) -> ToolName {
        ToolName { server: server.into(), name: name.into() }
    }

    #[test]
    fn tools_are_named_by_server_and_as_they_are_called() {
        let tools = [tool("a", "get"), tool("b", "get"), tool("a", "list"), tool("b", "x.y")];
        let hashed = spec_name(&tools[3]);
        assert_eq!(directory(&tools), format!("a: get, list\nb: get\n{hashed}"));
    }

    #[test]
    fn as_many_are_named_as_fit() {
        let all: Vec<ToolName> = (0..90).map(|at| tool("s", &format!("get_item_{at}"))).collect();
        let named = that_fit(all.iter().cloned(), 120);
        assert!((15..60).contains(&named.len()), "{}", named.len());
        assert_eq!(named, all[..named.len()]);
        assert!(tokens::count(&directory(&named)) <= 120);
        assert!(that_fit(all.into_iter(), 3).is_empty());
    }

    #[test]
    fn a_model_may_leave_the_server_out_unless_two_have_the_tool() {
        let defined = |tool| ToolDefinition { tool, ..ToolDefinition::default() };
        let tools = [tool("a", "get"), tool("b", "get"), tool("b", "list")].map(defined);
        let check = |name: &str, expected: Option<(&str, &str)>| {
            let meant = meant(&tools, name).map(|definition| definition.tool.clone());
            assert_eq!(meant, expected.map(|(server, name)| tool(server, name)), "{name}");
        };
        check("b__get", Some(("b", "get")));
        check("b: get", None);
        check("b:get", Some(("b", "get")));
        check("list", Some(("b", "list")));
        check("get", None);
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
