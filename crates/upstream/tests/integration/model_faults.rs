//! Both providers when the scripted model fails: retries, limits and error messages.

use std::time::Duration;

use futures::StreamExt;
use throughline_engine::failure::UpstreamFault;
use throughline_engine::model::{ModelEvent, StopReason};
use throughline_testkit::scripted_model::{Gate, ScriptedModel, Step, Turn};
use throughline_upstream::model::{Provider, connect};
use tokio_util::sync::CancellationToken;

use crate::model::{BOTH, KEY, LIMIT, config, events, model, question, said, words};

#[tokio::test]
async fn what_may_pass_is_tried_again_before_the_first_event_and_no_sooner_than_asked() {
    for provider in BOTH {
        let turns = [
            Turn::slow_down("0"),
            Turn::refuse(500, "oh"),
            Turn::refuse(529, "busy"),
            Turn::text("Yes"),
        ];
        let server = ScriptedModel::playing(turns).await;
        let (events_seen, error) = events(&*model(provider, &server), &question("hi")).await;
        assert!(error.is_none(), "{provider:?}: {error:?}");
        assert_eq!(said(&events_seen)[0], words("Yes"));
        assert_eq!(server.requests().len(), 4);

        let server = ScriptedModel::playing([Turn::slow_down("3600")]).await;
        let (_, error) = events(&*model(provider, &server), &question("hi")).await;
        let error = error.unwrap();
        assert_eq!(error.fault, UpstreamFault::RateLimited);
        assert_eq!(error.retry_after, Some(Duration::from_secs(3600)));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn retries_are_limited_and_lasting_refusals_are_not_retried() {
    for provider in BOTH {
        let check = async |turn: Turn, fault: UpstreamFault, message: &str, requests: usize| {
            let turns = std::iter::repeat_n(turn, 20);
            let server = ScriptedModel::playing(turns).await;
            let (_, error) = events(&*model(provider, &server), &question("hi")).await;
            let error = error.unwrap();
            assert_eq!((error.fault, error.message.as_str()), (fault, message), "{provider:?}");
            assert_eq!(server.requests().len(), requests, "{provider:?} {message}");
        };
        check(Turn::refuse(503, "down"), UpstreamFault::Failed, "503 Service Unavailable: down", 4)
            .await;
        check(Turn::refuse(400, "no"), UpstreamFault::Rejected, "400 Bad Request: no", 1).await;
        check(Turn::refuse(401, "who"), UpstreamFault::Unauthorized, "401 Unauthorized: who", 1)
            .await;
        check(Turn::refuse(404, "no m"), UpstreamFault::NotFound, "404 Not Found: no m", 1).await;
        let plain = Turn::Plain { content_type: "application/json", body: "{}".to_owned() };
        let message = "it responded with application/json instead of an event stream";
        check(plain, UpstreamFault::Malformed, message, 1).await;
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_an_error_after_what_was_said_and_is_not_tried_again() {
    for provider in BOTH {
        let server =
            ScriptedModel::playing([Turn::text("Half a").then(Step::Cut), Turn::text("No")]).await;
        let (events_seen, error) = events(&*model(provider, &server), &question("hi")).await;
        assert_eq!(said(&events_seen), [words("Half "), words("a")], "{provider:?}");
        assert_eq!(error.unwrap().fault, UpstreamFault::Malformed);
        assert_eq!(server.requests().len(), 1);

        let server =
            ScriptedModel::playing([Turn::text("So").then(Step::Raw("data: {oops\n\n".into()))])
                .await;
        let (events_seen, error) = events(&*model(provider, &server), &question("hi")).await;
        assert_eq!(said(&events_seen), [words("So")], "{provider:?}");
        assert_eq!(error.unwrap().fault, UpstreamFault::Malformed);
    }
}

#[tokio::test]
async fn an_endless_reply_ends_at_the_limits() {
    for provider in BOTH {
        let endless = || Turn::Say(vec![Step::Endless("and so on ".to_owned())]);
        let server = ScriptedModel::playing([endless(), endless()]).await;
        let mut config = config(provider, &server);
        config.reply_bytes_max = 50_000;
        let (seen, error) = events(&*connect(config.clone()).unwrap(), &question("hi")).await;
        assert!(!seen.is_empty());
        assert_eq!(error.unwrap().fault, UpstreamFault::TooLarge, "{provider:?}");
        server.left(1).await;

        config.reply_bytes_max = usize::MAX;
        config.total_timeout = LIMIT;
        let (seen, error) = events(&*connect(config).unwrap(), &question("hi")).await;
        assert!(!seen.is_empty());
        let error = error.unwrap();
        assert_eq!(error.fault, UpstreamFault::TimedOut, "{provider:?}");
        assert_eq!(error.message, "the reply was not complete within 2000 ms");
        server.left(2).await;
    }
}

#[tokio::test]
async fn silence_before_the_first_word_has_a_limit_of_its_own() {
    for provider in BOTH {
        let server = ScriptedModel::playing([Turn::Say(vec![Step::Wait(Gate::default())])]).await;
        let mut config = config(provider, &server);
        config.first_token_timeout = LIMIT;
        let (seen, error) = events(&*connect(config).unwrap(), &question("hi")).await;
        assert_eq!(said(&seen), []);
        let error = error.unwrap();
        assert_eq!(
            (error.fault, error.message.as_str()),
            (UpstreamFault::TimedOut, "no output within 2000 ms")
        );
        server.left(1).await;
    }
}

#[tokio::test]
async fn cancelling_and_dropping_close_the_connection() {
    for provider in BOTH {
        let held = || Turn::text("One").then(Step::Wait(Gate::default()));
        let server = ScriptedModel::playing([held(), held()]).await;
        let model = model(provider, &server);

        let cancel = CancellationToken::new();
        let mut stream = model.stream(&question("hi"), cancel.clone()).await.unwrap();
        while stream.next().await.unwrap().unwrap() != words("One") {}
        cancel.cancel();
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(error.fault, UpstreamFault::Cancelled, "{provider:?}");
        assert!(stream.next().await.is_none());
        server.left(1).await;

        let mut stream = model.stream(&question("hi"), CancellationToken::new()).await.unwrap();
        while stream.next().await.unwrap().unwrap() != words("One") {}
        drop(stream);
        server.left(2).await;

        let late = CancellationToken::new();
        late.cancel();
        let error = model.stream(&question("hi"), late).await.err().unwrap();
        assert_eq!(error.fault, UpstreamFault::Cancelled);
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_reply_goes_on_when_the_model_does() {
    for provider in BOTH {
        let gate = Gate::default();
        let turn = Turn::text("One ").then(Step::Wait(gate.clone())).then(Step::Text("two".into()));
        let server = ScriptedModel::playing([turn]).await;
        let model = model(provider, &server);
        let mut stream = model.stream(&question("hi"), CancellationToken::new()).await.unwrap();
        while stream.next().await.unwrap().unwrap() != words("One ") {}
        gate.open();
        let rest: Vec<ModelEvent> = stream.map(Result::unwrap).collect().await;
        assert_eq!(said(&rest), [words("two"), ModelEvent::Done(StopReason::EndTurn)]);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_no_key_is_shown() {
    for provider in BOTH {
        let other = ScriptedModel::playing([Turn::text("Caught")]).await;
        let turns = [307, 308, 302].map(|status| Turn::redirect(status, &other.anthropic_url()));
        let server = ScriptedModel::playing(turns).await;
        for _ in 0..3 {
            let (_, error) = events(&*model(provider, &server), &question("hi")).await;
            assert_eq!(error.unwrap().fault, UpstreamFault::Rejected);
        }
        assert_eq!((server.requests().len(), other.requests().len()), (3, 0));

        let server = ScriptedModel::playing([Turn::refuse(401, &format!("bad key {KEY}"))]).await;
        let (_, error) = events(&*model(provider, &server), &question("hi")).await;
        let error = error.unwrap();
        assert_eq!(error.message, "401 Unauthorized: bad key [redacted]");
        assert!(!format!("{:?} {:?}", config(provider, &server), error).contains(KEY));
        let sent = server.requests().remove(0).headers;
        let shown = format!("{:?}", sent.get("x-api-key").or(sent.get("authorization")));
        assert!(shown.contains(KEY), "the key is sent all the same");
    }
}

#[tokio::test]
async fn an_error_inside_the_stream_is_tried_again_only_at_its_beginning() {
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let event = format!("event: error\ndata: {overloaded}\n\n");
    let plain = Turn::Plain { content_type: "text/event-stream", body: event.clone() };
    let later = Turn::text("So").then(Step::Raw(event));
    let server = ScriptedModel::playing([plain, later]).await;
    let (seen, error) = events(&*model(Provider::Anthropic, &server), &question("hi")).await;
    assert_eq!(said(&seen), [words("So")]);
    let error = error.unwrap();
    assert_eq!((error.fault, error.message.as_str()), (UpstreamFault::Failed, "Overloaded"));
    assert_eq!(server.requests().len(), 2);

    let limited = "data: {\"error\":{\"message\":\"Slow\",\"code\":429}}\n\n";
    let plain = Turn::Plain { content_type: "text/event-stream", body: limited.to_owned() };
    let server = ScriptedModel::playing([plain, Turn::text("Yes")]).await;
    let (seen, error) = events(&*model(Provider::OpenAi, &server), &question("hi")).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(said(&seen)[0], words("Yes"));
}
