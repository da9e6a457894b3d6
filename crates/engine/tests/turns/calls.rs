//! Tool calls of a turn stay in later requests as they were sent.

use serde_json::{Value, json};
use throughline_engine::model::{Block, Message, ModelRequest};
use throughline_engine::piece::{HistoryPart, Source};
use throughline_engine::receipt::Receipt;
use throughline_engine::request::TurnInput;
use throughline_engine::turn::TurnOutcome;

use crate::bench::{Bench, Line, bench, session};

const GET: &str = "inventory__get_device";

/// A request in the order in which providers read it.
fn flat(request: &ModelRequest) -> Vec<String> {
    let tools = request.tools.iter().map(|tool| format!("{tool:?}"));
    let system = request.system.iter().map(|block| block.text.clone());
    let said = request.messages.iter().flat_map(|Message { role, content }| {
        content.iter().map(move |block| format!("{role:?} {block:?}"))
    });
    tools.chain(system).chain(said).collect()
}

fn calls(device: &str) -> Line {
    Line::Calls(GET, json!({"device": device}))
}

/// Whether each request to the model begins with the one before.
fn check_grows(bench: &Bench) {
    let requests = bench.model.requests.lock().unwrap();
    for (at, pair) in requests.windows(2).enumerate() {
        let [before, now] = [flat(&pair[0]), flat(&pair[1])];
        assert!(now.starts_with(&before), "request {}: {before:#?}\n{now:#?}", at + 2);
    }
}

async fn receipt(bench: &Bench, turn: u64) -> Receipt {
    bench.engine.receipt(&bench.caller, &session(), turn).await.unwrap()
}

fn long(device: &str) -> Value {
    let notes = "It was moved, cleaned and tested. ".repeat(300);
    json!({"id": 7, "name": device, "notes": notes})
}

/// Every call of the request, which must be followed by its result, and the results.
fn calls_of(request: &ModelRequest) -> Vec<String> {
    let mut found = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        let asked = message.content.iter().filter_map(|block| match block {
            Block::ToolUse { id, .. } => Some(id),
            _ => None,
        });
        let answered = request.messages.get(at + 1).map_or(&[][..], |next| &next.content);
        for id in asked {
            let is_it =
                |block: &&Block| matches!(block, Block::ToolResult { id: of, .. } if of == id);
            let result = answered.iter().find(is_it).expect("a result for each call");
            found.push(format!("{result:?}"));
        }
    }
    found
}

#[tokio::test]
async fn the_next_request_begins_with_the_last_one_of_a_turn_with_calls() {
    let told = Line::SaysAndCalls("I look it up. ", GET, json!({"device": "core-03"}));
    let lines = [
        calls("core-01"),
        calls("core-02"),
        Line::Says("Both are active."),
        told,
        Line::Says("Active."),
    ];
    let first = bench().tools().model(lines).start().await;
    for message in ["Show core-01 and core-02.", "And core-03?"] {
        first.turn(message).await;
    }
    check_grows(&first);
    let again = bench().tools().on(first.store.clone()).model([Line::Says("Fine.")]).start().await;
    again.turn("Thank you.").await;
    let last = first.model.requests.lock().unwrap().last().cloned().unwrap();
    again.model.requests.lock().unwrap().insert(0, last);
    check_grows(&again);
    let said = again.model.requests.lock().unwrap()[1].clone();
    let texts = flat(&said).join("\n");
    assert_eq!(texts.matches("I look it up.").count(), 1, "{texts}");
    assert!(texts.contains("Active.") && !texts.contains("<data from=\"tool"), "{texts}");
    let rebuilt = again.engine.request(&again.caller, &session(), 3).await.unwrap();
    assert_eq!(rebuilt, said);
}

#[tokio::test]
async fn the_receipt_counts_the_calls_as_sent_before_and_names_them() {
    let lines = [calls("core-01"), Line::Says("It was moved."), Line::Says("Yes.")];
    let bench = bench().tools().model(lines).start().await;
    bench.tools.answers.lock().unwrap().insert("get_device", long("core-01"));
    bench.turn("Show core-01.").await;
    bench.turn("Was it cleaned?").await;
    let (before, now) = (receipt(&bench, 1).await, receipt(&bench, 2).await);
    let calls = now.pieces.iter().find(|piece| {
        piece.source == Source::History { turn: 1, part: HistoryPart::Calls } && piece.sent()
    });
    let tokens = calls.expect("a piece for the calls").tokens;
    assert!(tokens > 1_500, "{tokens}");
    assert!(now.stable_prefix_tokens >= before.budget.used_tokens + tokens, "{now:#?}");
    assert!(now.replay.tokens >= u64::from(tokens), "{:?}", now.replay);
    assert!(now.replay.stable_tokens >= u64::from(tokens), "{:?}", now.replay);
    assert_eq!((now.continues, now.broken_by), (Some(1), None));
}

#[tokio::test]
async fn a_query_is_followed_like_any_other_turn() {
    let lines = [calls("core-01"), Line::Says("It is active."), Line::Says("Good.")];
    let bench = bench().tools().model(lines).start().await;
    bench.query("the status of core-01").await;
    bench.turn("Thank you.").await;
    check_grows(&bench);
}

#[tokio::test]
async fn a_call_that_was_not_approved_leaves_the_rounds_before_it() {
    let destroys = Line::Calls("inventory__delete_device", json!({"device": "core-01"}));
    let bench = bench()
        .tools()
        .model([calls("core-01"), destroys, Line::Says("As you wish.")])
        .start()
        .await;
    let paused = bench.ask("Delete core-01.").await;
    assert!(matches!(paused, TurnOutcome::Paused { .. }));
    bench.turn("No, leave it.").await;
    check_grows(&bench);
}

#[tokio::test]
async fn a_result_that_is_cut_is_cut_the_same_way_later() {
    let lines = [calls("core-01"), Line::Says("It was moved."), Line::Says("Yes.")];
    let bench = bench().tools().model(lines).start().await;
    bench.tools.answers.lock().unwrap().insert("get_device", long("core-01"));
    let budget = |message: &str, tokens| TurnInput {
        message: message.into(),
        budget_tokens: Some(tokens),
        ..TurnInput::default()
    };
    bench.say(budget("Show core-01.", 2_500)).await;
    bench.say(budget("Was it cleaned?", 20_000)).await;
    check_grows(&bench);
    let requests = bench.model.requests.lock().unwrap();
    assert!(format!("{:?}", requests[2]).contains("[cut: "));
}

#[tokio::test]
async fn a_compaction_keeps_each_call_with_its_result_and_cuts_long_ones() {
    let mut lines = Vec::new();
    for _ in 0..12 {
        lines.extend([calls("core-01"), Line::Says("It was moved.")]);
    }
    let bench = bench().tools().model(lines).start().await;
    bench.tools.answers.lock().unwrap().insert("get_device", long("core-01"));
    let (mut compactions, mut cut) = (0, 0);
    for number in 1..=12_u64 {
        let message = format!("Show core-01 for the {number}. time.");
        let input = TurnInput { message, budget_tokens: Some(9_000), ..TurnInput::default() };
        bench.say(input).await;
        let request = bench.engine.request(&bench.caller, &session(), number).await.unwrap();
        let shown = calls_of(&request);
        cut += usize::from(shown.iter().any(|result| result.contains("[cut: 4000 of ")));
        let receipt = receipt(&bench, number).await;
        compactions += usize::from(receipt.broken_by.is_some());
        assert!(receipt.broken_by.is_none_or(|why| why.starts_with("compaction")));
        let of_turn = bench.model.requests.lock().unwrap()[at(number)].clone();
        assert_eq!(request, of_turn, "turn {number}");
    }
    assert!((1..=6).contains(&compactions) && cut > 0, "{compactions} compactions, {cut} cut");
}

fn at(turn: u64) -> usize {
    usize::try_from(turn - 1).unwrap() * 2
}

#[tokio::test]
async fn a_request_without_tools_quotes_the_results() {
    let lines =
        [calls("core-01"), Line::Says("It is active."), Line::Says("Yes."), Line::Says("Yes.")];
    let bench = bench().tools().model(lines).start().await;
    bench.turn("Show core-01.").await;
    let input =
        TurnInput { message: "Is it really?".into(), without_tools: true, ..TurnInput::default() };
    bench.say(input).await;
    let request = bench.engine.request(&bench.caller, &session(), 2).await.unwrap();
    assert!(request.tools.is_empty() && calls_of(&request).is_empty(), "{request:#?}");
    let said = flat(&request).join("\n");
    assert!(said.contains("<data from=\\\"tool inventory__get_device"), "{said}");
    // Back with tools, the calls are messages again.
    bench.turn("And now?").await;
    let request = bench.engine.request(&bench.caller, &session(), 3).await.unwrap();
    assert_eq!(calls_of(&request).len(), 1);
}
