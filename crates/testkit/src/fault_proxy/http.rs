//! HTTP/1.1 with one request per connection, read completely, so that a fault knows what it hits.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Fault, State};

/// Serves one request.
pub(super) async fn serve(mut client: TcpStream, state: Arc<State>) {
    let Some(request) = Request::read(&mut client).await else { return };
    state.sent(request.bytes.len());
    let fault = state.next_fault();
    let reply = match fault {
        Some(Fault::Reset) => return,
        Some(Fault::Answer(status)) => return answer(&mut client, status).await,
        Some(Fault::CutRequest(bytes)) => {
            let end = bytes.min(request.bytes.len());
            return cut(&state, &request.bytes[..end]).await;
        }
        Some(Fault::Delay(time)) => {
            tokio::time::sleep(time).await;
            forward(&state, &request.bytes).await
        }
        _ => forward(&state, &request.bytes).await,
    };
    let Some(reply) = reply else { return };
    let told = match fault {
        Some(Fault::LoseReply) => &reply[..0],
        Some(Fault::CutReply(bytes)) => &reply[..bytes.min(reply.len())],
        Some(Fault::CommitThenAnswer(_)) => &reply[..0],
        _ => &reply[..],
    };
    if told.len() < reply.len() && request.conditional_write && succeeded(&reply) {
        state.counts.hidden_successes.fetch_add(1, Ordering::Relaxed);
    }
    if let Some(Fault::CommitThenAnswer(status)) = fault {
        return answer(&mut client, status).await;
    }
    state.received(told.len());
    let _ = client.write_all(told).await;
    let _ = client.shutdown().await;
}

struct Request {
    bytes: Vec<u8>,
    conditional_write: bool,
}

impl Request {
    /// Reads head and body, and requests `Connection: close` from the server.
    async fn read(client: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        let head_end = loop {
            if client.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
        };
        let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
        let header = |name: &str| {
            head.lines().skip(1).find_map(|line| {
                let (found, value) = line.split_once(':')?;
                found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
            })
        };
        let length: usize = header("content-length").map_or(Some(0), |text| text.parse().ok())?;
        if header("expect").is_some() {
            client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.ok()?;
        }
        while bytes.len() < head_end + 4 + length {
            if client.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        }
        let conditional = header("if-match").is_some() || header("if-none-match").is_some();
        let conditional_write = head.starts_with("PUT ") && conditional;
        bytes.splice(head_end..head_end, *b"\r\nConnection: close");
        Some(Self { bytes, conditional_write })
    }
}

async fn forward(state: &State, request: &[u8]) -> Option<Vec<u8>> {
    let mut server = TcpStream::connect(("127.0.0.1", state.upstream)).await.ok()?;
    let _ = server.set_nodelay(true);
    server.write_all(request).await.ok()?;
    let mut reply = Vec::new();
    server.read_to_end(&mut reply).await.ok()?;
    Some(reply)
}

/// Forwards the start of a request and closes the connection.
async fn cut(state: &State, beginning: &[u8]) {
    if let Ok(mut server) = TcpStream::connect(("127.0.0.1", state.upstream)).await {
        let _ = server.write_all(beginning).await;
    }
}

fn succeeded(reply: &[u8]) -> bool {
    reply.get(9..10) == Some(b"2")
}

async fn answer(client: &mut TcpStream, status: u16) {
    let code = match status {
        503 => "SlowDown",
        412 => "PreconditionFailed",
        _ => "InternalError",
    };
    let body = format!("<Error><Code>{code}</Code></Error>");
    let reply = format!(
        "HTTP/1.1 {status} {code}\r\nContent-Type: application/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = client.write_all(reply.as_bytes()).await;
    let _ = client.shutdown().await;
}
