//! Summaries: made in the background, polite to newer turns, history whole.

use throughline_engine::creation::NewSession;
use throughline_engine::piece::Source;
use throughline_engine::turn::RecordedTurn;

use crate::bench::{Bench, Line, bench, session};

async fn with_turns(bench: &Bench, count: usize) {
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    for number in 1..=count {
        let turn = RecordedTurn {
            message: format!("Question {number}."),
            reply: format!("Answer {number}."),
            ..RecordedTurn::default()
        };
        bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    }
}

#[tokio::test]
async fn the_oldest_turns_are_condensed_and_stay_in_the_log() {
    let bench = bench().start().await;
    with_turns(&bench, 11).await;
    bench.engine.background().work_on(&bench.caller.session_key(&session())).await.unwrap();
    let loaded = bench.engine.session(&bench.caller, &session()).await.unwrap();
    let summary = loaded.head.summary.as_ref().expect("a summary");
    assert_eq!((summary.from, summary.to, summary.by.as_str()), (1, 5, "extraction"));
    assert!(summary.text.contains("1. Asked: Question 1. Answered: Answer 1."));
    assert_eq!(bench.engine.export(&bench.caller, &session()).await.unwrap().turns.len(), 11);
    let turn = bench.turn("What now?").await;
    let receipt = turn.receipt.as_ref().unwrap();
    let verbatim = |number: u64| {
        receipt
            .pieces
            .iter()
            .any(|p| matches!(p.source, Source::History { turn, .. } if turn == number))
    };
    assert!(receipt.pieces.iter().any(|p| matches!(p.source, Source::Summary { to: 5, .. })));
    assert!(!verbatim(5) && verbatim(6));
}

#[tokio::test]
async fn a_model_condenses_and_extraction_helps_out_when_it_fails() {
    let works = bench().model([Line::Says("They asked eleven things.")]).start().await;
    with_turns(&works, 11).await;
    works.engine.background().work_on(&works.caller.session_key(&session())).await.unwrap();
    let head = works.engine.session(&works.caller, &session()).await.unwrap().head.clone();
    let summary = head.summary.as_ref().unwrap();
    assert_eq!(
        (summary.by.as_str(), summary.text.as_str()),
        ("scripted/model", "They asked eleven things.")
    );

    let fails = bench().model([Line::Fails]).start().await;
    with_turns(&fails, 11).await;
    fails.engine.background().work_on(&fails.caller.session_key(&session())).await.unwrap();
    let head = fails.engine.session(&fails.caller, &session()).await.unwrap().head.clone();
    assert_eq!(head.summary.as_ref().unwrap().by, "extraction");
}
