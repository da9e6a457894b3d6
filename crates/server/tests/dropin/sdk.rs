//! The official Python SDKs, unchanged, against this server.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use throughline_testkit::peer;
use throughline_testkit::scripted_model::Turn;

use crate::bench::Bench;

/// Runs a script of `tests/sdk` with the server's address, and answers what it printed.
async fn run(script: &str, bench: &Bench) -> Option<Value> {
    let python =
        peer::program("THROUGHLINE_TEST_MODEL_CLIENTS", "python-with-openai-and-anthropic")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sdk").join(script);
    let address = format!("http://{}", bench.app.address);
    let output = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(python);
        command.arg(script).arg(address).stdin(Stdio::null()).env("NO_PROXY", "127.0.0.1");
        command.output().expect("python starts")
    })
    .await
    .expect("python is waited for");
    let (said, failed) = (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success(), "{failed}");
    Some(serde_json::from_slice(&said).expect("the script prints JSON"))
}

fn script() -> [Turn; 5] {
    [
        Turn::text("Noted."),
        Turn::text("You are Ada."),
        Turn::call("c1", "weather", r#"{"city":"Oslo"}"#),
        Turn::text("It rains in Oslo."),
        Turn::refuse(400, "too much"),
    ]
}

async fn check(name: &str) {
    let bench = Bench::playing(script()).await;
    let Some(seen) = run(name, &bench).await else { return };
    assert_eq!(seen["whole"], "Noted.");
    assert_eq!(seen["streamed"], "You are Ada.");
    assert_eq!(seen["call"], serde_json::json!({"name": "weather", "arguments": {"city": "Oslo"}}));
    assert_eq!(seen["after_the_call"], "It rains in Oslo.");
    assert_eq!(seen["refused"], 400);
    assert_eq!(seen["models"], serde_json::json!(["scripted-1"]));
    if name.starts_with("anthropic") {
        assert_eq!(seen["tokens"], 4711);
    }
    let turns = bench.turns("sdk").await;
    let replies: Vec<&Value> = turns.iter().map(|turn| &turn["reply"]).collect();
    assert_eq!(replies, ["Noted.", "You are Ada.", "It rains in Oslo.", ""]);
    assert!(bench.model.requests()[1].body.to_string().contains("My name is Ada."));
}

#[tokio::test]
async fn the_openai_sdk_gains_memory_by_a_header() {
    check("openai_client.py").await;
}

#[tokio::test]
async fn the_anthropic_sdk_gains_memory_by_a_header() {
    check("anthropic_client.py").await;
}

/// What a model says to a client of Responses, in the order of `responses_client.py`.
fn responses_script() -> [Turn; 12] {
    let weather = || Turn::call("c1", "weather", r#"{"city":"Oslo"}"#);
    [
        Turn::text("Noted."),
        Turn::text("You are Ada."),
        weather(),
        Turn::text("It rains in Oslo."),
        weather(),
        Turn::text("It still rains."),
        Turn::text("A branch."),
        Turn::text("One."),
        Turn::text("Two."),
        Turn::text("Forgotten."),
        Turn::refuse(400, "too much"),
        Turn::text("Never said."),
    ]
}

/// The code of an answer for a response that is not stored.
const NOT_FOUND: &str = "response_not_found";

async fn with_responses(form: &str, turns: impl IntoIterator<Item = Turn>) -> Bench {
    Bench::with(turns, |config| {
        for model in &mut config.model {
            model.responses = form.to_owned();
        }
    })
    .await
}

#[tokio::test]
async fn the_openai_sdk_goes_on_from_replies_that_the_provider_does_not_keep() {
    for form in ["native", "converted"] {
        let bench = with_responses(form, responses_script()).await;
        let Some(seen) = run("responses_client.py", &bench).await else { return };
        let call = |text: &str| serde_json::json!({"name": "weather", "arguments": {"city": "Oslo"}, "text": text});
        let expected = serde_json::json!({
            "whole": "Noted.", "streamed": "You are Ada.", "previous": true,
            "tools": call("It rains in Oslo."), "tools_streamed": call("It still rains."),
            "branch": "A branch.", "conversation": "One.", "conversation_again": "Two.",
            "unstored": "Forgotten.", "refused": 400, "unknown": "previous_response_not_found",
            "again": [true, "Noted.", "completed", true], "input": ["My name is Ada."],
            "input_of_tools": ["message", "function_call", "function_call_output"],
            "missing": {"deleted": NOT_FOUND, "unstored": NOT_FOUND, "never": NOT_FOUND},
        });
        assert_eq!(seen, expected, "{form}");
        let requests = bench.model.requests();
        assert!(requests[5].body.to_string().contains("My name is Ada."), "{}", requests[5].body);
        let branch = requests[6].body.to_string();
        assert!(branch.contains("My name is Ada.") && !branch.contains("Oslo"), "{branch}");
        assert_eq!(requests.len(), 11, "the unknown reply asked nobody");
    }
}

#[tokio::test]
async fn openai_agents_runs_tools_and_goes_on_with_its_default_model_class() {
    for form in ["native", "converted"] {
        let turns = [
            Turn::call("c1", "weather", r#"{"city":"Oslo"}"#),
            Turn::text("It rains in Oslo."),
            Turn::call("c2", "weather", r#"{"city":"Bergen"}"#),
            Turn::text("It rains in Bergen too."),
        ];
        let bench = with_responses(form, turns).await;
        let Some(seen) = run("agents_client.py", &bench).await else { return };
        let expected = serde_json::json!({
            "first": "It rains in Oslo.", "second": "It rains in Bergen too.",
            "streamed": "It rains in Bergen too.", "cities": ["Oslo", "Bergen"],
        });
        assert_eq!(seen, expected, "{form}");
        let last = bench.reached().body.to_string();
        assert!(last.contains("My name is Ada."), "the first run is remembered: {last}");
    }
}
