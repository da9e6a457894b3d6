//! A folder with a store, and the binary that works in it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A server that ends with the test.
pub(crate) struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Ends it, and waits until it has.
    pub(crate) fn end(self) {
        drop(self);
    }

    /// Where it is, as `--server` takes it.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Status and JSON of a GET.
    pub(crate) fn ask(&self, path: &str) -> (u16, Value) {
        self.send(&format!("GET {path} HTTP/1.1\r\n"), "")
    }

    /// The JSON of a GET that succeeds.
    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask(path);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// Status and JSON of a POST.
    pub(crate) fn post(&self, path: &str, body: &str) -> (u16, Value) {
        self.send(&format!("POST {path} HTTP/1.1\r\ncontent-type: application/json\r\n"), body)
    }

    /// A DELETE that succeeds.
    pub(crate) fn delete(&self, path: &str) {
        let (status, body) = self.send(&format!("DELETE {path} HTTP/1.1\r\n"), "");
        assert!(status < 300, "{path}: {status} {body}");
    }

    fn send(&self, start: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        let (host, length) = (&self.address, body.len());
        write!(
            stream,
            "{start}host: {host}\r\naccept: application/json\r\nconnection: close\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or_else(|_| Value::from(body)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary under test. `THROUGHLINE_TEST_BINARY` names another one: to see a test fail on older code.
pub(crate) fn binary() -> PathBuf {
    let named = std::env::var_os("THROUGHLINE_TEST_BINARY").map(PathBuf::from);
    named.unwrap_or_else(|| env!("CARGO_BIN_EXE_throughline").into())
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            std::fs::create_dir(&target).expect("a folder");
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).expect("copied");
        }
    }
}

/// A folder of its own for one test.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// An empty one.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// One with a session `trip` of two turns about a place that is nowhere else.
    pub(crate) fn with_trip() -> Self {
        let place = Self::empty();
        place.import("trip", &[("Where is Zanzibar?", "In the sea."), ("How far?", "Far.")]);
        place
    }

    /// One with a store in which there is no session.
    pub(crate) fn with_store() -> Self {
        let place = Self::empty();
        place.ok(&["key", "create"], "");
        place
    }

    /// What lies in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Another folder with the same files.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::empty();
        copy_folder(self.folder.path(), copy.folder.path());
        copy
    }

    /// The folder itself.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Brings in a session of these exchanges.
    pub(crate) fn import(&self, id: &str, turns: &[(&str, &str)]) {
        let at = "2026-01-02T03:04:05Z";
        let turns: Vec<Value> = turns
            .iter()
            .enumerate()
            .map(|(number, (message, reply))| {
                json!({
                    "turn": number + 1, "at": at, "message": message, "reply": reply,
                    "tokens": {"message": 1, "reply": 1},
                })
            })
            .collect();
        // The head of a new session, with the right number of turns.
        let forked = self.ok(&["chat", "--json", id], "hello\n");
        assert!(forked.contains("hello"), "{forked}");
        let export = self.ok(&["session", "export", id], "");
        let mut export: Value = serde_json::from_str(&export).expect("JSON");
        export["head"]["turns"] = json!(turns.len());
        export["turns"] = Value::Array(turns);
        self.ok(&["session", "erase", id, "--yes"], "");
        std::fs::write(self.path("in.json"), export.to_string()).expect("written");
        self.ok(&["session", "import", "in.json"], "");
    }

    /// The binary, to be started here.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(arguments).current_dir(self.folder.path());
        command.env_clear().env("COLUMNS", "100").env("TZ", "UTC");
        command.env("XDG_DATA_HOME", self.folder.path());
        // The promise that is to be broken, in a build that can.
        if let Some(sabotage) = std::env::var_os("THROUGHLINE_SABOTAGE") {
            command.env("THROUGHLINE_SABOTAGE", sabotage);
        }
        command
    }

    /// Starts the binary here.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary starts")
    }

    /// Runs the binary here.
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self.start(arguments);
        let mut stdin = child.stdin.take().expect("its input");
        // A command that reads nothing may have ended by now.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        child.wait_with_output().expect("the binary ends")
    }

    /// A server on this store, once it says that it serves.
    pub(crate) fn serve(&self) -> Server {
        self.serve_and_listen(&[]).0
    }

    /// The same with more flags, and what it said until then.
    pub(crate) fn serve_and_listen(&self, flags: &[&str]) -> (Server, String) {
        Self::started(self.command(&[&["serve", "--bind", "127.0.0.1:0"], flags].concat()))
    }

    /// The server that `command` starts, and what it said until it serves.
    pub(crate) fn started(mut command: Command) -> (Server, String) {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("its words")).lines();
        let mut said = String::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else { panic!("it does not serve: {said}") };
            said.push_str(&line);
            said.push('\n');
            if let Some((_, address)) = line.split_once("serving on http://") {
                let end = address.find(|c: char| c.is_whitespace()).unwrap_or(address.len());
                break address[..end].to_owned();
            }
        };
        // What it says later must not block it.
        std::thread::spawn(move || lines.count());
        (Server { child, address }, said)
    }

    /// Its standard output, where it must succeed.
    pub(crate) fn ok(&self, arguments: &[&str], input: &str) -> String {
        let output = self.run(arguments, input);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// The same as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.ok(arguments, "");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    /// Its exit code and standard error, where it must fail.
    pub(crate) fn fails(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments, "");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code().expect("it ends by itself");
        assert_ne!(code, 0, "{arguments:?}");
        (code, error)
    }
}
