//! The connection to one server, made anew whenever it has broken.
//!
//! Not the client library's own manager: that one remembers how its last attempt to connect failed, and
//! tries again only after a failure of input or output. One answer cut short in the greeting, or a
//! server that was still loading its data, and every later command failed until the process ended.
//!
//! Invariant: a connection that failed is used by no command that starts later.

use std::sync::atomic::{AtomicU64, Ordering};

use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Client, Cmd, RedisError, RedisResult, Value};
use tokio::sync::Mutex;

/// One server.
pub(super) struct SingleServer {
    client: Client,
    config: AsyncConnectionConfig,
    current: Mutex<Current>,
    /// Attempts to connect that have ended.
    attempts: AtomicU64,
}

#[derive(Default)]
struct Current {
    connection: Option<(u64, MultiplexedConnection)>,
    /// How the last attempt failed, for those who waited for it.
    failure: Option<RedisError>,
}

impl SingleServer {
    /// Connects.
    pub(super) async fn open(client: Client, config: AsyncConnectionConfig) -> RedisResult<Self> {
        let (current, attempts) = (Mutex::default(), AtomicU64::new(0));
        let single = Self { client, config, current, attempts };
        single.connected().await?;
        Ok(single)
    }

    /// Sends a command once. `breaks` tells which failures cost the connection.
    pub(super) async fn send(
        &self,
        command: &Cmd,
        breaks: impl Fn(&RedisError) -> bool,
    ) -> RedisResult<Value> {
        let (number, mut connection) = self.connected().await?;
        let answer = connection.req_packed_command(command).await;
        // An error in an answer is a value to the connection.
        let answer = answer.and_then(Value::extract_error);
        if answer.as_ref().is_err_and(breaks) {
            let mut current = self.current.lock().await;
            // Another command may have replaced it already.
            if current.connection.as_ref().is_some_and(|(now, _)| *now == number) {
                current.connection = None;
            }
        }
        answer
    }

    /// The connection and its number; the caller that finds none makes it, the others wait for that.
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
