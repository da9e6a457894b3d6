//! Notes on condensed turns: made with the request, improved by a model, history whole.

use throughline_engine::creation::NewSession;
use throughline_engine::limits::Limits;
use throughline_engine::piece::{HistoryPart, Source};
use throughline_engine::receipt::{DropReason, ReceiptPiece};
use throughline_engine::turn::RecordedTurn;

use crate::bench::{Bench, Line, bench, session};

async fn with_turns(bench: &Bench, count: usize) {
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    for number in 1..=count {
        let turn = RecordedTurn {
            message: format!("Question {number} is about the harbour of Lisbon."),
            reply: format!("Answer {number} names pier {number} and the ferry."),
            ..RecordedTurn::default()
        };
        bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    }
}

#[tokio::test]
async fn the_oldest_turns_are_condensed_and_stay_in_the_log() {
    let bench = bench().limits(|limits| limits.window_turns = 15).start().await;
    with_turns(&bench, 11).await;
    let turn = bench.turn("What now?").await;
    let loaded = bench.engine.session(&bench.caller, &session()).await.unwrap();
    let summary = loaded.head.summary.as_ref().expect("a summary");
    assert_eq!((summary.from, summary.to, summary.by.as_str()), (1, 5, "extraction"));
    assert!(
        summary.text.contains("3 user: Question 3 is about the harbour of Lisbon"),
        "{summary:?}"
    );
    assert_eq!(bench.engine.export(&bench.caller, &session()).await.unwrap().turns.len(), 12);
    let receipt = turn.receipt.as_ref().unwrap();
    let fate = |number: u64| {
        let is_it = |p: &&ReceiptPiece| matches!(p.source, Source::History { turn, part: HistoryPart::Message } if turn == number);
        receipt.pieces.iter().find(is_it).map(|piece| piece.dropped)
    };
    assert_eq!(fate(5), Some(Some(DropReason::Condensed)));
    assert_eq!(fate(6), Some(None));
    let notes = receipt.pieces.iter().find(|p| matches!(p.source, Source::Summary { to: 5, .. }));
    assert!(notes.is_some_and(ReceiptPiece::sent));
}

#[tokio::test]
async fn a_model_improves_the_notes_and_extraction_stays_where_it_fails() {
    let window = |limits: &mut Limits| limits.window_turns = 15;
    let lines = [Line::Says("Fine."), Line::Says("They asked eleven things.")];
    let works = bench().model(lines).limits(window).start().await;
    with_turns(&works, 11).await;
    works.turn("What now?").await;
    works.engine.background().work_on(&works.caller.session_key(&session())).await.unwrap();
    let head = works.engine.session(&works.caller, &session()).await.unwrap().head.clone();
    let summary = head.summary.as_ref().unwrap();
    assert_eq!(
        (summary.by.as_str(), summary.text.as_str(), summary.to),
        ("scripted/model", "They asked eleven things.", 5)
    );

    let fails = bench().model([Line::Says("Fine."), Line::Fails]).limits(window).start().await;
    with_turns(&fails, 11).await;
    fails.turn("What now?").await;
    fails.engine.background().work_on(&fails.caller.session_key(&session())).await.unwrap();
    let head = fails.engine.session(&fails.caller, &session()).await.unwrap().head.clone();
    assert_eq!(head.summary.as_ref().unwrap().by, "extraction");
}
