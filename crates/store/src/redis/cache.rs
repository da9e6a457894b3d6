//! Keys beside the threads that seed 001 describes: cached contexts and the entity index.
//!
//! Both are derived and expire by themselves; losing one costs time and nothing else. Cached contexts
//! go with their session when it is erased. Nothing that must be right may rest on them.

use std::time::Duration;

use bytes::Bytes;
use throughline_engine::store::{Key, Result, Scope};

use super::RedisStore;

/// How long a cached context lives.
pub const CONTEXT_TTL: Duration = Duration::from_secs(10 * 60);
/// How long a resolved entity lives.
pub const ENTITY_TTL: Duration = Duration::from_secs(60 * 60);

impl RedisStore {
    /// Keeps what was computed for the message with this hash.
    pub async fn cache_context(&self, session: &Key, hash: &str, context: &Bytes) -> Result<()> {
        let set = self.keys.contexts(session);
        // The name goes into the set first, so that erasing always finds what is there.
        let mut name = redis::cmd("SADD");
        let _: i64 = self.connection.ask(name.arg(&set).arg(hash)).await?;
        let mut expire = redis::cmd("EXPIRE");
        let _: i64 = self.connection.ask(expire.arg(&set).arg(CONTEXT_TTL.as_secs())).await?;
        self.keep(&self.keys.context(session, hash), context, CONTEXT_TTL).await
    }

    /// What was computed for the message with this hash, if it is still there.
    pub async fn cached_context(&self, session: &Key, hash: &str) -> Result<Option<Bytes>> {
        self.kept(&self.keys.context(session, hash)).await
    }

    /// Keeps an entity that was resolved for a user.
    pub async fn index_entity(
        &self,
        scope: &Scope,
        entity_type: &str,
        name: &str,
        entity: &Bytes,
    ) -> Result<()> {
        self.keep(&self.keys.entity(scope, entity_type, name), entity, ENTITY_TTL).await
    }

    /// An entity that was resolved for a user, if it is still there.
    pub async fn indexed_entity(
        &self,
        scope: &Scope,
        entity_type: &str,
        name: &str,
    ) -> Result<Option<Bytes>> {
        self.kept(&self.keys.entity(scope, entity_type, name)).await
    }

    async fn keep(&self, key: &str, value: &Bytes, ttl: Duration) -> Result<()> {
        let mut command = redis::cmd("SET");
        command.arg(key).arg(value.as_ref()).arg("EX").arg(ttl.as_secs());
        let _: String = self.connection.ask(&command).await?;
        Ok(())
    }

    async fn kept(&self, key: &str) -> Result<Option<Bytes>> {
        let mut command = redis::cmd("GET");
        let found: Option<Vec<u8>> = self.connection.ask(command.arg(key)).await?;
        Ok(found.map(Bytes::from))
    }
}
