//! Tools that a request does not declare: they are found, called as any other, and the request stays as it is.

use serde_json::json;
use throughline_engine::creation::NewSession;
use throughline_engine::engine::{Called, NamedCall};
use throughline_engine::events::Events;
use throughline_engine::piece::{Position, Source};
use throughline_engine::receipt::Receipt;
use throughline_engine::request::TurnInput;
use throughline_engine::session::record::{CallRecord, TurnStatus};
use throughline_engine::tool::{ToolDefinition, ToolEffects, ToolName};
use throughline_engine::turn::{Approval, TurnOutcome};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, BenchBuilder, Line, bench, session};

/// An agent whose only server is too large to be declared.
fn large() -> BenchBuilder {
    bench().tools().limits(|limits| {
        limits.tools_share = 0.005;
        limits.tools_tokens = 100;
    })
}

fn declared(receipt: &Receipt) -> Vec<&str> {
    let sent = receipt.pieces.iter().filter(|piece| piece.dropped.is_none());
    let tools = sent.filter_map(|piece| match &piece.source {
        Source::Tool { name, .. } => Some(name.as_str()),
        Source::ToolNames { .. } => Some("call_tool"),
        _ => None,
    });
    tools.collect()
}

fn called(calls: &[CallRecord]) -> Vec<String> {
    calls.iter().map(|call| call.tool.to_string()).collect()
}

fn find(query: &str) -> Line {
    Line::Calls("find_tools", json!({"query": query}))
}

fn call(tool: &str, arguments: serde_json::Value) -> Line {
    Line::Calls("call_tool", json!({"tool": tool, "arguments": arguments}))
}

#[tokio::test]
async fn a_large_server_is_offered_by_search_and_its_tools_run() {
    let reads = call("inventory__get_site", json!({"site": "LIS2"}));
    let bench =
        large().model([find("show a site"), reads, Line::Says("It is open.")]).start().await;
    let turn = bench.turn("What about LIS2?").await;
    assert_eq!(called(&turn.calls), ["find_tools", "inventory:get_site"]);
    assert!(turn.calls.iter().all(CallRecord::ok), "{:?}", turn.calls);
    let found = turn.calls[0].result_text();
    assert!(found.starts_with(r#"{"name":"inventory__get_site""#), "{found}");
    let receipt = turn.receipt.as_ref().unwrap();
    let declared = declared(receipt);
    assert!(declared.starts_with(&["find_tools", "call_tool"]), "{declared:?}");
    let first = bench.model.requests.lock().unwrap()[0].clone();
    let directory = &first.tools[1].description;
    assert!(directory.contains("inventory: get_device, delete_device"), "{directory}");
}

#[tokio::test]
async fn the_declared_tools_stay_as_they_are_from_turn_to_turn() {
    let says = || Line::Says("Yes.");
    let bench = large().model([says(), says(), says()]).start().await;
    let mut before: Option<Vec<String>> = None;
    for message in ["Shows one site", "And something else entirely?", "Lists projects, or so"] {
        let turn = bench.turn(message).await;
        let receipt = bench.engine.receipt(&bench.caller, &session(), turn.turn).await.unwrap();
        let now: Vec<String> = declared(&receipt).into_iter().map(str::to_owned).collect();
        assert!(now.len() > 2, "nothing fits {message:?}: {now:?}");
        let before = before.replace(now.clone()).unwrap_or_else(|| now.clone());
        assert!(now.starts_with(&before), "{before:?} became {now:?}");
    }
}

#[tokio::test]
async fn a_call_through_the_search_waits_for_approval_like_any_other() {
    let deletes = call("inventory__delete_device", json!({"device": "sw1"}));
    let bench = large().model([deletes, Line::Says("Deleted.")]).start().await;
    let TurnOutcome::Paused { pending, .. } = bench.ask("delete sw1").await else {
        panic!("it ran unasked")
    };
    assert_eq!(pending.awaited[0].tool.to_string(), "inventory:delete_device");
    let deleted = || bench.tools.names().contains(&"delete_device".to_owned());
    assert!(!deleted(), "it ran unasked");
    let (id, cancel) = (session(), CancellationToken::new());
    let approval = Approval { approve: true, remember: None };
    let awaited = pending.awaited[0].id.clone();
    let decided =
        bench.engine.decide(&bench.caller, (&id, &awaited), approval, Events::nowhere(), cancel);
    let TurnOutcome::Finished { record, .. } = decided.await.unwrap() else { panic!("it waits") };
    assert!(deleted());
    assert_eq!(record.status, TurnStatus::Complete);
}

#[tokio::test]
async fn a_tool_that_is_not_there_and_a_call_that_cannot_be_read_are_told() {
    let lines = [
        call("inventory__drop_everything", json!({})),
        Line::Calls("call_tool", json!({"arguments": {}})),
        Line::Calls("find_tools", json!({})),
        Line::Says("I cannot."),
    ];
    let bench = large().model(lines).start().await;
    let turn = bench.turn("Drop everything").await;
    let errors: Vec<&str> = turn.calls.iter().filter_map(|call| call.error.as_deref()).collect();
    assert_eq!(
        errors,
        [
            "there is no tool inventory__drop_everything",
            "call_tool takes the name of a \"tool\"",
            "find_tools takes a \"query\"",
        ]
    );
    assert!(bench.tools.names().is_empty());
}

#[tokio::test]
async fn without_a_search_its_names_are_no_tools() {
    let lines = [find("anything"), Line::Says("No.")];
    let bench = bench().tools().model(lines).start().await;
    let turn = bench.turn("Find me a tool").await;
    assert_eq!(turn.calls[0].error.as_deref(), Some("there is no tool find_tools"));
}

#[tokio::test]
async fn a_query_may_look_for_its_tool_and_a_turn_that_only_looked_called_none() {
    let reads = call("inventory__get_site", json!({"site": "LIS2"}));
    let lines = [find("site"), reads, Line::Says("Open."), find("site"), Line::Says("None.")];
    let bench = large().model(lines).start().await;
    let turn = bench.query("What about LIS2?").await;
    assert_eq!((turn.status, turn.reply.as_str()), (TurnStatus::Complete, "Open."));
    let turn = bench.turn("And LIS3?").await;
    assert!(turn.no_tool_called, "{:?}", turn.calls);
}

#[tokio::test]
async fn without_a_model_the_tools_of_a_large_server_are_there() {
    let bench = large().start().await;
    let turn = bench.turn("show site LIS2").await;
    assert_eq!(called(&turn.calls), ["inventory:get_site"], "{}", turn.reply);
}

/// More tools than can be named.
fn crowd() -> Vec<ToolDefinition> {
    let verbs = ["list", "show", "archive", "print", "merge", "count", "paint", "ship", "rate"];
    let nouns = ["invoice", "site", "meadow", "boat", "recipe", "violin", "tunnel", "orchard"];
    let tool = |verb: &str, noun: &str| ToolDefinition {
        tool: ToolName { server: "inventory".into(), name: format!("{verb}_{noun}") },
        description: format!("Can {verb} one {noun} of the user."),
        input_schema: json!({"type": "object", "properties": {noun: {"type": "string"}}, "required": [noun]}),
        effects: ToolEffects { read_only: Some(true), ..ToolEffects::default() },
        ..ToolDefinition::default()
    };
    verbs.iter().flat_map(|verb| nouns.iter().map(move |noun| tool(verb, noun))).collect()
}

async fn crowded(lines: impl Into<Vec<Line>>) -> Bench {
    let few = bench().tools().limits(|limits| {
        limits.tools_share = 0.005;
        limits.tools_tokens = 300;
    });
    let bench = few.model(lines).start().await;
    *bench.tools.own.lock().unwrap() = crowd();
    bench
}

fn names_of(receipt: &Receipt) -> Vec<&ToolName> {
    let named = receipt.pieces.iter().filter_map(|piece| match &piece.source {
        Source::ToolNames { tools } => Some(tools),
        _ => None,
    });
    named.flatten().collect()
}

#[tokio::test]
async fn of_many_tools_the_best_are_declared_and_the_next_best_named() {
    let bench = crowded([Line::Says("Yes.")]).await;
    let turn = bench.turn("archive the invoice").await;
    let receipt = turn.receipt.as_ref().unwrap();
    let sent = receipt.pieces.iter().filter(|piece| piece.dropped.is_none());
    let tools = sent.filter(|piece| piece.place == Position::Tools);
    let tokens: u32 = tools.map(|piece| piece.tokens + 1).sum();
    assert!(tokens <= 300, "{tokens}");
    assert!(declared(receipt).contains(&"archive_invoice"), "{:?}", declared(receipt));
    let named = names_of(receipt);
    assert!((8..60).contains(&named.len()), "{named:?}");
    let first = bench.model.requests.lock().unwrap()[0].clone();
    let call = first.tools.iter().find(|tool| tool.name == "call_tool").unwrap();
    for tool in named {
        assert!(call.description.contains(&tool.name), "{tool} is not in {}", call.description);
    }
}

#[tokio::test]
async fn what_is_named_stays_and_a_later_message_names_its_tools_beside_it() {
    let says = || Line::Says("Yes.");
    let bench = crowded([says(), says(), says()]).await;
    for message in ["archive the invoice", "paint a violin for the orchard", "rate the violin"] {
        bench.turn(message).await;
    }
    let requests = bench.model.requests.lock().unwrap().clone();
    assert_eq!(requests[0].tools, requests[1].tools);
    assert_eq!(requests[0].tools, requests[2].tools);
    let said = serde_json::to_string(&requests[1].messages).unwrap();
    assert!(said.contains("call_tool can also call:\\ninventory: "), "{said}");
    assert!(said.contains("paint_orchard"), "{said}");
    let later = serde_json::to_string(&requests[2].messages).unwrap();
    assert!(later.starts_with(said.trim_end_matches("]}]")), "{later}");
    assert_eq!(later.matches("paint_orchard").count(), 1, "{later}");
}

#[tokio::test]
async fn a_named_tool_runs_and_wrong_arguments_tell_its_definition() {
    let wrong = call("inventory__rate_boat", json!({"vessel": "Ada"}));
    let right = call("rate_boat", json!({"boat": "Ada"}));
    let bench = crowded([wrong, right, Line::Says("Good.")]).await;
    let turn = bench.turn("archive the invoice").await;
    assert_eq!(called(&turn.calls), ["inventory:rate_boat", "inventory:rate_boat"]);
    let error = turn.calls[0].error.as_deref().unwrap();
    assert!(error.contains("its definition: {\"name\":\"inventory__rate_boat\""), "{error}");
    assert!(turn.calls[1].ok(), "{:?}", turn.calls[1]);
    assert_eq!(bench.tools.names(), ["rate_boat"]);
}

#[tokio::test]
async fn an_application_hands_the_calls_of_its_model_on_by_name() {
    let bench = large().start().await;
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    let input = TurnInput { message: "Shows one site".into(), ..TurnInput::default() };
    let prepared = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
    let names: Vec<&str> = prepared.request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names[..3], ["find_tools", "call_tool", "inventory__get_site"]);
    let make = async |name: &str, arguments| {
        let call = NamedCall { name: name.into(), arguments, key: None, approved: false };
        let cancel = CancellationToken::new();
        bench.engine.call_by_name(&bench.caller, &session(), call, cancel).await
    };
    let made = async |name: &str, arguments| match make(name, arguments).await.unwrap() {
        Called::Made(record) => record,
        Called::Waits(awaited) => panic!("{awaited:?}"),
    };
    let site = json!({"site": "LIS2"});
    assert!(made("inventory__get_site", site.clone()).await.ok());
    let through = json!({"tool": "inventory__get_site", "arguments": site});
    assert_eq!(made("call_tool", through).await.tool.to_string(), "inventory:get_site");
    let found = made("find_tools", json!({"query": "list projects"})).await.result_text();
    assert!(found.contains("inventory__list_projects"), "{found}");
    let wrong = made("call_tool", json!({"tool": "get_site", "arguments": {}})).await;
    assert!(wrong.error.as_deref().unwrap().contains("its definition: "), "{:?}", wrong.error);
    let deletes = json!({"tool": "delete_device", "arguments": {"device": "sw1"}});
    let waits = make("call_tool", deletes).await.unwrap();
    assert!(matches!(waits, Called::Waits(_)), "{waits:?}");
    assert_eq!(make("drop_everything", json!({})).await.unwrap_err().code(), "missing");
    assert_eq!(bench.tools.names(), ["get_site", "get_site"]);
}
