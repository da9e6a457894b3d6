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
