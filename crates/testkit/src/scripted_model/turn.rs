//! The script of the scripted model.

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};

/// The reply to one request.
#[derive(Debug, Clone)]
pub enum Turn {
    /// A streamed reply.
    Say(Vec<Step>),
    /// An error response.
    Refuse {
        /// The HTTP status.
        status: u16,
        /// The error message.
        message: String,
        /// The header of that name.
        retry_after: Option<String>,
        /// The header of that name.
        location: Option<String>,
    },
    /// A response that is not an event stream.
    Plain {
        /// Its content type.
        content_type: &'static str,
        /// Its body.
        body: String,
    },
}

/// A step of a streamed reply.
#[derive(Debug, Clone)]
pub enum Step {
    /// Text, as one event.
    Text(String),
    /// A tool call; the arguments are sent unchanged, valid or not, in two parts.
    Call {
        /// Its id.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments' text.
        arguments: String,
    },
    /// Token counts reported at the end of the reply.
    Usage {
        /// Of the request, without cached ones.
        input: u64,
        /// Of the reply.
        output: u64,
        /// Read from the cache.
        cache_read: u64,
        /// Written to the cache.
        cache_write: u64,
    },
    /// No token counts are reported.
    NoUsage,
    /// Why the reply ends, if not normally.
    Stop(Stop),
    /// Waits until the test opens the gate.
    Wait(Gate),
    /// Repeats the text forever.
    Endless(String),
    /// Closes the connection without completing the reply.
    Cut,
    /// Sends these bytes unchanged.
    Raw(String),
}

impl Step {
    /// The text that it sends.
    pub(super) fn words(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Why a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Normally.
    End,
    /// For tool results.
    Tools,
    /// At the token limit.
    Length,
    /// By refusal.
    Refusal,
}

/// Holds a reply back until it is opened.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Semaphore>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Gate {
    /// Lets the reply continue.
    pub fn open(&self) {
        self.0.add_permits(1);
    }
}

impl Turn {
    /// Sends `text` word by word.
    pub fn text(text: &str) -> Self {
        Self::Say(text.split_inclusive(' ').map(|word| Step::Text(word.to_owned())).collect())
    }

    /// Calls one tool.
    pub fn call(id: &str, name: &str, arguments: &str) -> Self {
        let (id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.to_owned());
        Self::Say(vec![Step::Call { id, name, arguments }])
    }

    /// Appends a step.
    pub fn then(mut self, step: Step) -> Self {
        if let Self::Say(steps) = &mut self {
            steps.push(step);
        }
        self
    }

    /// Responds with an error status.
    pub fn refuse(status: u16, message: &str) -> Self {
        Self::Refuse { status, message: message.to_owned(), retry_after: None, location: None }
    }

    /// Responds with 429 and a `Retry-After` header.
    pub fn slow_down(retry_after: &str) -> Self {
        let (status, message) = (429, "slow down".to_owned());
        Self::Refuse { status, message, retry_after: Some(retry_after.to_owned()), location: None }
    }

    /// Redirects the client.
    pub fn redirect(status: u16, location: &str) -> Self {
        let message = "moved".to_owned();
        Self::Refuse { status, message, retry_after: None, location: Some(location.to_owned()) }
    }
}

/// Writes replies in one format. Each method returns bytes for the wire.
pub(super) trait Writer: Send + 'static {
    fn begin(&mut self, usage: Option<[u64; 4]>) -> String;
    fn text(&mut self, text: &str) -> String;
    fn call(&mut self, id: &str, name: &str, arguments: &str) -> String;
    fn end(&mut self, stop: Stop, usage: Option<[u64; 4]>) -> String;
}

/// The client has closed the connection.
pub(super) struct Left;

pub(super) async fn play(
    steps: Vec<Step>,
    mut writer: impl Writer,
    out: mpsc::Sender<String>,
) -> Result<(), Left> {
    let send = async |bytes: String| out.send(bytes).await.map_err(|_| Left);
    let usage = usage_of(&steps);
    let mut stop = Stop::End;
    send(writer.begin(usage)).await?;
    for step in steps {
        match step {
            Step::Text(text) => send(writer.text(&text)).await?,
            Step::Call { id, name, arguments } => {
                stop = Stop::Tools;
                send(writer.call(&id, &name, &arguments)).await?;
            }
            Step::Usage { .. } | Step::NoUsage => {}
            Step::Stop(reason) => stop = reason,
            Step::Wait(gate) => tokio::select! {
                permit = gate.0.acquire() => permit.expect("a gate is never closed").forget(),
                () = out.closed() => return Err(Left),
            },
            Step::Endless(text) => loop {
                send(writer.text(&text)).await?;
            },
            Step::Cut => return Ok(()),
            Step::Raw(bytes) => send(bytes).await?,
        }
    }
    send(writer.end(stop, usage)).await
}

/// The token counts that the reply will report: providers count the request before they reply.
pub(super) fn usage_of(steps: &[Step]) -> Option<[u64; 4]> {
    let said = steps.iter().rev().find_map(|step| match step {
        Step::Usage { input, output, cache_read, cache_write } => {
            Some(Some([*input, *output, *cache_read, *cache_write]))
        }
        Step::NoUsage => Some(None),
        _ => None,
    });
    said.unwrap_or(Some([10, 5, 0, 0]))
}

/// Splits the text in two, so that clients have to reassemble it.
pub(super) fn halves(text: &str) -> [&str; 2] {
    let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [first, second]
}
