//! Both providers against a real model behind llama.cpp's server, which supports both wire formats.
//!
//! `scripts/real-model COMMAND` starts it and names it in the environment.

use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::Value;
use throughline_engine::failure::UpstreamFault;
use throughline_engine::model::{ModelEvent, StopReason, Usage};
use throughline_upstream::model::{ModelConfig, Provider, connect};
use tokio_util::sync::CancellationToken;

use crate::model::{BOTH, events, question};

/// Tokens of a reply that takes much longer than any test waits.
const LONG: u32 = 3_000;

fn address() -> Option<String> {
    let address = std::env::var("THROUGHLINE_TEST_MODEL_URL").ok();
    if address.is_none() {
        println!(
            "skipped: a real model (THROUGHLINE_TEST_MODEL_URL is not set; see scripts/real-model)"
        );
    }
    address
}

fn config(provider: Provider, address: &str) -> ModelConfig {
    let mut config = ModelConfig::new(provider, "smollm2");
    config.base_url = match provider {
        Provider::Anthropic => address.to_owned(),
        Provider::OpenAi => format!("{address}/v1"),
    };
    config
}

#[tokio::test]
async fn a_real_model_streams_words_and_counts_tokens() {
    let Some(address) = address() else { return };
    for provider in BOTH {
        let mut request = question("Count from one to ten in words.");
        request.reply_tokens_max = 24;
        let started = Instant::now();
        let (events, error) =
            events(&*connect(config(provider, &address)).unwrap(), &request).await;
        assert!(error.is_none(), "{provider:?}: {error:?}");
        let pieces = events.iter().filter(|event| matches!(event, ModelEvent::Text(_))).count();
        let usage = events.iter().rev().find_map(|event| match event {
            ModelEvent::Usage(usage) => Some(*usage),
            _ => None,
        });
        let Usage { input_tokens, output_tokens, .. } = usage.unwrap();
        println!(
            "{provider:?}: {pieces} pieces, {input_tokens} tokens in, {output_tokens} out, {:?}",
            started.elapsed()
        );
        let counted = input_tokens > 0 && (2..=24).contains(&output_tokens);
        assert!(pieces > 1 && counted, "{provider:?}: {usage:?}");
        let end = events.last().unwrap();
        assert!(
            [StopReason::EndTurn, StopReason::MaxTokens].map(ModelEvent::Done).contains(end),
            "{end:?}"
        );
    }
}

async fn is_busy(address: &str) -> bool {
    let slots: Value =
        reqwest::get(format!("{address}/slots")).await.unwrap().json().await.unwrap();
    slots.as_array().unwrap().iter().any(|slot| slot["is_processing"] == true)
}

#[tokio::test]
async fn a_cancelled_reply_stops_a_real_model() {
    let Some(address) = address() else { return };
    for provider in BOTH {
        let mut request = question("Write a very long story about a network engineer.");
        request.reply_tokens_max = LONG;
        let cancel = CancellationToken::new();
        let model = connect(config(provider, &address)).unwrap();
        let mut stream = model.stream(&request, cancel.clone()).await.unwrap();
        while !matches!(stream.next().await.unwrap().unwrap(), ModelEvent::Text(_)) {}
        assert!(is_busy(&address).await, "{provider:?}");
        cancel.cancel();
        let started = Instant::now();
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(error.fault, UpstreamFault::Cancelled);
        let idle = async { while is_busy(&address).await {} };
        tokio::time::timeout(Duration::from_secs(20), idle).await.unwrap();
        println!("{provider:?}: idle {:?} after cancelling", started.elapsed());
    }
}
