//! A model's reply as a stream of the engine's events, with timeouts.
//!
//! The provider's [`Reader`] parses server-sent events; failures of the stream itself are handled here.
//!
//! Invariant: a stream ends with [`ModelEvent::Done`] or with one error, and nothing follows either.

use std::collections::VecDeque;

use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::Value;
use sse_stream::Sse;
use throughline_engine::exact;
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::model::ModelEvent;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::wire::{Events, Wire};

/// What went wrong; the model is added later.
pub(super) type Problem = (UpstreamFault, String);

/// Parses the events of one provider.
pub(super) trait Reader: Send + 'static {
    /// Parses one event and emits the resulting events.
    fn read(&mut self, event: &Sse, out: &mut VecDeque<ModelEvent>) -> Result<(), Problem>;

    /// Emits what is pending when the connection ends, or fails if the reply is incomplete.
    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), Problem>;

    /// The error that an event reports, if it is an error event.
    fn problem(event: &Sse) -> Option<Problem>;
}

/// Sends the request and returns the stream of its reply.
pub(super) async fn start<R: Reader>(
    wire: &Wire,
    body: &Value,
    reader: R,
    cancel: CancellationToken,
) -> Result<BoxStream<'static, Result<ModelEvent, UpstreamError>>, UpstreamError> {
    let deadline = wire.deadline();
    let events = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(cancelled(wire)),
        () = tokio::time::sleep_until(deadline) => return Err(deadline_error(wire)),
        events = wire.open(body, R::problem) => events?,
    };
    // Time spent on retries does not count as the model's silence.
    let first_deadline = Instant::now() + wire.config.first_token_timeout;
    let reply = Reply {
        wire: wire.clone(),
        events: Some(events),
        reader,
        ready: VecDeque::new(),
        cancel,
        deadline,
        first_deadline: Some(first_deadline),
    };
    Ok(futures::stream::unfold(reply, |mut reply| async move {
        let event = reply.next().await?;
        Some((event, reply))
    })
    .boxed())
}

struct Reply<R> {
    wire: Wire,
    /// `None` once the reply is complete; dropping it closes the connection.
    events: Option<Events>,
    reader: R,
    ready: VecDeque<ModelEvent>,
    cancel: CancellationToken,
    deadline: Instant,
    /// `None` once the model has sent text or a tool call.
    first_deadline: Option<Instant>,
}

impl<R: Reader> Reply<R> {
    async fn next(&mut self) -> Option<Result<ModelEvent, UpstreamError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                match event {
                    ModelEvent::Done(_) => self.close(),
                    ModelEvent::Text(_) | ModelEvent::ToolUse { .. } => self.first_deadline = None,
                    ModelEvent::Usage(_) => {}
                }
                return Some(Ok(event));
            }
            let events = self.events.as_mut()?;
            let silence = Instant::now() + self.wire.config.idle_timeout;
            let until = self.first_deadline.unwrap_or(silence).min(self.deadline);
            let outcome = tokio::select! {
                biased;
                () = self.cancel.cancelled() => Err(cancelled(&self.wire)),
                () = tokio::time::sleep_until(until) => Err(self.timeout_error()),
                event = events.next() => self.take(event),
            };
            if let Err(error) = outcome {
                self.close();
                return Some(Err(error));
            }
        }
    }

    fn take(&mut self, event: Option<Result<Sse, UpstreamError>>) -> Result<(), UpstreamError> {
        let read = match event {
            Some(event) => self.reader.read(&event?, &mut self.ready),
            None => {
                self.events = None;
                self.reader.end(&mut self.ready)
            }
        };
        read.map_err(|(fault, problem)| self.wire.error(fault, &problem))
    }

    fn close(&mut self) {
        self.events = None;
        self.ready.clear();
    }

    fn timeout_error(&self) -> UpstreamError {
        match self.first_deadline {
            Some(first) if first < self.deadline => {
                let wait = self.wire.config.first_token_timeout.as_millis();
                self.wire.error(UpstreamFault::TimedOut, &format!("no output within {wait} ms"))
            }
            None if Instant::now() < self.deadline => {
                let wait = self.wire.config.idle_timeout.as_millis();
                self.wire.error(UpstreamFault::TimedOut, &format!("no output for {wait} ms"))
            }
            _ => deadline_error(&self.wire),
        }
    }
}

fn cancelled(wire: &Wire) -> UpstreamError {
    wire.error(UpstreamFault::Cancelled, "the reply was cancelled")
}

fn deadline_error(wire: &Wire) -> UpstreamError {
    let limit = wire.config.total_timeout.as_millis();
    wire.error(UpstreamFault::TimedOut, &format!("the reply was not complete within {limit} ms"))
}

/// Parses an event's data as JSON.
pub(super) fn json(event: &Sse) -> Result<Value, Problem> {
    let data = event.data.as_deref().unwrap_or_default();
    serde_json::from_str(data)
        .map_err(|error| (UpstreamFault::Malformed, format!("an event is not JSON: {error}")))
}

/// Parses a tool's arguments; empty text means an empty object. Arguments with a number that cannot be held stay as they
/// are.
pub(super) fn arguments(raw: String) -> Result<Value, String> {
    if raw.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    if exact::find(&raw).is_some() {
        return Err(raw);
    }
    serde_json::from_str(&raw).map_err(|_| raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_would_be_changed_by_reading_them_stay_as_they_are() {
        let raw = r#"{"id":18446744073709551616}"#;
        assert_eq!(arguments(raw.into()), Err(raw.into()));
        assert_eq!(arguments(r#"{"id":7}"#.into()), Ok(serde_json::json!({"id": 7})));
    }
}
