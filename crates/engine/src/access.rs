//! Authentication results and the function that authorizes every call.
//!
//! The server turns a credential into a [`Caller`]. Every engine call for a caller authorizes it here; REST, MCP,
//! the page and the command line have no other check. Only a read-only link is opened by its token alone.
//!
//! Invariant: a caller reaches only threads in its own scope, because keys are built from it.

use crate::error::{Error, Result};
pub use crate::grants::{Action, Grants};
use crate::id::{SessionId, TenantId, ThreadId, UserId};
use crate::sabotage::{self, Switch};
use crate::store::{Key, Kind, Scope};

/// An authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The tenant and user whose data it reaches.
    pub scope: Scope,
    pub grants: Grants,
}

/// Fails unless `caller` may do `action`.
pub fn authorize(caller: &Caller, action: Action) -> Result<()> {
    let may = caller.grants >= Grants::needed_to(action) || sabotage::is(Switch::IgnoreGrants);
    if may { Ok(()) } else { Err(Error::Forbidden { action }) }
}

/// `caller` acting for another user of the same tenant, which requires admin rights unless it is the same user.
pub fn acting_for(caller: &Caller, user: &UserId) -> Result<Caller> {
    if caller.scope.user != *user {
        authorize(caller, Action::Administer)?;
    }
    let scope = Scope { user: user.clone(), ..caller.scope.clone() };
    Ok(Caller { scope, grants: caller.grants })
}

impl Caller {
    /// The local user, when no API keys are configured.
    pub fn local() -> Self {
        Self { scope: local_scope(), grants: Grants::Admin }
    }

    /// The key of one of this caller's sessions.
    pub fn session_key(&self, id: &SessionId) -> Key {
        self.key(Kind::Session, id.clone().into())
    }

    /// The key of one of this caller's threads.
    pub fn key(&self, kind: Kind, id: ThreadId) -> Key {
        Key { scope: self.scope.clone(), kind, id }
    }
}

/// The scope of sessions in an installation without API keys.
pub fn local_scope() -> Scope {
    scope("local", "local")
}

/// The scope of the installation's own records: keys, pins, jobs.
pub fn system_scope() -> Scope {
    scope("_system", "_system")
}

fn scope(tenant: &str, user: &str) -> Scope {
    Scope {
        tenant: TenantId::new(tenant).expect("a constant name is valid"),
        user: UserId::new(user).expect("a constant name is valid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_administrator_acts_for_another_user_and_in_no_other_tenant() {
        let named = |grants, user: &str| {
            let caller = Caller { grants, ..Caller::local() };
            acting_for(&caller, &UserId::new(user).expect("valid")).map(|caller| caller.scope)
        };
        assert_eq!(named(Grants::Read, "local").ok(), Some(local_scope()));
        assert!(named(Grants::Write, "ann").is_err());
        assert_eq!(named(Grants::Admin, "ann").ok(), Some(scope("local", "ann")));
    }

    #[test]
    fn a_grant_includes_the_lesser_ones_and_no_more() {
        let outcome = |grants| {
            let caller = Caller { grants, ..Caller::local() };
            [Action::Read, Action::Write, Action::Administer]
                .map(|action| authorize(&caller, action).is_ok())
        };
        assert_eq!(outcome(Grants::Read), [true, false, false]);
        assert_eq!(outcome(Grants::Write), [true, true, false]);
        assert_eq!(outcome(Grants::Admin), [true, true, true]);
    }
}
