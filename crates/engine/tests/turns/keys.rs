//! Idempotency keys: the same key answers the same turn and runs nothing again.

use throughline_engine::error::Error;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::turn::TurnOutcome;

use crate::bench::{Line, bench};

fn key(body: &str) -> Option<RequestKey> {
    Some(RequestKey::new("key-1", body.as_bytes()))
}

#[tokio::test]
async fn the_same_key_answers_the_same_turn_and_runs_no_model_again() {
    let bench = bench().model([Line::Says("Once.")]).start().await;
    let first = bench.ask_with("Hello", key("a")).await.unwrap();
    let again = bench.ask_with("Hello", key("a")).await.unwrap();
    let (
        TurnOutcome::Finished { record: first, .. },
        TurnOutcome::Finished { record, repeated, .. },
    ) = (first, again)
    else {
        panic!("a turn waits for approval");
    };
    assert!(repeated);
    assert_eq!(first, record);
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_same_key_with_another_body_is_refused() {
    let bench = bench().model([Line::Says("Once.")]).start().await;
    bench.ask_with("Hello", key("a")).await.unwrap();
    let other = bench.ask_with("Goodbye", key("b")).await;
    assert!(matches!(other, Err(Error::KeyReused { .. })));
}

#[tokio::test]
async fn two_at_once_with_one_key_make_one_turn() {
    let bench = bench().model([Line::Says("Once."), Line::Says("Twice.")]).start().await;
    let (one, two) =
        tokio::join!(bench.ask_with("Hello", key("a")), bench.ask_with("Hello", key("a")));
    let made = [&one, &two].iter().filter(|outcome| outcome.is_ok()).count();
    let waiting = |outcome: &Result<_, Error>| matches!(outcome, Err(Error::UnderWay { .. }));
    assert!(made == 2 || waiting(&one) || waiting(&two));
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
}
