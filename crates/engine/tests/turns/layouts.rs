//! Whole requests, one for each way a request comes about, as snapshots: what a change of layout, wording or
//! order does to a request is seen in its review.
//!
//! Not for what a request must hold in general: the properties are in `properties`.

use std::fmt::Write;

use serde_json::json;
use throughline_engine::creation::NewSession;
use throughline_engine::engine::{NewContext, StartingPoint};
use throughline_engine::events::Events;
use throughline_engine::model::{Block, ModelRequest, Role};
use throughline_engine::piece::IncludeMode;
use throughline_engine::request::ClientRequest;
use throughline_engine::turn::{DropIn, RecordedTurn, TurnOutcome};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, BenchBuilder, Line, bench, rule, session};

/// A request as a person reads it: every block under its role, `=== cache` where a provider is asked to cache.
fn written(request: &ModelRequest) -> String {
    let mut out = String::new();
    let mark = |cached: bool| if cached { "\n=== cache" } else { "" };
    for block in &request.system {
        writeln!(out, "--- system\n{}{}", block.text, mark(block.cache_breakpoint)).unwrap();
    }
    for tool in &request.tools {
        writeln!(out, "--- tool {}\n{}\n{}", tool.name, tool.description, tool.input_schema)
            .unwrap();
    }
    for message in &request.messages {
        let role = if message.role == Role::User { "user" } else { "assistant" };
        for block in &message.content {
            match block {
                Block::Text { text, cache_breakpoint } => {
                    writeln!(out, "--- {role}\n{text}{}", mark(*cache_breakpoint))
                }
                Block::Image { media_type, data } => {
                    writeln!(out, "--- {role} shows a picture, {media_type}\n{data}")
                }
                Block::ToolUse { id, name, input } => {
                    writeln!(out, "--- {role} calls {name} as {id}\n{input}")
                }
                Block::ToolResult { id, content, is_error } => {
                    writeln!(
                        out,
                        "--- {role} gives the result of {id}, error {is_error}\n{content}"
                    )
                }
            }
            .unwrap();
        }
    }
    write!(
        out,
        "--- at most {} tokens, temperature {}",
        request.reply_tokens_max, request.temperature
    )
    .unwrap();
    out
}

/// A rule and no look-ups, so that the model alone calls tools.
fn ordinary() -> BenchBuilder {
    let tone = rule("tone", IncludeMode::Always, "Answer in one sentence.");
    bench().rule(tone).limits(|limits| limits.look_up_ms_max = 0)
}

async fn recorded(bench: &Bench, turns: usize) {
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    for number in 1..=turns {
        let turn = RecordedTurn {
            message: format!("The ferry of pier {number} leaves at {number}:30, does it not?"),
            reply: format!("Yes, pier {number} is served by the Santa Rita at {number}:30."),
            ..RecordedTurn::default()
        };
        bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    }
}

fn last(bench: &Bench) -> String {
    written(bench.model.requests.lock().unwrap().last().unwrap())
}

#[tokio::test]
async fn of_a_first_turn() {
    let bench = ordinary().model([Line::Says("Good morning.")]).start().await;
    bench.turn("Good morning, I am Ada from Lisbon.").await;
    insta::assert_snapshot!(last(&bench));
}

#[tokio::test]
async fn of_a_second_turn() {
    let bench = ordinary().model([Line::Says("Good morning."), Line::Says("Ada.")]).start().await;
    bench.turn("Good morning, I am Ada from Lisbon.").await;
    bench.turn("What is my name?").await;
    insta::assert_snapshot!(last(&bench));
}

#[tokio::test]
async fn of_a_full_window_and_of_the_turn_after_its_notes() {
    let lines = [Line::Says("At 2:30."), Line::Says("The Santa Rita.")];
    let bench = ordinary().model(lines).limits(|limits| limits.window_turns = 6).start().await;
    recorded(&bench, 8).await;
    bench.turn("When does the ferry of pier 2 leave?").await;
    insta::assert_snapshot!("of_a_full_window", last(&bench));
    bench.turn("Which ship is it?").await;
    insta::assert_snapshot!("after_notes", last(&bench));
}

#[tokio::test]
async fn of_a_persona() {
    let bench = ordinary().model([Line::Says("I see.")]).start().await;
    let from = StartingPoint::Preset("preset-calm-counselor".into());
    let new = NewContext { id: Some(session()), from, ..NewContext::default() };
    bench.engine.create_context(&bench.caller, new).await.unwrap();
    bench.turn("Everything went wrong today.").await;
    insta::assert_snapshot!(last(&bench));
}

#[tokio::test]
async fn of_a_turn_with_tools_and_of_its_second_round() {
    let call = Line::Calls("inventory__get_device", json!({"device": "sw1"}));
    let lines = [call, Line::Says("It is active.")];
    let bench = ordinary().tools().allow("get_device").model(lines).start().await;
    bench.turn("Is the device sw1 active?").await;
    let requests = bench.model.requests.lock().unwrap();
    insta::assert_snapshot!("with_tools", written(&requests[0]));
    insta::assert_snapshot!("with_tools_second_round", written(&requests[1]));
}

#[tokio::test]
async fn of_a_turn_that_goes_on_after_an_approval() {
    let call = Line::Calls("inventory__delete_device", json!({"device": "sw1"}));
    let bench = ordinary().tools().model([call, Line::Says("It is gone.")]).start().await;
    let TurnOutcome::Paused { pending, .. } = bench.ask("Delete device sw1").await else {
        panic!("a destructive call ran without approval");
    };
    let (events, cancel) = (Events::nowhere(), CancellationToken::new());
    let call = (&session(), pending.awaited[0].id.as_str());
    bench.engine.decide(&bench.caller, call, true, events, cancel).await.unwrap();
    insta::assert_snapshot!(last(&bench));
}

#[tokio::test]
async fn of_what_is_added_for_a_drop_in_client() {
    let bench = ordinary().start().await;
    recorded(&bench, 2).await;
    let alone = "Which ship serves pier 2?";
    let sent = |earlier: &[&str], users: &[&str]| ClientRequest {
        message: alone.into(),
        earlier: earlier.iter().map(ToString::to_string).collect(),
        users: users.iter().map(ToString::to_string).collect(),
        body: "{}".into(),
        tokens: 20,
    };
    let hello = ["Hello.", "Hello, Ada."];
    for (name, request) in
        [("drop_in_alone", sent(&[], &[])), ("drop_in_whole", sent(&hello, &hello[..1]))]
    {
        let new = NewSession { id: Some(session()), ..NewSession::default() };
        let begun = bench.engine.begin_drop_in(&bench.caller, new, &request, None).await.unwrap();
        let DropIn::Open(open) = begun else { panic!("it has no key") };
        let added = &open.addition;
        let request = ModelRequest {
            system: Vec::new(),
            messages: added.before.clone(),
            tools: Vec::new(),
            reply_tokens_max: 0,
            temperature: 0.0,
        };
        let text = format!(
            "{}\n--- beside earlier messages\n{:#?}\n--- beside the message\n{}",
            written(&request),
            added.earlier,
            added.beside.join("\n"),
        );
        insta::assert_snapshot!(name, text);
    }
}
