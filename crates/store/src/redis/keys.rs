//! Key names. The layout follows seed 001 closely.
//!
//! | key | holds |
//! |---|---|
//! | `session:{tenant/user/session/id}` | hash: version, incarnation, entries, changed_at, head, attempts |
//! | `session:{tenant/user/session/id}:log` | list of entries |
//! | `user_sessions:{tenant/user}` | sorted set of session ids by time of change |
//! | `user_sessions:{tenant/user}:announced` | cluster only: ids whose threads may not be written yet |
//! | `entity_index:{tenant/user}:TYPE:HASH` | a cached look-up result |
//! | `entity_index:{tenant/user}` | sorted set of those names by expiry |
//! | `metrics:context_size:{tenant/user/session/id}` | tokens of the session's last request, for an hour |
//! | `metrics:entity_count:{tenant/user/session/id}` | entities of the session, for an hour |
//!
//! Other kinds replace `session`. The part in braces determines the cluster slot, so all keys of a thread
//! share one; ids cannot contain braces or slashes, so they cannot break out of it.

use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{Key, Kind, Scope};

/// Builds the key names of one store.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    pub(super) fn new(prefix: &str) -> Self {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}:") };
        Self { prefix }
    }

    /// The hash that holds the head.
    pub(super) fn thread(&self, key: &Key) -> String {
        format!("{}{}:{{{key}}}", self.prefix, key.kind.as_str())
    }

    /// The list that holds the log.
    pub(super) fn log(&self, key: &Key) -> String {
        format!("{}:log", self.thread(key))
    }

    /// The sorted set of a user's threads of one kind.
    pub(super) fn set(&self, scope: &Scope, kind: Kind) -> String {
        format!("{}user_{}s:{{{}/{}}}", self.prefix, kind.as_str(), scope.tenant, scope.user)
    }

    /// The ids recently added to the set.
    pub(super) fn announced(&self, scope: &Scope, kind: Kind) -> String {
        format!("{}:announced", self.set(scope, kind))
    }

    /// The sorted set of the names of a user's cached look-ups.
    pub(super) fn entities(&self, scope: &Scope) -> String {
        format!("{}entity_index:{{{}/{}}}", self.prefix, scope.tenant, scope.user)
    }

    /// A cached look-up.
    pub(super) fn entity(&self, scope: &Scope, name: &str) -> String {
        format!("{}:{name}", self.entities(scope))
    }

    /// Tokens of a session's last request, and the number of its entities.
    pub(super) fn figures(&self, key: &Key) -> [String; 2] {
        ["context_size", "entity_count"]
            .map(|name| format!("{}metrics:{name}:{{{key}}}", self.prefix))
    }

    /// The key written to test that the server accepts writes.
    pub(super) fn probe(&self) -> String {
        format!("{}probe", self.prefix)
    }

    /// Matches the hash of every thread, and few other keys.
    pub(super) fn pattern(&self) -> String {
        format!("{}*:{{*}}", self.prefix)
    }

    /// Parses the key of a thread's hash; `None` for any other key.
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
        let [context, entities] = keys.figures(&key);
        assert_eq!(context, "app:metrics:context_size:{t/u/session/s}");
        let others = [keys.log(&key), keys.set(scope, Kind::Session), keys.entities(scope)];
        for other in others.into_iter().chain([context, entities]) {
            assert_eq!(keys.parse(&other), None, "{other}");
        }
    }
}
