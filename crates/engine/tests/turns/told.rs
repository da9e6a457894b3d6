//! What a user told in one session and asks in another, without a model: answered, or not known, and forgotten where
//! that was asked for.
//!
//! The rows of `data/memory-blind.json` were written from the text alone, before the code was read.

use serde::Deserialize;
use throughline_engine::access::Caller;
use throughline_engine::events::Events;
use throughline_engine::id::SessionId;
use throughline_engine::piece::IncludeMode;
use throughline_engine::request::TurnInput;
use throughline_engine::session::head::Settings;
use throughline_engine::session::record::TurnStatus;
use throughline_engine::turn::{TurnOutcome, TurnRequest};
use tokio_util::sync::CancellationToken;

use crate::across;
use crate::bench::{Bench, bench, rule};

#[derive(Deserialize)]
struct Row {
    /// Messages of the first session.
    tell: Vec<String>,
    /// The message of the second.
    ask: String,
    /// What the answer must hold.
    #[serde(default)]
    has: Vec<String>,
    /// What it must not hold.
    #[serde(default)]
    not: Vec<String>,
    /// What must neither be kept nor told.
    #[serde(default)]
    kept_not: Vec<String>,
    #[serde(default)]
    not_known: bool,
}

/// The reply to a query, and whether it is an answer.
async fn ask(bench: &Bench, caller: &Caller, session: &str, message: &str) -> (String, bool) {
    let input = TurnInput { message: message.into(), is_query: true, ..TurnInput::default() };
    let session = Some(SessionId::new(session).unwrap());
    let request = TurnRequest { session, input, ..TurnRequest::default() };
    let cancel = CancellationToken::new();
    let outcome = bench.engine.converse(caller, request, Events::nowhere(), cancel).await.unwrap();
    let TurnOutcome::Finished { record, .. } = outcome else { panic!("it waits") };
    (record.reply.clone(), record.status == TurnStatus::Complete)
}

#[tokio::test]
async fn what_was_told_in_another_session_is_answered_or_not_known() {
    let rows: Vec<Row> =
        serde_json::from_str(include_str!("../data/memory-blind.json")).expect("rows");
    let (mut right, mut unknown, mut wrong) = (0, 0, Vec::new());
    for row in &rows {
        let bench = bench().start().await;
        for message in &row.tell {
            ask(&bench, &bench.caller, "first", message).await;
        }
        let facts = bench.engine.facts().current(&bench.caller).await.unwrap();
        let (reply, answered) = ask(&bench, &bench.caller, "second", &row.ask).await;
        let says = |text: &str| reply.to_lowercase().contains(&text.to_lowercase());
        let kept = row.kept_not.iter().any(|text| facts.iter().any(|f| f.text.contains(text)));
        let told = row.not.iter().any(|text| says(text)) || row.kept_not.iter().any(|t| says(t));
        let known = row.has.iter().all(|text| says(text));
        if kept || told || answered && (row.not_known || !known) {
            wrong.push((&row.ask, reply));
        } else if row.not_known || known {
            right += 1;
        } else {
            unknown += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(right >= 33 && right + unknown == rows.len(), "{right} right, {unknown} not known");
}

#[tokio::test]
async fn what_is_forgotten_by_a_message_stays_forgotten_where_a_reply_repeated_it() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    ask(&bench, caller, "first", "My favourite composer is Buxtehude.").await;
    let (told, _) = ask(&bench, caller, "first", "Who is my favourite composer?").await;
    assert!(told.contains("Buxtehude"), "{told}");
    let (none, done) = ask(&bench, caller, "first", "forget my shoe size").await;
    assert_eq!((none.as_str(), done), ("Nothing is remembered about \"my shoe size\".", false));
    let (said, done) = ask(&bench, caller, "first", "forget my favourite composer").await;
    assert_eq!((said.as_str(), done), ("Forgotten: \"my favourite composer\"", true));
    let session = bench.engine.session(caller, &SessionId::new("first").unwrap()).await.unwrap();
    assert_eq!(session.head.turns, 4);
    for id in ["first", "second"] {
        let (reply, answered) = ask(&bench, caller, id, "Who is my favourite composer?").await;
        assert!(!answered && !reply.contains("Buxtehude"), "{reply}");
    }
}

#[tokio::test]
async fn a_request_to_forget_is_not_a_source_of_what_was_forgotten() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let id = SessionId::new("first").unwrap();
    for (told, request) in [
        ("My locker number is 5512.", "forget that my locker number is 5512"),
        ("My favourite composer is Buxtehude.", "Forget that."),
        (
            "Ich bin allergisch gegen Walnüsse.",
            "Vergiss, dass ich eine Allergie gegen Walnüsse habe",
        ),
    ] {
        ask(&bench, caller, "first", told).await;
        assert_eq!(bench.engine.facts().current(caller).await.unwrap().len(), 1, "{told}");
        let (reply, done) = ask(&bench, caller, "first", request).await;
        assert!(done && !reply.contains("Buxtehude"), "{request}: {reply}");
        assert!(bench.engine.facts().current(caller).await.unwrap().is_empty(), "{request}");
    }
    let input = TurnInput { message: "And now?".into(), ..TurnInput::default() };
    let request = bench.engine.prepare(caller, &id, &input).await.unwrap();
    let text = format!("{:?}", request.request.messages);
    for word in ["5512", "Buxtehude", "Walnüsse"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

#[tokio::test]
async fn what_is_no_longer_so_takes_the_place_of_what_was() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    for message in ["I drink coffee every morning.", "I no longer drink coffee."] {
        ask(&bench, caller, "first", message).await;
    }
    let (reply, _) = ask(&bench, caller, "second", "I don't see the warning any more.").await;
    assert!(!reply.starts_with("Noted"), "{reply}");
    let facts = bench.engine.facts().current(caller).await.unwrap();
    let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
    assert_eq!(texts, ["I no longer drink coffee"]);
}

#[tokio::test]
async fn a_full_memory_says_so() {
    let bench = bench().limits(|limits| limits.facts_max = 1).start().await;
    let caller = &bench.caller;
    let (noted, _) = ask(&bench, caller, "first", "My locker number is 5512.").await;
    assert!(noted.starts_with("Noted"), "{noted}");
    let (full, _) = ask(&bench, caller, "first", "My favourite composer is Buxtehude.").await;
    assert!(full.contains("the memory is full (1 memories)"), "{full}");
    ask(&bench, caller, "first", "forget my locker number").await;
    let (noted, _) = ask(&bench, caller, "first", "My favourite composer is Buxtehude.").await;
    assert!(noted.starts_with("Noted"), "{noted}");
}

#[tokio::test]
async fn one_of_several_is_not_guessed() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    ask(&bench, caller, "first", "Remember that the bike code of the shed is 4471.").await;
    ask(&bench, caller, "first", "Remember that the bike lamp is in the shed drawer.").await;
    let (said, done) = ask(&bench, caller, "first", "forget my bike").await;
    assert!(!done && said.contains("4471") && said.contains("lamp"), "{said}");
    assert_eq!(bench.engine.facts().current(caller).await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_was_said_elsewhere_is_quoted_for_who_asks_what_was_said() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let plans = across::open(&bench, caller, "plans", Settings::default()).await;
    across::say(&bench, caller, &plans, "In August we sail from Kotor to Hvar.").await;
    across::say(&bench, caller, &plans, "Im Herbst wandern wir durch die Vogesen.").await;
    for (question, words) in [
        ("What did I say about where we sail in August?", "from Kotor to Hvar"),
        ("Was habe ich über das Wandern im Herbst gesagt?", "Vogesen"),
    ] {
        let (reply, answered) = ask(&bench, caller, "later", question).await;
        assert!(answered && reply.contains(words), "{reply}");
        assert!(reply.contains("plans"), "it says where: {reply}");
    }
    for unknown in ["What did I say about the dentist?", "What did we agree about the rent in May?"]
    {
        let (reply, answered) = ask(&bench, caller, "later", unknown).await;
        assert!(!answered && !reply.contains("Kotor") && !reply.contains("Vogesen"), "{reply}");
    }
}

#[tokio::test]
async fn a_question_about_the_last_or_first_message_is_told_from_one_about_a_topic() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    ask(&bench, caller, "s", "My dentist is called Ferrante.").await;
    ask(&bench, caller, "s", "We met on Tuesday.").await;
    for (question, words) in [
        ("What did I ask you first?", "Ferrante"),
        ("what did i say just before?", "first?"),
        ("What did I say about the dentist?", "Ferrante"),
    ] {
        let (reply, answered) = ask(&bench, caller, "s", question).await;
        assert!(answered && reply.contains(words), "{question}: {reply}");
    }
}

#[tokio::test]
async fn what_the_user_never_told_is_not_known_whatever_rules_say() {
    let rule = rule("naming", IncludeMode::Always, "Say the name of what you changed.");
    let bench = bench().rule(rule).start().await;
    for (message, reply) in [
        ("What is my name?", "I don't know that: I find nothing about it in what you told me."),
        (
            "Wie heiße ich?",
            "Das weiß ich nicht: In dem, was du mir gesagt hast, finde ich nichts darüber.",
        ),
    ] {
        let answer = ask(&bench, &bench.caller, "first", message).await;
        assert_eq!(answer, (reply.to_owned(), false), "{message}");
    }
    let (reply, _) = ask(&bench, &bench.caller, "first", "Who are you?").await;
    assert!(reply.starts_with("I can "), "{reply}");
}

#[tokio::test]
async fn everything_that_is_known_is_told_when_it_is_asked_for() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    for message in ["I'm a paediatric nurse.", "I hate coriander.", "My bike lock code is 7788."] {
        ask(&bench, caller, "first", message).await;
    }
    let (reply, answered) = ask(&bench, caller, "second", "What do you know about me?").await;
    assert!(answered, "{reply}");
    for told in ["paediatric nurse", "coriander", "7788"] {
        assert!(reply.contains(told), "{told}: {reply}");
    }
    let (reply, _) = ask(&bench, caller, "second", "What is my job?").await;
    assert!(reply.contains("nurse") && !reply.contains("coriander"), "{reply}");
    let (reply, _) = ask(&bench, caller, "second", "What's my sister's name?").await;
    assert_eq!(reply, "I don't know that: I find nothing about it in what you told me.");
}

#[tokio::test]
async fn another_value_for_what_was_just_said_takes_its_place() {
    for correction in ["Actually it's 89.", "no wait, 89", "I meant 89, not 88"] {
        let bench = bench().start().await;
        ask(&bench, &bench.caller, "first", "My locker number is 88.").await;
        ask(&bench, &bench.caller, "first", correction).await;
        let facts = bench.engine.facts().current(&bench.caller).await.unwrap();
        let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
        assert_eq!(texts, ["My locker number is 89"], "{correction}");
    }
    let bench = bench().start().await;
    ask(&bench, &bench.caller, "first", "My locker number is 88.").await;
    ask(&bench, &bench.caller, "first", "no thanks").await;
    assert_eq!(bench.engine.facts().current(&bench.caller).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_secret_is_told_only_to_a_request_about_it() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let first = across::open(&bench, caller, "first", Settings::default()).await;
    across::say(&bench, caller, &first, "My password is Foo-92").await;
    across::say(&bench, caller, &first, "I live in Porto").await;
    let second = across::open(&bench, caller, "second", Settings::default()).await;
    let input = |message: &str| TurnInput { message: message.into(), ..TurnInput::default() };
    for (message, told) in [("Suggest a book", false), ("What is my password?", true)] {
        let request = bench.engine.prepare(caller, &second, &input(message)).await.unwrap();
        let text = format!("{:?}", request.request.messages);
        assert!(text.contains("Porto"), "{text}");
        assert_eq!(text.contains("Foo-92"), told, "{message}: {text}");
    }
}
