//! Plain TCP; a chunk from the client counts as a request.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Fault, State};

/// Maximum size of a chunk.
const STRETCH_BYTES: usize = 256 * 1024;

/// Serves one client until either side or a fault ends the connection.
pub(super) async fn serve(mut client: TcpStream, state: Arc<State>) {
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", state.upstream)).await else { return };
    let _ = server.set_nodelay(true);
    let (mut from_client, mut from_server) = (vec![0; STRETCH_BYTES], vec![0; STRETCH_BYTES]);
    // Set if the next reply is to be cut after so many bytes.
    let mut cut_reply = None;
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => {
                let Ok(count @ 1..) = read else { return };
                state.sent(count);
                let mut request = &from_client[..count];
                match state.next_fault() {
                    None | Some(Fault::Answer(_) | Fault::CommitThenAnswer(_)) => {}
                    Some(Fault::Delay(time)) => tokio::time::sleep(time).await,
                    Some(Fault::Reset) => return,
                    Some(Fault::CutRequest(bytes)) => {
                        request = &request[..bytes.min(count)];
                        let _ = server.write_all(request).await;
                        return;
                    }
                    Some(Fault::CutReply(bytes)) => cut_reply = Some(bytes),
                    Some(Fault::LoseReply) => cut_reply = Some(0),
                }
                if server.write_all(request).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut from_server) => {
                let Ok(count @ 1..) = read else { return };
                if let Some(bytes) = cut_reply {
                    state.counts.hidden_successes.fetch_add(1, Ordering::Relaxed);
                    let _ = client.write_all(&from_server[..bytes.min(count)]).await;
                    return;
                }
                state.received(count);
                if client.write_all(&from_server[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}
