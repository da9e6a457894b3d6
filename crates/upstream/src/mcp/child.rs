//! An MCP server as a child process.
//!
//! A launcher such as `npx` starts the real server as its own child, so a server is a process group, and the whole
//! group is killed when the connection closes. Its standard error is logged at debug level, in bounded lines and
//! without secrets; the last lines are kept for the error of a server that fails to start.
//!
//! Invariant: no process of the group outlives its [`ChildTransport`].

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use secrecy::ExposeSecret;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use super::{config, raw};
use crate::redact::Redactor;

/// Variables that a child inherits besides configured ones. The rest of our environment may contain keys and is
/// not passed on.
const INHERITED: [&str; 11] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "SYSTEMROOT",
];
/// How long a server may take to exit after its standard input is closed.
const GRACE: Duration = Duration::from_secs(2);
/// Maximum size of a logged line of standard error; longer lines are split.
const STDERR_LINE_BYTES_MAX: u64 = 2_000;

/// Bytes that are read from a server at once.
const READ_BYTES: usize = 8 * 1024;
/// Number of lines of standard error that are kept.
const LAST_LINES: usize = 5;
/// How long to wait for the rest of standard error after the server has exited.
const LAST_LINES_WAIT: Duration = Duration::from_secs(1);

/// The last lines that a server wrote to standard error, redacted.
#[derive(Clone, Default)]
pub(super) struct LastLines(Arc<Mutex<Output>>);

#[derive(Default)]
struct Output {
    lines: VecDeque<String>,
    reading: Option<JoinHandle<()>>,
}

impl LastLines {
    /// Starts reading `stderr`, discarding earlier lines.
    fn follow(&self, server: &config::ServerConfig, redactor: &Redactor, stderr: ChildStderr) {
        let logged = server.log_stderr.then(|| server.name.clone());
        let reading = read_stderr(logged, redactor.clone(), stderr, self.clone());
        let reading = Some(tokio::spawn(reading));
        *self.output() = Output { lines: VecDeque::new(), reading };
    }

    /// Appends the server's last lines to `message`, if there are any. The server should have exited.
    pub(super) async fn append_to(&self, message: &str) -> String {
        let reading = self.output().reading.take();
        if let Some(reading) = reading {
            let _read = tokio::time::timeout(LAST_LINES_WAIT, reading).await;
        }
        let lines: Vec<String> = self.output().lines.iter().cloned().collect();
        match lines.is_empty() {
            true => message.to_owned(),
            false => format!("{message}; its last output: {}", lines.join(" | ")),
        }
    }

    fn push(&self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let mut output = self.output();
        if output.lines.len() == LAST_LINES {
            output.lines.pop_front();
        }
        output.lines.push_back(line.to_owned());
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A child process and its pipes.
pub(super) struct ChildTransport {
    pipes: AsyncRwTransport<RoleClient, BoundedLines<ChildStdout>, ChildStdin>,
    child: Box<dyn ChildWrapper>,
    oversized: Arc<AtomicBool>,
}

/// Starts the server. Sets `oversized` when it sends a message over the limit.
pub(super) fn start(
    server: &config::ServerConfig,
    redactor: &Redactor,
    oversized: Arc<AtomicBool>,
    last_lines: &LastLines,
) -> io::Result<ChildTransport> {
    let config::Transport::Stdio { command, args, env, cwd } = &server.transport else {
        return Err(io::Error::other("not a stdio server"));
    };
    let mut wrap = CommandWrap::with_new(command, |process| {
        process.args(args).env_clear();
        process.envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        process.envs(env.iter().map(|(name, value)| (name, value.expose_secret())));
        if let Some(folder) = cwd {
            process.current_dir(folder);
        }
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    });
    wrap.wrap(ProcessGroup::leader()).wrap(KillOnDrop);
    let mut child = wrap.spawn()?;
    let missing = || io::Error::other("a pipe of the child is missing");
    let stdin = child.stdin().take().ok_or_else(missing)?;
    let stdout = child.stdout().take().ok_or_else(missing)?;
    let stderr = child.stderr().take().ok_or_else(missing)?;
    last_lines.follow(server, redactor, stderr);
    let max = server.message_bytes_max;
    let stdout = BoundedLines::new(stdout, &server.name, max, oversized.clone());
    let pipes = AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(usize::MAX);
    Ok(ChildTransport { pipes, child, oversized })
}

impl Transport<RoleClient> for ChildTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.pipes.send(item)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.pipes.receive()
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.pipes.close().await?;
        // A server that is still writing output nobody reads would not exit by itself.
        if !self.oversized.load(Ordering::Relaxed) {
            let _ended = tokio::time::timeout(GRACE, self.child.wait()).await;
        }
        // The leader may have left children behind; the signal goes to the whole group.
        let _gone = self.child.start_kill();
        self.child.wait().await.map(drop)
    }
}

impl Drop for ChildTransport {
    fn drop(&mut self) {
        // Fails only if the group is already gone. The runtime reaps the leader.
        let _gone = self.child.start_kill();
    }
}

/// Keeps the last lines, and logs them all under the name in `logged`. Nobody knows what a server writes: its
/// arguments and results may be among it, so that must be asked for.
async fn read_stderr(
    logged: Option<String>,
    redactor: Redactor,
    stderr: ChildStderr,
    last: LastLines,
) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader).take(STDERR_LINE_BYTES_MAX).read_until(b'\n', &mut line).await;
        if !matches!(read, Ok(count) if count > 0) {
            return;
        }
        let text = redactor.clean(String::from_utf8_lossy(&line).trim_end());
        if let Some(server) = &logged {
            tracing::debug!(server.name = server, "stderr of the MCP server: {text}");
        }
        last.push(&text);
    }
}

/// Passes on whole lines, as the library may read them. Fails when a line exceeds the limit, so that a server cannot
/// exhaust our memory.
pub(super) struct BoundedLines<R> {
    inner: R,
    server: String,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// Ended lines, and how much of them was passed on.
    ended: Vec<u8>,
    passed_on: usize,
    max: usize,
    oversized: Arc<AtomicBool>,
}

impl<R> BoundedLines<R> {
    fn new(inner: R, server: &str, max: usize, oversized: Arc<AtomicBool>) -> Self {
        let (line, ended) = (Vec::new(), Vec::new());
        Self { inner, server: server.to_owned(), line, ended, passed_on: 0, max, oversized }
    }

    /// Takes what the server sent next; fails if its line is too long.
    fn take_in(&mut self, mut sent: &[u8]) -> io::Result<()> {
        while let Some(end) = sent.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&sent[..end]);
            self.ended.extend_from_slice(&raw::readable(&self.server, &self.line));
            self.ended.push(b'\n');
            self.line.clear();
            sent = &sent[end + 1..];
        }
        self.line.extend_from_slice(sent);
        if self.line.len() > self.max {
            self.oversized.store(true, Ordering::Relaxed);
            return Err(io::Error::other("a message exceeds the limit"));
        }
        Ok(())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.passed_on == self.ended.len() {
            let mut sent = [0; READ_BYTES];
            let mut read = ReadBuf::new(&mut sent);
            std::task::ready!(Pin::new(&mut self.inner).poll_read(context, &mut read))?;
            (self.ended, self.passed_on) = (Vec::new(), 0);
            if read.filled().is_empty() {
                // The end; what is left is no whole message.
                return Poll::Ready(Ok(()));
            }
            self.take_in(read.filled())?;
        }
        let rest = &self.ended[self.passed_on..];
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        self.passed_on += count;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(sent: &str, max: usize) -> io::Result<String> {
        let oversized = Arc::default();
        let mut lines = BoundedLines::new(sent.as_bytes(), "s", max, oversized);
        let mut text = String::new();
        lines.read_to_string(&mut text).await.map(|_| text)
    }

    #[tokio::test]
    async fn whole_lines_pass_and_a_long_one_fails() {
        let long = "x".repeat(3 * READ_BYTES);
        assert_eq!(
            read(&format!("{long}\n\n{long}\n"), 4 * READ_BYTES).await.unwrap(),
            format!("{long}\n\n{long}\n")
        );
        assert!(read(&format!("{long}\n"), READ_BYTES).await.is_err());
        let number = "{\"a\":18446744073709551616}\n";
        assert_eq!(read(number, 100).await.unwrap(), "{\"a\":\"18446744073709551616\"}\n");
    }
}
