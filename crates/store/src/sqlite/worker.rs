//! Threads that own connections and run closures for asynchronous callers.
//!
//! SQLite blocks, and must not block the runtime: a caller sends a closure and awaits its result.
//!
//! Invariant: a connection is only ever used by the thread that owns it.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

/// Capacity of the queue; further callers wait to enqueue.
pub(crate) const WAITING_MAX: usize = 1024;

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// A pool of threads with one connection each and a common queue.
#[derive(Debug)]
pub(crate) struct Workers {
    queue: Option<mpsc::Sender<Work>>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts one thread per connection.
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

    /// Enqueues `work` without waiting for it; drops it if the queue is full. Queued work runs before the threads end.
    pub(crate) fn enqueue(&self, work: impl FnOnce(&mut Connection) + Send + 'static) {
        if let Some(queue) = &self.queue {
            let _ = queue.try_send(Box::new(work));
        }
    }

    /// Runs `work` on one of the connections. Returns `None` if the threads have ended.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |connection| {
            // The caller may be gone.
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
    /// Waits for queued work, so that the file is closed when the store is dropped.
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // The panic of a thread has already been reported.
            let _ = thread.join();
        }
    }
}
