//! Accepts connections and serves them with one shared service.
//!
//! A connection costs a task, a socket and hyper's two buffers; routes and layers are built once. Limits apply
//! to the number of connections, in total and per address, to the time for a request head, and to the time a
//! client may leave a response unread ([`super::stall`]). [`super::admit`] limits bodies.
//!
//! HTTP/1.1 only: TLS and HTTP/2 are left to a proxy, which talks HTTP/1.1 to this server.
//!
//! Invariant: every connection is tracked, so none outlives [`serve`] by more than its caller allows.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use throughline_engine::sabotage::{self, Switch};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::stall::Stalling;
use crate::config::ServerSettings;
use crate::telemetry;

/// Largest request head, in bytes; hyper responds with 431 beyond it.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Pause after the system refused a socket, usually because all file descriptors are in use.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Response to a connection over the limit.
const REFUSED: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/problem+json\r\ncontent-length: 221\r\nretry-after: 1\r\nconnection: close\r\n\r\n\
    {\"type\":\"urn:throughline:problem:too_many_connections\",\"title\":\"Service Unavailable\",\"status\":503,\
    \"detail\":\"too many connections are open\",\"code\":\"too_many_connections\",\
    \"hint\":\"try again, or raise server.connections_max\"}";

/// Accepts connections until `stop`, and serves `service` on each. Connections run in `tracker`.
pub(super) async fn serve(
    listener: TcpListener,
    service: axum::Router,
    settings: &ServerSettings,
    tracker: &TaskTracker,
    stop: &CancellationToken,
) {
    let open = Arc::new(Open::new(settings));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(settings.head_seconds_max))
        .max_buf_size(HEAD_BYTES_MAX);
    let unread = Duration::from_secs(settings.unread_seconds_max);
    loop {
        let (stream, address) = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    pause_after(&error).await;
                    continue;
                }
            },
        };
        let Some(place) = open.take(address.ip()) else {
            refuse(&stream);
            continue;
        };
        // Responses are small; waiting to fill a packet only adds delay.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let io = TokioIo::new(Stalling::new(stream, unread));
        let connection = http.serve_connection(io, TowerToHyperService::new(service.clone()));
        let stop = stop.clone();
        tracker.spawn(async move {
            let _place = place;
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stop.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection failed");
            }
        });
    }
}

/// A failed handshake concerns one client; any other error concerns the machine and needs a pause.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        return;
    }
    tracing::error!(%error, "cannot accept a connection");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

fn refuse(stream: &TcpStream) {
    telemetry::metrics::connection_refused();
    // Best effort: a client that cannot take 400 bytes at once only sees the connection close.
    let _ = stream.try_write(REFUSED);
}

/// Open connections, in total and per address.
struct Open {
    all_max: usize,
    address_max: usize,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// An open connection; dropping it frees its place.
struct ConnectionPermit {
    open: Arc<Open>,
    address: IpAddr,
}

impl Open {
    fn new(settings: &ServerSettings) -> Self {
        Self {
            all_max: settings.connections_max,
            address_max: settings.connections_per_address_max,
            counts: Mutex::default(),
        }
    }

    /// Takes a place for a connection from `address`, if there is one.
    fn take(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionPermit> {
        let address = network_of(address);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let from_address = counts.by_address.get(&address).copied().unwrap_or_default();
        let full = counts.all >= self.all_max || from_address >= self.address_max;
        if full && !sabotage::is(Switch::NoConnectionLimits) {
            return None;
        }
        counts.all += 1;
        counts.by_address.insert(address, from_address + 1);
        telemetry::metrics::connections_open(counts.all);
        Some(ConnectionPermit { open: self.clone(), address })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut counts = self.open.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        telemetry::metrics::connections_open(counts.all);
        if let Some(from_address) = counts.by_address.get_mut(&self.address) {
            *from_address -= 1;
            if *from_address == 0 {
                counts.by_address.remove(&self.address);
            }
        }
    }
}

/// The network that counts as one client: with IPv6 a subscriber has a whole /64.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(all_max: usize, address_max: usize) -> Arc<Open> {
        Arc::new(Open { all_max, address_max, counts: Mutex::default() })
    }

    fn take(open: &Arc<Open>, address: &str) -> Option<ConnectionPermit> {
        open.take(address.parse().expect("an address"))
    }

    #[test]
    fn one_address_cannot_take_every_place() {
        let open = open(3, 2);
        let first = take(&open, "10.0.0.1");
        let _second = take(&open, "10.0.0.1");
        assert!(take(&open, "10.0.0.1").is_none());
        let _other = take(&open, "10.0.0.2").expect("another address has room");
        assert!(take(&open, "10.0.0.3").is_none(), "the limit in all holds");
        drop(first);
        assert!(take(&open, "10.0.0.1").is_some());
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let open = open(9, 1);
        let _one = take(&open, "2001:db8::1").expect("room");
        assert!(take(&open, "2001:db8::ffff").is_none());
        assert!(take(&open, "2001:db8:0:1::1").is_some());
        let _four = take(&open, "::ffff:10.0.0.1").expect("room");
        assert!(take(&open, "10.0.0.1").is_none(), "the same address in IPv6 form");
    }

    #[test]
    fn the_refusal_is_a_whole_response() {
        let text = std::str::from_utf8(REFUSED).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
        let problem: serde_json::Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(problem["code"], "too_many_connections");
    }
}
