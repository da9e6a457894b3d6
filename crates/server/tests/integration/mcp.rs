//! The MCP server with the official Python SDK as its client, in both eras.
//!
//! `scripts/setup/mcp-peers.sh` installs the SDK and names it in the environment.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const WALK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/mcp/walk.py");
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_throughline");

/// The SDK's Python, or a line that says what is skipped without it.
fn python() -> Option<String> {
    let python = std::env::var("THROUGHLINE_TEST_PYTHON").ok();
    if python.is_none() {
        println!("skipped: the official SDK (THROUGHLINE_TEST_PYTHON is not set)");
    }
    python
}

async fn walk(python: &str, arguments: &[&str]) {
    let output = Command::new(python).arg(WALK).args(arguments).output().await;
    let output = output.expect("the Python of the SDK starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
}

#[tokio::test]
async fn the_official_client_walks_through_everything_over_stdio() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("walk.db").display());
    walk(&python, &["stdio", PROGRAM, "--store", &store, "mcp", "--demo"]).await;
}

#[tokio::test]
async fn the_official_client_walks_through_everything_over_http() {
    let Some(python) = python() else { return };
    let (_server, address) = serve().await;
    walk(&python, &["http", &format!("http://{address}/mcp")]).await;
}

/// A server with the demo inventory that ends with the test, and where it listens.
pub(crate) async fn serve() -> (Child, String) {
    let mut server = Command::new(PROGRAM)
        .args(["--store", "memory:", "serve", "--demo", "--bind", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(server.stderr.take().expect("its words")).lines();
    let address = loop {
        let line =
            lines.next_line().await.ok().flatten().expect("the server says where it listens");
        if let Some((_, rest)) = line.split_once("serving on http://") {
            break rest.split_whitespace().next().expect("an address").to_owned();
        }
    };
    // What it says later is read away, so that it never waits for a reader.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (server, address)
}
