//! A timeout for the first request of the current protocol.
//!
//! Legacy servers do not know the request `server/discover`. Some reject it; many do not reply. After a timeout, this
//! wrapper replies "method not found" in their place, so that the client falls back to the legacy handshake on the
//! same connection. A late reply is dropped.
//!
//! Invariant: every request gets one reply.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::time::Instant;

/// A transport that limits the wait for the reply to `server/discover`.
pub(super) struct Probe<T> {
    inner: T,
    timeout: Duration,
    waiting: Option<(RequestId, Instant)>,
    given_up: Option<RequestId>,
}

impl<T> Probe<T> {
    pub(super) fn new(inner: T, timeout: Duration) -> Self {
        Self { inner, timeout, waiting: None, given_up: None }
    }

    fn give_up(&mut self) -> Option<ServerJsonRpcMessage> {
        let (id, _) = self.waiting.take()?;
        self.given_up = Some(id.clone());
        let error =
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no reply to server/discover", None);
        Some(ServerJsonRpcMessage::error(error, Some(id)))
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Probe<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            self.waiting = Some((request.id.clone(), Instant::now() + self.timeout));
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = match self.waiting {
                None => self.inner.receive().await?,
                Some((_, deadline)) => {
                    match tokio::time::timeout_at(deadline, self.inner.receive()).await {
                        Ok(message) => message?,
                        Err(_) => return self.give_up(),
                    }
                }
            };
            let id = match &message {
                JsonRpcMessage::Response(response) => Some(&response.id),
                JsonRpcMessage::Error(error) => error.id.as_ref(),
                _ => None,
            };
            if id.is_some() && id == self.given_up.as_ref() {
                self.given_up = None;
                continue;
            }
            if id.is_some() {
                self.waiting = None;
            }
            return Some(message);
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use rmcp::transport::async_rw::AsyncRwTransport;
    use serde_json::json;
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn silence_is_answered_once_and_the_late_answer_is_dropped() {
        let (ours, mut theirs) = tokio::io::duplex(4_096);
        let (read, write) = tokio::io::split(ours);
        let inner = AsyncRwTransport::new_client(read, write);
        let mut probe = Probe::new(inner, Duration::from_millis(1));
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let question = json!({
            "jsonrpc": "2.0", "id": 7, "method": "server/discover", "params": {"_meta": meta},
        });
        probe.send(serde_json::from_value(question).unwrap()).await.unwrap();
        let given_up = serde_json::to_value(probe.receive().await.unwrap()).unwrap();
        assert_eq!((&given_up["id"], &given_up["error"]["code"]), (&json!(7), &json!(-32601)));

        let late = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32000, "message": "late"}});
        let next = json!({"jsonrpc": "2.0", "id": 8, "result": {}});
        theirs.write_all(format!("{late}\n{next}\n").as_bytes()).await.unwrap();
        let received = serde_json::to_value(probe.receive().await.unwrap()).unwrap();
        assert_eq!(received["id"], 8);
    }
}
