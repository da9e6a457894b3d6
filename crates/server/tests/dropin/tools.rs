//! Tool calls of the client pass unharmed, and become part of the turn when it is over.

use serde_json::{Value, json};
use throughline_testkit::scripted_model::{Step, Turn};

use crate::bench::{BOTH, Bench, Format};

fn with_tools(format: Format, messages: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let mut body = format.body(messages, false);
    body["tools"] = match format {
        Format::OpenAi => json!([{"type": "function", "function": {
            "name": "weather", "description": "Tells it.", "parameters": schema,
        }}]),
        Format::Anthropic => {
            json!([{"name": "weather", "description": "Tells it.", "input_schema": schema}])
        }
    };
    body
}

/// The conversation after the call was run.
fn with_result(format: Format, question: &Value) -> Value {
    match format {
        Format::OpenAi => json!([
            question,
            {"role": "assistant", "content": "Let me see.", "tool_calls": [
                {"id": "c1", "type": "function",
                 "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "{\"sky\":\"rain\"}"},
        ]),
        Format::Anthropic => json!([
            question,
            {"role": "assistant", "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "{\"sky\":\"rain\"}"},
            ]},
        ]),
    }
}

#[tokio::test]
async fn a_round_of_tools_is_one_turn_with_its_calls() {
    for format in BOTH {
        let bench = Bench::playing([
            Turn::text("Hello."),
            Turn::call("c1", "weather", r#"{"city":"Oslo"}"#),
            Turn::text("It rains."),
        ])
        .await;
        bench.say(format, "a", "Hi.").await.expect(200);
        let question = json!({"role": "user", "content": "The weather in Oslo?"});
        let called = with_tools(format, json!([question]));
        let answer = bench.ask(format, Some("a"), &called).await.expect(200);
        assert!(answer.to_string().contains("c1"), "{answer}");
        assert_eq!(bench.turns("a").await.len(), 1, "a call is not yet an exchange");

        let body = with_tools(format, with_result(format, &question));
        bench.ask(format, Some("a"), &body).await.expect(200);
        let sent = bench.reached().body;
        assert_eq!(sent["tools"], body["tools"]);
        let (ours, theirs) = (sent["messages"].as_array().unwrap(), &body["messages"]);
        assert_eq!(ours[ours.len() - 2..], theirs.as_array().unwrap()[1..], "calls are untouched");
        assert!(ours[0].to_string().contains("Hi."), "the history is in front: {sent}");
        let turns = bench.turns("a").await;
        assert_eq!(turns.len(), 2);
        assert_eq!(turns[1]["message"], "The weather in Oslo?");
        assert_eq!(turns[1]["reply"], "It rains.");
        assert_eq!(turns[1]["tools_used"], json!(["client:weather"]));
    }
}

#[tokio::test]
async fn streamed_calls_pass_byte_for_byte_and_leave_no_turn() {
    for format in BOTH {
        let turn = || {
            Turn::Say(vec![Step::Text("Wait.".into())]).then(Step::Call {
                id: "c1".into(),
                name: "weather".into(),
                arguments: r#"{"city":"Oslo"}"#.into(),
            })
        };
        let bench = Bench::playing([turn(), turn()]).await;
        let mut body = with_tools(format, json!([{"role": "user", "content": "Oslo?"}]));
        body["stream"] = json!(true);
        let plain = bench.ask(format, None, &body).await;
        let kept = bench.ask(format, Some("a"), &body).await;
        assert_eq!(kept.text, plain.text);
        assert!(bench.turns("a").await.is_empty());
    }
}
