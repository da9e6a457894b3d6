//! The scripted server over standard input and output.
//!
//! A test needs a program to start, and the test binary itself serves as one: a test that only calls
//! [`serve_if_asked`] becomes the server when started with the script in its environment.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use serde_json::Value;

use super::{Reaction, Script, ScriptedMcp};

/// The variable that passes the script to the child.
pub const SCRIPT_VARIABLE: &str = "SCRIPTED_MCP";

/// The command line that starts this test binary as the server. `entry` is the full name of the test that calls
/// [`serve_if_asked`].
pub fn command(entry: &str) -> (PathBuf, Vec<String>) {
    let program = std::env::current_exe().expect("a test binary knows its path");
    let args = ["--exact", entry, "--nocapture", "--quiet"];
    (program, args.iter().map(|arg| (*arg).to_owned()).collect())
}

/// Serves until the input ends and then exits; does nothing without a script.
pub fn serve_if_asked() {
    let Ok(script) = std::env::var(SCRIPT_VARIABLE) else { return };
    let script: Script = serde_json::from_str(&script).expect("the script is JSON");
    let noisy = script.noisy;
    let grandchild = script.grandchild.then(|| {
        let child = std::process::Command::new("sleep").arg("600").spawn();
        child.expect("the system has sleep").id()
    });
    let server = ScriptedMcp::new(script);
    server.state.lock().expect("no test panics while it holds the state").grandchild = grandchild;
    let mut out = std::io::stdout().lock();
    // Ends a line that the test harness may have started.
    writeln!(out).expect("the client reads");
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if noisy {
            writeln!(out, "starting up, please wait").expect("the client reads");
            eprintln!("{} {}", std::env::var("SECRET").unwrap_or_default(), "e".repeat(100_000));
        }
        match server.react(&message) {
            Reaction::End => break,
            Reaction::Send(answers) => {
                for answer in answers {
                    writeln!(out, "{answer}").expect("the client reads");
                }
            }
        }
        out.flush().expect("the client reads");
    }
    std::process::exit(0);
}
