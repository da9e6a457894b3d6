//! What is recalled of a session with long replies: the user's own statements, and of replies the part that fits.

use throughline_engine::piece::{HistoryPart, Source};
use throughline_engine::request::TurnInput;
use throughline_engine::turn::{ReceiptId, RecordedTurn};

use crate::bench::{Bench, bench, session};

/// A reply of some 250 words, with one sentence of its own in the middle.
fn reply(about: &str, fact: &str) -> String {
    let advice = |at: usize| {
        format!(
            "{at}. Think about {about} early, compare a few ways to go about it, and write down what matters most to \
             you before you decide, because changing it later costs time and money.\n"
        )
    };
    let (before, after) = ((1..4).map(advice), (5..8).map(advice));
    format!(
        "Good question!\n{}4. {fact}\n{}",
        before.collect::<String>(),
        after.collect::<String>()
    )
}

async fn told() -> Bench {
    let bench = bench().start().await;
    let new = throughline_engine::creation::NewSession {
        id: Some(session()),
        ..throughline_engine::creation::NewSession::default()
    };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    let topics =
        ["the boiler", "a bicycle", "the garden wall", "a winter coat", "the attic", "a desk"];
    for (at, about) in topics.iter().cycle().take(24).enumerate() {
        let message = match at {
            1 => {
                "I want to cycle to the office. The spare key of our cellar hangs behind the coats. Any advice?"
            }
            _ => "Any advice on it?",
        };
        let fact = match at {
            3 => "For wool I would buy from the mill in Hawick, which repairs for ten years."
                .to_owned(),
            _ => format!("For {about} I would wait until spring."),
        };
        let turn = RecordedTurn {
            message: format!("About {about}. {message}"),
            reply: reply(about, &fact),
            ..RecordedTurn::default()
        };
        bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    }
    bench
}

fn asked(message: &str) -> TurnInput {
    TurnInput { message: message.into(), budget_tokens: Some(1_000), ..TurnInput::default() }
}

#[tokio::test]
async fn a_statement_of_the_user_is_found_among_long_replies() {
    let bench = told().await;
    let input = asked("Where is the spare key of the cellar?");
    let prepared = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
    let is_it = |source: &Source| {
        matches!(source, Source::Recalled { turn: 2, part: HistoryPart::Message, .. })
    };
    let found = prepared.sent.iter().find(|sent| is_it(&sent.piece.source)).unwrap();
    assert!(found.piece.text.contains("behind the coats"), "{}", found.piece.text);
    assert!(prepared.receipt.budget.used_tokens <= 1_000);
}

#[tokio::test]
async fn of_a_long_reply_the_part_that_fits_is_shown_and_rebuilt() {
    let bench = told().await;
    let message = "Which mill did you recommend for wool?";
    let input = TurnInput { budget_tokens: Some(800), ..asked(message) };
    let prepared = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
    let is_it = |source: &Source| {
        matches!(
            source,
            Source::Recalled { turn: 4, part: HistoryPart::Reply, excerpt: Some(_), .. }
        )
    };
    let found = prepared.sent.iter().find(|sent| is_it(&sent.piece.source)).unwrap();
    let text = &found.piece.text;
    assert!(text.starts_with("assistant: […] ") && text.contains("Hawick"), "{text}");
    assert!(found.piece.tokens < 120, "{}", found.piece.tokens);

    let turn = RecordedTurn {
        message: input.message.clone(),
        reply: "The one in Hawick.".into(),
        receipt: Some(ReceiptId::of(&prepared.receipt).to_string()),
        ..RecordedTurn::default()
    };
    let (recorded, kept) = bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    assert_eq!(kept, Some(true));
    let rebuilt = bench.engine.request(&bench.caller, &session(), recorded.turn).await.unwrap();
    assert_eq!(rebuilt, prepared.request);
}

#[tokio::test]
async fn what_is_told_to_get_help_brings_little_and_a_question_much() {
    let bench = told().await;
    let recalled = async |message: &str| {
        let input = TurnInput { budget_tokens: Some(4_000), ..asked(message) };
        let prepared = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
        let recalled = prepared.sent.iter().filter(|sent| sent.piece.is_recalled());
        recalled.map(|sent| sent.piece.tokens).sum::<u32>()
    };
    let short =
        recalled("Which advice on the boiler, the attic, the desk and the wall was there?").await;
    let long = recalled(
        "I am about to order a new boiler for the house. The attic has to be insulated too, and the desk and the \
         garden wall come after that in spring. Which of these would be the best to begin with?",
    )
    .await;
    assert!(long <= 600 && short > 2 * long, "{short} and {long}");
}
