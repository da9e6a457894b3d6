//! What a chat turn adds to calling the model directly, with a model that answers at once.

use serde_json::json;
use throughline_testkit::scripted_model::{ScriptedModel, Step, Turn};
use tokio::runtime::Runtime;

use super::bench::{Bench, Size, words};
use super::table::{Report, Times, ms};
use super::wire::{Answered, Wire};

/// The scripted model directly, then through us.
pub(crate) fn measure(runtime: &Runtime, size: &Size, report: &mut Report) {
    let reply = words(1, 800);
    let said = move |_: &_| Some(Turn::Say(vec![Step::Text(reply.clone())]));
    let model = runtime.block_on(ScriptedModel::answering(said));
    let url = model.openai_url();
    let environment = [("OPENAI_BASE_URL", url.clone()), ("OPENAI_API_KEY", "none".to_owned())];
    let bench = Bench::start(runtime, &environment);
    let host = url.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let mut direct = Wire::to_model(&host);
    let mut ours = bench.wire();
    ours.post("/api/v1/conversations", &json!({ "id": "chat" }));
    let (mut alone, mut whole, mut streamed) = <(Cell, Cell, Cell)>::default();
    for number in 0..size.samples {
        let message = words(number, 200);
        let plain = json!({ "model": "gpt-5.4-mini", "stream": true, "max_completion_tokens": 1000,
            "stream_options": { "include_usage": true },
            "messages": [{ "role": "user", "content": message.clone() }] });
        alone.add(&direct.post("/v1/chat/completions", &plain));
        let body = json!({ "message": message, "conversation_id": "chat" });
        whole.add(&ours.post("/api/v1/chat", &body));
        streamed.add(&ours.post("/api/v1/chat/stream", &body));
    }
    report.say("A chat turn, durable when it is answered, beside calling the same scripted model directly, in milliseconds:");
    let rows = [
        alone.row("the model directly, streamed"),
        whole.row("POST /chat"),
        streamed.row("POST /chat/stream"),
    ];
    report.table(&["", "p50", "p99", "first byte p50", "first byte p99"], &rows);
}

#[derive(Default)]
struct Cell {
    took: Times,
    first: Times,
}

impl Cell {
    fn add(&mut self, answered: &Answered) {
        self.took.add(answered.took);
        self.first.add(answered.first_byte);
    }

    fn row(&mut self, name: &str) -> Vec<String> {
        let figures = [
            self.took.percentile(50),
            self.took.percentile(99),
            self.first.percentile(50),
            self.first.percentile(99),
        ];
        std::iter::once(name.to_owned()).chain(figures.map(ms)).collect()
    }
}
