//! What a drop-in endpoint adds to the provider's own: the same request directly, without a session, and with one.

use serde_json::json;
use throughline_testkit::scripted_model::{ScriptedModel, Step, Turn};
use tokio::runtime::Runtime;

use super::bench::{Bench, Size, words};
use super::table::{Report, Times, ms};
use super::wire::Wire;

/// Header lines of a request in a session.
const SESSION: &str = "authorization: Bearer none\r\nx-session-id: drop-in\r\n";

/// The scripted model directly, then through us.
pub(crate) fn measure(runtime: &Runtime, size: &Size, report: &mut Report) {
    let reply = words(1, 800);
    let said = move |_: &_| Some(Turn::Say(vec![Step::Text(reply.clone())]));
    let model = runtime.block_on(ScriptedModel::answering(said));
    let url = model.openai_url();
    let environment = [("OPENAI_BASE_URL", url.clone()), ("OPENAI_API_KEY", "none".to_owned())];
    let bench = Bench::start(runtime, &environment);
    let host = url.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let ways = [
        ("the provider directly", Wire::to_model(&host)),
        ("through us, without a session", bench.wire().with("authorization: Bearer none\r\n")),
        ("through us, with a session", bench.wire().with(SESSION)),
    ];
    let mut ways = ways.map(|(name, wire)| (name, wire, Times::default()));
    // In turn, so that all three see the same machine.
    for number in 0..size.samples {
        let body = json!({ "model": "gpt-5.4-mini",
            "messages": [{ "role": "user", "content": words(number, 200) }] });
        for (_, wire, times) in &mut ways {
            times.add(wire.post("/v1/chat/completions", &body).took);
        }
    }
    report.say("`POST /v1/chat/completions`, not streamed, in milliseconds; in a session the exchange is durable when it is answered:");
    let rows = ways.map(|(name, _, mut times)| {
        vec![name.to_owned(), ms(times.percentile(50)), ms(times.percentile(99))]
    });
    report.table(&["", "p50", "p99"], &rows);
}
