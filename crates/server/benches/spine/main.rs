//! What Throughline costs: the figures under "Spine" in docs/benchmarks.md. Run by `scripts/bench`.
//!
//! The real binary is measured over loopback HTTP with a client of a few lines, on SQLite in a folder
//! of this disk. Nothing is asserted about time; the machine's own limits and its load are measured in
//! the same run and stand beside the figures.
//!
//! # Layout
//!
//! - [`wire`]: the client. [`table`]: percentiles and Markdown. [`bench`]: a server and its folder.
//! - [`length`], [`clients`], [`resources`], [`chat`], [`drop_in`], [`tokens`], [`memory`]: the figures, a file a topic.

#![expect(clippy::unwrap_used, reason = "a measurement that fails has nothing better to do")]

mod bench;
mod chat;
mod clients;
mod drop_in;
mod length;
mod memory;
mod resources;
mod table;
mod tokens;
mod wire;

use std::path::Path;

use table::Report;

/// Where the section begins and ends in the document.
const BEGIN: &str = "<!-- spine: written by scripts/bench -->";
const END: &str = "<!-- end of spine -->";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    let topics = ["length", "clients", "resources", "chat", "drop-in", "tokens", "memory"];
    let chosen = |topic: &str| given(topic) || !topics.iter().any(|topic| given(topic));
    let size = if given("--quick") { bench::Size::quick() } else { bench::Size::full() };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut report = Report::default();
    bench::machine(&mut report);
    if chosen("length") {
        length::measure(&runtime, &size, &mut report);
    }
    if chosen("clients") {
        clients::measure(&runtime, &size, &mut report);
    }
    if chosen("resources") {
        resources::measure(&runtime, &size, &mut report);
    }
    if chosen("chat") {
        chat::measure(&runtime, &size, &mut report);
    }
    if chosen("drop-in") {
        drop_in::measure(&runtime, &size, &mut report);
    }
    if chosen("tokens") {
        tokens::measure(&runtime, &mut report);
    }
    if chosen("memory") {
        memory::measure(&runtime, &mut report);
    }
    bench::load_at_end(&mut report);
    if given("--write") {
        write(&report.text());
    }
}

/// Puts the report in place of the section in docs/benchmarks.md, or at its end.
fn write(section: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/benchmarks.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let section = format!("{BEGIN}\n## Spine\n\n`./scripts/bench --write`\n\n{section}{END}\n");
    let written = match (text.find(BEGIN), text.find(END)) {
        (Some(from), Some(to)) => {
            let rest = text[to + END.len()..].trim_start_matches('\n');
            format!("{}{section}\n{rest}", &text[..from])
        }
        _ => format!("{}\n\n{section}", text.trim_end()),
    };
    std::fs::write(&path, format!("{}\n", written.trim_end())).unwrap();
}
