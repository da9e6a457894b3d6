//! A proxy between a store and its server that fails on purpose, and counts how.
//!
//! Plain TCP for Redis, request by request for HTTP. The faults are those of real networks: delays,
//! resets, half a request, half a reply, a request that is carried out and whose reply is lost, and
//! storms of 503 and 412. Which request meets which fault follows from a seed.

mod http;
mod tcp;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::seeded::Seeded;

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It arrives late.
    Delay(Duration),
    /// The connection ends before anything is passed on.
    Reset,
    /// Only this many bytes of it are passed on, then the connection ends.
    CutRequest(usize),
    /// It is carried out, and the connection ends after this many bytes of the reply.
    CutReply(usize),
    /// It is carried out, and the reply never comes back.
    LoseReply,
    /// It is not carried out; this status is answered. HTTP only.
    Answer(u16),
    /// It is carried out, and this status is answered all the same. HTTP only.
    CommitThenAnswer(u16),
}

/// Every fault that a byte stream can have.
pub const TCP_FAULTS: [Fault; 5] = [
    Fault::Delay(Duration::from_millis(5)),
    Fault::Reset,
    Fault::CutRequest(20),
    Fault::CutReply(2),
    Fault::LoseReply,
];

/// Those, and what only HTTP has.
pub const HTTP_FAULTS: [Fault; 10] = [
    Fault::Delay(Duration::from_millis(5)),
    Fault::Reset,
    Fault::CutRequest(120),
    Fault::CutReply(9),
    Fault::LoseReply,
    Fault::LoseReply,
    Fault::Answer(503),
    Fault::Answer(412),
    Fault::CommitThenAnswer(503),
    Fault::CommitThenAnswer(412),
];

/// Which requests fail, and how.
#[derive(Debug, Clone)]
pub struct FaultPlan {
    /// Where the sequence of decisions starts.
    pub seed: u64,
    /// How many requests in a thousand meet a fault.
    pub permille: u64,
    /// The faults to choose from.
    pub faults: Vec<Fault>,
}

/// What the proxy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    /// Bytes.
    Tcp,
    /// HTTP/1.1, one request a connection.
    Http,
}

/// What has gone through.
#[derive(Debug, Default)]
pub struct Counts {
    /// Requests, or stretches of bytes, from the client.
    pub requests: AtomicU64,
    /// Bytes from the client.
    pub sent_bytes: AtomicU64,
    /// Bytes to the client.
    pub received_bytes: AtomicU64,
    /// Faults so far.
    pub faults: AtomicU64,
    /// Conditional writes that the server carried out and that the client was not told of.
    pub hidden_successes: AtomicU64,
}

/// A running proxy; it ends when it is dropped.
#[derive(Debug)]
pub struct FaultProxy {
    /// Where it listens on loopback.
    pub port: u16,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    upstream: u16,
    weather: Mutex<Option<(Seeded, FaultPlan)>>,
    counts: Counts,
}

impl FaultProxy {
    /// Listens on a free port and passes everything on to `upstream`, in calm weather.
    pub async fn start(upstream: u16, speaks: Speaks) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let port = listener.local_addr().expect("a bound listener has an address").port();
        let state =
            Arc::new(State { upstream, weather: Mutex::new(None), counts: Counts::default() });
        let shared = Arc::clone(&state);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                let _ = client.set_nodelay(true);
                match speaks {
                    Speaks::Tcp => drop(tokio::spawn(tcp::serve(client, state))),
                    Speaks::Http => drop(tokio::spawn(http::serve(client, state))),
                }
            }
        });
        Self { port, state, accepting }
    }

    /// From now on requests fail as `weather` says.
    pub fn set(&self, weather: FaultPlan) {
        let seeded = Seeded::new(weather.seed);
        *self.state.lock() = Some((seeded, weather));
    }

    /// From now on nothing fails.
    pub fn calm(&self) {
        *self.state.lock() = None;
    }

    /// What has gone through so far.
    pub fn counts(&self) -> &Counts {
        &self.state.counts
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl State {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Seeded, FaultPlan)>> {
        self.weather.lock().expect("nobody panics while holding the weather")
    }

    /// The fate of the next request.
    fn next_fault(&self) -> Option<Fault> {
        self.counts.requests.fetch_add(1, Ordering::Relaxed);
        let mut weather = self.lock();
        let (seeded, weather) = weather.as_mut()?;
        if weather.faults.is_empty() || !seeded.happens(weather.permille) {
            return None;
        }
        self.counts.faults.fetch_add(1, Ordering::Relaxed);
        Some(*seeded.one_of(&weather.faults))
    }

    fn sent(&self, bytes: usize) {
        self.counts.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn received(&self, bytes: usize) {
        self.counts.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
