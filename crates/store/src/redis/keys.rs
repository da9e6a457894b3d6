//! Where a thread's data is in Redis; near the layout that the seeds describe.
//!
//! | key | holds |
//! |---|---|
//! | `session:{tenant/user/session/id}` | hash: version, incarnation, entries, changed_at, head, attempts |
//! | `session:{tenant/user/session/id}:log` | list of entries |
//! | `user_sessions:{tenant/user}` | sorted set of session ids by time of change |
//! | `user_sessions:{tenant/user}:announced` | cluster only: ids whose thread may be on its way |
//! | `entity_index:{tenant/user}:TYPE:HASH` | what a look-up of such a thing found |
//! | `entity_index:{tenant/user}` | sorted set of those names by when they expire |
//!
//! Other kinds stand where `session` stands. What is in braces decides the slot of a cluster, so a
//! thread's keys are always together; names hold no brace and no slash, so they cannot escape.

use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{Key, Kind, Scope};

/// The names of one store's keys.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    pub(super) fn new(prefix: &str) -> Self {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}:") };
        Self { prefix }
    }

    /// The hash with the head.
    pub(super) fn thread(&self, key: &Key) -> String {
        format!("{}{}:{{{key}}}", self.prefix, key.kind.as_str())
    }

    /// The list with the log.
    pub(super) fn log(&self, key: &Key) -> String {
        format!("{}:log", self.thread(key))
    }

    /// The set of a user's threads of a kind.
    pub(super) fn set(&self, scope: &Scope, kind: Kind) -> String {
        format!("{}user_{}s:{{{}/{}}}", self.prefix, kind.as_str(), scope.tenant, scope.user)
    }

    /// Names that were put into the set lately.
    pub(super) fn announced(&self, scope: &Scope, kind: Kind) -> String {
        format!("{}:announced", self.set(scope, kind))
    }

    /// The names of what was looked up for a user.
    pub(super) fn entities(&self, scope: &Scope) -> String {
        format!("{}entity_index:{{{}/{}}}", self.prefix, scope.tenant, scope.user)
    }

    /// One of them.
    pub(super) fn entity(&self, scope: &Scope, name: &str) -> String {
        format!("{}:{name}", self.entities(scope))
    }

    /// What finds every thread's hash, and little else.
    /// A key that is written to see whether that can be done.
    pub(super) fn probe(&self) -> String {
        format!("{}probe", self.prefix)
    }

    pub(super) fn pattern(&self) -> String {
        format!("{}*:{{*}}", self.prefix)
    }

    /// The thread whose hash `name` is; `None` for a key that is something else.
    pub(super) fn parse(&self, name: &str) -> Option<Key> {
        let (kind, tag) = name.strip_prefix(&self.prefix)?.split_once(":{")?;
        let mut parts = tag.strip_suffix('}')?.split('/');
        let tenant = TenantId::new(parts.next()?).ok()?;
        let user = UserId::new(parts.next()?).ok()?;
        let named = parts.next()?;
        let id = ThreadId::new(parts.next()?).ok()?;
        let kind = Kind::from_name(kind).filter(|kind| kind.as_str() == named)?;
        parts.next().is_none().then_some(Key { scope: Scope { tenant, user }, kind, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_and_nothing_else_is_taken_for_a_thread() {
        let keys = Keys::new("app");
        let scope = Scope { tenant: TenantId::new("t").unwrap(), user: UserId::new("u").unwrap() };
        let key = Key { scope, kind: Kind::Session, id: ThreadId::new("s").unwrap() };
        assert_eq!(keys.thread(&key), "app:session:{t/u/session/s}");
        assert_eq!(keys.parse(&keys.thread(&key)), Some(key.clone()));
        let scope = &key.scope;
        for other in [keys.log(&key), keys.set(scope, Kind::Session), keys.entities(scope)] {
            assert_eq!(keys.parse(&other), None, "{other}");
        }
    }
}
