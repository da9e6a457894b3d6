//! What other turns keep of one that is erased: nothing, also where they were under way.

use serde_json::{Value, json};
use throughline_engine::creation::NewSession;
use throughline_engine::error::Error;
use throughline_engine::events::Events;
use throughline_engine::piece::{IncludeMode, Source};
use throughline_engine::receipt::ReceiptPiece;
use throughline_engine::request::{ClientRequest, TurnInput};
use throughline_engine::session::record::TurnStatus;
use throughline_engine::turn::{
    Approval, DropIn, DropInTurn, Exchange, ReceiptId, RecordedTurn, TurnOutcome,
};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Line, bench, rule, session};

const SECRET: &str = "Is device secret-sw7 next to device kept-sw1 in rack R13?";

async fn open(bench: &Bench) {
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
}

async fn record(bench: &Bench, message: &str, receipt: Option<String>) -> Option<bool> {
    let turn = RecordedTurn {
        message: message.into(),
        reply: "Noted.".into(),
        receipt,
        ..RecordedTurn::default()
    };
    bench.engine.record(&bench.caller, &session(), turn).await.unwrap().1
}

async fn prepared(bench: &Bench, message: &str) -> String {
    let input = TurnInput { message: message.into(), ..TurnInput::default() };
    let prepared = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
    ReceiptId::of(&prepared.receipt).to_string()
}

async fn erase(bench: &Bench, turn: u64) {
    bench.engine.erase_turns(&bench.caller, &session(), &[turn].into()).await.unwrap();
}

/// Everything of the session, as the store has it.
async fn stored(bench: &Bench) -> String {
    let loaded = bench.engine.session(&bench.caller, &session()).await.unwrap();
    let mut all = serde_json::to_string(&*loaded.head).unwrap();
    for turn in 1..=loaded.head.turns {
        let (_, record) = bench.engine.turn(&bench.caller, &session(), turn).await.unwrap();
        all += &serde_json::to_string(&*record).unwrap();
    }
    all
}

#[tokio::test]
async fn a_request_that_was_prepared_before_is_recorded_without_its_receipt() {
    let bench = bench().start().await;
    open(&bench).await;
    record(&bench, SECRET, None).await;
    let receipt = prepared(&bench, "Is it up?").await;
    erase(&bench, 1).await;
    assert_eq!(record(&bench, "Is it up?", Some(receipt)).await, Some(false));
    let stored = stored(&bench).await;
    assert!(!stored.contains("secret-sw7") && !stored.contains("R13"), "{stored}");
}

/// A client that sends the conversation again with each message.
async fn begun(bench: &Bench, earlier: &[&str], message: &str) -> Box<DropInTurn> {
    let said: Vec<Value> = earlier.iter().chain([&message]).map(|text| json!(text)).collect();
    let request = ClientRequest {
        message: message.into(),
        earlier: earlier.iter().map(ToString::to_string).collect(),
        users: earlier.iter().step_by(2).map(ToString::to_string).collect(),
        body: json!({"system": "You are a clerk.", "messages": said}).to_string(),
        tokens: 20,
    };
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    let begun = bench.engine.begin_drop_in(&bench.caller, new, &request, None).await.unwrap();
    let DropIn::Open(mut open) = begun else { panic!("it has no key") };
    open.handed_on_as(b"bytes");
    open
}

async fn answered(open: Box<DropInTurn>) {
    let exchange = Exchange {
        reply: "Noted.".into(),
        reply_id: None,
        calls: Vec::new(),
        status: TurnStatus::Complete,
        error: None,
        model: "openai/some".into(),
        usage: None,
    };
    open.commit(exchange).await.unwrap();
}

#[tokio::test]
async fn what_a_client_sent_again_goes_and_what_it_sent_alone_stays() {
    let bench = bench().start().await;
    answered(begun(&bench, &[], "Hello there.").await).await;
    answered(begun(&bench, &["Hello there.", "Noted."], SECRET).await).await;
    let all = ["Hello there.", "Noted.", SECRET, "Noted."];
    answered(begun(&bench, &all, "Is it up?").await).await;
    answered(begun(&bench, &[], "How are you, clerk?").await).await;
    let sent = async |turn| {
        let sent = bench.engine.handed_on(&bench.caller, &session(), turn).await;
        sent.map(|sent| sent.map(|sent| sent.body))
    };
    let alone = sent(4).await.unwrap().unwrap();
    assert!(stored(&bench).await.contains("secret-sw7"));
    erase(&bench, 2).await;
    let stored = stored(&bench).await;
    assert!(!stored.contains("secret-sw7") && !stored.contains("R13"), "{stored}");
    assert!(sent(1).await.unwrap().unwrap().contains("Hello there."));
    assert_eq!(sent(3).await.unwrap(), None);
    let (_, last) = bench.engine.turn(&bench.caller, &session(), 4).await.unwrap();
    assert_eq!(last.client_body.as_ref().unwrap().text(None).as_deref(), Some(alone.as_str()));
}

#[tokio::test]
async fn a_turn_that_was_under_way_keeps_nothing_of_it() {
    let bench = bench().start().await;
    answered(begun(&bench, &[], SECRET).await).await;
    let under_way = begun(&bench, &[SECRET, "Noted."], "Is it up?").await;
    erase(&bench, 1).await;
    answered(under_way).await;
    let stored = stored(&bench).await;
    assert!(!stored.contains("secret-sw7") && !stored.contains("R13"), "{stored}");
    assert!(bench.engine.receipt(&bench.caller, &session(), 2).await.is_ok());
}

#[tokio::test]
async fn a_turn_that_waits_for_approval_ends_with_the_next_message() {
    let call = Line::Calls("inventory__delete_device", json!({"device": "sw1"}));
    let lines = [Line::Says("Noted."), call, Line::Says("Fine.")];
    let bench = bench().tools().model(lines).limits(|limits| limits.look_up_ms_max = 0);
    let bench = bench.start().await;
    bench.turn(SECRET).await;
    let waiting = bench.ask("Delete device sw1 beside it").await;
    assert!(matches!(waiting, TurnOutcome::Paused { .. }));
    erase(&bench, 1).await;
    let waits = stored(&bench).await;
    assert!(!waits.contains("secret-sw7") && !waits.contains("R13"), "{waits}");
    let next = bench.turn("How are you?").await;
    assert_eq!((next.turn, next.reply.as_str()), (3, "Fine."));
    let (_, ended) = bench.engine.turn(&bench.caller, &session(), 2).await.unwrap();
    assert_eq!(
        (ended.status, ended.message.as_str()),
        (TurnStatus::Refused, "Delete device sw1 beside it")
    );
}

#[tokio::test]
async fn a_waiting_call_that_names_it_is_withdrawn_and_one_that_the_message_names_waits_on() {
    let call = |device: &str| {
        Line::Calls("inventory__delete_device", json!({"device": device, "note": "R13"}))
    };
    for (message, waits_on) in [("Delete it", false), ("Delete secret-sw7 in R13", true)] {
        let lines = [Line::Says("Noted."), call("secret-sw7"), Line::Says("Fine.")];
        let bench = bench().tools().model(lines).limits(|limits| limits.look_up_ms_max = 0);
        let bench = bench.start().await;
        bench.turn(SECRET).await;
        let TurnOutcome::Paused { pending, .. } = bench.ask(message).await else {
            panic!("it does not wait")
        };
        let call = pending.awaited[0].id.clone();
        erase(&bench, 1).await;
        let waits = stored(&bench).await;
        assert_eq!(waits.contains("secret-sw7") && waits.contains("R13"), waits_on, "{waits}");
        let (id, cancel) = (session(), CancellationToken::new());
        let refuse = Approval::from(false);
        let decided =
            bench.engine.decide(&bench.caller, (&id, &call), refuse, Events::nowhere(), cancel);
        assert_eq!(decided.await.is_ok(), waits_on, "{message}");
        if !waits_on {
            assert_eq!(bench.turn("How are you?").await.turn, 3);
            let (_, ended) = bench.engine.turn(&bench.caller, &session(), 2).await.unwrap();
            assert_eq!((ended.status, ended.message.as_str()), (TurnStatus::Refused, message));
            assert!(!stored(&bench).await.contains("secret-sw7"));
        }
    }
}

#[tokio::test]
async fn a_later_receipt_says_what_is_gone_and_an_earlier_request_is_made_again() {
    let bench = bench().start().await;
    open(&bench).await;
    for message in ["Where is device kept-sw1?", SECRET, "Is it up?", "And device kept-sw1?"] {
        let receipt = prepared(&bench, message).await;
        assert_eq!(record(&bench, message, Some(receipt)).await, Some(true));
    }
    let request = async |turn| bench.engine.request(&bench.caller, &session(), turn).await;
    let first = request(1).await.unwrap();
    let before = bench.engine.receipt(&bench.caller, &session(), 4).await.unwrap();
    erase(&bench, 2).await;
    assert_eq!(request(1).await.unwrap(), first);
    let after = bench.engine.receipt(&bench.caller, &session(), 4).await.unwrap();
    assert_eq!(after.pieces.len(), before.pieces.len());
    let gone = after.pieces.iter().filter(|piece| piece.erased).count();
    assert!(gone >= 3, "the turn and what is known of its things: {:#?}", after.pieces);
    assert!(
        after
            .pieces
            .iter()
            .filter(|piece| !piece.erased)
            .all(|piece| before.pieces.contains(piece) || piece.kept_in.is_some())
    );
    assert!(matches!(request(4).await, Err(Error::NotKept { .. })));
    let said = serde_json::to_string(&after).unwrap();
    assert!(!said.contains("secret-sw7") && !said.contains("R13"), "{said}");
    // What is erased twice stays as it is.
    erase(&bench, 1).await;
    assert!(bench.engine.receipt(&bench.caller, &session(), 4).await.is_ok());
}

/// Its text is kept with the turn that first used it, which is the one that goes.
#[tokio::test]
async fn the_text_of_a_rule_stays_where_a_later_turn_names_it() {
    let brief = rule("brief", IncludeMode::Always, "Be brief, and name the rack.");
    let bench = bench().rule(brief).start().await;
    open(&bench).await;
    for message in [SECRET, "Is it up?", "How are you?"] {
        let receipt = prepared(&bench, message).await;
        record(&bench, message, Some(receipt)).await;
    }
    erase(&bench, 1).await;
    for turn in [2, 3] {
        let receipt = bench.engine.receipt(&bench.caller, &session(), turn).await.unwrap();
        let is_rule = |piece: &&ReceiptPiece| matches!(piece.source, Source::Rule { .. });
        let rule = receipt.pieces.iter().find(is_rule).expect("the rule");
        let kept =
            bench.engine.kept_text(&bench.caller, &session(), turn, rule.hash.as_str()).await;
        assert!(kept.unwrap().contains("Be brief"), "turn {turn}");
    }
}
