//! State that a client holds between two requests, sealed.
//!
//! A stateless call that was not finished comes back with the `requestState` it was given. It is untrusted
//! input: it is signed together with the caller and the request, and it expires. The key is in the store, so
//! that any server can open what another one sealed.
//!
//! Invariant: a state opens only for the caller and the request that it was sealed for.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{RequestStateCodec, SealOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use throughline_engine::access::system_scope;
use throughline_engine::engine::Engine;
use throughline_engine::error::{Error, Result};
use throughline_engine::id::ThreadId;
use throughline_engine::store::{Change, Expected, Found, Key, Kind, StoreError};
use tokio::sync::OnceCell;

/// How long a client may take to answer.
const AGE_MAX: Duration = Duration::from_secs(600);
/// Id of the stored key.
const KEY_ID: &str = "mcp-request-state";
/// Length of the key.
const KEY_BYTES: usize = 32;

/// Seals and opens states.
pub struct Seal {
    engine: Arc<Engine>,
    codec: OnceCell<RequestStateCodec>,
}

impl Seal {
    /// A seal whose key is read from the store, or created there, on first use.
    pub fn new(engine: Arc<Engine>) -> Self {
        Self { engine, codec: OnceCell::new() }
    }

    /// Seals `state` for the client; `bound` names the caller and the request.
    pub async fn seal<T: Serialize>(&self, state: &T, bound: &str) -> Result<String> {
        let options = SealOptions::new().associated_data(bound.as_bytes()).ttl(AGE_MAX);
        let codec = self.codec().await?;
        codec.seal_json_with(state, &options).map_err(|error| Error::Unreadable {
            what: "the state of an unfinished call".into(),
            reason: error.to_string(),
        })
    }

    /// Opens the state that the client sent.
    pub async fn open<T: DeserializeOwned>(&self, sealed: &str, bound: &str) -> Result<T> {
        let opened = self.codec().await?.open_json_with(sealed, bound.as_bytes());
        opened.map_err(|error| {
            tracing::debug!(%error, "a requestState was rejected");
            Error::invalid("requestState", "it was not made for this request, or has expired")
        })
    }

    async fn codec(&self) -> Result<&RequestStateCodec> {
        let made = self.codec.get_or_try_init(|| async {
            let key = self.key().await?;
            RequestStateCodec::try_new(key).map_err(|error| Error::Unreadable {
                what: format!("the key {KEY_ID}"),
                reason: error.to_string(),
            })
        });
        made.await
    }

    async fn key(&self) -> Result<Vec<u8>> {
        let store = self.engine.store();
        let key = Key { scope: system_scope(), kind: Kind::Job, id: ThreadId::new(KEY_ID)? };
        if let Found::Head(head) = store.head(&key, None).await? {
            return Ok(head.bytes.to_vec());
        }
        let mut secret = vec![0; KEY_BYTES];
        getrandom::fill(&mut secret).map_err(|error| Error::Unreadable {
            what: "the operating system's randomness".into(),
            reason: error.to_string(),
        })?;
        let change = Change::of_head(secret.clone(), self.engine.now(), self.engine.new_id());
        match store.commit(&key, Expected::Absent, change).await {
            Ok(_) => Ok(secret),
            // Another server was faster; its key is used.
            Err(StoreError::Conflict { .. }) => match store.head(&key, None).await? {
                Found::Head(head) => Ok(head.bytes.to_vec()),
                Found::Missing | Found::Unchanged => Err(Error::Unreadable {
                    what: key.to_string(),
                    reason: "it was there and is gone".into(),
                }),
            },
            Err(error) => Err(error.into()),
        }
    }
}
