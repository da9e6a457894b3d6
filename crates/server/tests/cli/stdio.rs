//! A client of `throughline mcp`, as plain as can be.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long is waited for what a server does by itself.
pub(crate) const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// `throughline mcp` over its standard input and output.
pub(crate) struct Client {
    child: std::process::Child,
    answers: std::io::Lines<BufReader<std::process::ChildStdout>>,
    asked: u64,
}

impl Client {
    /// Starts it and greets it.
    pub(crate) fn start(mut command: std::process::Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary starts");
        let answers = BufReader::new(child.stdout.take().expect("its answers")).lines();
        let mut client = Self { child, answers, asked: 0 };
        client.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.child.stdin.as_mut().expect("its input");
        writeln!(stdin, "{message}").expect("it reads");
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line = self.answers.next().expect("it answers").expect("a line");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Asks until `done` is.
    pub(crate) fn until(&mut self, done: impl Fn() -> bool) {
        let began = Instant::now();
        while !done() {
            assert!(began.elapsed() < GIVE_UP_AFTER, "it was not done");
            self.ask("ping", &json!({}));
        }
    }

    /// Goes away, and waits until the server has ended.
    pub(crate) fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("it ends").success());
    }
}
