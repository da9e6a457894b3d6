//! Requests for single objects, with bounded retries.
//!
//! The client library's own retries are off: after a conditional write with an unknown outcome, only
//! [`super::commit`] knows what to do. Reads, deletes and writes under fresh names are safe to repeat and are
//! retried here.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};
use bytes::Bytes;
use futures::TryStreamExt as _;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{
    ClientOptions, Error, GetOptions, GetRange, ObjectMeta, ObjectStore as _, ObjectStoreExt as _,
    PutMode, PutOptions, RetryConfig, UpdateVersion,
};
use throughline_engine::store::{Result, StoreError};

use super::options::S3Options;

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The first and the longest delay between retries.
const PAUSES: (Duration, Duration) = (Duration::from_millis(25), Duration::from_secs(2));

/// The objects of the bucket.
#[derive(Debug)]
pub(super) struct Objects {
    pub client: AmazonS3,
    /// The store's name in error messages.
    pub location: String,
    retries_max: usize,
}

/// The result of a read.
pub(super) enum ReadOutcome {
    Missing,
    Unchanged,
    Object { bytes: Bytes, etag: Option<String> },
}

#[derive(Clone)]
pub(super) enum WriteCondition {
    Absent,
    Matches(String),
    Always,
}

/// The result of a single conditional write.
pub(super) enum Put {
    /// Written; the new ETag, if the store returns one.
    Done(Option<String>),
    /// The condition does not hold.
    Refused,
    /// No clear response: it may have been written.
    Unclear(String),
}

impl Objects {
    /// Creates a client; sends nothing yet.
    pub(super) fn new(options: &S3Options) -> Result<Self> {
        let location = options.location();
        let plain = options.endpoint.as_deref().is_some_and(|url| url.starts_with("http://"));
        let client_options = ClientOptions::new()
            .with_timeout(options.timeout)
            .with_connect_timeout(CONNECT_TIMEOUT)
            .with_allow_http(plain);
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&options.bucket)
            .with_region(&options.region)
            .with_virtual_hosted_style_request(!options.path_style)
            .with_client_options(client_options)
            .with_allow_http(plain)
            .with_retry(retry);
        if let Some(endpoint) = &options.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        if let Some(credentials) = &options.credentials {
            builder = builder
                .with_access_key_id(&credentials.access_key_id)
                .with_secret_access_key(&credentials.secret_access_key);
            if let Some(token) = &credentials.session_token {
                builder = builder.with_token(token);
            }
        }
        let client = builder.build().map_err(|error| StoreError::Refused {
            what: location.clone(),
            reason: error.to_string(),
            hint: "check endpoint, region and bucket in the store's URL".into(),
        })?;
        Ok(Self { client, location, retries_max: options.retries_max })
    }

    /// Reads an object, or its first bytes. With `known`, an ETag, only if it has changed.
    pub(super) async fn get(
        &self,
        path: &Path,
        known: Option<&str>,
        first_bytes: Option<u64>,
    ) -> Result<ReadOutcome> {
        let options = GetOptions {
            if_none_match: known.map(str::to_owned),
            range: first_bytes.map(|end| GetRange::Bounded(0..end)),
            ..GetOptions::default()
        };
        let read = || async {
            let found = match self.client.get_opts(path, options.clone()).await {
                Ok(found) => found,
                Err(Error::NotFound { .. }) => return Ok(ReadOutcome::Missing),
                Err(Error::NotModified { .. }) => return Ok(ReadOutcome::Unchanged),
                Err(error) => return Err(error),
            };
            let etag = found.meta.e_tag.clone();
            Ok(ReadOutcome::Object { bytes: found.bytes().await?, etag })
        };
        self.with_retries(read).await
    }

    /// Tries to write once; the caller decides what follows.
    pub(super) async fn put_once(
        &self,
        path: &Path,
        bytes: Bytes,
        when: &WriteCondition,
    ) -> Result<Put> {
        let mode = match when {
            WriteCondition::Absent => PutMode::Create,
            WriteCondition::Always => PutMode::Overwrite,
            WriteCondition::Matches(tag) => {
                PutMode::Update(UpdateVersion { e_tag: Some(tag.clone()), version: None })
            }
        };
        match self.client.put_opts(path, bytes.into(), PutOptions::from(mode)).await {
            Ok(done) => Ok(Put::Done(done.e_tag)),
            Err(Error::Precondition { .. } | Error::AlreadyExists { .. }) => Ok(Put::Refused),
            Err(error) if is_transient(&error) => Ok(Put::Unclear(reason(&error))),
            Err(error) => Err(self.translate(&error)),
        }
    }

    /// Writes an object under a name that nobody else uses.
    pub(super) async fn put_fresh(&self, path: &Path, bytes: Bytes) -> Result<()> {
        let write = || async { self.client.put(path, bytes.clone().into()).await.map(|_| ()) };
        self.with_retries(write).await
    }

    /// Removes an object; a missing one counts as removed.
    pub(super) async fn delete(&self, path: &Path) -> Result<()> {
        let delete = || async {
            match self.client.delete(path).await {
                Err(Error::NotFound { .. }) => Ok(()),
                done => done,
            }
        };
        self.with_retries(delete).await
    }

    /// Lists up to `limit` objects below `prefix` after `after`, in the bucket's order.
    pub(super) async fn list(
        &self,
        prefix: &Path,
        after: Option<&Path>,
        limit: usize,
    ) -> Result<Vec<ObjectMeta>> {
        use futures::StreamExt as _;
        let list = || async {
            let found = match after {
                Some(after) => self.client.list_with_offset(Some(prefix), after),
                None => self.client.list(Some(prefix)),
            };
            found.take(limit).try_collect::<Vec<_>>().await
        };
        self.with_retries(list).await
    }

    /// The delays between retries: exponential, with jitter, and limited in number.
    pub(super) fn pauses(&self) -> impl Iterator<Item = Duration> + use<> {
        ExponentialBuilder::default()
            .with_min_delay(PAUSES.0)
            .with_max_delay(PAUSES.1)
            .with_max_times(self.retries_max)
            .with_jitter()
            .build()
    }

    async fn with_retries<T, F, W>(&self, mut request: F) -> Result<T>
    where
        F: FnMut() -> W,
        W: Future<Output = object_store::Result<T>>,
    {
        let mut pauses = self.pauses();
        loop {
            let error = match request().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            match pauses.next() {
                Some(pause) if is_transient(&error) => tokio::time::sleep(pause).await,
                _ => return Err(self.translate(&error)),
            }
        }
    }

    fn translate(&self, error: &Error) -> StoreError {
        match error {
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => StoreError::Refused {
                what: self.location.clone(),
                reason: reason(error),
                hint: "check the access key and its permissions on this bucket".into(),
            },
            _ => self.unavailable(reason(error), false),
        }
    }

    pub(super) fn unavailable(&self, reason: String, outcome_unknown: bool) -> StoreError {
        StoreError::Unavailable { what: self.location.clone(), reason, outcome_unknown }
    }
}

/// Whether a failure may be transient: anything except permissions and invalid requests.
fn is_transient(error: &Error) -> bool {
    !matches!(
        error,
        Error::PermissionDenied { .. }
            | Error::Unauthenticated { .. }
            | Error::NotImplemented { .. }
            | Error::NotSupported { .. }
            | Error::InvalidPath { .. }
            | Error::UnknownConfigurationKey { .. }
    )
}

/// The innermost error: the outer ones repeat the URL.
fn reason(error: &Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string().lines().next().unwrap_or_default().chars().take(300).collect()
}
