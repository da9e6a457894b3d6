//! The approach of the seeds: a session is one JSON value that is read, appended to and written back.
//!
//! For comparison only; it loses turns, and the example counts them.

use async_trait::async_trait;
use bytes::Bytes;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt as _};
use throughline_testkit::s3_server::{ACCESS_KEY, SECRET_KEY};

use super::Failure;

/// A session stored as one value.
#[async_trait]
pub(crate) trait Naive: Send + Sync {
    /// Reads the whole value.
    async fn get(&self) -> Result<Option<Vec<u8>>, Failure>;
    /// Replaces the value.
    async fn put(&self, value: Vec<u8>) -> Result<(), Failure>;

    /// Reads all turns.
    async fn all(&self) -> Result<Vec<Bytes>, Failure> {
        let value = self.get().await?;
        let turns: Vec<String> =
            value.map_or(Ok(Vec::new()), |json| serde_json::from_slice(&json))?;
        Ok(turns.into_iter().map(Bytes::from).collect())
    }

    /// Reads all, appends, writes all.
    async fn append(&self, turn: &Bytes) -> Result<(), Failure> {
        let mut turns: Vec<String> = Vec::new();
        for known in self.all().await? {
            turns.push(String::from_utf8(known.to_vec())?);
        }
        turns.push(String::from_utf8(turn.to_vec())?);
        self.put(serde_json::to_vec(&turns)?).await
    }
}

/// Stored in a Redis key.
pub(crate) struct Redis(redis::aio::MultiplexedConnection);

impl Redis {
    pub(crate) async fn open(port: u16) -> Result<Self, Failure> {
        let client = redis::Client::open(format!("redis://127.0.0.1:{port}"))?;
        Ok(Self(client.get_multiplexed_async_connection().await?))
    }
}

#[async_trait]
impl Naive for Redis {
    async fn get(&self) -> Result<Option<Vec<u8>>, Failure> {
        Ok(redis::cmd("GET").arg("naive").query_async(&mut self.0.clone()).await?)
    }

    async fn put(&self, value: Vec<u8>) -> Result<(), Failure> {
        let mut command = redis::cmd("SET");
        Ok(command.arg("naive").arg(value).query_async(&mut self.0.clone()).await?)
    }
}

/// Stored in an object.
pub(crate) struct S3(AmazonS3);

impl S3 {
    pub(crate) fn open(port: u16) -> Result<Self, Failure> {
        let store = AmazonS3Builder::new()
            .with_endpoint(format!("http://127.0.0.1:{port}"))
            .with_allow_http(true)
            .with_bucket_name("cost")
            .with_access_key_id(ACCESS_KEY)
            .with_secret_access_key(SECRET_KEY)
            .build()?;
        Ok(Self(store))
    }
}

#[async_trait]
impl Naive for S3 {
    async fn get(&self) -> Result<Option<Vec<u8>>, Failure> {
        match self.0.get(&Path::from("naive")).await {
            Ok(found) => Ok(Some(found.bytes().await?.to_vec())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn put(&self, value: Vec<u8>) -> Result<(), Failure> {
        self.0.put(&Path::from("naive"), value.into()).await?;
        Ok(())
    }
}
