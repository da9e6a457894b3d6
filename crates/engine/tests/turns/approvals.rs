//! Calls that somebody has to approve, and definitions that changed.

use serde_json::json;
use throughline_engine::error::Error;
use throughline_engine::events::{Events, TurnEvent};
use throughline_engine::request::TurnInput;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::session::record::TurnStatus;
use throughline_engine::tool::ToolName;
use throughline_engine::turn::{TurnOutcome, TurnRequest};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Line, bench, session};
use crate::copies::sqlite;

/// A bench whose tools are called by the model alone, so that calls can be counted.
async fn only_called(lines: impl Into<Vec<Line>>) -> Bench {
    bench().tools().model(lines).limits(|limits| limits.look_up_ms_max = 0).start().await
}

async fn paused() -> (Bench, String) {
    let call = Line::Calls("inventory__delete_device", json!({"device": "sw1"}));
    let bench = only_called([call, Line::Says("Done.")]).await;
    let TurnOutcome::Paused { pending, .. } = bench.ask("Delete device sw1").await else {
        panic!("a destructive call ran without approval");
    };
    assert!(bench.tools.called.lock().unwrap().is_empty());
    (bench, pending.awaited[0].id.clone())
}

async fn decide(bench: &Bench, call: &str, approve: bool) -> Result<TurnOutcome, Error> {
    let (events, cancel) = (Events::nowhere(), CancellationToken::new());
    bench.engine.decide(&bench.caller, (&session(), call), approve, events, cancel).await
}

#[tokio::test]
async fn an_approved_call_runs_and_the_request_stays_frozen() {
    let (bench, call) = paused().await;
    let TurnOutcome::Finished { record, .. } = decide(&bench, &call, true).await.unwrap() else {
        panic!("it did not go on");
    };
    assert_eq!(record.reply, "Done.");
    let stages: Vec<&str> = record.stages.iter().map(|stage| stage.name.as_str()).collect();
    let (model, tool) = ("model scripted/model", "tool inventory:delete_device");
    assert_eq!(stages, ["recall", model, "approval", tool, model]);
    assert_eq!(bench.tools.called.lock().unwrap().len(), 1);
    let requests = bench.model.requests.lock().unwrap();
    let (before, after) = (&requests[0], &requests[1]);
    assert_eq!(before.system, after.system);
    assert_eq!(before.messages[..], after.messages[..before.messages.len()]);
}

#[tokio::test]
async fn a_waiting_call_can_be_approved_after_an_earlier_turn_was_erased() {
    for approve in [true, false] {
        let call = Line::Calls("inventory__delete_device", json!({"device": "sw1"}));
        let lines = [Line::Says("Noted."), call, Line::Says("Done.")];
        let bench = only_called(lines).await;
        bench.turn("The codeword is quokka").await;
        let TurnOutcome::Paused { pending, .. } = bench.ask("Delete device sw1").await else {
            panic!("a destructive call ran without approval");
        };
        bench.engine.erase_turns(&bench.caller, &session(), &[1].into()).await.unwrap();
        let decided = decide(&bench, &pending.awaited[0].id, approve).await.unwrap();
        let TurnOutcome::Finished { record, .. } = decided else { panic!("it did not go on") };
        assert_eq!((record.turn, record.reply.as_str()), (2, "Done."));
        assert_eq!(bench.tools.called.lock().unwrap().len(), usize::from(approve));
        let requests = bench.model.requests.lock().unwrap();
        let last = format!("{:?}", requests.last().unwrap());
        assert!(!last.contains("quokka"), "{last}");
    }
}

#[tokio::test]
async fn a_refused_call_does_not_run_and_the_model_is_told() {
    let (bench, call) = paused().await;
    let TurnOutcome::Finished { record, .. } = decide(&bench, &call, false).await.unwrap() else {
        panic!("it did not go on");
    };
    assert!(record.calls[0].error.as_ref().unwrap().contains("did not approve"));
    assert!(bench.tools.called.lock().unwrap().is_empty());
}

#[tokio::test]
async fn whoever_is_told_of_a_call_can_decide_it_at_once() {
    let call = Line::Calls("inventory__delete_device", json!({"device": "sw1"}));
    // A store that writes on another thread, so that whoever waits for the event runs before the write ends.
    let (store, _folder) = sqlite().await;
    let model = [call, Line::Says("Done.")];
    let bench = bench().on(store).tools().model(model);
    let bench = bench.limits(|limits| limits.look_up_ms_max = 0).start().await;
    let (sender, mut told) = tokio::sync::mpsc::unbounded_channel();
    let request = TurnRequest {
        session: Some(session()),
        input: TurnInput { message: "Delete device sw1".into(), ..TurnInput::default() },
        ..TurnRequest::default()
    };
    let (events, cancel) = (Events::to(sender), CancellationToken::new());
    let asking = bench.engine.converse(&bench.caller, request, events, cancel);
    let deciding = async {
        loop {
            if let TurnEvent::Approval(call) = told.recv().await.unwrap() {
                break decide(&bench, &call.id, false).await;
            }
        }
    };
    let (asked, decided) = tokio::join!(asking, deciding);
    assert!(matches!(asked.unwrap(), TurnOutcome::Paused { .. }));
    assert!(matches!(decided.unwrap(), TurnOutcome::Finished { .. }));
}

#[tokio::test]
async fn a_call_is_decided_once() {
    let (bench, call) = paused().await;
    decide(&bench, &call, true).await.unwrap();
    assert!(matches!(decide(&bench, &call, true).await, Err(Error::NoApproval { .. })));
    assert_eq!(bench.tools.called.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_approval_that_nobody_gives_expires() {
    let (bench, call) = paused().await;
    bench.clock.advance(std::time::Duration::from_secs(4_000));
    assert!(matches!(decide(&bench, &call, true).await, Err(Error::NoApproval { .. })));
    assert!(bench.tools.called.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_expired_approval_becomes_a_turn_though_nobody_comes_back() {
    let (bench, _) = paused().await;
    let key = bench.caller.session_key(&session());
    bench.engine.background().work_on(&key).await.unwrap();
    let turns = bench.engine.session(&bench.caller, &session()).await.unwrap().head.turns;
    assert_eq!(turns, 0, "it still waits");
    bench.clock.advance(std::time::Duration::from_secs(4_000));
    assert_eq!(bench.engine.background().find_due().await.unwrap(), 1, "a restart finds it");
    for _ in 0..2 {
        bench.engine.background().work_on(&key).await.unwrap();
    }
    let session = bench.engine.session(&bench.caller, &session()).await.unwrap();
    assert_eq!((session.head.turns, session.head.pending.is_none()), (1, true));
    let (_, turn) = bench.engine.turn(&bench.caller, &session.head.id, 1).await.unwrap();
    assert_eq!((turn.status, turn.message.as_str()), (TurnStatus::Refused, "Delete device sw1"));
    assert_eq!(turn.error.as_ref().unwrap().code, "approval_expired");
    assert!(!bench.tools.names().contains(&"delete_device".to_owned()));
}

#[tokio::test]
async fn the_same_keyed_request_finds_its_pause_and_later_its_turn() {
    let call = Line::Calls("inventory__delete_device", json!({"device": "sw1"}));
    let bench = only_called([call]).await;
    let key = |body: &[u8]| Some(RequestKey::new("k", body));
    for _ in 0..2 {
        let outcome = bench.ask_with("Delete device sw1", key(b"a")).await.unwrap();
        assert!(matches!(outcome, TurnOutcome::Paused { .. }), "{outcome:?}");
    }
    let other = bench.ask_with("Delete device sw2", key(b"b")).await;
    assert!(matches!(other, Err(Error::KeyReused { .. })), "{other:?}");
    bench.clock.advance(std::time::Duration::from_secs(4_000));
    let outcome = bench.ask_with("Delete device sw1", key(b"a")).await.unwrap();
    let TurnOutcome::Finished { record, repeated, .. } = outcome else { panic!("it still waits") };
    assert_eq!((record.turn, record.status, repeated), (1, TurnStatus::Refused, true));
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1, "the model was asked once");
}

#[tokio::test]
async fn a_new_message_ends_the_waiting_and_nothing_is_lost() {
    let (bench, _) = paused().await;
    let next = bench.turn("Never mind").await;
    assert_eq!(next.turn, 2);
    let (_, first) = bench.engine.turn(&bench.caller, &session(), 1).await.unwrap();
    assert_eq!((first.status, first.message.as_str()), (TurnStatus::Refused, "Delete device sw1"));
}

#[tokio::test]
async fn a_changed_definition_does_not_run_until_it_is_approved() {
    let call = || Line::Calls("inventory__get_device", json!({"device": "sw1"}));
    let lines = [call(), Line::Says("1"), call(), Line::Says("2"), call(), Line::Says("3")];
    let bench = only_called(lines).await;
    bench.turn("show device sw1").await;
    *bench.tools.description.lock().unwrap() = "Shows a device, with all of its ports.".into();
    let changed = bench.turn("show device sw1").await;
    assert!(!changed.calls[0].ok(), "{:?}", changed.calls);
    let tool = ToolName { server: "inventory".into(), name: "get_device".into() };
    bench.engine.approve_tool(&bench.caller, &tool).await.unwrap();
    let approved = bench.turn("show device sw1").await;
    assert!(approved.calls[0].ok());
    assert_eq!(bench.tools.called.lock().unwrap().len(), 2);
}
