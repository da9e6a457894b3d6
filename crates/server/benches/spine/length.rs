//! What one more turn and one more prompt cost, as a conversation grows.

use serde_json::json;
use tokio::runtime::Runtime;

use super::bench::{Bench, Size, disk, exchange, fill, words};
use super::table::{Report, Times, ms};

/// Turns between two prompts while a conversation is made.
const STEP: usize = 250;

/// Appends and prompts at each length.
pub(crate) fn measure(runtime: &Runtime, size: &Size, report: &mut Report) {
    let bench = Bench::start(runtime, &[]);
    let mut wire = bench.wire();
    let mut rows = Vec::new();
    let (mut appends, mut prepares) = (Vec::new(), Vec::new());
    for length in size.lengths {
        let session = format!("length-{length}");
        // The memory of older turns catches up in steps, so the cold cost of a long session is not in here.
        for from in (0..*length).step_by(STEP) {
            fill(&mut wire, &session, from, length.min(&(from + STEP as u64)).to_owned());
            let path = format!("/api/v1/conversations/{session}/prepare");
            wire.post(&path, &json!({ "message": words(from, 200) }));
        }
        let (mut append, mut prepare, mut health) = Default::default();
        for sample in 0..size.samples {
            let number = length + sample;
            let path = format!("/api/v1/conversations/{session}");
            add(&mut append, wire.post(&format!("{path}/turns"), &exchange(number)).took);
            let body = json!({ "message": words(number, 200), "budget_tokens": 4_000 });
            add(&mut prepare, wire.post(&format!("{path}/prepare"), &body).took);
            add(&mut health, wire.get("/api/openapi.json/none").took);
        }
        appends.push(append.percentile(50));
        prepares.push(prepare.percentile(50));
        rows.push(vec![
            length.to_string(),
            ms(append.percentile(50)),
            ms(append.percentile(99)),
            ms(prepare.percentile(50)),
            ms(prepare.percentile(99)),
            ms(health.percentile(50)),
            ms(disk().0),
        ]);
    }
    report.say("A durable append, and `prepare` within 4,000 tokens, over HTTP, in milliseconds; beside them a request that is answered with nothing but 404, and fdatasync, at the same time.");
    let columns = [
        "turns",
        "append p50",
        "append p99",
        "prepare p50",
        "prepare p99",
        "HTTP alone p50",
        "fdatasync p50",
    ];
    report.table(&columns, &rows);
    if let ([_, append, .., append_long], [_, prepare, .., prepare_long]) =
        (appends.as_slice(), prepares.as_slice())
    {
        report.say(&format!(
            "10,000 turns against 100: append {:.2}, prepare {:.2}.",
            append_long / append,
            prepare_long / prepare
        ));
    }
}

fn add(times: &mut Times, took: std::time::Duration) {
    times.add(took);
}
