//! Requests grow at their end: each begins with the one before, until a compaction.

use throughline_engine::creation::NewSession;
use throughline_engine::error::Error;
use throughline_engine::limits::Limits;
use throughline_engine::model::{Block, ModelRequest};
use throughline_engine::piece::{IncludeMode, Source};
use throughline_engine::receipt::{DropReason, Receipt};
use throughline_engine::request::TurnInput;
use throughline_engine::session::head::Settings;
use throughline_engine::session::record::TurnError;
use throughline_engine::turn::{ReceiptId, RecordedTurn};

use crate::bench::{Bench, Line, bench, rule, session};

/// The request as one text in the order in which providers read it.
fn flat(request: &ModelRequest) -> String {
    let mut text: String = request.tools.iter().map(|tool| format!("{tool:?}\n")).collect();
    text.extend(request.system.iter().map(|block| format!("{}\n", block.text)));
    for message in &request.messages {
        for block in &message.content {
            if let Block::Text { text: said, .. } = block {
                text.push_str(&format!("{:?}: {said}\n", message.role));
            }
        }
    }
    text
}

fn input(message: &str, budget: Option<u32>) -> TurnInput {
    TurnInput { message: message.into(), budget_tokens: budget, ..TurnInput::default() }
}

async fn open(bench: &Bench) {
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
}

/// Prepares a message and records its exchange with the receipt; the request and the receipt.
async fn exchange(
    bench: &Bench,
    message: &str,
    reply: &str,
    budget: Option<u32>,
) -> (String, Receipt) {
    let input = input(message, budget);
    let prepared = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
    let receipt = Some(ReceiptId::of(&prepared.receipt).to_string());
    let turn = RecordedTurn {
        message: message.into(),
        reply: reply.into(),
        receipt,
        ..RecordedTurn::default()
    };
    let (_, kept) = bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    assert_eq!(kept, Some(true));
    (flat(&prepared.request), prepared.receipt.clone())
}

const LONG: &str = "It rained in the morning, the tram was late and we walked along the river. ";

#[tokio::test]
async fn each_request_begins_with_the_one_before_until_a_compaction() {
    let bench = bench().start().await;
    open(&bench).await;
    let (mut before, mut compactions) = (String::new(), 0);
    for number in 1..=40 {
        let message = format!("Message {number}: Anna moved to house {number}.");
        let (request, receipt) = exchange(&bench, &message, &LONG.repeat(3), Some(1_500)).await;
        match &receipt.broken_by {
            None => assert!(request.starts_with(&before), "request {number} edits the one before"),
            Some(why) => {
                assert!(why.starts_with("compaction"), "{why}");
                compactions += 1;
            }
        }
        assert_eq!(receipt.continues.is_some(), number > 1 && receipt.broken_by.is_none());
        before = request;
    }
    assert!((1..=8).contains(&compactions), "{compactions} compactions of 40 turns");
}

#[tokio::test]
async fn a_compaction_leaves_room_for_the_next_turns() {
    let bench = bench().start().await;
    open(&bench).await;
    let mut last_compaction = 0;
    for number in 1..=60 {
        // Every third message brings something in, which a compaction drops first.
        let message = match number % 3 {
            0 => format!("What did Anna say about house {}?", number / 3),
            _ => format!("Anna says that house {number} has {number} rooms."),
        };
        let (_, receipt) = exchange(&bench, &message, "Good to know.", Some(1_200)).await;
        let reason = receipt.broken_by.unwrap_or_default();
        if reason.contains("high mark") {
            // A question may use the whole budget; the message after it starts anew.
            let after_question = number % 3 == 1;
            let is_spaced = number > last_compaction + 2 || after_question;
            assert!(is_spaced, "turns {last_compaction} and {number}");
            last_compaction = number;
        }
    }
    assert!(last_compaction > 0);
}

#[tokio::test]
async fn every_request_is_rebuilt_to_the_byte_across_compactions_and_after_a_restart() {
    let bench = bench().start().await;
    open(&bench).await;
    let mut requests = Vec::new();
    for number in 1..=25 {
        let message = format!("Message {number}: Anna moved to house {number}.");
        requests.push(exchange(&bench, &message, &LONG.repeat(3), Some(1_200)).await);
    }
    let again = crate::bench::bench().on(bench.store.clone()).start().await;
    for (at, (request, receipt)) in requests.iter().enumerate() {
        let turn = at as u64 + 1;
        let rebuilt = again.engine.request(&again.caller, &session(), turn).await.unwrap();
        assert_eq!(flat(&rebuilt), *request, "turn {turn}");
        let stored = again.engine.receipt(&again.caller, &session(), turn).await.unwrap();
        let sent = |receipt: &Receipt| receipt.pieces.iter().filter(|p| p.sent()).count();
        assert_eq!(sent(&stored), sent(receipt), "turn {turn}");
    }
    let (next, _) = exchange(&again, "And now?", "Nothing.", Some(1_200)).await;
    let other = &requests.last().unwrap().0;
    assert!(
        next.starts_with(other) || next.contains("some sentences of turns"),
        "a restart changes nothing"
    );
}

#[tokio::test]
async fn what_was_recalled_stays_with_its_turn_and_does_not_come_twice() {
    let shares = |limits: &mut Limits| {
        limits.summaries = false;
        (limits.compact_at, limits.compact_to, limits.recall_share_asking) = (0.9, 0.2, 0.4);
    };
    let bench = bench().limits(shares).start().await;
    open(&bench).await;
    exchange(&bench, "My sister Marta lives in Gdansk.", "Noted.", Some(900)).await;
    for number in 0..16 {
        exchange(&bench, &format!("Item {number} is done."), &LONG.repeat(2), Some(900)).await;
    }
    let question = "Where does my sister Marta live?";
    let (first, receipt) = exchange(&bench, question, "In Gdansk.", Some(900)).await;
    assert!(first.contains("My sister Marta lives in Gdansk."), "{first}");
    let marta = |receipt: &Receipt| {
        let mut found = receipt.pieces.iter();
        found.any(|piece| piece.sent() && matches!(piece.source, Source::Recalled { turn: 1, .. }))
    };
    assert!(marta(&receipt));
    let (second, receipt) = exchange(&bench, question, "Still in Gdansk.", Some(900)).await;
    assert!(second.starts_with(&first));
    assert_eq!(second.matches("My sister Marta lives in Gdansk.").count(), 1);
    let since = receipt.pieces.iter().find(|piece| {
        piece.dropped == Some(DropReason::AlreadyPresent)
            && matches!(piece.source, Source::Recalled { turn: 1, .. })
    });
    assert!(since.is_some_and(|piece| piece.since.is_some()), "{:#?}", receipt.pieces);
}

#[tokio::test]
async fn a_rule_that_is_edited_breaks_the_prefix_once_and_is_named() {
    let bench = bench()
        .rule(rule("tone", IncludeMode::Always, "Be brief."))
        .model([Line::Says("One."), Line::Says("Two."), Line::Says("Three."), Line::Says("Four.")])
        .start()
        .await;
    let mut broken = Vec::new();
    for (at, message) in ["one", "two", "three", "four"].into_iter().enumerate() {
        if at == 2 {
            bench.reload(vec![rule("tone", IncludeMode::Always, "Be verbose.")], false);
        }
        let turn = bench.turn(message).await;
        let receipt = bench.engine.receipt(&bench.caller, &session(), turn.turn).await.unwrap();
        broken.push(receipt.broken_by);
    }
    assert_eq!(broken, [None, None, Some("rule tone has changed".into()), None]);
    let request = bench.engine.request(&bench.caller, &session(), 4).await.unwrap();
    let said = flat(&request);
    assert!(said.contains("Be verbose.") && !said.contains("Be brief."), "{said}");
    assert!(said.contains("User: one") && said.contains("Assistant: Three."), "{said}");
}

#[tokio::test]
async fn a_rule_that_is_edited_after_a_restart_leaves_a_request_that_can_be_rebuilt() {
    let lines = || [Line::Says("One."), Line::Says("Two."), Line::Says("Three.")];
    let brief = || rule("tone", IncludeMode::Always, "Be brief.");
    let first = bench().rule(brief()).model(lines()).start().await;
    for message in ["one", "two"] {
        first.turn(message).await;
    }
    let again = bench().on(first.store.clone()).rule(brief()).model(lines()).start().await;
    again.reload(vec![rule("tone", IncludeMode::Always, "Be verbose.")], false);
    for (message, earlier) in [("three", 4), ("four", 6)] {
        let turn = again.turn(message).await.turn;
        let said = flat(&again.engine.request(&again.caller, &session(), turn).await.unwrap());
        assert!(said.contains("User: one") && said.ends_with(&format!("{message}\n")), "{said}");
        let receipt = again.engine.receipt(&again.caller, &session(), turn).await.unwrap();
        let sent = |wanted: fn(&Source) -> bool| {
            receipt.pieces.iter().filter(|piece| piece.sent() && wanted(&piece.source)).count()
        };
        let said = [
            sent(|source| matches!(source, Source::History { .. })),
            sent(|source| matches!(source, Source::Message)),
        ];
        assert_eq!(said, [earlier, 1], "{message}: {:#?}", receipt.pieces);
    }
}

#[tokio::test]
async fn a_turn_that_is_written_while_another_is_under_way_is_in_the_next_request() {
    let bench = bench().start().await;
    open(&bench).await;
    exchange(&bench, "The harbour opens at seven.", "Noted.", None).await;
    let prepare = async |message: &str| {
        bench.engine.prepare(&bench.caller, &session(), &input(message, None)).await.unwrap()
    };
    let codes: Vec<String> =
        (1..=20).map(|at| format!("Locker {at} has the code 70{at}.")).collect();
    let mut prepared = Vec::new();
    for message in &codes {
        prepared.push(prepare(message).await);
    }
    for (message, prepared) in codes.iter().zip(&prepared).rev() {
        let turn = RecordedTurn {
            message: message.clone(),
            reply: "Noted.".into(),
            receipt: Some(ReceiptId::of(&prepared.receipt).to_string()),
            ..RecordedTurn::default()
        };
        bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    }
    let mut before = flat(&prepared[0].request);
    for question in ["Which codes are there?", "And which one opens locker 4?"] {
        let (request, receipt) = exchange(&bench, question, "Several.", None).await;
        assert!(request.starts_with(&before) && receipt.broken_by.is_none(), "{request}");
        for code in &codes {
            assert_eq!(request.matches(code.as_str()).count(), 1, "{code}: {request}");
        }
        let turn = receipt.continues.unwrap() + 1;
        let rebuilt = bench.engine.request(&bench.caller, &session(), turn).await.unwrap();
        assert_eq!(flat(&rebuilt), request);
        before = request;
    }
}

#[tokio::test]
async fn a_budget_that_changes_costs_one_compaction() {
    let bench = bench().start().await;
    open(&bench).await;
    let mut broken = Vec::new();
    for number in 0..24 {
        let budget = if number < 12 { 4_000 } else { 1_000 };
        let said =
            exchange(&bench, &format!("Item {number}."), &LONG.repeat(3), Some(budget)).await;
        broken.push(said.1.broken_by.is_some());
    }
    assert!(broken[12], "the smaller budget has no room for the request before");
    assert_eq!(broken[13..16], [false; 3], "{broken:?}");
}

#[tokio::test]
async fn a_failed_turn_is_in_the_log_and_not_in_the_history() {
    let bench = bench().start().await;
    open(&bench).await;
    exchange(&bench, "First.", "Fine.", None).await;
    let failed = RecordedTurn {
        message: "Second, which failed.".into(),
        error: Some(TurnError::new("model_failed", "401 Unauthorized: bad key")),
        ..RecordedTurn::default()
    };
    bench.engine.record(&bench.caller, &session(), failed).await.unwrap();
    let (third, receipt) = exchange(&bench, "Third.", "Fine again.", None).await;
    assert!(!third.contains("bad key") && !third.contains("which failed"), "{third}");
    assert_eq!(receipt.continues, Some(1));
}

#[tokio::test]
async fn an_exchange_without_its_receipt_is_continued_with_its_words_alone() {
    let bench = bench().start().await;
    open(&bench).await;
    let (first, _) = exchange(&bench, "First.", "Fine.", None).await;
    let bare = RecordedTurn {
        message: "Second, told without a receipt.".into(),
        reply: "Heard.".into(),
        ..RecordedTurn::default()
    };
    bench.engine.record(&bench.caller, &session(), bare).await.unwrap();
    let (third, receipt) = exchange(&bench, "Third.", "Fine again.", None).await;
    assert!(third.starts_with(&first) && third.contains("Second, told"), "{third}");
    assert_eq!(receipt.continues, Some(1));
    let rebuilt = bench.engine.request(&bench.caller, &session(), 3).await.unwrap();
    assert_eq!(flat(&rebuilt), third);
}

#[tokio::test]
async fn an_erased_turn_starts_the_request_anew_without_it() {
    let bench = bench().start().await;
    open(&bench).await;
    for message in ["The secret is 4711.", "Something else.", "And more."] {
        exchange(&bench, message, "Noted.", None).await;
    }
    bench.engine.erase_turns(&bench.caller, &session(), &[1].into()).await.unwrap();
    let (next, receipt) = exchange(&bench, "What now?", "Nothing.", None).await;
    assert!(!next.contains("4711") && next.contains("Something else."), "{next}");
    assert_eq!(receipt.continues, None);
}

#[tokio::test]
async fn days_are_told_where_they_change_and_in_the_users_zone() {
    let bench = bench().start().await;
    bench.clock.set("2024-01-01T00:00:00Z".parse().unwrap());
    let settings = Settings { timezone: Some("Asia/Tokyo".into()), ..Settings::default() };
    let new = NewSession { id: Some(session()), settings, ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    let said = [
        ("2023-05-08T13:00:00Z", "We met."),
        ("2023-05-08T16:00:00Z", "We met again, past midnight."),
    ];
    for (at, message) in said {
        let turn = RecordedTurn {
            message: message.into(),
            reply: "Nice.".into(),
            at: Some(at.parse().unwrap()),
            ..RecordedTurn::default()
        };
        bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    }
    let asked = input("When did we meet?", None);
    let prepared = bench.engine.prepare(&bench.caller, &session(), &asked).await.unwrap();
    let request = flat(&prepared.request);
    let places: Vec<Option<usize>> = [
        "[8 May 2023]",
        "We met.",
        "[9 May 2023]",
        "past midnight",
        "[today: Monday, 1 January 2024]",
    ]
    .map(|words| request.find(words))
    .to_vec();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{request}");
    for wrong in ["2023-01-01T00:00:00Z", "2024-01-02T00:00:00Z"] {
        let turn = RecordedTurn {
            message: "Before all that, or after today.".into(),
            at: Some(wrong.parse().unwrap()),
            ..RecordedTurn::default()
        };
        let refused = bench.engine.record(&bench.caller, &session(), turn).await;
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{wrong}: {refused:?}");
    }
}

#[tokio::test]
async fn the_cost_of_a_request_stands_beside_that_of_replaying_everything() {
    let bench = bench().start().await;
    open(&bench).await;
    for number in 0..30 {
        exchange(&bench, &format!("Item {number} is done."), &LONG.repeat(4), Some(1_000)).await;
    }
    let (_, receipt) = exchange(&bench, "And now.", "Fine.", Some(1_000)).await;
    assert!(receipt.replay.tokens > 2_000, "{:?}", receipt.replay);
    assert!(receipt.stable_prefix_tokens > 0);
    assert!(receipt.effective_tokens() < f64::from(receipt.budget.used_tokens));
    let head = bench.engine.session(&bench.caller, &session()).await.unwrap().head.clone();
    assert!(head.usage.stable_tokens > head.usage.request_tokens / 2, "{:?}", head.usage);
    assert!(head.usage.replay.tokens > head.usage.request_tokens);
}

#[tokio::test]
async fn days_of_exchanges_that_are_recorded_for_the_past_can_be_told_apart() {
    let said = [
        ("2024-03-04T09:00:00Z", "Alpha one."),
        ("2024-03-04T10:00:00Z", "Alpha two."),
        ("2024-03-11T09:00:00Z", "Beta one."),
    ];
    // Where the application says with `prepare` when the message was said, its day stands in front of it.
    let (march, today) = ("[today: Monday, 4 March 2024]", "[today: Saturday, 1 June 2024]");
    let above = "[the exchange above: 4 March 2024]";
    for (says_when, expected) in [
        (
            true,
            &[march, "Alpha one.", "Alpha two.", "[today: Monday, 11 March 2024]", "Beta one."][..],
        ),
        (
            false,
            &[
                today,
                "Alpha one.",
                above,
                "Alpha two.",
                "Beta one.",
                "[the exchange above: 11 March 2024]",
            ][..],
        ),
    ] {
        let bench = bench().start().await;
        bench.clock.set("2024-06-01T00:00:00Z".parse().unwrap());
        open(&bench).await;
        for (at, message) in said {
            let at = Some(at.parse().unwrap());
            let asked = TurnInput { at: at.filter(|_| says_when), ..input(message, None) };
            let prepared = bench.engine.prepare(&bench.caller, &session(), &asked).await.unwrap();
            let turn = RecordedTurn {
                message: message.into(),
                reply: "Noted.".into(),
                at,
                receipt: Some(ReceiptId::of(&prepared.receipt).to_string()),
                ..RecordedTurn::default()
            };
            bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
        }
        // One that was recorded without a request of its own.
        let turn = RecordedTurn {
            message: "Gamma one.".into(),
            at: Some("2024-04-02T09:00:00Z".parse().unwrap()),
            ..RecordedTurn::default()
        };
        bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
        let asked = input("And now?", None);
        let request = bench.engine.prepare(&bench.caller, &session(), &asked).await.unwrap();
        let mut rest = flat(&request.request);
        let after = ["[2 April 2024]", "Gamma one.", today, "And now?"];
        for words in expected.iter().chain(&after) {
            let place = rest.find(words).unwrap_or_else(|| panic!("{words}: {rest}"));
            assert!(!rest[..place].contains('['), "{words}: {rest}");
            rest = rest.split_off(place + words.len());
        }
        let early = TurnInput { at: Some("2024-01-01T00:00:00Z".parse().unwrap()), ..asked };
        let refused = bench.engine.prepare(&bench.caller, &session(), &early).await;
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{:?}", refused.err());
    }
}
