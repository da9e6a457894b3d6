//! Tools that a request does not declare: they are found, called as any other, and the request stays as it is.

use serde_json::json;
use throughline_engine::creation::NewSession;
use throughline_engine::events::Events;
use throughline_engine::piece::Source;
use throughline_engine::receipt::Receipt;
use throughline_engine::request::TurnInput;
use throughline_engine::session::record::{CallRecord, TurnStatus};
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
    let directory = &first.tools[0].description;
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

#[tokio::test]
async fn an_application_is_given_the_best_tools_and_no_search() {
    let bench = large().start().await;
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    let given = async |bench: &Bench, message: &str| {
        let input = TurnInput { message: message.into(), ..TurnInput::default() };
        let prepared = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
        prepared.request.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(given(&bench, "Shows one site").await[0], "inventory__get_site");
    assert_eq!(given(&bench, "Lists projects").await[0], "inventory__list_projects");
}
