//! What a credential may do, and what an action takes. Who holds one is in [`crate::access`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a credential may do. `admin` includes `write`, `write` includes `read`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grants {
    /// Look.
    Read,
    /// Look and change.
    Write,
    /// Also keys, tool approvals, backups and other people's erasure.
    Admin,
}

impl Grants {
    /// What an action takes.
    pub fn needed_to(action: Action) -> Self {
        match action {
            Action::Read => Self::Read,
            Action::Write => Self::Write,
            Action::Administer => Self::Admin,
        }
    }
}

/// What is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Look at something.
    Read,
    /// Change or add something.
    Write,
    /// Decide for the whole installation.
    Administer,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Administer => "administer",
        })
    }
}
