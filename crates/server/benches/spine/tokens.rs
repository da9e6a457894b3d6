//! Tokens sent a turn, beside sending the whole history or the last 50 exchanges.

use serde_json::json;
use throughline_engine::mode::PromptMode;
use throughline_engine::{mode, prompt, tokens};
use tokio::runtime::Runtime;

use super::bench::{Bench, exchange, fill, words};
use super::table::Report;

/// Exchanges that the replaying design sends.
const REPLAYED: usize = 50;

/// Tokens by the length of the conversation, the stable share, and the modes.
pub(crate) fn measure(runtime: &Runtime, report: &mut Report) {
    let bench = Bench::start(runtime, &[]);
    let mut wire = bench.wire();
    let mut rows = Vec::new();
    let mut said: Vec<u32> = Vec::new();
    let mut from = 0;
    for length in [10, 50, 200] {
        fill(&mut wire, "tokens", from, length);
        said.extend((from..length).map(|number| {
            let turn = exchange(number);
            ["message", "reply"]
                .map(|part| tokens::count(turn[part].as_str().unwrap()))
                .iter()
                .sum::<u32>()
        }));
        from = length;
        let message = words(length, 200);
        let prepare = |wire: &mut super::wire::Wire, message: &str| {
            let body = json!({ "message": message });
            wire.post("/api/v1/conversations/tokens/prepare", &body).json()
        };
        let answer = prepare(&mut wire, &message);
        let pieces = answer["receipt"]["pieces"].as_array().cloned().unwrap_or_default();
        let sent = pieces.iter().filter(|piece| piece["included"] == json!(true));
        let ours: u64 = sent.filter_map(|piece| piece["tokens"].as_u64()).sum();
        let now = tokens::count(&message);
        let whole: u32 = said.iter().sum::<u32>() + now;
        let replayed: u32 = said.iter().rev().take(REPLAYED).sum::<u32>() + now;
        rows.push(vec![
            length.to_string(),
            ours.to_string(),
            whole.to_string(),
            replayed.to_string(),
        ]);
    }
    report.say("Tokens sent with the next message (turns of about 1,000 characters), beside replaying the whole history and the last 50 exchanges, neither of which counts any instructions:");
    report.table(&["turns", "ours", "whole history", "50 exchanges"], &rows);
    stable(&mut wire, report);
    modes(report);
}

/// How much of a request is the same as in the turn before, over offline chat turns.
fn stable(wire: &mut super::wire::Wire, report: &mut Report) {
    wire.post("/api/v1/conversations", &json!({ "id": "stable" }));
    let (mut same, mut all) = (0, 0);
    for number in 0..12 {
        let body = json!({ "message": words(number, 200), "conversation_id": "stable" });
        wire.post("/api/v1/chat", &body);
        let path = format!("/api/v1/conversations/stable/turns/{}/context", number + 1);
        let receipt = wire.get(&path).json();
        let pieces = receipt["pieces"].as_array().cloned().unwrap_or_default();
        let sent = pieces.iter().filter(|piece| piece["included"] == json!(true));
        if number > 0 {
            same += receipt["stable_prefix_tokens"].as_u64().unwrap_or(0);
            all += sent.filter_map(|piece| piece["tokens"].as_u64()).sum::<u64>();
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    let share = same as f64 / (all.max(1)) as f64 * 100.0;
    report.say(&format!("Stable prefix over turns 2 to 12 of a conversation: {share:.0} % of the tokens sent ({same} of {all})."));
}

/// One mode's guidance at a time, against all of them in one prompt.
fn modes(report: &mut Report) {
    use PromptMode::{Analysis, Creation, General, Modification, Search};
    let core: u32 = [prompt::CORE, prompt::TOOLS, prompt::ERRORS].map(tokens::count).iter().sum();
    let each = [General, Creation, Search, Modification, Analysis].map(|chosen| {
        (chosen.as_str(), mode::guidance(chosen, "").map_or(0, |piece| tokens::count(&piece.text)))
    });
    let all: u32 = core + each.iter().map(|(_, tokens)| tokens).sum::<u32>();
    let rows: Vec<Vec<String>> = each
        .iter()
        .map(|(name, tokens)| vec![(*name).to_owned(), (core + tokens).to_string()])
        .chain([vec!["all modes in one prompt".into(), all.to_string()]])
        .collect();
    report.say("Instructions by mode, in tokens, against one prompt for all of them:");
    report.table(&["mode", "tokens"], &rows);
}
