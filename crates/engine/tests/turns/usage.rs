//! Which items a reply used, turn after turn and over sessions.

use serde_json::json;
use throughline_engine::id::AgentName;
use throughline_engine::piece::IncludeMode;

use crate::bench::{Bench, Line, bench, rule, session};

const CABLES: &str = "Patch cables are labelled at both ends with rack, unit and port.";
const POLITE: &str = "Wish the customer a pleasant afternoon.";

/// `name used/sent` of every item in the session, and `!name` for those worth removing.
async fn counted(bench: &Bench) -> String {
    let usage = bench.engine.session_usage(&bench.caller, &session()).await.unwrap();
    let items = usage.items.iter().map(|u| format!("{} {}/{}", u.item, u.used, u.sent));
    let unused = usage.unused.iter().map(|u| format!("!{}", u.item));
    items.chain(unused).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn an_item_is_counted_on_later_turns_too_whose_records_do_not_keep_its_text() {
    let says = || Line::Says("Labelled with rack and unit, and the port, at both ends.");
    let lines: Vec<Line> = (0..6).map(|_| says()).collect();
    let bench = bench()
        .rule(rule("cabling", IncludeMode::Always, CABLES))
        .rule(rule("courtesy", IncludeMode::Always, POLITE))
        .model(lines)
        .start()
        .await;
    for _ in 0..6 {
        bench.turn("What do I write on it?").await;
    }
    assert_eq!(counted(&bench).await, "rule cabling 6/6, rule courtesy 0/6, !rule courtesy");
}

#[tokio::test]
async fn the_text_that_was_sent_counts_even_after_the_rule_says_something_else() {
    let call = Line::Calls("inventory__delete_device", json!({"device": "sw1"}));
    let labelled = "Labelled with rack and unit, and the port, at both ends.";
    let lines = [Line::Says("Yes."), call, Line::Says(labelled)];
    let cabling = rule("cabling", IncludeMode::Always, CABLES);
    let bench = bench().tools().rule(cabling).model(lines).start().await;
    bench.turn("Are you there?").await;
    bench.ask("Delete sw1 and say what I write on it.").await;
    bench.reload(vec![rule("cabling", IncludeMode::Always, "Use colours.")], true);
    let (events, stop) = (Default::default(), Default::default());
    bench.engine.decide(&bench.caller, (&session(), "c1"), true, events, stop).await.unwrap();
    let counts = counted(&bench).await;
    assert!(counts.ends_with("rule cabling 1/2"), "{counts}");
    assert!(counts.contains("tool inventory:delete_device 1/2"), "{counts}");
}

#[tokio::test]
async fn words_that_the_message_or_another_item_has_too_show_nothing() {
    let says = Line::Says("The rack has one unit and one port; both ends are free.");
    let other = "Rack, unit, port: both ends.";
    let bench = bench()
        .rule(rule("cabling", IncludeMode::Always, CABLES))
        .rule(rule("words", IncludeMode::Always, other))
        .model([says])
        .start()
        .await;
    bench.turn("Anything?").await;
    assert_eq!(counted(&bench).await, "rule cabling 0/1, rule words 0/1");
}

#[tokio::test]
async fn the_receipt_says_which_items_the_reply_referred_to() {
    let bench = bench()
        .rule(rule("cabling", IncludeMode::Always, CABLES))
        .rule(rule("courtesy", IncludeMode::Always, POLITE))
        .model([Line::Says("See the rule on cabling.")])
        .start()
        .await;
    bench.turn("What do I write on it?").await;
    let receipt = bench.engine.receipt(&bench.caller, &session(), 1).await.unwrap();
    let used: Vec<_> =
        receipt.pieces.iter().filter(|p| p.used).map(|p| json!(p.source)["name"].clone()).collect();
    assert_eq!(used, ["cabling"]);
}

#[tokio::test]
async fn sessions_of_an_agent_add_up_item_by_item() {
    let lines = [Line::Says("See cabling."), Line::Says("No."), Line::Says("No.")];
    let cabling = rule("cabling", IncludeMode::Always, CABLES);
    let bench = bench().rule(cabling).model(lines).start().await;
    bench.turn("What do I write on it?").await;
    bench.turn("Anything else?").await;
    let other = throughline_engine::creation::NewSession {
        id: Some(throughline_engine::id::SessionId::new("other").unwrap()),
        ..Default::default()
    };
    bench.engine.create_session(&bench.caller, other).await.unwrap();
    let name = AgentName::new("default").unwrap();
    let usage = bench.engine.agent_usage(&bench.caller, &name).await.unwrap();
    assert_eq!(usage.sessions, 2);
    let found = serde_json::to_value(&usage.items).unwrap();
    let expected =
        json!([{"type": "rule", "name": "cabling", "sent": 2, "used": 1, "sessions": 1}]);
    assert_eq!(found, expected);
}
