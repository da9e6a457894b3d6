//! Spans on their way to a collector: the binary as a process, a scripted model, the demo inventory.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod drop_in;
mod joined;
mod secrets;

use serde_json::{Value, json};
use throughline_testkit::collector::{Collector, Span};
use throughline_testkit::scripted_model::{ScriptedModel, Turn};
use throughline_testkit::served::{Launch, Served};

fn launch(model: &ScriptedModel) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_throughline"), "memory:")
        .with("OPENAI_BASE_URL", model.openai_url())
        .with("OPENAI_API_KEY", "sk-for-a-test")
        .with("THROUGHLINE_MODELS__OPENAI", "scripted-1")
        // Batches leave at once instead of every five seconds.
        .with("OTEL_BSP_SCHEDULE_DELAY", "50")
}

async fn chat(served: &Served, message: &str) -> Value {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let body = json!({"conversation_id": "s1", "message": message});
    let answer = client.post(served.url("/chat")).json(&body).send().await.unwrap();
    answer.json().await.unwrap()
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name} in {names:?}"))
}

#[tokio::test]
async fn a_turn_is_told_to_the_collector_by_name_and_count_and_never_by_its_words() {
    let collector = Collector::start().await;
    let model = ScriptedModel::playing([Turn::text("The forty-two blue doors.")]).await;
    let launch = launch(&model).with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let served = Served::start(&launch).await;
    let answer = chat(&served, "How many secret doors are there?").await;
    assert_eq!(answer["turn"], 1, "{answer}");
    let spans = collector.spans(3).await;
    let turn = named(&spans, "invoke_agent default");
    assert_eq!(turn.service, "throughline");
    assert_eq!(turn.attributes["gen_ai.operation.name"], "invoke_agent");
    assert_eq!(turn.attributes["gen_ai.conversation.id"], "s1");
    assert_eq!(turn.attributes["throughline.turn.status"], "complete");
    let call = named(&spans, "chat scripted-1");
    assert_eq!((&call.trace, &call.parent), (&turn.trace, &turn.id));
    assert_eq!(call.kind, 3);
    assert_eq!(call.attributes["gen_ai.provider.name"], "openai");
    assert_eq!(call.attributes["gen_ai.request.model"], "scripted-1");
    assert_eq!(call.attributes["gen_ai.response.finish_reasons"], json!(["stop"]));
    assert_eq!(call.attributes["gen_ai.usage.input_tokens"], answer["usage"]["input_tokens"]);
    assert_eq!(call.attributes["gen_ai.usage.output_tokens"], answer["usage"]["output_tokens"]);
    let commit = named(&spans, "commit memory");
    assert_eq!(commit.parent, turn.id);
    assert!(!turn.failed && !call.failed && !commit.failed);
    let sent = String::from_utf8_lossy(&collector.bytes()).into_owned();
    for word in ["secret", "doors", "forty", "sk-for-a-test"] {
        assert!(!sent.contains(word), "{word} left the machine");
    }
}

#[tokio::test]
async fn a_model_that_fails_is_a_failed_span_and_a_collector_that_is_down_costs_no_turn() {
    let collector = Collector::start().await;
    let model = ScriptedModel::playing([Turn::refuse(401, "no such key")]).await;
    let launch = launch(&model).with("THROUGHLINE_TELEMETRY__OTLP_ENDPOINT", collector.url());
    let served = Served::start(&launch).await;
    assert_eq!(chat(&served, "Hello?").await["turn"], 1);
    let spans = collector.spans(3).await;
    let call = named(&spans, "chat scripted-1");
    assert!(call.failed);
    assert_eq!(call.attributes["error.type"], "unauthorized");
    assert!(named(&spans, "invoke_agent default").failed, "the fallback's words are no answer");
    drop(collector);
    assert_eq!(chat(&served, "And now?").await["turn"], 2);
}

#[tokio::test]
async fn a_tool_call_stands_between_two_calls_of_the_model() {
    let collector = Collector::start().await;
    let call = Turn::call("c1", "inventory__get_device", r#"{"device": "no-such-device-4711"}"#);
    let model = ScriptedModel::playing([call, Turn::text("There is none.")]).await;
    let launch = launch(&model).flag("--demo").with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let served = Served::start(&launch).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let body = json!({"conversation_id": "s1", "agent": "demo", "message": "Is it there?"});
    let answer = client.post(served.url("/chat")).json(&body).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["tools_used"], json!(["inventory:get_device"]), "{answer}");
    let spans = collector.spans(5).await;
    let turn = named(&spans, "invoke_agent demo");
    let tool = named(&spans, "execute_tool get_device");
    assert_eq!((&tool.trace, &tool.parent), (&turn.trace, &turn.id));
    assert_eq!(tool.attributes["gen_ai.operation.name"], "execute_tool");
    assert_eq!(tool.attributes["gen_ai.tool.name"], "get_device");
    assert_eq!(tool.attributes["gen_ai.tool.call.id"], "c1");
    let reasons: Vec<&Value> = (spans.iter().filter(|span| span.name == "chat scripted-1"))
        .map(|span| &span.attributes["gen_ai.response.finish_reasons"])
        .collect();
    assert_eq!(reasons, [&json!(["tool_calls"]), &json!(["stop"])]);
    let sent = String::from_utf8_lossy(&collector.bytes()).into_owned();
    assert!(!sent.contains("4711"), "an argument left the machine");
}

#[tokio::test]
async fn a_tool_call_is_counted_once() {
    let call = Turn::call("c1", "inventory__get_device", r#"{"device": "no-such-device-4711"}"#);
    let model = ScriptedModel::playing([call, Turn::text("There is none.")]).await;
    let served = Served::start(&launch(&model).flag("--demo")).await;
    chat(&served, "Is it there?").await;
    let figures = reqwest::get(served.at("/metrics")).await.unwrap().text().await.unwrap();
    let counted: Vec<&str> =
        figures.lines().filter(|line| line.starts_with("throughline_tool_calls_total")).collect();
    let expected =
        r#"throughline_tool_calls_total{tool="inventory:get_device",outcome="failed"} 1"#;
    assert_eq!(counted, [expected]);
}
