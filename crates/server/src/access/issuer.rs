//! Signing keys of an issuer, found through its metadata, cached, and fetched again when a token names an
//! unknown one.
//!
//! Only public keys for RS256, ES256 and EdDSA are used, each for the one algorithm of its type, so a token
//! cannot choose how it is verified.
//!
//! Invariant: there is at most one fetch at a time and one per configured pause, each with a time limit.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use reqwest::Url;
use reqwest::redirect::Policy;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::config::{OauthSettings, is_safe_address};
use crate::failure::Failure;

/// Largest document of an issuer, in bytes.
const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;
/// Maximum number of keys of one issuer.
const KEYS_MAX: usize = 100;
/// How long old keys are used while the issuer is unreachable.
const STALE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Why there is no key for a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The issuer has no such key.
    #[error("its signing key is unknown to the issuer")]
    Unknown,
    /// The keys could not be fetched.
    #[error("the keys of {issuer} cannot be fetched: {reason}")]
    Away {
        /// Name of the issuer.
        issuer: String,
        /// Why it failed.
        reason: String,
    },
}

/// An issuer of access tokens.
pub struct Issuer {
    address: Url,
    /// Exactly as in tokens and metadata.
    name: String,
    http: reqwest::Client,
    fresh_for: Duration,
    pause: Duration,
    fetch_max: Duration,
    keys: RwLock<Option<Arc<KeySet>>>,
    last: Mutex<Option<Attempt>>,
}

struct KeySet {
    keys: Vec<SigningKey>,
    fetched: Instant,
}

struct SigningKey {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
}

struct Attempt {
    at: Instant,
    reason: String,
}

impl Issuer {
    /// The configured issuer. Nothing is fetched before the first token.
    pub fn new(settings: &OauthSettings) -> Result<Self, Failure> {
        let hint = "correct it under [oauth] in the configuration";
        let address = Url::parse(&settings.issuer)
            .map_err(|error| Failure::wrong_use(format!("oauth.issuer: {error}"), hint))?;
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .build()
            .map_err(|error| Failure::new(error.to_string(), "see the system's certificates"))?;
        Ok(Self {
            address,
            name: settings.issuer.clone(),
            http,
            fresh_for: Duration::from_secs(settings.keys_seconds),
            pause: Duration::from_secs(settings.keys_pause_seconds),
            fetch_max: Duration::from_secs(settings.issuer_seconds_max),
            keys: RwLock::default(),
            last: Mutex::default(),
        })
    }

    /// The key with that id and algorithm. A token without a key id needs a single matching key.
    pub async fn key(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<DecodingKey, KeyError> {
        let known = self.known();
        let fresh = known.as_ref().filter(|keys| keys.fetched.elapsed() < self.fresh_for);
        if let Some(key) = fresh.and_then(|keys| keys.find(id, algorithm)) {
            return Ok(key);
        }
        self.renewed(known).await?.find(id, algorithm).ok_or(KeyError::Unknown)
    }

    fn known(&self) -> Option<Arc<KeySet>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keys newer than `seen`; the same ones if it is too early to fetch or the issuer is unreachable.
    async fn renewed(&self, seen: Option<Arc<KeySet>>) -> Result<Arc<KeySet>, KeyError> {
        let mut last = self.last.lock().await;
        let known = self.known();
        if let Some(keys) = known
            .as_ref()
            .filter(|_| known.as_ref().map(Arc::as_ptr) != seen.as_ref().map(Arc::as_ptr))
        {
            return Ok(keys.clone());
        }
        let usable = known.filter(|keys| keys.fetched.elapsed() < STALE_MAX);
        if let Some(attempt) = last.as_ref().filter(|attempt| attempt.at.elapsed() < self.pause) {
            return usable.ok_or_else(|| self.away(&attempt.reason));
        }
        let fetched = timeout(self.fetch_max, self.fetch()).await;
        let seconds = self.fetch_max.as_secs();
        let fetched =
            fetched.unwrap_or_else(|_| Err(format!("no answer within {seconds} seconds")));
        let at = Instant::now();
        match fetched {
            Ok(keys) => {
                *last = Some(Attempt { at, reason: String::new() });
                let keys = Arc::new(KeySet { keys, fetched: at });
                *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Some(keys.clone());
                Ok(keys)
            }
            Err(reason) => {
                tracing::warn!(oauth.issuer = self.name, reason, "cannot fetch the issuer's keys");
                let outcome = usable.ok_or_else(|| self.away(&reason));
                *last = Some(Attempt { at, reason });
                outcome
            }
        }
    }

    fn away(&self, reason: &str) -> KeyError {
        KeyError::Away { issuer: self.name.clone(), reason: reason.to_owned() }
    }

    async fn fetch(&self) -> Result<Vec<SigningKey>, String> {
        let address = self.keys_address().await?;
        let document = self.document(&address).await?;
        let Some(listed) = document["keys"].as_array() else {
            return Err(format!("{address} has no keys"));
        };
        let keys: Vec<SigningKey> = listed.iter().take(KEYS_MAX).filter_map(signing_key).collect();
        match keys.is_empty() {
            true => Err(format!("{address} has no key for RS256, ES256 or EdDSA")),
            false => Ok(keys),
        }
    }

    /// URL of the keys, from the issuer's metadata.
    async fn keys_address(&self) -> Result<Url, String> {
        let mut reasons = Vec::new();
        for address in metadata_addresses(&self.address) {
            let metadata = match self.document(&address).await {
                Ok(metadata) => metadata,
                Err(reason) => {
                    reasons.push(reason);
                    continue;
                }
            };
            if metadata["issuer"] != self.name.as_str() {
                return Err(format!("{address} is the metadata of {}", metadata["issuer"]));
            }
            let keys = metadata["jwks_uri"].as_str().and_then(|text| Url::parse(text).ok());
            return keys
                .filter(is_safe_address)
                .ok_or_else(|| format!("{address} has no jwks_uri that can be trusted"));
        }
        Err(reasons.join("; "))
    }

    async fn document(&self, address: &Url) -> Result<Value, String> {
        let failed = |error: reqwest::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            format!("{address}: {}", cause.unwrap_or_else(|| error.without_url().to_string()))
        };
        let request = self.http.get(address.clone()).header("accept", "application/json");
        let mut response = request.send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(format!("{address} answered {}", response.status().as_u16()));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > DOCUMENT_BYTES_MAX {
                return Err(format!("{address} is larger than {DOCUMENT_BYTES_MAX} bytes"));
            }
        }
        serde_json::from_slice(&bytes).map_err(|error| format!("{address} is not JSON: {error}"))
    }
}

impl KeySet {
    fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let mut fitting = self
            .keys
            .iter()
            .filter(|key| key.algorithm == algorithm && (id.is_none() || key.id.as_deref() == id));
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Some(key.key.clone()),
            _ => None,
        }
    }
}

/// A key for signatures, with the one algorithm of its type.
fn signing_key(value: &Value) -> Option<SigningKey> {
    let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
    let algorithm = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
            Algorithm::ES256
        }
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            Algorithm::EdDSA
        }
        _ => return None,
    };
    let stated = jwk.common.key_algorithm;
    let other_use =
        jwk.common.public_key_use.as_ref().is_some_and(|usage| *usage != PublicKeyUse::Signature);
    if other_use || stated.is_some_and(|stated| stated != algorithm.into()) {
        return None;
    }
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    Some(SigningKey { id: jwk.common.key_id, algorithm, key })
}

/// Possible locations of an issuer's metadata, in the order of the MCP specification: RFC 8414, then both forms
/// of OpenID Connect.
fn metadata_addresses(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/').to_owned();
    let mut paths = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
        format!("{path}/.well-known/openid-configuration"),
    ];
    paths.dedup();
    let at = |path: String| {
        let mut address = issuer.clone();
        address.set_path(&path);
        address
    };
    paths.into_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_is_looked_for_where_the_specification_says() {
        let of = |issuer: &str| -> Vec<String> {
            metadata_addresses(&Url::parse(issuer).unwrap()).into_iter().map(Into::into).collect()
        };
        assert_eq!(
            of("https://a.example/realm/"),
            [
                "https://a.example/.well-known/oauth-authorization-server/realm",
                "https://a.example/.well-known/openid-configuration/realm",
                "https://a.example/realm/.well-known/openid-configuration",
            ]
        );
        assert_eq!(of("https://a.example").len(), 2);
    }

    #[test]
    fn a_key_serves_one_algorithm_and_only_public_keys_for_signatures_are_taken() {
        let algorithm = |key: Value| signing_key(&key).map(|key| key.algorithm);
        let rsa = json!({"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "1"});
        assert_eq!(algorithm(rsa.clone()), Some(Algorithm::RS256));
        let with = |name: &str, value: &str| {
            let mut key = rsa.clone();
            key[name] = json!(value);
            algorithm(key)
        };
        assert_eq!(with("alg", "RS256"), Some(Algorithm::RS256));
        assert_eq!(with("alg", "PS256"), None);
        assert_eq!(with("use", "enc"), None);
        assert_eq!(algorithm(json!({"kty": "oct", "k": "c2VjcmV0"})), None);
        assert_eq!(algorithm(json!({"kty": "EC", "crv": "P-384", "x": "AQAB", "y": "AQAB"})), None);
    }
}
