//! What people decide about tools, and which definitions those decisions are about.

use std::sync::Arc;

use serde_json::json;
use throughline_engine::catalog::KnownTool;
use throughline_engine::engine::permission_name;
use throughline_engine::events::Events;
use throughline_engine::id::SessionId;
use throughline_engine::pin::{PinPolicy, PinState, Pins};
use throughline_engine::rule::Rule;
use throughline_engine::tool::{ToolDefinition, ToolEffects, ToolName};
use throughline_engine::turn::{Approval, Remember, TurnOutcome};
use throughline_store::memory::Memory;
use throughline_testkit::fixed_clock::FixedClock;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Line, bench, session};

fn call() -> Line {
    Line::Calls("inventory__update_device", json!({"device": "sw1", "status": "down"}))
}

const MESSAGE: &str = "set device sw1 to down";

async fn waits(bench: &Bench, id: &SessionId) -> Option<String> {
    match bench.ask_in(id.clone(), MESSAGE).await {
        TurnOutcome::Finished { .. } => None,
        TurnOutcome::Paused { pending, .. } => Some(pending.awaited[0].id.clone()),
    }
}

async fn approve(bench: &Bench, call: &str, remember: Option<Remember>) {
    let (id, cancel) = (session(), CancellationToken::new());
    let approval = Approval { approve: true, remember };
    let decided =
        bench.engine.decide(&bench.caller, (&id, call), approval, Events::nowhere(), cancel);
    assert!(matches!(decided.await.unwrap(), TurnOutcome::Finished { .. }));
}

#[tokio::test]
async fn allowed_for_this_session_holds_there_until_it_is_taken_back() {
    let done = || Line::Says("Done.");
    let lines = [call(), done(), call(), done(), call(), call()];
    let bench = bench().tools().model(lines).start().await;
    let call = waits(&bench, &session()).await.expect("it ran unasked");
    approve(&bench, &call, Some(Remember::Session)).await;
    assert_eq!(waits(&bench, &session()).await, None, "it was allowed");
    let other = SessionId::new("other").unwrap();
    assert!(waits(&bench, &other).await.is_some(), "another session was not");
    let tool = ToolName { server: "inventory".into(), name: "update_device".into() };
    bench.engine.revoke_session_rule(&bench.caller, &session(), &tool).await.unwrap();
    assert!(waits(&bench, &session()).await.is_some(), "it was taken back");
}

#[tokio::test]
async fn what_a_session_denies_never_runs_though_the_operator_allows_it() {
    let lines = [call(), Line::Says("Done."), call(), Line::Says("No.")];
    let bench = bench().tools().allow("update_device").model(lines).start().await;
    assert_eq!(waits(&bench, &session()).await, None, "the operator allows it");
    let tool = ToolName { server: "inventory".into(), name: "update_device".into() };
    let id = session();
    bench.engine.set_session_rule(&bench.caller, &id, &tool, Rule::Deny).await.unwrap();
    let turn = bench.turn(MESSAGE).await;
    assert!(turn.calls[0].error.as_ref().unwrap().contains("forbids it"), "{:?}", turn.calls);
}

fn definition(server: &str, name: &str) -> ToolDefinition {
    ToolDefinition {
        tool: ToolName { server: server.into(), name: name.into() },
        description: "Shows one device.".into(),
        input_schema: json!({"type": "object"}),
        effects: ToolEffects { read_only: Some(true), ..ToolEffects::default() },
        ..ToolDefinition::default()
    }
}

fn pins() -> Pins {
    Pins::new(Arc::new(Memory::new()), Arc::new(FixedClock::default()), PinPolicy::FirstUse)
}

#[tokio::test]
async fn a_name_in_letters_of_another_alphabet_is_not_pinned_by_itself() {
    let pins = pins();
    let look_alike = definition("b", "g\u{435}t_device");
    let all = [definition("a", "get_device"), look_alike.clone()];
    assert_eq!(pins.admit(&all).await.unwrap(), [PinState::Approved, PinState::LookAlike]);
    pins.approve(&look_alike, "ann").await.unwrap();
    assert_eq!(pins.state(&look_alike), PinState::Approved, "a person has looked at it");
}

#[tokio::test]
async fn a_tool_is_server_and_name() {
    let pins = pins();
    let (one, two) = (definition("a", "get_device"), definition("b", "get_device"));
    let states = pins.admit(&[one.clone(), two.clone()]).await.unwrap();
    assert_eq!(states, [PinState::Approved, PinState::Twin(one.tool.clone())]);
    assert!(states.iter().all(|state| state.refusal().is_none()), "neither vanishes");
    pins.approve(&two, "ann").await.unwrap();
    assert_eq!(pins.state(&two), PinState::Approved);
}

#[tokio::test]
async fn what_is_told_of_a_tool_is_what_its_call_meets() {
    let bench = bench().tools().start().await;
    let (tools, _) = bench.engine.tools(&bench.caller).await.unwrap();
    let reader = tools.iter().find(|known| known.definition.tool.name == "get_device").unwrap();
    let other = ToolName { server: "other".into(), name: "get_device".into() };
    let states =
        [(PinState::Approved, "reads"), (PinState::Twin(other), "asks"), (PinState::New, "denied")];
    let known = states.clone().map(|(pin, _)| KnownTool { pin, ..reader.clone() });
    let told = bench.engine.tool_permissions(&bench.caller, &known).await.unwrap();
    let told: Vec<&str> = told.iter().map(|permission| permission_name(permission).0).collect();
    assert_eq!(told, states.map(|(_, expected)| expected));
}

#[tokio::test]
async fn a_title_an_output_schema_and_the_open_world_are_part_of_a_pin() {
    let pins = pins();
    let one = definition("a", "get_device");
    pins.admit(std::slice::from_ref(&one)).await.unwrap();
    let mut others = [one.clone(), one.clone(), one.clone()];
    others[0].title = Some("Get a device".into());
    others[1].output_schema = Some(json!({"type": "object"}));
    others[2].effects.open_world = Some(true);
    for other in others {
        assert!(matches!(pins.state(&other), PinState::Changed(_)), "{other:?}");
    }
}
