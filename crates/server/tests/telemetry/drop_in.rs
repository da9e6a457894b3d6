//! An unchanged client's turn is told like any other, in spans and in counters.

use serde_json::{Value, json};
use throughline_testkit::collector::Collector;
use throughline_testkit::scripted_model::{ScriptedModel, Turn};
use throughline_testkit::served::Served;

use super::{launch, named};

async fn ask(served: &Served, path: &str, session: Option<&str>, body: &Value) -> (u16, Value) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = client.post(served.at(path)).json(body);
    if let Some(session) = session {
        request = request.header("x-session-id", session);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

fn completion(message: &str) -> Value {
    json!({"model": "scripted-1", "max_tokens": 77, "temperature": 0.25,
        "messages": [{"role": "user", "content": message}]})
}

#[tokio::test]
async fn a_drop_in_turn_has_the_spans_of_any_other() {
    let collector = Collector::start().await;
    let model = ScriptedModel::playing([Turn::text("The forty-two blue doors.")]).await;
    let launch = launch(&model).with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let served = Served::start(&launch).await;
    let body = completion("How many secret doors are there?");
    let (_, answer) = ask(&served, "/v1/chat/completions", Some("s1"), &body).await;
    let spans = collector.spans(3).await;
    let turn = named(&spans, "invoke_agent default");
    assert_eq!(turn.attributes["gen_ai.conversation.id"], "s1");
    assert_eq!(turn.attributes["throughline.turn.kind"], "drop_in");
    assert_eq!(turn.attributes["throughline.turn.number"], 1);
    assert_eq!(turn.attributes["throughline.turn.status"], "complete");
    let call = named(&spans, "chat scripted-1");
    assert_eq!((&call.trace, &call.parent), (&turn.trace, &turn.id));
    assert_eq!(call.kind, 3);
    assert_eq!(call.attributes["gen_ai.provider.name"], "openai");
    assert_eq!(call.attributes["gen_ai.request.max_tokens"], 77);
    assert_eq!(call.attributes["gen_ai.request.temperature"], 0.25);
    assert_eq!(call.attributes["gen_ai.response.finish_reasons"], json!(["stop"]));
    assert_eq!(call.attributes["gen_ai.usage.input_tokens"], answer["usage"]["prompt_tokens"]);
    assert_eq!(call.attributes["gen_ai.usage.output_tokens"], answer["usage"]["completion_tokens"]);
    let commit = named(&spans, "commit memory");
    assert_eq!(commit.parent, turn.id);
    let sent = String::from_utf8_lossy(&collector.bytes()).into_owned();
    for word in ["secret", "doors", "forty", "sk-for-a-test"] {
        assert!(!sent.contains(word), "{word} left the machine");
    }
}

#[tokio::test]
async fn a_streamed_drop_in_turn_that_waits_for_its_client_s_tools_says_so() {
    let collector = Collector::start().await;
    let model = ScriptedModel::playing([Turn::call("c1", "look", "{}")]).await;
    let launch = launch(&model).with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let served = Served::start(&launch).await;
    let mut body = completion("Look it up.");
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    body["tools"] = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.post(served.at("/v1/chat/completions")).header("x-session-id", "s1");
    let answer = request.json(&body).send().await.unwrap();
    assert!(answer.text().await.unwrap().contains("[DONE]"));
    let spans = collector.spans(2).await;
    let turn = named(&spans, "invoke_agent default");
    assert_eq!(turn.attributes["throughline.turn.status"], "waiting_for_tools");
    let call = named(&spans, "chat scripted-1");
    assert_eq!(call.attributes["gen_ai.response.finish_reasons"], json!(["tool_calls"]));
    assert!(call.attributes["gen_ai.usage.input_tokens"].as_i64() > Some(0));
}

#[tokio::test]
async fn a_refusal_of_the_provider_is_a_failed_span_with_and_without_a_session() {
    let collector = Collector::start().await;
    let refusals = [Turn::refuse(401, "no such key"), Turn::refuse(401, "no such key")];
    let model = ScriptedModel::playing(refusals).await;
    let launch = launch(&model).with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let served = Served::start(&launch).await;
    let body = completion("Hello?");
    assert_eq!(ask(&served, "/v1/chat/completions", Some("s1"), &body).await.0, 401);
    let spans = collector.spans(3).await;
    let turn = named(&spans, "invoke_agent default");
    assert!(turn.failed);
    assert_eq!(turn.attributes["error.type"], "upstream_401");
    let call = named(&spans, "chat scripted-1");
    assert!(call.failed && !call.attributes.contains_key("gen_ai.usage.input_tokens"));
    assert_eq!(call.attributes["error.type"], "upstream_401");
    assert_eq!(ask(&served, "/v1/chat/completions", None, &body).await.0, 401);
    let spans = collector.spans(4).await;
    assert_eq!(spans.len(), 4, "no session, no turn");
    assert!(spans[3].name == "chat scripted-1" && spans[3].failed);
}

#[tokio::test]
async fn turns_of_every_door_are_counted() {
    let replies = [Turn::text("one"), Turn::text("two")];
    let model = ScriptedModel::playing(replies).await;
    let served = Served::start(&launch(&model)).await;
    let body = completion("Hello there.");
    ask(&served, "/v1/chat/completions", Some("s1"), &body).await;
    let told = call_tool(&served, "context-query", &json!({"query": "Hello there."})).await;
    assert_eq!(told["structuredContent"]["response"], "two", "{told}");
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let figures = client.get(served.at("/metrics")).send().await.unwrap();
    let figures = figures.text().await.unwrap();
    for line in [
        r#"throughline_turns_total{kind="drop_in",status="complete"} 1"#,
        r#"throughline_turns_total{kind="query",status="complete"} 1"#,
    ] {
        assert!(figures.contains(line), "{line} in {figures}");
    }
    let health = client.get(served.url("/health")).send().await.unwrap();
    let health: Value = health.json().await.unwrap();
    assert_eq!(health["context"]["turns"], 2, "{health}");
}

async fn call_tool(served: &Served, name: &str, arguments: &Value) -> Value {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": name, "arguments": arguments, "_meta": meta}});
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.post(served.at("/mcp")).header("mcp-protocol-version", "2026-07-28");
    let request = request.header("mcp-method", "tools/call").header("mcp-name", name);
    let request = request.header("accept", "application/json, text/event-stream");
    let answer: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
    answer["result"].clone()
}
