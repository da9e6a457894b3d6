//! The MCP server as the official Inspector's command line sees it: both transports, both eras.
//!
//! `scripts/setup/mcp-peers.sh` installs the Inspector and names it in the environment.

use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::mcp::{PROGRAM, serve};

const LAUNCHER: &str =
    "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

/// The Inspector, pointed at a server.
struct Inspector {
    node: String,
    launcher: PathBuf,
    home: TempDir,
    era: &'static str,
    target: Vec<String>,
}

impl Inspector {
    /// One for `target`; none, and a line that says so, where it is not installed.
    fn new(era: &'static str, target: Vec<String>) -> Option<Self> {
        let found = std::env::var("THROUGHLINE_TEST_NODE").ok().zip(
            std::env::var("THROUGHLINE_TEST_NPM_DIR")
                .ok()
                .map(|folder| PathBuf::from(folder).join(LAUNCHER)),
        );
        let Some((node, launcher)) = found else {
            println!("skipped: the Inspector (THROUGHLINE_TEST_NODE is not set)");
            return None;
        };
        let home = tempfile::tempdir().expect("a folder");
        Some(Self { node, launcher, home, era, target })
    }

    /// Its exit code and what it printed, as JSON.
    async fn ask(&self, method: &str, arguments: &[&str]) -> (i32, Value) {
        let mut command = Command::new(&self.node);
        command.arg(&self.launcher).arg("--cli").args(&self.target);
        command.args(["--protocol-era", self.era, "--quiet", "--method", method]).args(arguments);
        // It keeps a catalogue in the home folder.
        command.env("HOME", self.home.path());
        let output = command.output().await.expect("the Inspector starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complained = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code().expect("it ends by itself");
        let value = serde_json::from_str(&said).unwrap_or_else(|error| {
            panic!("{method} {arguments:?}: {code} {error}: {said}\n{complained}")
        });
        (code, value)
    }

    async fn ok(&self, method: &str, arguments: &[&str]) -> Value {
        let (code, value) = self.ask(method, arguments).await;
        assert_eq!(code, 0, "{method} {arguments:?}: {value}");
        value
    }

    /// Everything that it can ask for.
    async fn look_at_everything(&self) {
        let tools = self.ok("tools/list", &["--strict"]).await;
        let names: Vec<&str> = tools["tools"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!((names.len(), names[0]), (12, "context-manage"));
        assert!(names.contains(&"tools-call") && names.contains(&"remember"), "{names:?}");

        let preset = ["--tool-name", "personality-preset-manage", "--tool-arg", "action=get"];
        let preset = [&preset[..], &["presetId=preset-calm-counselor"]].concat();
        let called = self.ok("tools/call", &preset).await;
        assert_eq!(called["structuredContent"]["preset"]["name"], "Calm Counselor");

        let missing =
            ["--tool-name", "context-manage", "--tool-arg", "action=get", "contextId=nobody"];
        let (code, refused) = self.ask("tools/call", &missing).await;
        assert_eq!(
            (code, &refused["isError"]),
            (5, &Value::Bool(true)),
            "a failed tool has its own code"
        );
        assert_eq!(refused["structuredContent"]["message"], "there is no context nobody");

        let resources = self.ok("resources/list", &[]).await;
        assert_eq!(resources["resources"][0]["uri"], "throughline://contexts");
        let templates = self.ok("resources/templates/list", &[]).await;
        let address = &templates["resourceTemplates"][0]["uriTemplate"];
        assert_eq!(address, "throughline://context/{contextId}");
        let read = self
            .ok("resources/read", &["--uri", "throughline://preset/preset-rational-advisor"])
            .await;
        let text = read["contents"][0]["text"].as_str().expect("text");
        assert!(text.contains("Rational Advisor"), "{text}");

        let prompts = self.ok("prompts/list", &[]).await;
        assert_eq!(prompts["prompts"][0]["name"], "personality-creator");
        let filled = ["--prompt-name", "personality-creator", "--prompt-args", "role=tutor"];
        let filled = [&filled[..], &["traits=kind", "scenario=school"]].concat();
        let prompt = self.ok("prompts/get", &filled).await;
        let text = prompt["messages"][0]["content"]["text"].as_str().expect("text");
        assert!(text.contains("tutor") && text.contains("school"), "{text}");
    }
}

#[tokio::test]
async fn the_inspector_sees_everything_over_stdio_in_both_eras() {
    for era in ["legacy", "modern"] {
        let target = [PROGRAM, "--store", "memory:", "mcp"].map(str::to_owned).to_vec();
        let Some(inspector) = Inspector::new(era, target) else { return };
        inspector.look_at_everything().await;
    }
}

#[tokio::test]
async fn the_inspector_sees_everything_over_http_in_both_eras() {
    let (_server, address) = serve().await;
    for era in ["legacy", "modern"] {
        let target = vec![format!("http://{address}/mcp"), "--transport".into(), "http".into()];
        let Some(inspector) = Inspector::new(era, target) else { return };
        inspector.look_at_everything().await;
    }
}
