//! Store URLs and the options for opening a store.
//!
//! Invariant: `Display` and `Debug` never show a secret.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::redact::redact;

/// How long to wait for another process that writes to the same SQLite file.
pub const BUSY_WAIT: Duration = Duration::from_secs(5);

/// How long a search in the full-text index may take, unless configured otherwise.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(2);

/// The kind of a store and its location.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// `memory:`
    Memory,
    /// `sqlite:PATH`
    Sqlite(PathBuf),
    /// `files:PATH`
    Files(PathBuf),
    /// `redis://…` or `rediss://…`, as written.
    Redis(String),
    /// `s3://bucket?…`, as written.
    S3(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("store URL {shown} is not valid: {reason}")]
pub struct InvalidStoreUrl {
    /// The URL with secrets redacted.
    pub shown: String,
    pub reason: &'static str,
}

impl InvalidStoreUrl {
    pub fn hint(&self) -> &'static str {
        "use sqlite:PATH, files:PATH, redis://HOST:PORT/0, s3://BUCKET?endpoint=URL or memory:"
    }
}

impl FromStr for StoreUrl {
    type Err = InvalidStoreUrl;

    fn from_str(text: &str) -> Result<Self, InvalidStoreUrl> {
        let fail = |reason| Err(InvalidStoreUrl { shown: format!("{:?}", redact(text)), reason });
        if text.contains('\0') {
            return fail("it contains a NUL character");
        }
        let Some((kind, place)) = text.split_once(':') else {
            return fail("it does not start with a kind of store and a colon");
        };
        match kind {
            "memory" if place.is_empty() => Ok(Self::Memory),
            "memory" => fail("memory: takes no path"),
            "sqlite" | "files" if place.is_empty() => fail("it names no path"),
            "sqlite" if place.ends_with('/') => fail("it names a folder, not a file"),
            "sqlite" => Ok(Self::Sqlite(place.into())),
            "files" => Ok(Self::Files(place.into())),
            "redis" | "rediss" | "s3" if !place.starts_with("//") || place.len() == 2 => {
                fail("it needs // and a host or bucket after the colon")
            }
            "redis" | "rediss" => Ok(Self::Redis(text.into())),
            "s3" => Ok(Self::S3(text.into())),
            _ => fail("unknown kind of store"),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Files(path) => write!(f, "files:{}", path.display()),
            Self::Redis(url) | Self::S3(url) => f.write_str(&redact(url)),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Environment variables as read by the server. `Debug` shows only their names.
#[derive(Clone, Default)]
pub struct Variables(pub Vec<(String, String)>);

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// Settings for opening a store that are not part of its URL.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// How long to wait for another process that writes to the same SQLite file.
    pub busy_wait: Duration,
    /// How long a search may take.
    pub search_time_max: Duration,
    /// Where the full-text index is stored. Default: beside a local store, in memory for a remote one.
    pub index_path: Option<PathBuf>,
    /// Values that must not be part of a URL, such as S3 credentials. Read by the server.
    pub variables: Variables,
    /// Whether a missing bucket is created. Local stores are always created.
    pub create: bool,
    /// Files elsewhere whose existence proves that the store was used before, such as its backups.
    pub traces: Vec<PathBuf>,
    /// The guarantee to break, to show that a test detects it.
    #[cfg(feature = "sabotage")]
    pub sabotage: Option<crate::sabotage::Sabotage>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            busy_wait: BUSY_WAIT,
            search_time_max: SEARCH_TIME_MAX,
            index_path: None,
            variables: Variables::default(),
            create: true,
            traces: Vec::new(),
            #[cfg(feature = "sabotage")]
            sabotage: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match text.parse::<StoreUrl>() {
            Ok(url) => url.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_url_is_understood_or_the_reason_is_named() {
        check("sqlite:data/throughline.db", "sqlite:data/throughline.db");
        check("files:data/conversations", "files:data/conversations");
        check("memory:", "memory:");
        check("sqlite:", r#"store URL "sqlite:" is not valid: it names no path"#);
        check(
            "sqlite:data/",
            r#"store URL "sqlite:data/" is not valid: it names a folder, not a file"#,
        );
        check("memory:x", r#"store URL "memory:x" is not valid: memory: takes no path"#);
        check(
            "data.db",
            r#"store URL "data.db" is not valid: it does not start with a kind of store and a colon"#,
        );
        check("ftp://x", r#"store URL "ftp://x" is not valid: unknown kind of store"#);
        check(
            "s3://",
            r#"store URL "s3://" is not valid: it needs // and a host or bucket after the colon"#,
        );
    }

    #[test]
    fn a_secret_is_never_shown() {
        check("redis://:p@ss@host:6379/0", "redis://***@host:6379/0");
        check("rediss://user:word@host", "rediss://***@host");
        check("redis://:a/b@host/0", "redis://***@host/0");
        check(
            "s3://bucket?endpoint=http://x&secret_access_key=abc&access_key_id=def",
            "s3://bucket?endpoint=http://x&secret_access_key=***&access_key_id=***",
        );
        check(
            "http://me:pw@host",
            r#"store URL "http://***@host" is not valid: unknown kind of store"#,
        );
        assert_eq!(format!("{:?}", "redis://:pw@h".parse::<StoreUrl>()), "Ok(redis://***@h)");
    }
}
