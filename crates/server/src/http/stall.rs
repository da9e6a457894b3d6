//! A connection whose peer must keep reading.
//!
//! A client that never reads fills the socket buffers and blocks the response and the turn behind it. The write
//! then fails here, hyper drops the response body, and the turn is cancelled as with any disconnect.
//!
//! This is not an idle timeout: a connection with nothing to write may stay silent.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A stream whose writes fail after waiting for `limit`.
pub(super) struct Stalling<S> {
    stream: S,
    limit: Duration,
    /// Runs while a write waits; allocated only then.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> Stalling<S> {
    /// Wraps `stream`; a write may wait for `limit`.
    pub(super) fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, waiting: None }
    }

    /// `polled`, or an error if it has been pending for too long.
    fn bounded<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(waiting.as_mut().poll(context));
        let reason = format!("the client read nothing for {} seconds", limit.as_secs());
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, reason)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalling<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalling<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.bounded(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bounded(context, polled)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_keeps_the_connection_and_one_that_does_not_loses_it() {
        let (ours, mut theirs) = tokio::io::duplex(4);
        let mut ours = Stalling::new(ours, Duration::from_secs(30));
        let slow = async {
            let mut bytes = [0; 4];
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_secs(29)).await;
                theirs.read_exact(&mut bytes).await.expect("bytes");
            }
        };
        let (written, ()) = tokio::join!(ours.write_all(b"0123456789ab"), slow);
        written.expect("a slow reader is served");
        ours.write_all(b"full").await.expect("it fits");
        let error = ours.write_all(b"more").await.expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
