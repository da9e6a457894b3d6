//! Names from outside, validated where they enter.
//!
//! A value of these types is safe in a file path, an object key, a Redis key and a URL. What it refers to and who
//! may see it is decided elsewhere.
//!
//! Invariant: 1–128 characters of `A–Z a–z 0–9 . _ -`, not starting with a dot.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Maximum length of a name in characters.
pub const NAME_CHARACTERS_MAX: usize = 128;

/// A name that violates the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {shown} is not valid: {reason}")]
pub struct InvalidName {
    /// What it was meant to be: `session id`, `tenant`…
    pub kind: &'static str,
    /// The name, shortened and with control characters escaped.
    pub shown: String,
    pub reason: &'static str,
}

fn check(kind: &'static str, text: &str) -> Result<(), InvalidName> {
    let reason = if text.is_empty() {
        "it is empty"
    } else if text.len() > NAME_CHARACTERS_MAX {
        "it is longer than 128 characters"
    } else if text.starts_with('.') {
        "it starts with a dot"
    } else if !text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')) {
        "only A-Z a-z 0-9 . _ - are allowed"
    } else {
        return Ok(());
    };
    let short: String = text.chars().take(40).collect();
    Err(InvalidName { kind, shown: format!("{short:?}"), reason })
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(String);

        impl $type {
            /// Validates `text`.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidName> {
                let text = text.into();
                check($kind, &text)?;
                Ok(Self(text))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $type {
            type Error = InvalidName;
            fn try_from(text: String) -> Result<Self, InvalidName> {
                Self::new(text)
            }
        }

        impl FromStr for $type {
            type Err = InvalidName;
            fn from_str(text: &str) -> Result<Self, InvalidName> {
                Self::new(text)
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

name!(
    /// The organisation a credential belongs to.
    TenantId,
    "tenant"
);
name!(
    /// The person or program a credential belongs to.
    UserId,
    "user"
);
name!(SessionId, "session id");
name!(
    /// A stored thread of any kind; a session's thread has the session's id.
    ThreadId,
    "thread id"
);
name!(AgentName, "agent");

impl From<SessionId> for ThreadId {
    fn from(id: SessionId) -> Self {
        Self(id.0)
    }
}

impl From<ThreadId> for SessionId {
    fn from(id: ThreadId) -> Self {
        Self(id.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(), &str>) {
        assert_eq!(SessionId::new(text).map(|_| ()).map_err(|e| e.reason), expected, "{text:?}");
    }

    #[test]
    fn a_name_cannot_leave_its_place() {
        check("abc-123_X.y", Ok(()));
        check("", Err("it is empty"));
        check("..", Err("it starts with a dot"));
        check("a/../b", Err("only A-Z a-z 0-9 . _ - are allowed"));
        check("a\0b", Err("only A-Z a-z 0-9 . _ - are allowed"));
        check("sеssion", Err("only A-Z a-z 0-9 . _ - are allowed"));
        check(&"x".repeat(128), Ok(()));
        check(&"x".repeat(300), Err("it is longer than 128 characters"));
    }
}
