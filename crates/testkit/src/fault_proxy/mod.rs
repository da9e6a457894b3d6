//! A proxy between a store and its server that injects faults and counts them.
//!
//! Plain TCP for Redis, request by request for HTTP. The faults are those of real networks: delays, resets, truncated
//! requests and replies, a request that is executed but whose reply is lost, and bursts of 503 and 412. A seed
//! determines which request meets which fault.

mod http;
mod tcp;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::seeded::Seeded;

/// A fault of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is delayed.
    Delay(Duration),
    /// The connection is closed before anything is forwarded.
    Reset,
    /// Only this many bytes are forwarded, then the connection is closed.
    CutRequest(usize),
    /// It is executed, and the connection is closed after this many bytes of the reply.
    CutReply(usize),
    /// It is executed, and the reply is dropped.
    LoseReply,
    /// It is not executed; the reply has this status. HTTP only.
    Answer(u16),
    /// It is executed, but the reply has this status. HTTP only.
    CommitThenAnswer(u16),
}

/// All faults of a byte stream.
pub const TCP_FAULTS: [Fault; 5] = [
    Fault::Delay(Duration::from_millis(5)),
    Fault::Reset,
    Fault::CutRequest(20),
    Fault::CutReply(2),
    Fault::LoseReply,
];

/// Those, and the faults of HTTP.
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
    /// Determines the sequence of decisions.
    pub seed: u64,
    /// How many requests in a thousand fail.
    pub permille: u64,
    /// The faults to choose from.
    pub faults: Vec<Fault>,
}

/// The protocol of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    /// A byte stream.
    Tcp,
    /// HTTP/1.1, one request per connection.
    Http,
}

/// Counters of the proxy.
#[derive(Debug, Default)]
pub struct Counts {
    /// Requests, or chunks of bytes, from the client.
    pub requests: AtomicU64,
    /// Bytes from the client.
    pub sent_bytes: AtomicU64,
    /// Bytes to the client.
    pub received_bytes: AtomicU64,
    /// Faults so far.
    pub faults: AtomicU64,
    /// Conditional writes that the server executed without the client being told.
    pub hidden_successes: AtomicU64,
}

/// A running proxy, stopped on drop.
#[derive(Debug)]
pub struct FaultProxy {
    /// Its loopback port.
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
    /// Listens on a free port and forwards everything to `upstream`, at first without faults.
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

    /// Starts injecting faults according to `weather`.
    pub fn set(&self, weather: FaultPlan) {
        let seeded = Seeded::new(weather.seed);
        *self.state.lock() = Some((seeded, weather));
    }

    /// Stops injecting faults.
    pub fn calm(&self) {
        *self.state.lock() = None;
    }

    /// The counters so far.
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

    /// Decides about the next request.
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
