//! `throughline replay`: rebuilds the request of a turn byte for byte.
//!
//! Only the bytes go to standard output; the hash goes to standard error.

use bytes::Bytes;
use clap::Args;
use futures::StreamExt;
use serde_json::{Value, json};
use throughline_engine::hash::ContentHash;
use throughline_engine::model::{ModelEvent, ModelRequest};
use throughline_engine::rebuild;
use throughline_engine::request::encode;
use throughline_engine::session::record::CallRecord;
use tokio_util::sync::CancellationToken;

use super::api::{Api, Call, Named, Wait};
use super::local::{Identity, session_id};
use super::{Settings, out, output};
use crate::assemble::{self, Demo, IfAbsent};
use crate::failure::Failure;

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub struct Replay {
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
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
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
        let here = api.local("replay --round");
        if self.round == 1 && (here.is_err() || !self.send) {
            return api.bytes(Call::get(&["conversations", &id, "turns", &turn, "request"])).await;
        }
        let local = here?;
        let id = session_id(&id)?;
        let request = local.engine.request(&local.caller, &id, self.turn).await?;
        let (_, record) = local.engine.turn(&local.caller, &id, self.turn).await?;
        let last = record.calls.iter().map(|call| call.round).max().unwrap_or(0) + 1;
        if self.round > last {
            let what = format!("turn {} of {id} has no round {}", self.turn, self.round);
            return Err(Failure::wrong_use(what, format!("its rounds are 1-{last}")));
        }
        let before: Vec<CallRecord> =
            record.calls.iter().filter(|call| call.round < self.round).cloned().collect();
        Ok(encode(&rebuild::with_rounds(&request, &before))?.into())
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
