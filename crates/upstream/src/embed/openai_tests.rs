//! Tests the client against a small server that is as strict as the real endpoint.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};

use super::*;

const KEY: &str = "sk-very-secret";

/// Only the documented fields; anything else is rejected.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StrictQuestion {
    model: String,
    input: Vec<String>,
    encoding_format: String,
}

type Requests = Arc<Mutex<Vec<usize>>>;

/// A strict endpoint; `answer` builds the response to a valid request. Ends with the test's runtime.
async fn serve(answer: fn(&[String]) -> Response) -> (String, Requests) {
    let requests = Requests::default();
    let seen = requests.clone();
    let handler = move |headers: HeaderMap, body: Bytes| async move {
        let authorized =
            headers.get("authorization").is_some_and(|value| value == &format!("Bearer {KEY}"));
        if !authorized {
            return (StatusCode::UNAUTHORIZED, format!("bad key {KEY}")).into_response();
        }
        let question: StrictQuestion = match serde_json::from_slice(&body) {
            Ok(question) => question,
            Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
        };
        let fits = question.model == "small"
            && question.encoding_format == "float"
            && (1..=BATCH_MAX).contains(&question.input.len())
            && question.input.iter().all(|text| !text.is_empty() && text.len() <= TEXT_BYTES_MAX);
        if !fits {
            return (StatusCode::BAD_REQUEST, "outside the limits").into_response();
        }
        seen.lock().unwrap().push(question.input.len());
        answer(&question.input)
    };
    let router = Router::new().route("/v1/embeddings", post(handler));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (format!("http://{address}/v1"), requests)
}

fn settings(base_url: String, key: &str) -> OpenAiEmbedderSettings {
    OpenAiEmbedderSettings {
        base_url,
        model: "small".into(),
        key: Some(SecretString::from(key)),
        timeout: Duration::from_secs(5),
    }
}

/// Vectors `[length of the text, 1]`, in reverse order, as the protocol allows.
fn lengths(texts: &[String]) -> Response {
    let rows: Vec<Value> = texts
        .iter()
        .enumerate()
        .rev()
        .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": [text.len(), 1]}))
        .collect();
    axum::Json(json!({"object": "list", "data": rows, "model": "small", "usage": {}}))
        .into_response()
}

async fn fault(answer: fn(&[String]) -> Response) -> UpstreamError {
    let (url, _) = serve(answer).await;
    OpenAiEmbedder::connect(settings(url, KEY)).await.unwrap_err()
}

#[tokio::test]
async fn texts_come_back_as_unit_vectors_in_their_order() {
    let (url, _) = serve(lengths).await;
    let embedder = OpenAiEmbedder::connect(settings(format!("{url}/"), KEY)).await.unwrap();
    assert_eq!(embedder.dimensions(), 2);
    let vectors = embedder.embed(&["a", "  ", "seventy", ""]).await.unwrap();
    let angle = |vector: &Vector| if vector[1] == 0.0 { 0.0 } else { vector[0] / vector[1] };
    let angles: Vec<f32> = vectors.iter().map(|vector| angle(vector).round()).collect();
    assert_eq!(angles, [1.0, 0.0, 7.0, 0.0]);
    let length: f32 = vectors[2].iter().map(|value| value * value).sum();
    assert!((length - 1.0).abs() < 1e-5);
}

#[tokio::test]
async fn one_that_did_not_work_at_first_is_used_once_it_does() {
    static WORKS: AtomicBool = AtomicBool::new(false);
    let (url, _) = serve(|texts| match WORKS.load(Ordering::Relaxed) {
        true => lengths(texts),
        false => StatusCode::UNAUTHORIZED.into_response(),
    })
    .await;
    let embedder = OpenAiEmbedder::new(settings(url, KEY)).unwrap();
    assert_eq!(embedder.probe().await.unwrap_err().fault, UpstreamFault::Unauthorized);
    assert!(embedder.embed(&[" "]).await.is_err(), "the length of its vectors is not known");
    WORKS.store(true, Ordering::Relaxed);
    let vectors = embedder.embed(&[" ", "a"]).await.unwrap();
    assert_eq!((vectors[0].len(), vectors[1].len(), embedder.dimensions()), (2, 2, 2));
}

#[tokio::test]
async fn many_and_long_texts_are_sent_within_the_limits() {
    let (url, requests) = serve(lengths).await;
    let embedder = OpenAiEmbedder::connect(settings(url, KEY)).await.unwrap();
    let long = "ä".repeat(TEXT_BYTES_MAX);
    let texts = vec![long.as_str(); 2 * BATCH_MAX + 1];
    assert_eq!(embedder.embed(&texts).await.unwrap().len(), texts.len());
    assert_eq!(*requests.lock().unwrap(), [1, BATCH_MAX, BATCH_MAX, 1]);
}

#[tokio::test]
async fn a_refused_key_is_named_as_such_and_not_repeated() {
    let (url, _) = serve(lengths).await;
    let error = OpenAiEmbedder::connect(settings(url, "sk-other")).await.unwrap_err();
    assert_eq!(error.fault, UpstreamFault::Unauthorized);
    let (url, _) = serve(|_| (StatusCode::FORBIDDEN, format!("no {KEY}")).into_response()).await;
    let error = OpenAiEmbedder::connect(settings(url, KEY)).await.unwrap_err();
    assert!(!error.to_string().contains(KEY), "{error}");
}

#[tokio::test]
async fn every_way_to_fail_has_its_own_name() {
    let slow_down = fault(|_| {
        (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "7")], "slow down").into_response()
    })
    .await;
    assert_eq!(slow_down.fault, UpstreamFault::RateLimited);
    assert_eq!(slow_down.retry_after, Some(Duration::from_secs(7)));
    for (answer, expected) in [
        ((|_| StatusCode::BAD_GATEWAY.into_response()) as fn(&[String]) -> Response, "Failed"),
        (|_| StatusCode::NOT_FOUND.into_response(), "Rejected"),
        (|_| "no json".into_response(), "Malformed"),
        (|_| axum::Json(json!({"data": []})).into_response(), "Malformed"),
        (
            |_| axum::Json(json!({"data": [{"index": 1, "embedding": [1]}]})).into_response(),
            "Malformed",
        ),
        (
            |_| axum::Json(json!({"data": [{"index": 0, "embedding": []}]})).into_response(),
            "Malformed",
        ),
        (|_| vec![b' '; ANSWER_BYTES_MAX + 1].into_response(), "TooLarge"),
    ] {
        assert_eq!(format!("{:?}", fault(answer).await.fault), expected);
    }
}

#[tokio::test]
async fn a_vector_of_another_length_is_refused() {
    let (url, _) = serve(|texts| {
        let vector = vec![1.0; texts[0].len()];
        axum::Json(json!({"data": [{"index": 0, "embedding": vector}]})).into_response()
    })
    .await;
    let embedder = OpenAiEmbedder::connect(settings(url, KEY)).await.unwrap();
    let error = embedder.embed(&["short"]).await.unwrap_err();
    assert_eq!(error.fault, UpstreamFault::Malformed);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let error = fault(|_| {
        (StatusCode::TEMPORARY_REDIRECT, [("location", "http://127.0.0.1:9/v1")]).into_response()
    })
    .await;
    assert_eq!(error.fault, UpstreamFault::Rejected);
}

#[tokio::test]
async fn silence_and_absence_are_told_apart() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let impatient =
        OpenAiEmbedderSettings { timeout: Duration::from_millis(50), ..settings(url.clone(), KEY) };
    let silent = OpenAiEmbedder::connect(impatient).await.unwrap_err();
    assert_eq!(silent.fault, UpstreamFault::TimedOut);
    drop(listener);
    let absent = OpenAiEmbedder::connect(settings(url, KEY)).await.unwrap_err();
    assert_eq!(absent.fault, UpstreamFault::Unreachable);
}
