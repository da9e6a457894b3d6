//! Programs that people run, unchanged, against this server: what is said in one run is kept, and the next one has it.
//!
//! `tests/programs` sets each up as its page under `docs/clients` says. Claude Code and Codex are part of every run; the
//! others take minutes to install, and `scripts/try-clients` tries them. No program reaches another host: its proxy is a
//! port where nobody listens.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use throughline_testkit::peer;
use throughline_testkit::scripted_model::{Recorded, Turn};

use crate::bench::Bench;

const NOBODY: &str = "http://127.0.0.1:9";

/// Where a program that is tried by hand was installed.
fn by_hand(variable: &str) -> Option<PathBuf> {
    let program = std::env::var_os(variable).map(PathBuf::from);
    if program.is_none() {
        eprintln!("skipped: {variable} is not set (scripts/try-clients sets it)");
    }
    program
}

/// Has a program say `messages` in `folder`, its home as well, and answers what it printed.
async fn run(
    script: &str,
    program: PathBuf,
    folder: &Path,
    bench: &Bench,
    messages: &str,
) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs").join(script);
    let mut command = Command::new("bash");
    command.arg(script).arg(program).arg(format!("http://{}", bench.app.address));
    command.env_clear().current_dir(folder).env("HOME", folder);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        command.env(proxy, NOBODY);
    }
    command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(messages.as_bytes()).unwrap();
    std::io::Seek::rewind(&mut input).unwrap();
    command.stdin(Stdio::from(input));
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed = String::from_utf8_lossy(&output.stderr);
    let asked = bench.model.requests().len();
    assert!(output.status.success(), "after {asked} requests: {said}{failed}");
    said
}

/// The program says two things, and a third for which it is to call `tool`, if it has one that reads `note.txt`.
async fn check(
    script: &str,
    program: Option<PathBuf>,
    responses: &str,
    tool: impl FnOnce(&Path) -> Option<(&'static str, Value)>,
) {
    let Some(program) = program else { return };
    let folder = peer::folder();
    std::fs::write(folder.path().join("note.txt"), "ahoy from the file\n").unwrap();
    let mut exchanges =
        vec![("My boat is called Selkie.", "Noted."), ("What is my boat called?", "It is Selkie.")];
    let mut turns = exchanges.iter().map(|(_, reply)| Turn::text(reply)).collect::<Vec<_>>();
    if let Some((name, arguments)) = tool(folder.path()) {
        exchanges.push(("What does note.txt say?", "It says ahoy."));
        turns.push(Turn::call("call_1", name, &arguments.to_string()));
        turns.push(Turn::text("It says ahoy."));
    }
    let requests_expected = turns.len();
    let bench = Bench::with(turns, |config| {
        for model in &mut config.model {
            model.responses = responses.to_owned();
        }
    })
    .await;
    let messages: String = exchanges.iter().map(|(message, _)| format!("{message}\n")).collect();
    let said = run(script, program, folder.path(), &bench, &messages).await;

    for (_, reply) in &exchanges {
        assert!(said.contains(reply), "no {reply:?} in {said}");
    }
    bench.settled().await;
    let kept = bench.turns("my-repository").await;
    let kept: Vec<(&str, &str)> = kept
        .iter()
        .map(|turn| (turn["message"].as_str().unwrap(), turn["reply"].as_str().unwrap()))
        .collect();
    assert_eq!(kept, exchanges);
    let requests: Vec<Recorded> = bench.model.requests();
    assert_eq!(requests.len(), requests_expected, "{requests:#?}");
    let second = requests[1].body.to_string();
    assert!(second.contains("My boat is called Selkie."), "the first run is remembered: {second}");
    if requests_expected > 2 {
        let last = requests[3].body.to_string();
        assert!(last.contains("ahoy from the file"), "the tool was run: {last}");
    }
}

#[tokio::test]
async fn claude_code_remembers_its_earlier_runs() {
    let program = peer::program("THROUGHLINE_TEST_CLAUDE_CODE", "claude-code");
    check("claude-code.sh", program, "native", |folder| {
        Some(("Read", json!({"file_path": folder.join("note.txt")})))
    })
    .await;
}

#[tokio::test]
async fn codex_remembers_its_earlier_runs() {
    for responses in ["native", "converted"] {
        let program = peer::program("THROUGHLINE_TEST_CODEX", "openai-codex");
        check("codex.sh", program, responses, |_| {
            Some(("exec_command", json!({"cmd": "cat note.txt", "login": false})))
        })
        .await;
    }
}

#[tokio::test]
async fn aider_remembers_its_earlier_runs() {
    check("aider.sh", by_hand("THROUGHLINE_TEST_AIDER"), "native", |_| None).await;
}

#[tokio::test]
async fn cline_remembers_its_earlier_runs() {
    check("cline.sh", by_hand("THROUGHLINE_TEST_CLINE"), "native", |_| None).await;
}
