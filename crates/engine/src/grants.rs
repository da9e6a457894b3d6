//! Permissions of a credential, and what each action requires. Credentials are in [`crate::access`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// Permissions of a credential. `admin` includes `write`, `write` includes `read`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grants {
    Read,
    Write,
    /// Also keys, tool approvals, backups and erasing other users' data.
    Admin,
}

impl Grants {
    /// The permission an action requires.
    pub fn needed_to(action: Action) -> Self {
        match action {
            Action::Read => Self::Read,
            Action::Write => Self::Write,
            Action::Administer => Self::Admin,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Read,
    Write,
    /// Change the whole installation.
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
