//! Asking the server to write its append-only file anew, so that what was erased leaves it.
//!
//! The file holds every command, so also the words of a thread that is gone. A rewrite that is under way may have
//! begun before the erasure; then another one is asked for once it is done.
//!
//! Invariant: an answer never says that the bytes are gone, for the rewrite is the server's and takes its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use throughline_engine::store::Result;

use super::connection::Connection;

/// How long a rewrite that is under way is waited for, again and again.
const PAUSE: Duration = Duration::from_secs(1);
/// How often it is asked for again before it is given up.
const ATTEMPTS_MAX: usize = 3600;

/// The rewrites of a server's or a cluster's append-only files.
#[derive(Debug, Default)]
pub(super) struct Rewrites {
    /// Whether somebody waits to ask again.
    waiting: Arc<AtomicBool>,
}

/// What a server said.
enum RewriteState {
    /// It begins, or will.
    Begun,
    /// One is under way, and may have begun too early.
    UnderWay,
}

impl Rewrites {
    /// Asks every server; answers what is to be said about the bytes.
    pub(super) async fn ask(&self, connection: &Connection) -> String {
        let held = "the append-only file holds what was erased";
        match ask_all(connection).await {
            Ok(RewriteState::Begun) => {
                format!("{held} until its rewrite is done, which was asked for")
            }
            Ok(RewriteState::UnderWay) => {
                self.ask_later(connection);
                format!("{held} until the rewrite after the one under way is done")
            }
            Err(error) => {
                tracing::warn!(%error, "the append-only file could not be rewritten");
                format!("{held} until its next rewrite, which could not be asked for: {error}")
            }
        }
    }

    fn ask_later(&self, connection: &Connection) {
        // Whoever waits already asks after this erasure, too.
        if self.waiting.swap(true, Ordering::AcqRel) {
            return;
        }
        let (connection, waiting) = (connection.clone(), Arc::clone(&self.waiting));
        tokio::spawn(async move {
            for _ in 0..ATTEMPTS_MAX {
                tokio::time::sleep(PAUSE).await;
                waiting.store(false, Ordering::Release);
                match ask_all(&connection).await {
                    Ok(RewriteState::UnderWay) => waiting.store(true, Ordering::Release),
                    Ok(RewriteState::Begun) => return,
                    Err(error) => {
                        tracing::warn!(%error, "the append-only file could not be rewritten");
                        return;
                    }
                }
            }
        });
    }
}

async fn ask_all(connection: &Connection) -> Result<RewriteState> {
    let mut outcome = RewriteState::Begun;
    for node in connection.primaries().await? {
        let command = redis::cmd("BGREWRITEAOF");
        match connection.ask_node::<String>(node.as_ref(), &command).await {
            Ok(_) => {}
            Err(error) if error.to_string().contains("in progress") => {
                outcome = RewriteState::UnderWay
            }
            Err(error) => return Err(error),
        }
    }
    Ok(outcome)
}
