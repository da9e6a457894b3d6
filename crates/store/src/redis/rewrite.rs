//! Requests rewrites of the append-only file, so that erased data disappears from it.
//!
//! The file contains every command, and so the content of erased threads. A rewrite already in progress may
//! have started before the erasure; another one is then requested once it is done.
//!
//! Invariant: a note never claims that the bytes are gone, because the server rewrites in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use throughline_engine::store::Result;

use super::connection::Connection;

/// Delay between requests while a rewrite is in progress.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of with_retries requests.
const ATTEMPTS_MAX: usize = 3600;

/// Rewrites of the append-only files of a server or cluster.
#[derive(Debug, Default)]
pub(super) struct Rewrites {
    /// Whether a task is waiting to request another rewrite.
    waiting: Arc<AtomicBool>,
}

/// The reply of a server.
enum RewriteState {
    /// The rewrite has started or is scheduled.
    Started,
    /// Another rewrite is in progress, and may have started before the erasure.
    InProgress,
}

impl Rewrites {
    /// Requests a rewrite from every server; returns a note for the erasure report.
    pub(super) async fn request(&self, connection: &Connection) -> String {
        let held = "erased data stays in the append-only file";
        match request_all(connection).await {
            Ok(RewriteState::Started) => format!("{held} until the requested rewrite is done"),
            Ok(RewriteState::InProgress) => {
                self.request_later(connection);
                format!("{held} until the rewrite after the current one is done")
            }
            Err(error) => {
                tracing::warn!(%error, "could not request a rewrite of the append-only file");
                format!("{held} until its next rewrite, which could not be requested: {error}")
            }
        }
    }

    fn request_later(&self, connection: &Connection) {
        // The waiting task's request covers this erasure, too.
        if self.waiting.swap(true, Ordering::AcqRel) {
            return;
        }
        let (connection, waiting) = (connection.clone(), Arc::clone(&self.waiting));
        tokio::spawn(async move {
            for _ in 0..ATTEMPTS_MAX {
                tokio::time::sleep(PAUSE).await;
                waiting.store(false, Ordering::Release);
                match request_all(&connection).await {
                    Ok(RewriteState::InProgress) => waiting.store(true, Ordering::Release),
                    Ok(RewriteState::Started) => return,
                    Err(error) => {
                        tracing::warn!(%error, "could not request a rewrite of the append-only file");
                        return;
                    }
                }
            }
        });
    }
}

async fn request_all(connection: &Connection) -> Result<RewriteState> {
    let mut outcome = RewriteState::Started;
    for node in connection.primaries().await? {
        let command = redis::cmd("BGREWRITEAOF");
        match connection.query_node::<String>(node.as_ref(), &command).await {
            Ok(_) => {}
            Err(error) if error.to_string().contains("in progress") => {
                outcome = RewriteState::InProgress
            }
            Err(error) => return Err(error),
        }
    }
    Ok(outcome)
}
