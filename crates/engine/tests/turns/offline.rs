//! Replies without a model and without a tool: what is written down, and what was said earlier.

use throughline_engine::piece::IncludeMode;

use crate::bench::{bench, rule};

#[tokio::test]
async fn a_rule_that_fits_better_than_any_tool_is_the_answer() {
    let text = "Holidays are requested two weeks ahead in the staff portal.";
    let holidays = rule("holidays", IncludeMode::Agent, text);
    let bench = bench().tools().rule(holidays).start().await;
    let turn = bench.turn("how are holidays requested in the staff portal?").await;
    assert!(turn.reply.contains(&format!("- rule holidays: {text}")), "{}", turn.reply);
    assert!(bench.tools.names().is_empty());
}

#[tokio::test]
async fn a_tool_that_is_asked_for_comes_before_a_rule() {
    let text = "To show device names, show device labels first.";
    let bench = bench().tools().rule(rule("labels", IncludeMode::Agent, text)).start().await;
    let turn = bench.turn("show device sw1").await;
    assert_eq!(bench.tools.names(), ["get_device"], "{}", turn.reply);
}

#[tokio::test]
async fn neither_a_question_nor_an_empty_reply_is_told_as_an_answer() {
    let bench = bench().start().await;
    bench.turn("what colour are the storage cables?").await;
    let again = bench.turn("which colour do storage cables have?").await;
    assert!(again.reply.starts_with("I found no tool and nothing said earlier"), "{}", again.reply);
    bench.turn("the storage cables are blue").await;
    let known = bench.turn("what colour are the storage cables?").await;
    assert!(known.reply.contains("- turn 3: the storage cables are blue"), "{}", known.reply);
    assert_eq!(known.reply.matches("- turn").count(), 1, "{}", known.reply);
}
