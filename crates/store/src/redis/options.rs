//! Options of a Redis store, parsed from its URL.
//!
//! Invariant: [`RedisOptions::location`], `Debug` and errors never show a password.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use redis::{ClientTlsConfig, TlsCertificates};
use throughline_engine::store::{Result, StoreError};

use crate::redact::redact;

/// Default time to live of a session after its last change.
pub const SESSION_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// Default timeout of a command.
pub const COMMAND_TIMEOUT: Duration = Duration::from_secs(5);
/// Default timeout of an operation of the cache that server instances share.
pub const CACHE_TIMEOUT: Duration = Duration::from_millis(250);
/// Default number of retries after a transient failure.
pub const RETRIES_MAX: usize = 8;

/// Options of a Redis store.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisOptions {
    /// One URL per node, each with credentials and database.
    pub(super) nodes: Vec<String>,
    /// Whether the nodes form a cluster.
    pub cluster: bool,
    /// Prefix of every key, so that several stores can share a server.
    pub prefix: String,
    /// Time to live of a session after its last change; `None` means forever.
    pub session_ttl: Option<Duration>,
    /// Whether an erasure requests a rewrite of the append-only file.
    pub rewrite_on_erase: bool,
    /// Timeout of a command.
    pub timeout: Duration,
    /// Timeout of an operation of the shared cache, connecting included; what takes longer is looked up instead.
    pub cache_timeout: Duration,
    /// Maximum number of retries of a failed command.
    pub retries_max: usize,
    /// PEM file with trusted CA certificates; `None` uses those of the system.
    pub ca: Option<PathBuf>,
    /// PEM file with our certificate, for servers that require one.
    pub client_cert: Option<PathBuf>,
    /// PEM file with the private key of `client_cert`.
    pub client_key: Option<PathBuf>,
    location: String,
}

impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisOptions({})", self.location)
    }
}

impl RedisOptions {
    /// Parses `redis://[user:password@]host:port[,host:port…][/db][?cluster=true&…]`, or `rediss://`.
    pub fn from_url(url: &str) -> Result<Self> {
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        if !matches!(scheme, "redis" | "rediss") {
            return Err(refused("it does not start with redis:// or rediss://".into()));
        }
        let (credentials, rest) = match rest.rfind('@') {
            Some(at) => rest.split_at(at + 1),
            None => ("", rest),
        };
        let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
        let hosts: Vec<&str> = hosts.split(',').filter(|host| !host.is_empty()).collect();
        if hosts.is_empty() {
            return Err(refused("it names no host".into()));
        }
        let node = |host: &&str| format!("{scheme}://{credentials}{host}/{database}");
        let mut options = Self {
            nodes: hosts.iter().map(node).collect(),
            cluster: hosts.len() > 1,
            prefix: String::new(),
            session_ttl: Some(SESSION_TTL),
            rewrite_on_erase: true,
            timeout: COMMAND_TIMEOUT,
            cache_timeout: CACHE_TIMEOUT,
            retries_max: RETRIES_MAX,
            ca: None,
            client_cert: None,
            client_key: None,
            location: redact(url),
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, "true"));
            options.set(name, value)?;
        }
        let files = [&options.ca, &options.client_cert, &options.client_key];
        if scheme == "redis" && files.iter().any(|file| file.is_some()) {
            return Err(refused("certificates require TLS; use rediss://".into()));
        }
        if options.client_cert.is_some() != options.client_key.is_some() {
            return Err(refused("client_cert and client_key must be given together".into()));
        }
        if options.cluster && !matches!(database, "" | "0") {
            return Err(refused("a cluster has only database 0".into()));
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let flag = || value.parse().map_err(|_| bad(name, value, "true or false"));
        let number = || value.parse::<u64>().map_err(|_| bad(name, value, "a number"));
        match name {
            "cluster" => self.cluster = flag()?,
            "rewrite_on_erase" => self.rewrite_on_erase = flag()?,
            "session_ttl" => {
                self.session_ttl =
                    Some(Duration::from_secs(number()?)).filter(|ttl| !ttl.is_zero());
            }
            "timeout_ms" => self.timeout = Duration::from_millis(number()?),
            "cache_timeout_ms" => self.cache_timeout = Duration::from_millis(number()?),
            "retries" => {
                self.retries_max = usize::try_from(number()?).unwrap_or(RETRIES_MAX).min(50)
            }
            "ca" => self.ca = Some(value.into()),
            "client_cert" => self.client_cert = Some(value.into()),
            "client_key" => self.client_key = Some(value.into()),
            "prefix" => {
                let plain =
                    |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':');
                if !value.chars().all(plain) {
                    return Err(bad(name, value, "letters, digits and . _ - :"));
                }
                value.clone_into(&mut self.prefix);
            }
            _ => return Err(refused(format!("unknown setting {name:?}"))),
        }
        Ok(())
    }

    /// Reads the certificate files named in the URL, if any.
    pub(super) fn certificates(&self) -> Result<Option<TlsCertificates>> {
        let read = |path: &PathBuf| {
            std::fs::read(path)
                .map_err(|error| refused(format!("{} cannot be read: {error}", path.display())))
        };
        let client_tls = match (&self.client_cert, &self.client_key) {
            (Some(cert), Some(key)) => {
                Some(ClientTlsConfig { client_cert: read(cert)?, client_key: read(key)? })
            }
            _ => None,
        };
        let root_cert = self.ca.as_ref().map(read).transpose()?;
        let named = client_tls.is_some() || root_cert.is_some();
        Ok(named.then_some(TlsCertificates { client_tls, root_cert }))
    }

    /// The URL without credentials.
    pub fn location(&self) -> &str {
        &self.location
    }
}

fn bad(name: &str, value: &str, wanted: &str) -> StoreError {
    refused(format!("{name}={value} is not {wanted}"))
}

fn refused(reason: String) -> StoreError {
    StoreError::Refused {
        what: "the Redis URL".into(),
        reason,
        hint: "use redis://host:6379/0 or redis://host1:7000,host2:7000?cluster=true".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_hosts_are_a_cluster_and_share_the_credentials() {
        let options = RedisOptions::from_url("rediss://u:p@a:1,b:2?session_ttl=60").unwrap();
        assert_eq!(options.nodes, ["rediss://u:p@a:1/", "rediss://u:p@b:2/"]);
        assert!(options.cluster);
        assert_eq!(options.session_ttl, Some(Duration::from_secs(60)));
        assert_eq!(format!("{options:?}"), "RedisOptions(rediss://***@a:1,b:2?session_ttl=60)");
    }

    #[test]
    fn what_is_not_understood_is_refused_by_name() {
        let reason = |url| RedisOptions::from_url(url).unwrap_err().to_string();
        assert!(reason("redis://h?clutser=true").contains("clutser"));
        assert!(reason("redis://h?cluster=ja").contains("cluster=ja"));
        assert!(reason("redis://h1,h2/3").contains("database 0"));
        assert!(reason("redis://?x").contains("no host"));
        assert!(reason("redis://h?ca=/ca.pem").contains("use rediss://"));
        assert!(reason("rediss://h?client_cert=/c.pem").contains("given together"));
    }
}
