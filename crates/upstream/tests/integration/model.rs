//! Both providers against the scripted model: requests sent and replies parsed.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::model::{
    Block, Message, Model, ModelEvent, ModelRequest, Role, StopReason, SystemBlock, ToolSpec, Usage,
};
use throughline_testkit::scripted_model::{ScriptedModel, Step, Stop, Turn};
use throughline_upstream::model::{ModelConfig, Provider, connect};
use tokio_util::sync::CancellationToken;

pub(crate) const BOTH: [Provider; 2] = [Provider::Anthropic, Provider::OpenAi];
/// A timeout that is meant to expire, but not while a loaded machine opens a connection.
pub(crate) const LIMIT: Duration = Duration::from_secs(2);
pub(crate) const KEY: &str = "sk-test-key-123456";

pub(crate) fn config(provider: Provider, server: &ScriptedModel) -> ModelConfig {
    let mut config = ModelConfig::new(provider, "test-model");
    config.base_url = match provider {
        Provider::Anthropic => server.anthropic_url(),
        Provider::OpenAi => server.openai_url(),
    };
    config.api_key = Some(KEY.into());
    config.retry_delay = Duration::from_millis(1);
    config
}

pub(crate) fn model(provider: Provider, server: &ScriptedModel) -> Arc<dyn Model> {
    connect(config(provider, server)).unwrap()
}

pub(crate) fn question(text: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![Message { role: Role::User, content: vec![Block::text(text)] }],
        reply_tokens_max: 100,
        temperature: 0.7,
        ..ModelRequest::default()
    }
}

/// All events, and the error that ended them.
pub(crate) async fn events(
    model: &dyn Model,
    request: &ModelRequest,
) -> (Vec<ModelEvent>, Option<UpstreamError>) {
    let mut stream = match model.stream(request, CancellationToken::new()).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "nothing follows an error");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// Text, calls and end; without usage.
pub(crate) fn said(events: &[ModelEvent]) -> Vec<ModelEvent> {
    events.iter().filter(|event| !matches!(event, ModelEvent::Usage(_))).cloned().collect()
}

pub(crate) fn words(text: &str) -> ModelEvent {
    ModelEvent::Text(text.to_owned())
}

pub(crate) fn call(id: &str, name: &str, input: Result<Value, &str>) -> ModelEvent {
    let input = input.map_err(str::to_owned);
    ModelEvent::ToolUse { id: id.to_owned(), name: name.to_owned(), input }
}

#[tokio::test]
async fn words_usage_and_end_are_streamed() {
    for provider in BOTH {
        let usage = Step::Usage { input: 20, output: 7, cache_read: 300, cache_write: 40 };
        let server = ScriptedModel::playing([Turn::text("Hello you there").then(usage)]).await;
        let (events, error) = events(&*model(provider, &server), &question("hi")).await;
        assert!(error.is_none(), "{provider:?}: {error:?}");
        let expected =
            [words("Hello "), words("you "), words("there"), ModelEvent::Done(StopReason::EndTurn)];
        assert_eq!(said(&events), expected, "{provider:?}");
        let last = events.iter().rev().find_map(|event| match event {
            ModelEvent::Usage(usage) => Some(*usage),
            _ => None,
        });
        let cache_write_tokens = if provider == Provider::Anthropic { 40 } else { 0 };
        let expected = Usage {
            input_tokens: 360,
            output_tokens: 7,
            cache_read_tokens: 300,
            cache_write_tokens,
        };
        assert_eq!(last, Some(expected), "{provider:?}");
    }
}

#[tokio::test]
async fn tool_calls_are_put_together_and_broken_arguments_are_kept_as_text() {
    let step = |id: &str, name: &str, arguments: &str| Step::Call {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    for provider in BOTH {
        let turn = Turn::text("Looking.")
            .then(step("a", "inventory__get_site", r#"{"site":"fra1","n":[1,2]}"#))
            .then(step("b", "no_such_tool", ""))
            .then(step("c", "inventory__get_site", r#"{"site": oops"#));
        let server = ScriptedModel::playing([turn]).await;
        let (events, error) = events(&*model(provider, &server), &question("hi")).await;
        assert!(error.is_none(), "{provider:?}: {error:?}");
        let expected = [
            words("Looking."),
            call("a", "inventory__get_site", Ok(json!({"site": "fra1", "n": [1, 2]}))),
            call("b", "no_such_tool", Ok(json!({}))),
            call("c", "inventory__get_site", Err(r#"{"site": oops"#)),
            ModelEvent::Done(StopReason::ToolUse),
        ];
        assert_eq!(said(&events), expected, "{provider:?}");
    }
}

#[tokio::test]
async fn ends_are_told_apart() {
    let ends = [
        (Stop::Length, StopReason::MaxTokens),
        (Stop::Refusal, StopReason::Refusal),
        (Stop::End, StopReason::EndTurn),
    ];
    for provider in BOTH {
        for (stop, expected) in ends {
            let turn = Turn::text("So").then(Step::Stop(stop)).then(Step::NoUsage);
            let server = ScriptedModel::playing([turn]).await;
            let (events, _) = events(&*model(provider, &server), &question("hi")).await;
            assert_eq!(events, [words("So"), ModelEvent::Done(expected)], "{provider:?}");
        }
    }
}

fn conversation() -> ModelRequest {
    let block = |text: &str, cache_breakpoint| SystemBlock { text: text.into(), cache_breakpoint };
    let said = |role, content| Message { role, content };
    let site = |id: &str| Block::ToolUse {
        id: id.into(),
        name: "inventory__get_site".into(),
        input: json!({"site": "fra1"}),
    };
    let answer = |id: &str, content: &str, is_error| Block::ToolResult {
        id: id.into(),
        content: content.into(),
        is_error,
    };
    let marked = Block::Text { text: "An earlier question.".into(), cache_breakpoint: true };
    ModelRequest {
        system: vec![block("Be brief.", true), block("", false), block("Today is Sunday.", false)],
        messages: vec![
            said(Role::User, vec![marked]),
            said(Role::User, vec![Block::text("And where is Frankfurt?")]),
            said(Role::Assistant, vec![Block::text("I look."), site("one"), site("two")]),
            said(
                Role::User,
                vec![
                    Block::text("Be quick."),
                    answer("one", "{\"name\":\"Frankfurt\"}", false),
                    answer("two", "it did not work", true),
                ],
            ),
        ],
        tools: vec![ToolSpec {
            name: "inventory__get_site".into(),
            description: "Shows one site.".into(),
            input_schema: json!({"type": "object", "properties": {"site": {"type": "string"}}}),
        }],
        reply_tokens_max: 1_000,
        temperature: 0.2,
    }
}

#[tokio::test]
async fn a_conversation_is_sent_in_the_form_of_the_provider() {
    for provider in BOTH {
        let server = ScriptedModel::playing([Turn::text("Good.")]).await;
        let (events, error) = events(&*model(provider, &server), &conversation()).await;
        assert!(error.is_none(), "{provider:?}: {error:?}");
        assert_eq!(said(&events).len(), 2);
        let request = server.requests().remove(0);
        insta::assert_json_snapshot!(format!("request_{}", provider.as_str()), request.body);
    }
}

#[tokio::test]
async fn a_call_without_its_result_is_refused_with_the_reason() {
    for provider in BOTH {
        let mut request = conversation();
        request.messages[3].content.pop();
        let server = ScriptedModel::playing([Turn::text("Good.")]).await;
        let (_, error) = events(&*model(provider, &server), &request).await;
        let error = error.unwrap();
        assert_eq!(error.fault, UpstreamFault::Rejected);
        assert!(
            error.message.starts_with("400 Bad Request: ") && error.message.ends_with("two"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn of_too_many_breakpoints_the_last_four_are_sent() {
    let server = ScriptedModel::playing([Turn::text("Good.")]).await;
    let mut request = question("hi");
    request.system = (0..6)
        .map(|place| SystemBlock { text: format!("part {place}"), cache_breakpoint: true })
        .collect();
    let (_, error) = events(&*model(Provider::Anthropic, &server), &request).await;
    assert!(error.is_none(), "{error:?}");
    let sent = server.requests().remove(0).body["system"].clone();
    let marked: Vec<bool> =
        sent.as_array().unwrap().iter().map(|block| block.get("cache_control").is_some()).collect();
    assert_eq!(marked, [false, false, true, true, true, true]);
}

#[tokio::test]
async fn where_nothing_is_marked_the_ends_are_so_that_the_next_request_is_cached() {
    let server = ScriptedModel::playing([Turn::text("Good.")]).await;
    let says = |role, text: &str| Message { role, content: vec![Block::text(text)] };
    let mut request = question("third");
    request.system = ["one", "two"]
        .map(|text| SystemBlock { text: text.into(), cache_breakpoint: false })
        .into();
    let earlier = [
        says(Role::User, "first"),
        says(Role::Assistant, "So."),
        says(Role::User, "second"),
        says(Role::Assistant, "So."),
    ];
    request.messages.splice(0..0, earlier);
    let (_, error) = events(&*model(Provider::Anthropic, &server), &request).await;
    assert!(error.is_none(), "{error:?}");
    let body = server.requests().remove(0).body;
    let marked = |block: &serde_json::Value| block.get("cache_control").is_some();
    let system: Vec<bool> = body["system"].as_array().unwrap().iter().map(marked).collect();
    assert_eq!(system, [false, true]);
    let messages = body["messages"].as_array().unwrap().iter();
    let messages: Vec<bool> = messages.map(|m| marked(&m["content"][0])).collect();
    assert_eq!(messages, [false, false, true, false, true]);
}

#[tokio::test]
async fn servers_that_leave_things_out_are_understood() {
    let check = async |lines: &[&str], expected: &[ModelEvent]| {
        let body: String = lines.iter().map(|line| format!("data: {line}\n\n")).collect();
        let plain = Turn::Plain { content_type: "text/event-stream; charset=utf-8", body };
        let server = ScriptedModel::playing([plain]).await;
        let (seen, error) = events(&*model(Provider::OpenAi, &server), &question("hi")).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, expected);
    };
    // No usage, no [DONE].
    check(
        &[
            r#"{"choices":[{"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        ],
        &[words("Hi"), ModelEvent::Done(StopReason::EndTurn)],
    )
    .await;
    // Complete calls without ids or with one index for all, ended by "stop".
    check(
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"x","index":0,"function":{"name":"a","arguments":"{\"n\":1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"y","index":0,"function":{"name":"b","arguments":{"n":2}}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            "[DONE]",
        ],
        &[
            call("x", "a", Ok(json!({"n": 1}))),
            call("y", "b", Ok(json!({"n": 2}))),
            ModelEvent::Done(StopReason::ToolUse),
        ],
    )
    .await;
}
