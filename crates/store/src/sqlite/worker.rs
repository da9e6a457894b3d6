//! Threads that own connections and do work for asynchronous callers.
//!
//! SQLite blocks; the runtime must not. A caller sends a closure and awaits its answer.
//!
//! Invariant: a connection is only ever used by the thread that owns it.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

/// How many pieces of work may wait for a thread; more callers wait their turn outside.
pub(crate) const WAITING_MAX: usize = 1024;

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// Some threads with a connection each and one queue before them.
#[derive(Debug)]
pub(crate) struct Workers {
    queue: Option<mpsc::Sender<Work>>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// One thread for each connection.
    pub(crate) fn start(name: &str, connections: Vec<Connection>) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel::<Work>(WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let mut threads = Vec::with_capacity(connections.len());
        for mut connection in connections {
            let waiting = Arc::clone(&waiting);
            let run = move || {
                while let Some(work) = next(&waiting) {
                    work(&mut connection);
                }
            };
            threads.push(std::thread::Builder::new().name(name.to_owned()).spawn(run)?);
        }
        Ok(Self { queue: Some(queue), threads })
    }

    /// Leaves `work` to be done before the threads end, without waiting for it. Dropped where too much waits.
    pub(crate) fn leave(&self, work: impl FnOnce(&mut Connection) + Send + 'static) {
        if let Some(queue) = &self.queue {
            let _ = queue.try_send(Box::new(work));
        }
    }

    /// Runs `work` on one of the connections. `None` when the threads have ended.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |connection| {
            // A caller that went away is no reason to stop.
            let _ = answer.send(work(connection));
        });
        self.queue.as_ref()?.send(work).await.ok()?;
        answered.await.ok()
    }
}

fn next(waiting: &Mutex<mpsc::Receiver<Work>>) -> Option<Work> {
    waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).blocking_recv()
}

impl Drop for Workers {
    /// Waits for the work at hand, so that the files are closed when the store is gone.
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has already said so.
            let _ = thread.join();
        }
    }
}
