//! The window: what is kept, what is dropped, and what is said about it.

use throughline_engine::error::Error;
use throughline_engine::piece::{IncludeMode, Source};
use throughline_engine::receipt::DropReason;
use throughline_engine::request::TurnInput;
use throughline_engine::turn::RecordedTurn;

use crate::bench::{Bench, bench, rule, session};

async fn with_turns(bench: &Bench, count: usize) {
    use throughline_engine::creation::NewSession;
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    for number in 0..count {
        let turn = RecordedTurn {
            message: format!("question {number} about the weather in town {number}"),
            reply: format!("answer {number}: it rains").repeat(20),
            ..RecordedTurn::default()
        };
        bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    }
}

#[tokio::test]
async fn a_small_budget_drops_the_oldest_history_first_and_says_so() {
    let bench = bench().start().await;
    with_turns(&bench, 12).await;
    let input = TurnInput {
        message: "and tomorrow?".into(),
        budget_tokens: Some(1_200),
        ..TurnInput::default()
    };
    let context = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
    let budget = context.receipt.budget;
    assert!(budget.used_tokens <= 1_200, "{budget:?}");
    let dropped: Vec<u64> = context
        .receipt
        .pieces
        .iter()
        .filter(|piece| piece.dropped.is_some())
        .filter_map(|piece| match piece.source {
            Source::History { turn, .. } => Some(turn),
            _ => None,
        })
        .collect();
    assert!(dropped.contains(&1) && !dropped.contains(&12), "{dropped:?}");
}

#[tokio::test]
async fn a_budget_that_cannot_hold_the_message_is_an_error() {
    let bench = bench().start().await;
    with_turns(&bench, 1).await;
    let input =
        TurnInput { message: "hello".into(), budget_tokens: Some(10), ..TurnInput::default() };
    let outcome = bench.engine.prepare(&bench.caller, &session(), &input).await;
    assert!(matches!(outcome, Err(Error::OverBudget { budget: 10, .. })));
}

#[tokio::test]
async fn a_budget_that_cannot_hold_the_rules_that_always_apply_is_an_error() {
    let long = "Always be careful with the ferry. ".repeat(300);
    let bench = bench().rule(rule("ferry", IncludeMode::Always, &long)).start().await;
    with_turns(&bench, 1).await;
    let input =
        TurnInput { message: "hello".into(), budget_tokens: Some(1_000), ..TurnInput::default() };
    let outcome = bench.engine.prepare(&bench.caller, &session(), &input).await;
    let Err(Error::OverBudget { needed, budget: 1_000 }) = outcome else { panic!("it is sent") };
    assert!(needed > 2_000, "{needed}");
}

#[tokio::test]
async fn older_turns_are_recalled_beyond_the_window() {
    let bench = bench().start().await;
    with_turns(&bench, 40).await;
    let message = "what about the weather in town 3?".to_owned();
    let input = TurnInput { message, budget_tokens: Some(2_000), ..TurnInput::default() };
    let context = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
    let recalled = context
        .receipt
        .pieces
        .iter()
        .any(|piece| piece.sent() && matches!(piece.source, Source::Recalled { turn: 4, .. }));
    assert!(recalled, "{:#?}", context.receipt.pieces);
}

#[tokio::test]
async fn a_rule_that_changed_is_rebuilt_as_it_was() {
    let old = rule("tone", IncludeMode::Always, "Be brief.");
    let bench = bench().rule(old).start().await;
    bench.turn("hello").await;
    bench.reload(vec![rule("tone", IncludeMode::Always, "Be verbose.")], false);
    bench.turn("hello again").await;
    let text = |request: &throughline_engine::model::ModelRequest| {
        serde_json::to_string(&request.system).unwrap()
    };
    let first = bench.engine.request(&bench.caller, &session(), 1).await.unwrap();
    let second = bench.engine.request(&bench.caller, &session(), 2).await.unwrap();
    assert!(text(&first).contains("Be brief.") && !text(&first).contains("verbose"));
    assert!(text(&second).contains("Be verbose."));
}

#[tokio::test]
async fn agent_items_come_when_they_fit_and_are_reported_when_they_do_not() {
    let bench = bench()
        .rule(rule("weather", IncludeMode::Agent, "Weather reports give rain in millimetres."))
        .rule(rule("cooking", IncludeMode::Agent, "Recipes list ingredients before steps."))
        .start()
        .await;
    let turn = bench.turn("weather reports: give rain in millimetres").await;
    let fate = |name: &str| {
        let pieces = &turn.receipt.as_ref().unwrap().pieces;
        pieces
            .iter()
            .find(|p| matches!(&p.source, Source::Rule { name: n, .. } if n == name))
            .map(|p| (p.dropped, p.score.is_some()))
    };
    assert_eq!(fate("weather"), Some((None, true)));
    assert_eq!(fate("cooking"), Some((Some(DropReason::NotRelevant), true)));
}

#[tokio::test]
async fn an_agent_item_that_is_alone_is_judged_like_any_other() {
    let only = rule("weather", IncludeMode::Agent, "Weather reports give rain in millimetres.");
    let bench = bench().rule(only).start().await;
    let mut fates = Vec::new();
    for message in ["weather reports: give rain in millimetres", "who won the chess match"] {
        let turn = bench.turn(message).await;
        let pieces = &turn.receipt.as_ref().unwrap().pieces;
        let piece = pieces.iter().find(|piece| matches!(&piece.source, Source::Rule { .. }));
        fates.push(piece.unwrap().dropped);
    }
    assert_eq!(fates, [None, Some(DropReason::NotRelevant)]);
}

#[tokio::test]
async fn two_agent_items_that_both_fit_both_come() {
    let bench = bench()
        .rule(rule("weather", IncludeMode::Agent, "Weather reports give rain in millimetres."))
        .rule(rule("reports", IncludeMode::Agent, "Weather reports give rain by day."))
        .start()
        .await;
    let turn = bench.turn("weather reports: give rain in millimetres by day").await;
    for piece in &turn.receipt.as_ref().unwrap().pieces {
        if let Source::Rule { name, .. } = &piece.source {
            assert!(piece.sent(), "{name} was left out at {:?}", piece.score);
        }
    }
}
