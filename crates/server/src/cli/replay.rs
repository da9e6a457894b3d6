//! `throughline replay`: rebuilds the request of a turn byte for byte.
//!
//! Only the bytes go to standard output; the hash goes to standard error.

use bytes::Bytes;
use clap::Args;
use futures::StreamExt;
use serde_json::{Value, json};
use throughline_engine::hash::ContentHash;
use throughline_engine::model::{ModelEvent, ModelRequest};
use tokio_util::sync::CancellationToken;

use super::api::{Api, Call, Named, Wait};
use super::local::Identity;
use super::{Settings, out, output};
use crate::assemble::{self, Demo, IfAbsent};
use crate::failure::Failure;

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub(super) struct Replay {
    #[command(flatten)]
    who: Identity,
    /// The session's id or a unique prefix.
    session: String,
    /// The turn, counted from 1.
    turn: u64,
    /// The round of tool calls whose request to print.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    round: u32,
    /// Send the request to the model and print the answer; nothing is stored.
    #[arg(long)]
    send: bool,
    /// The model, by its configured name [default: the default model].
    #[arg(long, requires = "send")]
    model: Option<String>,
}

impl Replay {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let api =
            Api::open(settings, &self.who, Demo::Without, IfAbsent::Refuse, Wait::UntilStarted)
                .await?;
        let request = self.request(&api).await;
        api.close().await;
        let bytes = request?;
        eprintln!("hash: {}", ContentHash::of_bytes(&bytes));
        match self.send {
            true => {
                let request = serde_json::from_slice(&bytes).unwrap_or_default();
                self.send(settings, &output::read(request)?).await
            }
            false => out::bytes(&bytes),
        }
    }

    /// The bytes of the request; for a drop-in turn, what the provider was sent.
    async fn request(&self, api: &Api) -> Result<Bytes, Failure> {
        let id = api.id(Named::Session, &self.session).await?;
        let turn = self.turn.to_string();
        // A model is sent the engine's own form, also of a turn that was handed on.
        let round = (self.send || self.round > 1).then_some(self.round);
        let call = Call::get(&["conversations", &id, "turns", &turn, "request"]);
        api.bytes(call.with_any("round", round)).await
    }

    async fn send(&self, settings: &Settings, request: &ModelRequest) -> Result<(), Failure> {
        let models = assemble::models(&settings.load()?)?;
        let Some(model) = models.get(self.model.as_deref()) else {
            let known: Vec<&str> = models.names().collect();
            return Err(Failure::new(
                format!("there is no model {}", self.model.as_deref().unwrap_or("configured")),
                format!("add a [[model]] to the configuration; known: {}", known.join(", ")),
            ));
        };
        let fail = |error: throughline_engine::failure::UpstreamError| {
            Failure::new(error.to_string(), "without --send the request is only printed")
        };
        let mut events = model.stream(request, CancellationToken::new()).await.map_err(fail)?;
        let (mut said, mut calls) = (String::new(), Vec::new());
        while let Some(event) = events.next().await {
            match event.map_err(fail)? {
                ModelEvent::Text(text) if settings.json => said.push_str(&text),
                ModelEvent::Text(text) => out::text(output::plain(&text))?,
                ModelEvent::ToolUse { name, input, .. } => {
                    let input = input.unwrap_or_else(Value::String);
                    if settings.json {
                        calls.push(json!({"name": name, "input": input}));
                    } else {
                        out::text(format_args!(
                            "\n[calls {name} {}]\n",
                            output::plain(&input.to_string())
                        ))?;
                    }
                }
                ModelEvent::Usage(_) | ModelEvent::Done(_) => {}
            }
        }
        if settings.json {
            output::json(&json!({"reply": said, "calls": calls}))
        } else {
            out::line("")
        }
    }
}
