//! `throughline replay`: the exact request of a turn again, to the byte.
//!
//! The bytes go to standard output and nothing else does; the hash goes to standard error.

use std::io::Write;

use clap::Args;
use futures::StreamExt;
use throughline_engine::hash::ContentHash;
use throughline_engine::model::{ModelEvent, ModelRequest};
use throughline_engine::rebuild;
use throughline_engine::request::hash_of;
use throughline_engine::session::record::CallRecord;
use tokio_util::sync::CancellationToken;

use super::local::{Local, Who, session_id};
use super::{Settings, output};
use crate::assemble;
use crate::assemble::IfAbsent;
use crate::failure::Failure;
use crate::http::dropin::handed_on;

/// Flags of `replay`.
#[derive(Debug, Args)]
pub struct Replay {
    #[command(flatten)]
    who: Who,
    /// The session.
    session: String,
    /// The turn, counted from 1.
    turn: u64,
    /// The request of this round of tool calls; the first one when absent.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    round: u32,
    /// Send it to the model and print its answer; nothing is kept.
    #[arg(long)]
    send: bool,
    /// The model, by its configured name; the default one when absent.
    #[arg(long, requires = "send")]
    model: Option<String>,
}

impl Replay {
    /// Does it.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let local = Local::open(settings, &self.who, IfAbsent::Refuse).await?;
        let sent = match self.send {
            true => Ok(None),
            false => self.handed_on(&local).await,
        };
        let request = self.request(&local).await;
        local.close().await;
        if let Some((bytes, hash)) = sent? {
            eprintln!("hash: {hash}");
            return Ok(std::io::stdout().lock().write_all(&bytes)?);
        }
        let request = request?;
        let bytes = serde_json::to_vec(&request).unwrap_or_default();
        eprintln!("hash: {}", hash_of(&request)?);
        if self.send {
            return self.send(settings, &request).await;
        }
        Ok(std::io::stdout().lock().write_all(&bytes)?)
    }

    /// What a provider was sent for its own client.
    async fn handed_on(&self, local: &Local) -> Result<Option<(Vec<u8>, ContentHash)>, Failure> {
        let id = session_id(&self.session)?;
        Ok(handed_on::again(&local.engine, &local.caller, &id, self.turn).await?)
    }

    async fn request(&self, local: &Local) -> Result<ModelRequest, Failure> {
        let id = session_id(&self.session)?;
        let request = local.engine.request(&local.caller, &id, self.turn).await?;
        let (_, record) = local.engine.turn(&local.caller, &id, self.turn).await?;
        let last = record.calls.iter().map(|call| call.round).max().unwrap_or(0) + 1;
        if self.round > last {
            let what = format!("turn {} of {id} has no round {}", self.turn, self.round);
            return Err(Failure::wrong_use(what, format!("its rounds are 1-{last}")));
        }
        let before: Vec<CallRecord> =
            record.calls.iter().filter(|call| call.round < self.round).cloned().collect();
        Ok(rebuild::with_rounds(&request, &before))
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
            Failure::new(error.to_string(), "the request itself is printed without --send")
        };
        let mut events = model.stream(request, CancellationToken::new()).await.map_err(fail)?;
        let mut out = std::io::stdout().lock();
        while let Some(event) = events.next().await {
            match event.map_err(fail)? {
                ModelEvent::Text(text) => write!(out, "{}", output::plain(&text))?,
                ModelEvent::ToolUse { name, input, .. } => {
                    let input = input.map_or_else(|text| text, |value| value.to_string());
                    writeln!(out, "\n[calls {name} {}]", output::plain(&input))?;
                }
                ModelEvent::Usage(_) | ModelEvent::Done(_) => {}
            }
            out.flush()?;
        }
        Ok(writeln!(out)?)
    }
}
