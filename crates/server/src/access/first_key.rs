//! The first key of an installation that nobody can enter to create one, such as a pod: a variable, filled from a
//! secret, holds it.
//!
//! It is not a password beside the keys: it becomes an ordinary key with the rights that `key create` gives, and
//! can be listed and revoked like any other.
//!
//! Invariant: it is stored only while there has never been a key, so the variable cannot bring back a revoked key
//! or add a second one.

use secrecy::{ExposeSecret, SecretString};
use throughline_engine::access::{Grants, local_scope};
use throughline_engine::error::Error;
use throughline_engine::store::{Scope, StoreError};

use super::{ApiKey, Keys, NewKey};
use crate::failure::Failure;

/// The variable that holds the first key.
pub const VARIABLE: &str = "THROUGHLINE_FIRST_KEY";

/// Stores the key in `text` if there has never been one. Copies that start together store it once.
pub async fn store(keys: &Keys, text: &SecretString) -> Result<(), Failure> {
    let Some(key) = ApiKey::parse(text.expose_secret().trim()) else {
        return Err(Failure::wrong_use(
            format!("{VARIABLE} is not a key: tl_, 16 hexadecimal digits, _, and 64 more"),
            "make one: echo tl_$(openssl rand -hex 8)_$(openssl rand -hex 32)",
        ));
    };
    if keys.any().await? {
        if keys.find(key.id()).await?.is_none() {
            tracing::warn!("{VARIABLE} is ignored: there are keys already");
        }
        return Ok(());
    }
    let Scope { tenant, user } = local_scope();
    let new = NewKey { name: "first key".into(), tenant, user, scope: Grants::Write };
    match keys.add(&key, new).await {
        Ok(_) => {
            tracing::info!(key.id = key.id(), "stored the first key");
            Ok(())
        }
        // Another copy was faster.
        Err(Error::Store(StoreError::Conflict { .. })) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
