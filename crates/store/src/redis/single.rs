//! A self-healing connection to a single server.
//!
//! The client library's `ConnectionManager` is not used: it remembers how its last attempt to connect failed
//! and reconnects only after I/O errors. One truncated handshake, or a server still loading its data, would
//! make every later command fail until the process ended.
//!
//! Invariant: no command that starts after a connection has failed uses that connection.

use std::sync::atomic::{AtomicU64, Ordering};

use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Client, Cmd, RedisError, RedisResult, Value};
use tokio::sync::Mutex;

/// A connection that is replaced when it breaks.
pub(super) struct SingleServer {
    client: Client,
    config: AsyncConnectionConfig,
    current: Mutex<Current>,
    /// Number of finished attempts to connect.
    attempts: AtomicU64,
}

#[derive(Default)]
struct Current {
    connection: Option<(u64, MultiplexedConnection)>,
    /// The error of the last attempt, for the callers that waited for it.
    failure: Option<RedisError>,
}

impl SingleServer {
    pub(super) async fn open(client: Client, config: AsyncConnectionConfig) -> RedisResult<Self> {
        let (current, attempts) = (Mutex::default(), AtomicU64::new(0));
        let single = Self { client, config, current, attempts };
        single.connected().await?;
        Ok(single)
    }

    /// Sends a command once. `breaks` decides which errors discard the connection.
    pub(super) async fn send(
        &self,
        command: &Cmd,
        breaks: impl Fn(&RedisError) -> bool,
    ) -> RedisResult<Value> {
        let (number, mut connection) = self.connected().await?;
        let answer = connection.req_packed_command(command).await;
        // The connection returns a server error as a value.
        let answer = answer.and_then(Value::extract_error);
        if answer.as_ref().is_err_and(breaks) {
            let mut current = self.current.lock().await;
            // Another command may already have replaced it.
            if current.connection.as_ref().is_some_and(|(now, _)| *now == number) {
                current.connection = None;
            }
        }
        answer
    }

    /// Returns the connection and its number. The first caller to find none connects; the others wait.
    async fn connected(&self) -> RedisResult<(u64, MultiplexedConnection)> {
        let attempts_seen = self.attempts.load(Ordering::Relaxed);
        let mut current = self.current.lock().await;
        if let Some(connection) = &current.connection {
            return Ok(connection.clone());
        }
        let attempts = self.attempts.load(Ordering::Relaxed);
        if attempts > attempts_seen
            && let Some(failure) = &current.failure
        {
            return Err(failure.clone());
        }
        let made = self.client.get_multiplexed_async_connection_with_config(&self.config).await;
        self.attempts.store(attempts + 1, Ordering::Relaxed);
        match made {
            Ok(connection) => {
                current.failure = None;
                Ok(current.connection.insert((attempts, connection)).clone())
            }
            Err(failure) => {
                current.failure = Some(failure.clone());
                Err(failure)
            }
        }
    }
}
