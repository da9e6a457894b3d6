//! What a message is enriched with is made once, and never served after a change.

use throughline_engine::entity::{EntityRef, Kind};
use throughline_engine::request::TurnInput;

use crate::bench::{Bench, Line, bench, session};

async fn talked() -> Bench {
    let bench =
        bench().tools().model([Line::Says("Noted."), Line::Says("Noted, too.")]).start().await;
    bench.turn("Note that rack R12 is the blue one").await;
    bench
}

async fn prepared(bench: &Bench, message: &str) -> String {
    let input = TurnInput { message: message.into(), ..TurnInput::default() };
    let context = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
    format!("{:?}", context.request)
}

#[tokio::test]
async fn the_same_message_to_an_unchanged_session_is_enriched_once() {
    let bench = talked().await;
    let before = bench.engine.enrichment_statistics();
    let first = prepared(&bench, "which rack?").await;
    let second = prepared(&bench, "which rack?").await;
    assert_eq!(first, second);
    let after = bench.engine.enrichment_statistics();
    assert_eq!((after.hits - before.hits, after.misses - before.misses), (1, 1));
    bench.clock.advance(std::time::Duration::from_secs(601));
    prepared(&bench, "which rack?").await;
    assert_eq!(bench.engine.enrichment_statistics().misses, after.misses + 1, "ten minutes passed");
}

#[tokio::test]
async fn a_change_of_the_session_is_never_served_stale() {
    let bench = talked().await;
    let topic = |request: &str| request.contains("R77");
    assert!(!topic(&prepared(&bench, "which one is it?").await));
    bench.turn("Note that rack R77 is the red one").await;
    assert!(topic(&prepared(&bench, "which one is it?").await), "a turn was added");

    let right = EntityRef { kind: Kind::new("rack"), name: "R99".into(), id: None };
    bench.engine.correct_entity(&bench.caller, &session(), None, right).await.unwrap();
    let hits = bench.engine.enrichment_statistics().hits;
    prepared(&bench, "which one is it?").await;
    assert_eq!(bench.engine.enrichment_statistics().hits, hits, "the session was corrected");
}

#[tokio::test]
async fn agents_that_were_replaced_are_enriched_for_anew() {
    let bench = talked().await;
    prepared(&bench, "which rack?").await;
    let hits = bench.engine.enrichment_statistics().hits;
    bench.reload(Vec::new(), true);
    prepared(&bench, "which rack?").await;
    assert_eq!(bench.engine.enrichment_statistics().hits, hits);
}

#[tokio::test]
async fn an_erased_session_leaves_nothing_behind() {
    let bench = talked().await;
    prepared(&bench, "which rack?").await;
    bench.engine.erase(&bench.caller, &session()).await.unwrap();
    bench.turn("Hello").await;
    assert!(!prepared(&bench, "which rack?").await.contains("R12"));
}

#[tokio::test]
async fn what_was_forgotten_stays_forgotten_until_it_is_named_again() {
    let bench = bench().start().await;
    bench.turn("look at device core-sw-01 in rack R12").await;
    let known = async || {
        let list = bench.engine.entities(&bench.caller, &session()).await.unwrap();
        let names: Vec<String> =
            list.entities.iter().map(|view| view.entity.entity.to_string()).collect();
        (names.contains(&"rack R12".to_owned()), list.more_known)
    };
    assert!(known().await.0);
    bench.engine.forget_entity(&bench.caller, &session(), "rack", "R12").await.unwrap();
    bench.turn("hello").await;
    assert_eq!(known().await, (false, 0), "the log brings it back");
    bench.turn("show rack R12").await;
    assert!(known().await.0);
}
