//! Authentication: by key or token, or none at all on loopback while there are neither.
//!
//! A checked key is cached briefly, so that requests need not read the store. A key revoked through this
//! process is dropped at once; one revoked by another process remains valid for that time at most.
//!
//! Invariant: once there is a key, tokens are accepted, or the address is not loopback, every request needs a
//! credential.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use moka::sync::Cache;
use throughline_engine::access::Caller;
use throughline_engine::error::Error;
use throughline_engine::store::StoreError;

use super::{ApiKey, KeyRecord, Keys, TokenError, Tokens};
use crate::failure::Failure;

/// Maximum number of keys in the cache.
const REMEMBERED_MAX: u64 = 10_000;
/// How long a checked key, or the absence of keys, is cached.
const REMEMBERED_FOR: Duration = Duration::from_secs(5);
/// How long reading a key may take. A store that is away is waited for by whoever needs its data, not by everybody.
const READ_WITHIN: Duration = Duration::from_secs(5);

/// Why a request is rejected.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No credential, and one is required.
    #[error("this server requires an API key")]
    NoKey,
    /// The credential is not in the form of a key.
    #[error("the credential is not an API key of this server")]
    NotAKey,
    /// The key is unknown or revoked; the message does not say which.
    #[error("the API key is not valid")]
    Invalid,
    /// The access token is rejected.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The keys could not be read.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl Refusal {
    /// Stable code of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoKey => "key_needed",
            Self::NotAKey | Self::Invalid => "key_invalid",
            Self::Token(TokenError::Invalid(_)) => "token_invalid",
            Self::Token(TokenError::NoScope(_)) => "insufficient_scope",
            Self::Token(TokenError::Away(_)) => "issuer_unreachable",
            Self::Engine(error) => error.code(),
        }
    }
}

/// Authenticates callers.
pub struct Gate {
    keys: Keys,
    tokens: Option<Tokens>,
    known: Cache<String, KeyRecord>,
    keyless: Cache<(), ()>,
    keyless_allowed: bool,
    keys_seen: AtomicBool,
}

impl Gate {
    /// The gate of a server on `address`; fails if it would admit anybody.
    pub async fn open(
        keys: Keys,
        tokens: Option<Tokens>,
        address: IpAddr,
    ) -> Result<Self, Failure> {
        let any = keys.any().await?;
        if !any && tokens.is_none() && !address.is_loopback() {
            return Err(Failure::new(
                format!("{address} is reachable from other machines, and there is no API key"),
                "create one with throughline key create, give one in THROUGHLINE_FIRST_KEY, set oauth.issuer, or bind 127.0.0.1",
            ));
        }
        let remembered = || Cache::builder().time_to_live(REMEMBERED_FOR);
        Ok(Self {
            keys,
            keyless_allowed: address.is_loopback() && tokens.is_none(),
            tokens,
            known: remembered().max_capacity(REMEMBERED_MAX).build(),
            keyless: Cache::builder().time_to_live(REMEMBERED_FOR).max_capacity(1).build(),
            keys_seen: AtomicBool::new(any),
        })
    }

    /// Authenticates a credential.
    pub async fn caller(&self, credential: Option<&str>) -> Result<Caller, Refusal> {
        let Some(text) = credential else {
            return if self.keyless().await? { Ok(Caller::local()) } else { Err(Refusal::NoKey) };
        };
        let Some(key) = ApiKey::parse(text) else {
            return match &self.tokens {
                Some(tokens) => Ok(tokens.caller(text).await?),
                None => Err(Refusal::NotAKey),
            };
        };
        let record = match self.known.get(key.id()) {
            Some(record) => record,
            None => self.look_up(&key).await?,
        };
        if record.revoked_at.is_none() && key.matches(&record.hash) {
            Ok(record.caller())
        } else {
            Err(Refusal::Invalid)
        }
    }

    /// Whether `text` is a key, or claims to be a token of the issuer.
    pub fn is_ours(&self, text: &str) -> bool {
        ApiKey::parse(text).is_some()
            || self.tokens.as_ref().is_some_and(|tokens| tokens.claims_issuer(text))
    }

    /// Accepted tokens, if any.
    pub fn tokens(&self) -> Option<&Tokens> {
        self.tokens.as_ref()
    }

    /// The stored keys.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Revokes a key with immediate effect.
    pub async fn revoke(&self, id: &str) -> Result<KeyRecord, Error> {
        let record = self.keys.revoke(id).await?;
        self.known.invalidate(id);
        Ok(record)
    }

    /// Clears the cache, so that every key is read again.
    pub fn forget_known(&self) {
        self.known.invalidate_all();
    }

    /// Whether no key is required.
    pub async fn keyless(&self) -> Result<bool, Error> {
        if !self.keyless_allowed || self.keys_seen.load(Ordering::Relaxed) {
            return Ok(false);
        }
        if self.keyless.get(&()).is_some() {
            return Ok(true);
        }
        if read(self.keys.any()).await? {
            self.keys_seen.store(true, Ordering::Relaxed);
            return Ok(false);
        }
        self.keyless.insert((), ());
        Ok(true)
    }

    /// Reads a key, and caches it if the secret matches.
    async fn look_up(&self, key: &ApiKey) -> Result<KeyRecord, Refusal> {
        let record = read(self.keys.find(key.id())).await?.ok_or(Refusal::Invalid)?;
        if key.matches(&record.hash) {
            self.known.insert(record.id.clone(), record.clone());
        }
        Ok(record)
    }
}

/// Reads keys, or says that the store is away.
async fn read<T>(reading: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(READ_WITHIN, reading).await.unwrap_or_else(|_| {
        Err(Error::Store(StoreError::Unavailable {
            what: "the keys of this server".into(),
            reason: format!("the store did not answer within {} s", READ_WITHIN.as_secs()),
            outcome_unknown: false,
        }))
    })
}
