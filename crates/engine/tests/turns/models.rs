//! Replies by a model, and what happens when it fails.

use serde_json::json;
use throughline_engine::agent::AgentBook;
use throughline_engine::failure::UpstreamFault;
use throughline_engine::limits::Limits;
use throughline_engine::model::{Block, StopReason};
use throughline_engine::session::record::{CallRecord, ReplyForm, TurnStatus};

use crate::bench::{Line, bench, session};

#[tokio::test]
async fn a_reply_is_kept_with_the_receipt_of_what_was_sent() {
    let bench = bench().model([Line::Says("Hello."), Line::Says("Again.")]).start().await;
    bench.turn("Good morning").await;
    let second = bench.turn("Still there?").await;
    assert_eq!((second.turn, second.reply.as_str()), (2, "Again."));
    let rebuilt = bench.engine.request(&bench.caller, &session(), 2).await.unwrap();
    assert_eq!(rebuilt, bench.model.requests.lock().unwrap()[1]);
    assert!(second.receipt.as_ref().unwrap().stable_prefix_tokens > 0);
}

#[tokio::test]
async fn a_tool_that_the_model_calls_is_run_and_its_result_shown() {
    let call = Line::Calls("inventory__get_device", json!({"device": "sw1"}));
    let bench = bench().tools().model([call, Line::Says("It is active.")]).start().await;
    let turn = bench.turn("How is device sw1?").await;
    assert_eq!(turn.reply, "It is active.");
    assert_eq!(turn.calls.len(), 1);
    let requests = bench.model.requests.lock().unwrap();
    let last = &requests[1].messages.last().unwrap().content[0];
    assert!(matches!(last, Block::ToolResult { content, .. } if content.contains("active")));
}

#[tokio::test]
async fn a_wrong_tool_name_and_wrong_arguments_are_told_to_the_model() {
    let lines = [
        Line::Calls("inventory__nothing", json!({})),
        Line::Calls("inventory__get_device", json!({"device": 7})),
        Line::Says("Sorry."),
    ];
    let bench =
        bench().limits(|limits| limits.look_up_ms_max = 0).tools().model(lines).start().await;
    let turn = bench.turn("How is device sw1?").await;
    let errors: Vec<&str> = turn.calls.iter().map(|c| c.error.as_deref().unwrap()).collect();
    assert!(errors[0].contains("there is no tool"), "{errors:?}");
    assert_eq!(turn.calls[0].tool.to_string(), "inventory__nothing", "no server, no colon");
    assert!(errors[1].contains("do not fit its schema"), "{errors:?}");
    assert!(bench.tools.called.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_model_that_fails_at_once_leaves_a_failed_turn_without_words_of_ours() {
    let bench = bench().model([Line::Fails]).start().await;
    let turn = bench.turn("Hello?").await;
    assert_eq!((turn.status, turn.reply.as_str()), (TurnStatus::Failed, ""));
    assert_eq!(turn.form, ReplyForm::Model { model: "scripted/model".into() }, "who failed");
    let error = turn.error.as_ref().unwrap();
    assert!(error.message.contains("it broke"));
    assert_eq!(error.cause, Some(UpstreamFault::Failed));
    assert_eq!(turn.message, "Hello?");
}

#[tokio::test]
async fn a_tool_answers_for_a_model_that_failed_and_the_turn_is_failed() {
    let limits = |limits: &mut Limits| limits.look_up_ms_max = 0;
    let bench = bench().tools().limits(limits).model([Line::Fails]).start().await;
    let turn = bench.turn("show device sw1").await;
    assert_eq!(turn.status, TurnStatus::Failed);
    assert!(turn.reply.contains("sw1"), "{}", turn.reply);
    let by_us = matches!(&turn.form, ReplyForm::Offline { fallback: true, model: Some(_), .. });
    assert!(by_us, "{:?}", turn.form);
    assert_eq!(turn.requests(), 1, "none was sent after the call");
}

#[tokio::test]
async fn what_the_tools_do_not_answer_is_not_said_for_a_model_that_failed() {
    let bench = bench().tools().model([Line::Fails]).start().await;
    let turn = bench.turn("What colour is device sw1?").await;
    assert!(turn.calls.iter().any(CallRecord::ok), "it was looked up");
    assert_eq!((turn.status, turn.reply.as_str()), (TurnStatus::Failed, ""));
}

#[tokio::test]
async fn the_way_without_a_model_has_a_time_limit_too() {
    let limits = |limits: &mut Limits| (limits.turn_seconds_max, limits.look_up_ms_max) = (1, 0);
    let bench = bench().tools().limits(limits).model([Line::Fails]).start().await;
    *bench.tools.hangs.lock().unwrap() = Some("get_device");
    let turn = bench.turn("show device sw1").await;
    let calls: Vec<_> = turn.calls.iter().map(|call| call.error.as_deref()).collect();
    assert_eq!(calls, [Some("inventory failed: the call was cancelled")]);
    assert_eq!((turn.status, turn.reply.as_str()), (TurnStatus::Failed, ""));
}

#[tokio::test]
async fn a_model_that_is_not_configured_is_named() {
    let bench = bench().model([]).start().await;
    let mut agent = bench.engine.agents().get(None).unwrap().as_ref().clone();
    agent.models.chat = Some("typo".into());
    bench.engine.replace_agents(AgentBook::new(agent.name.clone(), [agent]));
    let turn = bench.turn("Hello?").await;
    let why = "there is no model typo in the configuration".into();
    assert_eq!(turn.form, ReplyForm::Offline { why, fallback: false, model: None });
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_kept_as_far_as_it_came() {
    let bench = bench().model([Line::Breaks("Half a sen")]).start().await;
    let turn = bench.turn("Tell me").await;
    assert_eq!((turn.status, turn.reply.as_str()), (TurnStatus::Partial, "Half a sen"));
    let error = turn.error.as_ref().unwrap();
    assert_eq!((error.code.as_str(), error.cause), ("model_failed", Some(UpstreamFault::Failed)));
}

#[tokio::test]
async fn a_reply_that_is_cut_or_empty_says_so() {
    for (line, status, code) in [
        (Line::Ends("Once upon", StopReason::MaxTokens), TurnStatus::Partial, "reply_cut"),
        (Line::Ends("Take the", StopReason::Refusal), TurnStatus::Partial, "reply_refused"),
        (Line::Says(" \n"), TurnStatus::Failed, "reply_empty"),
    ] {
        let bench = bench().model([line]).start().await;
        let turn = bench.turn("Tell me a story").await;
        let error = turn.error.as_ref().expect("an error");
        assert_eq!((turn.status, error.code.as_str()), (status, code), "{}", error.message);
    }
}

#[tokio::test]
async fn a_result_is_worded_without_the_model_when_it_fails_after_the_call() {
    let call = Line::Calls("inventory__get_device", json!({"device": "sw1"}));
    let bench = bench().tools().model([call, Line::Fails]).start().await;
    let turn = bench.turn("How is device sw1?").await;
    assert!(turn.reply.contains("sw1 (id 7)"), "{}", turn.reply);
    assert!(matches!(turn.form, ReplyForm::Offline { .. }));
}

#[tokio::test]
async fn a_query_is_worded_by_the_formatter_s_model_and_its_tool_chosen_by_the_selector_s() {
    let call = Line::Calls("inventory__get_device", json!({"device": "sw1"}));
    let bench = bench().tools().model([call]).formatter([Line::Says("It is up.")]).start().await;
    let turn = bench.query("How is device sw1?").await;
    assert_eq!(turn.reply, "It is up.");
    let by = ReplyForm::Model { model: "scripted/formatter".into() };
    assert_eq!(turn.form, by, "who said it");
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
    let requests = bench.formatter.requests.lock().unwrap();
    let last = &requests[0].messages.last().unwrap().content[0];
    assert!(matches!(last, Block::ToolResult { content, .. } if content.contains("active")));
}

#[tokio::test]
async fn a_query_whose_formatter_fails_is_worded_without_a_model() {
    let call = Line::Calls("inventory__get_device", json!({"device": "sw1"}));
    let bench = bench().tools().model([call]).formatter([Line::Fails]).start().await;
    let turn = bench.query("How is device sw1?").await;
    assert!(turn.reply.contains("sw1 (id 7)"), "{}", turn.reply);
    let failed = |form: &ReplyForm| match form {
        ReplyForm::Offline { fallback: true, model, .. } => model.clone(),
        other => panic!("{other:?}"),
    };
    assert!(failed(&turn.form).is_some_and(|model| model.starts_with("scripted/")));
    assert!(turn.error.as_ref().unwrap().message.contains("formatter"));
}

#[tokio::test]
async fn endless_tool_calls_end_at_the_limit() {
    let call = || Line::Calls("inventory__get_device", json!({"device": "sw1"}));
    let lines: Vec<Line> = (0..10).map(|_| call()).collect();
    let bench = bench().tools().limits(|l| l.tool_rounds_max = 3).model(lines).start().await;
    let turn = bench.turn("How is device sw1?").await;
    assert_eq!(turn.calls.len(), 3);
    assert_eq!(turn.error.as_ref().unwrap().code, "too_many_tool_calls");
}

#[tokio::test]
async fn calls_beyond_the_limit_are_not_made_and_the_model_is_told() {
    let call = |times| Line::CallsTimes(times, "inventory__get_device", json!({"device": "sw1"}));
    let lines = [call(4), call(1)];
    let limits = |limits: &mut Limits| (limits.tool_calls_max, limits.look_up_ms_max) = (3, 0);
    let bench = bench().tools().limits(limits).model(lines).start().await;
    let turn = bench.turn("How is device sw1?").await;
    assert_eq!(bench.tools.called.lock().unwrap().len(), 3);
    let reached = "the limit of 3 tool calls is reached";
    assert_eq!(turn.calls.len(), 4);
    assert!(turn.calls.iter().any(|call| call.error.as_deref() == Some(reached)));
    let error = turn.error.as_ref().unwrap();
    assert_eq!((error.code.as_str(), error.message.as_str()), ("too_many_tool_calls", reached));
}

#[tokio::test]
async fn a_call_under_way_when_the_time_is_over_is_in_the_record_and_nothing_is_called_after_it() {
    let call = Line::Calls("inventory__update_device", json!({"device": "sw1", "status": "down"}));
    let limits = |limits: &mut Limits| (limits.turn_seconds_max, limits.look_up_ms_max) = (1, 0);
    let bench = bench().tools().allow("update_device").limits(limits).model([call]).start().await;
    *bench.tools.hangs.lock().unwrap() = Some("update_device");
    let turn = bench.turn("Set the status of device sw1 to down").await;
    assert_eq!(bench.tools.names(), ["update_device"]);
    let calls: Vec<_> = turn.calls.iter().map(|call| call.error.as_deref()).collect();
    assert_eq!(calls, [Some("inventory failed: the call was cancelled")]);
    assert!(turn.calls[0].outcome_unknown, "nobody knows whether it was carried out");
    assert_eq!(turn.requests(), 1, "none was sent after the call");
    let error = turn.error.as_ref().unwrap();
    assert_eq!(error.message, "scripted/model failed: the turn took longer than 1 seconds");
    assert_eq!(turn.status, TurnStatus::Failed);
}
