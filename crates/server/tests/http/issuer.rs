//! An issuer for one test: its metadata and keys over HTTP, and tokens as it, or a forger, would sign them.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// A signing key for ES256 with its id.
pub(crate) struct SigningKey {
    pub id: String,
    pub private: EncodingKey,
}

impl SigningKey {
    pub(crate) fn new(id: &str) -> Self {
        let signing = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let private = EcdsaKeyPair::generate_pkcs8(signing, &SystemRandom::new()).unwrap();
        Self { id: id.into(), private: EncodingKey::from_ec_der(private.as_ref()) }
    }

    /// Its public half.
    pub(crate) fn public(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.private, Algorithm::ES256).unwrap();
        jwk.common.key_id = Some(self.id.clone());
        serde_json::to_value(jwk).unwrap()
    }

    /// A token with these claims.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.id.clone()), ..Header::new(Algorithm::ES256) };
        encode(&header, claims, &self.private).unwrap()
    }
}

/// An issuer that listens. It stops when this is dropped.
pub(crate) struct Issuer {
    pub address: String,
    pub key: SigningKey,
    served: Served,
    task: AbortHandle,
}

#[derive(Clone)]
struct Served {
    address: String,
    keys: Arc<Mutex<Vec<Value>>>,
    fetches: Arc<AtomicUsize>,
}

impl Issuer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let address = format!("http://{address}/realm");
        let key = SigningKey::new("one");
        let keys = Arc::new(Mutex::new(vec![key.public()]));
        let served = Served { address: address.clone(), keys, fetches: Arc::default() };
        let routes = Router::new()
            .route("/realm/.well-known/openid-configuration", get(metadata))
            .route("/keys", get(keys_of))
            .with_state(served.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, key, served, task: serving.abort_handle() }
    }

    /// How often the keys were fetched.
    pub(crate) fn fetches(&self) -> usize {
        self.served.fetches.load(Ordering::SeqCst)
    }

    /// Publishes one more key.
    pub(crate) fn publish(&self, key: &SigningKey) {
        self.served.keys.lock().unwrap().push(key.public());
    }

    /// Claims of a valid token of that user for `resource`.
    pub(crate) fn claims(&self, user: &str, scope: &str, resource: &str) -> Value {
        let now = get_current_timestamp();
        json!({"iss": self.address, "aud": resource, "sub": user, "scope": scope,
            "iat": now, "nbf": now, "exp": now + 300})
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn metadata(State(served): State<Served>) -> Json<Value> {
    let origin = served.address.trim_end_matches("/realm");
    Json(json!({"issuer": served.address, "jwks_uri": format!("{origin}/keys")}))
}

async fn keys_of(State(served): State<Served>) -> Json<Value> {
    served.fetches.fetch_add(1, Ordering::SeqCst);
    let keys = served.keys.lock().unwrap().clone();
    Json(json!({ "keys": keys }))
}
