//! Options of an S3 store, parsed from its URL.
//!
//! The environment is not read here; the server passes its variables to [`S3Options::with_environment`].
//!
//! Invariant: `Debug` and errors never show a secret.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use throughline_engine::store::{Durability, Result, StoreError};

/// Default size at which the open tail of a log is sealed as a segment.
pub const TAIL_BYTES_MAX: usize = 32 * 1024;
/// Default number of entries at which the open tail of a log is sealed as a segment.
pub const TAIL_ENTRIES_MAX: usize = 64;
/// Default timeout of a request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Default number of retries after a transient failure.
pub const RETRIES_MAX: usize = 6;

/// An access key. `Debug` redacts it.
#[derive(Clone, PartialEq, Eq)]
pub struct S3Credentials {
    pub access_key_id: String,
    pub secret_access_key: String,
    /// The session token of a temporary key.
    pub session_token: Option<String>,
}

impl fmt::Debug for S3Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("S3Credentials(redacted)")
    }
}

/// How object bodies are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not compressed.
    None,
    /// Deflate, at the fastest level.
    Deflate,
}

/// Options of an S3 store.
#[derive(Debug, Clone)]
pub struct S3Options {
    pub bucket: String,
    /// URL of the server, if it is not Amazon's.
    pub endpoint: Option<String>,
    /// The region for request signatures.
    pub region: String,
    /// Use `endpoint/bucket/key` instead of `bucket.endpoint/key`.
    pub path_style: bool,
    /// Prefix of all objects, so that several stores can share a bucket.
    pub prefix: String,
    pub credentials: Option<S3Credentials>,
    /// Without an access key, use the machine's role from the cloud's metadata service.
    pub machine_role: bool,
    /// What is missing while there are no credentials.
    missing_key: &'static str,
    /// Accept a store that fails the probe, because only one instance writes.
    pub single_writer: bool,
    /// Whether a missing bucket is created.
    pub create_bucket: bool,
    pub compression: Compression,
    /// The durability stated by the operator; S3 offers no way to query it.
    pub durability: Option<Durability>,
    /// Timeout of a request.
    pub timeout: Duration,
    /// Maximum number of retries of a failed request.
    pub retries_max: usize,
    /// Size in bytes at which the open tail is sealed.
    pub tail_bytes_max: usize,
    /// Number of entries at which the open tail is sealed.
    pub tail_entries_max: usize,
}

impl S3Options {
    /// The defaults for `bucket` on Amazon.
    pub fn new(bucket: impl Into<String>) -> Self {
        Self {
            bucket: bucket.into(),
            endpoint: None,
            region: "us-east-1".into(),
            path_style: true,
            prefix: String::new(),
            credentials: None,
            machine_role: false,
            missing_key: "an access key and its secret key",
            single_writer: false,
            create_bucket: true,
            compression: Compression::Deflate,
            durability: None,
            timeout: REQUEST_TIMEOUT,
            retries_max: RETRIES_MAX,
            tail_bytes_max: TAIL_BYTES_MAX,
            tail_entries_max: TAIL_ENTRIES_MAX,
        }
    }

    /// Parses `s3://bucket?endpoint=…&region=…&path_style=…&prefix=…` and the other settings.
    pub fn from_url(url: &str) -> Result<Self> {
        let parsed = Url::parse(url).map_err(|error| refused(url, error.to_string()))?;
        let bucket = parsed.host_str().unwrap_or_default();
        if parsed.scheme() != "s3" || bucket.is_empty() {
            return Err(refused(url, "it is not of the form s3://bucket?endpoint=…".into()));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(refused("s3", "credentials in the URL would leak into logs".into()));
        }
        let mut options = Self::new(bucket);
        options.prefix = parsed.path().trim_matches('/').to_owned();
        for (name, value) in parsed.query_pairs() {
            options.set(&name, &value)?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "endpoint" => self.endpoint = Some(value.trim_end_matches('/').to_owned()),
            "region" => value.clone_into(&mut self.region),
            "prefix" => value.trim_matches('/').clone_into(&mut self.prefix),
            "path_style" => self.path_style = flag(name, value)?,
            "machine_role" => self.machine_role = flag(name, value)?,
            "single_writer" => self.single_writer = flag(name, value)?,
            "create_bucket" => self.create_bucket = flag(name, value)?,
            "timeout_ms" => self.timeout = Duration::from_millis(number(name, value)?),
            "retries" => self.retries_max = bounded(name, value, 0..=50)?,
            "tail_bytes" => self.tail_bytes_max = bounded(name, value, 0..=16 * 1024 * 1024)?,
            "tail_entries" => self.tail_entries_max = bounded(name, value, 0..=4096)?,
            "compression" => {
                self.compression = match value {
                    "deflate" => Compression::Deflate,
                    "none" => Compression::None,
                    _ => return Err(refused(name, format!("{value:?} is not deflate or none"))),
                }
            }
            "durability" => {
                self.durability = Some(match value {
                    "buffered" => Durability::Buffered,
                    "fsync" => Durability::Fsync,
                    "replicated" => Durability::Replicated,
                    _ => {
                        let reason = format!("{value:?} is not buffered, fsync or replicated");
                        return Err(refused(name, reason));
                    }
                });
            }
            _ => return Err(refused("the S3 URL", format!("unknown setting {name:?}"))),
        }
        Ok(())
    }

    /// Fills in settings that the URL omits from the given variables: `AWS_*` and `MINIO_*`.
    #[must_use]
    pub fn with_environment<I>(mut self, variables: I) -> Self
    where
        I: IntoIterator<Item = (String, String)>,
    {
        let variables: std::collections::HashMap<String, String> = variables.into_iter().collect();
        let first = |names: &[&str]| names.iter().find_map(|name| variables.get(*name).cloned());
        let access_key = first(&["AWS_ACCESS_KEY_ID", "MINIO_ACCESS_KEY"]);
        let secret_key = first(&["AWS_SECRET_ACCESS_KEY", "MINIO_SECRET_KEY"]);
        match (access_key, secret_key) {
            _ if self.credentials.is_some() => {}
            (Some(access_key_id), Some(secret_access_key)) => {
                let session_token = first(&["AWS_SESSION_TOKEN"]);
                self.credentials =
                    Some(S3Credentials { access_key_id, secret_access_key, session_token });
            }
            (Some(_), None) => self.missing_key = "a secret key beside its access key",
            (None, Some(_)) => self.missing_key = "an access key beside its secret key",
            (None, None) => {}
        }
        if self.endpoint.is_none() {
            let endpoint = first(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "MINIO_ENDPOINT"]);
            self.endpoint = endpoint.map(|text| match text.contains("://") {
                true => text.trim_end_matches('/').to_owned(),
                false => format!("http://{}", text.trim_end_matches('/')),
            });
        }
        if let Some(region) = first(&["AWS_REGION", "AWS_DEFAULT_REGION"])
            && self.region == "us-east-1"
        {
            self.region = region;
        }
        self
    }

    /// Refuses to open a bucket without an access key, unless the machine's role is to be used: outside its cloud, the
    /// metadata service only times out.
    pub(super) fn require_keys(&self) -> Result<()> {
        if self.credentials.is_some() || self.machine_role {
            return Ok(());
        }
        Err(StoreError::Refused {
            what: self.location(),
            reason: format!("it needs {}", self.missing_key),
            hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or MINIO_ACCESS_KEY and \
                   MINIO_SECRET_KEY; machine_role=true in the URL uses the role of the machine"
                .into(),
        })
    }

    /// A description of the store without secrets.
    pub fn location(&self) -> String {
        let server = self.endpoint.as_deref().unwrap_or("amazonaws.com");
        let server = server.rsplit_once('@').map_or(server, |(_, host)| host);
        match self.prefix.as_str() {
            "" => format!("s3://{} at {server}", self.bucket),
            prefix => format!("s3://{}/{prefix} at {server}", self.bucket),
        }
    }
}

fn flag(name: &str, value: &str) -> Result<bool> {
    value.parse().map_err(|_| refused(name, format!("{value:?} is not true or false")))
}

fn number(name: &str, value: &str) -> Result<u64> {
    value.parse().map_err(|_| refused(name, format!("{value:?} is not a number")))
}

fn bounded(name: &str, value: &str, range: std::ops::RangeInclusive<usize>) -> Result<usize> {
    let found = usize::try_from(number(name, value)?).unwrap_or(usize::MAX);
    match range.contains(&found) {
        true => Ok(found),
        false => Err(refused(name, format!("{found} exceeds the limit of {}", range.end()))),
    }
}

fn refused(what: &str, reason: String) -> StoreError {
    let hint = "use s3://bucket?endpoint=https://host:port&region=us-east-1&path_style=true".into();
    StoreError::Refused { what: what.to_owned(), reason, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_bucket_server_and_settings() {
        let options = S3Options::from_url(
            "s3://sessions?endpoint=http://127.0.0.1:9000/&region=eu-west-1&prefix=a/b&single_writer=true",
        )
        .unwrap();
        assert_eq!(options.location(), "s3://sessions/a/b at http://127.0.0.1:9000");
        assert_eq!(options.region, "eu-west-1");
        assert!(options.single_writer);
    }

    #[test]
    fn a_misspelt_setting_is_refused_by_name() {
        let error = S3Options::from_url("s3://sessions?endpiont=x").unwrap_err();
        assert!(error.to_string().contains("endpiont"), "{error}");
    }

    #[test]
    fn a_missing_key_is_named_and_no_service_is_asked_for_one() {
        let check = |url: &str, variables: &[(&str, &str)]| {
            let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let options = S3Options::from_url(url).unwrap();
            options.with_environment(variables).require_keys().map_err(|error| error.to_string())
        };
        let refused = |what| Err(format!("s3://b at amazonaws.com is refused: it needs {what}"));
        assert_eq!(check("s3://b", &[]), refused("an access key and its secret key"));
        let secret = refused("a secret key beside its access key");
        assert_eq!(check("s3://b", &[("AWS_ACCESS_KEY_ID", "a")]), secret);
        let access = refused("an access key beside its secret key");
        assert_eq!(check("s3://b", &[("MINIO_SECRET_KEY", "b")]), access);
        let keys = [("MINIO_ACCESS_KEY", "a"), ("MINIO_SECRET_KEY", "b")];
        assert_eq!(check("s3://b", &keys), Ok(()));
        assert_eq!(check("s3://b?machine_role=true", &[]), Ok(()));
    }

    #[test]
    fn secrets_do_not_show() {
        let options = S3Options::new("b").with_environment([
            ("MINIO_ACCESS_KEY".into(), "minioadmin".into()),
            ("MINIO_SECRET_KEY".into(), "hunter2".into()),
            ("MINIO_ENDPOINT".into(), "minio:9000".into()),
        ]);
        let shown = format!("{options:?} {}", options.location());
        assert!(!shown.contains("hunter2") && !shown.contains("minioadmin"), "{shown}");
        assert_eq!(options.endpoint.as_deref(), Some("http://minio:9000"));
    }
}
