//! A server that ends while a call is under way: what the next one finds, says and does not do again.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use throughline_engine::engine::ToolRequest;
use throughline_engine::error::Error;
use throughline_engine::events::Events;
use throughline_engine::request::TurnInput;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::session::record::{TurnRecord, TurnStatus};
use throughline_engine::store::Store;
use throughline_engine::tool::ToolName;
use throughline_engine::turn::{TurnOutcome, TurnRequest};
use throughline_store::memory::Memory;
use throughline_store::sqlite::Sqlite;
use throughline_testkit::peer;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Line, bench, session};

const MESSAGE: &str = "Set device sw1 to offline";

fn key() -> Option<RequestKey> {
    Some(RequestKey::new("k", b"body"))
}

fn change() -> Line {
    Line::Calls("inventory__update_device", json!({"device": "sw1", "status": "offline"}))
}

/// A server whose tool never answers.
async fn hanging(store: &Arc<dyn Store>, allowed: bool) -> Bench {
    let bench = bench().tools().model([change(), Line::Says("Done.")]).on(store.clone());
    let bench = bench.limits(|limits| limits.look_up_ms_max = 0);
    let bench = if allowed { bench.allow("update_device") } else { bench };
    let bench = bench.start().await;
    *bench.tools.hangs.lock().unwrap() = Some("update_device");
    bench
}

/// The next server on the same store.
async fn next(store: &Arc<dyn Store>, after: Duration) -> Bench {
    let lines = [Line::Says("Hello.")];
    bench().tools().allow("update_device").model(lines).on(store.clone()).later(after).start().await
}

/// Works until the tool was called, and is gone then, as after SIGKILL.
async fn killed(bench: &Bench, work: impl Future<Output = Result<TurnOutcome, Error>>) {
    let called = async {
        while bench.tools.names().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        outcome = work => panic!("it ended: {outcome:?}"),
        () = called => {}
    }
}

fn check_unknown(record: &TurnRecord) {
    assert_eq!(
        (record.turn, record.status, record.message.as_str()),
        (1, TurnStatus::Failed, MESSAGE)
    );
    let error = record.error.as_ref().unwrap();
    assert_eq!(error.code, "outcome_unknown");
    assert!(error.message.contains("inventory:update_device"), "{}", error.message);
    assert!(record.calls[0].outcome_unknown, "{:?}", record.calls);
    assert_eq!(record.calls[0].arguments["status"], "offline");
}

#[tokio::test]
async fn a_call_that_was_under_way_is_in_the_record_and_the_retry_does_not_repeat_it() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let first = hanging(&store, true).await;
    killed(&first, first.ask_with(MESSAGE, key())).await;
    let second = next(&store, Duration::from_secs(1)).await;
    for _ in 0..2 {
        let outcome = second.ask_with(MESSAGE, key()).await.unwrap();
        let TurnOutcome::Finished { record, repeated, .. } = outcome else { panic!("it waits") };
        check_unknown(&record);
        assert!(repeated);
    }
    assert!(second.tools.names().is_empty(), "the tool ran again");
    assert_eq!(second.turn("Are you there?").await.turn, 2);
}

#[tokio::test]
async fn a_call_that_a_shutdown_interrupts_has_an_unknown_outcome() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let first = hanging(&store, true).await;
    let request = TurnRequest {
        session: Some(session()),
        input: TurnInput { message: MESSAGE.into(), ..TurnInput::default() },
        key: key(),
        ..TurnRequest::default()
    };
    let cancel = CancellationToken::new();
    let events = Events::nowhere();
    let stopped = async {
        while first.tools.names().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let asked = first.engine.converse(&first.caller, request, events, cancel.clone());
    let (outcome, ()) = tokio::join!(asked, stopped);
    let TurnOutcome::Finished { record, .. } = outcome.unwrap() else { panic!("it waits") };
    check_unknown(&record);
    let second = next(&store, Duration::from_secs(1)).await;
    let outcome = second.ask_with(MESSAGE, key()).await.unwrap();
    let TurnOutcome::Finished { record, .. } = outcome else { panic!("it waits") };
    check_unknown(&record);
    assert!(second.tools.names().is_empty(), "the tool ran again");
}

#[tokio::test]
async fn a_reply_that_a_shutdown_interrupts_was_not_stopped_by_its_user() {
    let interrupted = "the server stopped before the reply was whole";
    for (shuts_down, code, message) in
        [(true, "interrupted", interrupted), (false, "cancelled", "stopped")]
    {
        let call = Line::Calls("inventory__get_device", json!({"device": "sw1"}));
        let bench = bench().tools().limits(|limits| limits.look_up_ms_max = 0);
        let bench = bench.model([call]).start().await;
        *bench.tools.hangs.lock().unwrap() = Some("get_device");
        let input = TurnInput { message: "How is device sw1?".into(), ..TurnInput::default() };
        let request = TurnRequest { session: Some(session()), input, ..TurnRequest::default() };
        let cancel = CancellationToken::new();
        let stopped = async {
            while bench.tools.names().is_empty() {
                tokio::task::yield_now().await;
            }
            if shuts_down {
                bench.engine.interrupt_turns();
            }
            cancel.cancel();
        };
        let asked =
            bench.engine.converse(&bench.caller, request, Events::nowhere(), cancel.clone());
        let (outcome, ()) = tokio::join!(asked, stopped);
        let TurnOutcome::Finished { record, .. } = outcome.unwrap() else { panic!("it waits") };
        let error = record.error.as_ref().unwrap();
        assert_eq!((error.code.as_str(), error.message.as_str()), (code, message), "{error:?}");
        assert_eq!(error.cause.is_none(), shuts_down, "{error:?}");
    }
}

enum Ends {
    TimeIsOver,
    OthersHaveGone,
}

#[tokio::test]
async fn where_others_may_be_at_work_a_turn_is_given_up_when_its_time_is_over() {
    check_given_up(Ends::TimeIsOver).await;
}

#[tokio::test]
async fn where_nobody_else_has_the_store_open_a_turn_is_given_up_at_once() {
    check_given_up(Ends::OthersHaveGone).await;
}

#[tokio::test]
async fn a_call_outside_a_turn_whose_server_is_gone_has_an_unknown_outcome_at_once() {
    let folder = peer::folder();
    let path = folder.path().join("crash.db");
    let store: Arc<dyn Store> =
        Arc::new(Sqlite::open(&path, Duration::from_secs(5)).await.unwrap());
    let request = || ToolRequest {
        session: None,
        agent: None,
        by_hand: false,
        tool: ToolName { server: "inventory".into(), name: "update_device".into() },
        arguments: json!({"device": "sw1", "status": "offline"}),
        key: key(),
        approved: false,
    };
    let first = hanging(&store, true).await;
    let calling = first.engine.call_tool(&first.caller, request(), CancellationToken::new());
    let called = async {
        while first.tools.names().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        outcome = calling => panic!("it ended: {outcome:?}"),
        () = called => {}
    }
    // The same server, and one that shares the store, wait for it.
    let other = Sqlite::open(&path, Duration::from_secs(5)).await.unwrap();
    let second = next(&store, Duration::from_secs(1)).await;
    for bench in [&first, &second] {
        let again = bench.engine.call_tool(&bench.caller, request(), CancellationToken::new());
        let again = again.await;
        assert!(matches!(again, Err(Error::UnderWay { .. })), "{again:?}");
    }
    drop(other);
    let again = second.engine.call_tool(&second.caller, request(), CancellationToken::new()).await;
    assert!(matches!(again, Err(Error::OutcomeUnknown { .. })), "{again:?}");
    assert!(second.tools.names().is_empty(), "the tool ran again");
}

async fn check_given_up(ends: Ends) {
    let folder = peer::folder();
    let path = folder.path().join("crash.db");
    let store: Arc<dyn Store> =
        Arc::new(Sqlite::open(&path, Duration::from_secs(5)).await.unwrap());
    let first = hanging(&store, true).await;
    killed(&first, first.ask_with(MESSAGE, key())).await;
    let other = Sqlite::open(&path, Duration::from_secs(5)).await.unwrap();
    let second = next(&store, Duration::from_secs(1)).await;
    let early = second.ask_with(MESSAGE, key()).await;
    assert!(matches!(early, Err(Error::UnderWay { .. })), "{early:?}");
    match ends {
        Ends::TimeIsOver => second.clock.advance(Duration::from_secs(300)),
        Ends::OthersHaveGone => drop(other),
    }
    let outcome = second.ask_with(MESSAGE, key()).await.unwrap();
    let TurnOutcome::Finished { record, .. } = outcome else { panic!("it waits") };
    check_unknown(&record);
    assert!(second.tools.names().is_empty(), "the tool ran again");
}

#[tokio::test]
async fn an_approved_call_that_was_under_way_was_not_refused() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let first = hanging(&store, false).await;
    let outcome = first.ask_with(MESSAGE, key()).await.unwrap();
    let TurnOutcome::Paused { pending, .. } = outcome else { panic!("it ran unasked") };
    let (id, call) = (session(), pending.awaited[0].id.clone());
    let cancel = CancellationToken::new();
    let approved =
        first.engine.decide(&first.caller, (&id, &call), true, Events::nowhere(), cancel);
    killed(&first, approved).await;
    let second = next(&store, Duration::from_secs(1)).await;
    assert_eq!(second.turn("Are you there?").await.turn, 2);
    let (loaded, record) = second.engine.turn(&second.caller, &session(), 1).await.unwrap();
    check_unknown(&record);
    assert!(loaded.head.pending.is_none() && loaded.head.unsettled.is_empty());
    let outcome = second.ask_with(MESSAGE, key()).await.unwrap();
    assert!(matches!(outcome, TurnOutcome::Finished { repeated: true, .. }), "{outcome:?}");
    assert!(second.tools.names().is_empty(), "the tool ran again");
}

#[tokio::test]
async fn a_call_whose_turn_ended_leaves_no_note() {
    let lines = [change(), Line::Says("Done.")];
    let bench = bench().tools().allow("update_device").model(lines).start().await;
    assert!(bench.turn(MESSAGE).await.calls[0].ok());
    let head = bench.engine.session(&bench.caller, &session()).await.unwrap().head;
    assert!(head.unsettled.is_empty());
}
