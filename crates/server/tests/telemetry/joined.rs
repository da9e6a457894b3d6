//! A request that says which trace it is part of: its spans join that trace.

use serde_json::{Value, json};
use throughline_testkit::collector::{Collector, Span};
use throughline_testkit::scripted_model::{ScriptedModel, Turn};
use throughline_testkit::served::Served;

use super::{launch, named};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Sends `body` there with the header, reads the answer to its end, and answers its spans.
async fn spans_of(address: &str, traceparent: &str, body: &Value, wanted: usize) -> Vec<Span> {
    let collector = Collector::start().await;
    let model = ScriptedModel::playing([Turn::text("Hello.")]).await;
    let launch = launch(&model).with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let served = Served::start(&launch).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.post(served.at(address)).header("traceparent", traceparent);
    let request = request.header("x-session-id", "s1").header("mcp-protocol-version", "2026-07-28");
    let request = request.header("mcp-method", "tools/call").header("mcp-name", "context-query");
    let request = request.header("accept", "application/json, text/event-stream");
    let answer = request.json(body).send().await.unwrap();
    let status = answer.status();
    let text = answer.text().await.unwrap();
    assert!(status.is_success(), "{status}: {text}");
    collector.spans(wanted).await
}

async fn check_joins(address: &str, body: Value) {
    let traceparent = format!("00-{TRACE}-{PARENT}-01");
    let spans = spans_of(address, &traceparent, &body, 3).await;
    let turn = named(&spans, "invoke_agent default");
    assert_eq!(hex(&turn.parent), PARENT, "{address}");
    for span in &spans {
        assert_eq!(hex(&span.trace), TRACE, "{} of {address}", span.name);
    }
    assert_eq!(named(&spans, "chat scripted-1").parent, turn.id);
}

#[tokio::test]
async fn a_turn_joins_the_trace_that_its_request_names() {
    check_joins("/api/v1/chat", json!({"message": "Hello?"})).await;
    check_joins("/api/v1/chat/stream", json!({"message": "Hello?"})).await;
}

#[tokio::test]
async fn a_drop_in_turn_joins_the_trace_that_its_request_names() {
    let messages = json!([{"role": "user", "content": "Hello?"}]);
    let body = json!({"model": "scripted-1", "messages": messages});
    check_joins("/v1/chat/completions", body).await;
}

#[tokio::test]
async fn a_turn_of_an_mcp_client_joins_the_trace_that_its_request_names() {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"name": "context-query", "arguments": {"query": "Hello?"}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    check_joins("/mcp", body).await;
}

#[tokio::test]
async fn a_header_that_is_none_begins_a_trace_of_its_own() {
    let body = json!({"message": "Hello?"});
    for wrong in ["", "00-0-0-01", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"] {
        let spans = spans_of("/api/v1/chat", wrong, &body, 3).await;
        let turn = named(&spans, "invoke_agent default");
        assert!(turn.parent.is_empty(), "{wrong:?}");
        assert_ne!(hex(&turn.trace), TRACE);
    }
}
