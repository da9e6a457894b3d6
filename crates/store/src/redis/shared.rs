//! The entity index of seed 001: a look-up done by one server instance saves the others the call. And its metrics: figures of
//! sessions, for programs that watch the server.
//!
//! It uses its own connection with a short timeout and no retries, because the look-up itself is the
//! fallback. The names of a user's values are stored in a set, so that erasing finds them; all keys of a
//! user share a slot.
//!
//! Invariant: every key here has a time to live.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use throughline_engine::shared::{SessionFigures, SharedCache};
use throughline_engine::store::{Key, Result, Scope, StoreError};

use super::connection::{Connection, Script};
use super::keys::Keys;
use super::options::RedisOptions;

/// How long figures stay.
const FIGURES_SECONDS: u64 = 60 * 60;

/// A cache on the server or cluster that stores the threads.
pub struct RedisShared {
    connection: Connection,
    keys: Keys,
    timeout: Duration,
    put: Script,
    forget: Script,
}

impl RedisShared {
    pub async fn open(mut options: RedisOptions) -> Result<Self> {
        options.retries_max = 0;
        Ok(Self {
            connection: Connection::open(&options).await?,
            keys: Keys::new(&options.prefix),
            timeout: options.cache_timeout,
            put: Script::new(include_str!("scripts/share.lua")),
            forget: Script::new(include_str!("scripts/unshare.lua")),
        })
    }

    async fn within_limit<T>(&self, operation: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::time::timeout(self.timeout, operation).await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable {
                what: self.connection.location().to_owned(),
                reason: format!("it took longer than {} ms", self.timeout.as_millis()),
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
        let found: Option<Vec<u8>> = self.within_limit(self.connection.query(&command)).await?;
        Ok(found.map(Bytes::from))
    }

    async fn put(&self, scope: &Scope, name: &str, value: Bytes, life: Duration) -> Result<()> {
        let names = [self.keys.entities(scope), self.keys.entity(scope, name)];
        let life = life.as_millis().max(1).to_string();
        let call = self.put.call(&names).arg(name).arg(value).arg(life);
        self.within_limit(async { Ok(self.connection.run::<i64>(&call).await.map(drop)?) }).await
    }

    async fn forget(&self, scope: &Scope) -> Result<()> {
        let call = self.forget.call(&[self.keys.entities(scope)]);
        self.within_limit(async { Ok(self.connection.run::<i64>(&call).await.map(drop)?) }).await
    }

    async fn publish(&self, session: &Key, figures: SessionFigures) -> Result<()> {
        let [context, entities] = self.keys.figures(session);
        let figures =
            [(context, u64::from(figures.context_tokens)), (entities, figures.entities as u64)];
        let [context, entities] = figures.map(|(name, figure)| {
            let mut command = redis::cmd("SET");
            command.arg(name).arg(figure).arg("EX").arg(FIGURES_SECONDS);
            command
        });
        let sent = async {
            let (context, entities) = tokio::join!(
                self.connection.query::<()>(&context),
                self.connection.query::<()>(&entities)
            );
            context.and(entities)
        };
        self.within_limit(sent).await
    }
}
