//! The entity index of seed 001: what one copy of the server looked up spares the others the call.
//!
//! On a connection of its own that is given up soon and never tried again, because a look-up is the other
//! way to the same answer. The names of a user's values are gathered beside them, so that erasing finds them;
//! all of a user's keys share a slot.
//!
//! Invariant: every key here has a time to live.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use throughline_engine::shared::SharedCache;
use throughline_engine::store::{Result, Scope, StoreError};

use super::connection::{Connection, Script};
use super::keys::Keys;
use super::options::RedisOptions;

/// How long one question may take, connecting included.
const LIMIT: Duration = Duration::from_millis(250);

/// A cache on the server or cluster that holds the threads.
pub struct RedisShared {
    connection: Connection,
    keys: Keys,
    put: Script,
    forget: Script,
}

impl RedisShared {
    /// Connects.
    pub async fn open(mut options: RedisOptions) -> Result<Self> {
        options.retries_max = 0;
        Ok(Self {
            connection: Connection::open(&options).await?,
            keys: Keys::new(&options.prefix),
            put: Script::new(include_str!("scripts/share.lua")),
            forget: Script::new(include_str!("scripts/unshare.lua")),
        })
    }

    async fn soon<T>(&self, asking: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::time::timeout(LIMIT, asking).await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable {
                what: self.connection.location().to_owned(),
                reason: format!("it took longer than {} ms", LIMIT.as_millis()),
                outcome_unknown: false,
            })
        })
    }
}

#[async_trait]
impl SharedCache for RedisShared {
    async fn get(&self, scope: &Scope, name: &str) -> Result<Option<Bytes>> {
        let mut command = redis::cmd("GET");
        command.arg(self.keys.entity(scope, name));
        let found: Option<Vec<u8>> = self.soon(self.connection.ask(&command)).await?;
        Ok(found.map(Bytes::from))
    }

    async fn put(&self, scope: &Scope, name: &str, value: Bytes, life: Duration) -> Result<()> {
        let names = [self.keys.entities(scope), self.keys.entity(scope, name)];
        let life = life.as_millis().max(1).to_string();
        let call = self.put.call(&names).arg(name).arg(value).arg(life);
        self.soon(async { Ok(self.connection.run::<i64>(&call).await.map(drop)?) }).await
    }

    async fn forget(&self, scope: &Scope) -> Result<()> {
        let call = self.forget.call(&[self.keys.entities(scope)]);
        self.soon(async { Ok(self.connection.run::<i64>(&call).await.map(drop)?) }).await
    }
}
