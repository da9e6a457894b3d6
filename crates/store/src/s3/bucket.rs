//! Bucket-level requests that the client library does not offer.
//!
//! Creates the bucket, reads its versioning state, lists and removes object versions. Each is a plain request
//! to a presigned URL.

use std::time::Duration;

use object_store::aws::AmazonS3;
use object_store::path::Path;
use object_store::signer::{SignedUrlOptions, Signer as _};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use throughline_engine::store::{Result, StoreError};

use super::options::S3Options;

/// Validity of a presigned URL.
const SIGNATURE_LIFETIME: Duration = Duration::from_secs(60);

/// The bucket itself, without its objects.
#[derive(Debug)]
pub(super) struct Bucket {
    client: AmazonS3,
    http: reqwest::Client,
    location: String,
    region: String,
    amazon: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ObjectVersion {
    pub key: String,
    pub version_id: String,
    #[serde(default)]
    pub is_latest: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Versions {
    is_truncated: bool,
    next_key_marker: Option<String>,
    next_version_id_marker: Option<String>,
    version: Vec<ObjectVersion>,
    delete_marker: Vec<ObjectVersion>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Versioning {
    status: Option<String>,
}

impl Bucket {
    pub(super) fn new(client: AmazonS3, options: &S3Options) -> Result<Self> {
        let http = reqwest::Client::builder().timeout(options.timeout).build();
        let location = options.location();
        let http = http.map_err(|error| unavailable(&location, &error))?;
        let region = options.region.clone();
        Ok(Self { client, http, location, region, amazon: options.endpoint.is_none() })
    }

    /// Makes sure that the bucket exists. Returns whether it was created.
    pub(super) async fn ensure(&self, create: bool) -> Result<bool> {
        let (status, _) = self.send(Method::HEAD, &Path::default(), &[], "").await?;
        match status {
            StatusCode::NOT_FOUND if create => self.create().await,
            StatusCode::NOT_FOUND => Err(self.refused(
                "the bucket does not exist".into(),
                "create it, or allow it with create_bucket=true",
            )),
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => Err(self.refused(
                format!("the access key was rejected ({status})"),
                "check the access key and its permissions on this bucket",
            )),
            status if status.is_server_error() => Err(StoreError::Unavailable {
                what: self.location.clone(),
                reason: format!("it responded with {status}"),
                outcome_unknown: false,
            }),
            _ => Ok(false),
        }
    }

    async fn create(&self) -> Result<bool> {
        let place = match self.amazon && self.region != "us-east-1" {
            true => format!(
                "<CreateBucketConfiguration><LocationConstraint>{}</LocationConstraint></CreateBucketConfiguration>",
                self.region
            ),
            false => String::new(),
        };
        let (status, body) = self.send(Method::PUT, &Path::default(), &[], &place).await?;
        // Another instance starting at the same time may have been faster.
        if status.is_success() || status == StatusCode::CONFLICT {
            return Ok(status.is_success());
        }
        let said: String = body.chars().take(200).collect();
        Err(self.refused(
            format!("the bucket does not exist and could not be created ({status}: {said})"),
            "create the bucket, or grant the access key permission to do so",
        ))
    }

    /// The versioning state: `Enabled`, `Suspended` or none.
    pub(super) async fn versioning(&self) -> Result<Option<String>> {
        let query = [("versioning".into(), String::new())];
        let (status, body) = self.send(Method::GET, &Path::default(), &query, "").await?;
        if !status.is_success() {
            return Ok(None);
        }
        let found: Versioning = quick_xml::de::from_str(&body).unwrap_or_default();
        Ok(found.status.filter(|status| !status.is_empty()))
    }

    /// All object versions and delete markers below `prefix`.
    pub(super) async fn versions(&self, prefix: &str) -> Result<Vec<ObjectVersion>> {
        let mut all = Vec::new();
        let mut query =
            vec![("versions".to_owned(), String::new()), ("prefix".to_owned(), prefix.to_owned())];
        loop {
            let (status, body) = self.send(Method::GET, &Path::default(), &query, "").await?;
            if !status.is_success() {
                return Err(unavailable(&self.location, &format!("listing versions: {status}")));
            }
            let page: Versions = quick_xml::de::from_str(&body)
                .map_err(|error| unavailable(&self.location, &error))?;
            all.extend(page.version);
            all.extend(page.delete_marker);
            let (Some(key), true) = (page.next_key_marker, page.is_truncated) else {
                return Ok(all);
            };
            query.truncate(2);
            query.push(("key-marker".into(), key));
            query.extend(page.next_version_id_marker.map(|id| ("version-id-marker".into(), id)));
        }
    }

    /// Removes one version permanently; returns whether the store did so.
    pub(super) async fn delete_version(&self, version: &ObjectVersion) -> Result<bool> {
        let query = [("versionId".to_owned(), version.version_id.clone())];
        let path = Path::from(version.key.as_str());
        let (status, _) = self.send(Method::DELETE, &path, &query, "").await?;
        Ok(status.is_success() || status == StatusCode::NOT_FOUND)
    }

    async fn send(
        &self,
        method: Method,
        path: &Path,
        query: &[(String, String)],
        body: &str,
    ) -> Result<(StatusCode, String)> {
        let options = SignedUrlOptions::default().with_query(query.iter().cloned());
        let url = self
            .client
            .signed_url_opts(method.clone(), path, SIGNATURE_LIFETIME, &options)
            .await
            .map_err(|error| unavailable(&self.location, &error))?;
        // The URL contains a signature and must not appear in an error.
        let fault = |error: reqwest::Error| unavailable(&self.location, &error.without_url());
        let request = self.http.request(method, url).body(body.to_owned());
        let reply = request.send().await.map_err(fault)?;
        let status = reply.status();
        Ok((status, reply.text().await.map_err(fault)?))
    }

    fn refused(&self, reason: String, hint: &str) -> StoreError {
        StoreError::Refused { what: self.location.clone(), reason, hint: hint.to_owned() }
    }
}

fn unavailable(location: &str, reason: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unavailable {
        what: location.to_owned(),
        reason: reason.to_string(),
        outcome_unknown: false,
    }
}
