//! Object names in the bucket.
//!
//! `heads/TENANT!/USER!/KIND!/ID` and `segments/TENANT!/USER!/KIND!/ID!/NODE`. Ids contain neither `!` nor `/`
//! (see [`throughline_engine::id`]), so an object cannot leave its scope; and `!` sorts before every character of
//! an id, so the bucket's order is that of [`Key`].

use object_store::path::Path;
use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{Key, Kind, Scope};

/// Builds the object names of one store.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    prefix: String,
}

impl Layout {
    /// A layout below `prefix`, which may be empty.
    pub(super) fn new(prefix: &str) -> Self {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Self { prefix }
    }

    pub(super) fn head(&self, key: &Key) -> Path {
        Path::from(format!("{}heads/{}", self.prefix, thread(key)))
    }

    /// A sealed object of a thread.
    pub(super) fn node(&self, key: &Key, name: &str) -> Path {
        Path::from(format!("{}segments/{}!/{name}", self.prefix, thread(key)))
    }

    /// The prefix of all heads.
    pub(super) fn heads(&self) -> Path {
        Path::from(format!("{}heads", self.prefix))
    }

    /// The prefix of all heads of a kind in a scope.
    pub(super) fn heads_of(&self, scope: &Scope, kind: Kind) -> Path {
        let Scope { tenant, user } = scope;
        Path::from(format!("{}heads/{tenant}!/{user}!/{}!", self.prefix, kind.as_str()))
    }

    /// The prefix of all segments.
    pub(super) fn segments(&self) -> Path {
        Path::from(format!("{}segments", self.prefix))
    }

    /// The prefix of all segments of a thread.
    pub(super) fn segments_of(&self, key: &Key) -> Path {
        Path::from(format!("{}segments/{}!", self.prefix, thread(key)))
    }

    /// An object used to probe the store.
    pub(super) fn probe(&self, name: &str) -> Path {
        Path::from(format!("{}probe/{name}", self.prefix))
    }

    /// Parses the name of a head object; `None` for a foreign object.
    pub(super) fn key_of_head(&self, path: &Path) -> Option<Key> {
        let mut parts =
            path.as_ref().strip_prefix(&self.prefix)?.strip_prefix("heads/")?.split('/');
        let key = key_of(parts.next()?, parts.next()?, parts.next()?, parts.next()?)?;
        parts.next().is_none().then_some(key)
    }

    /// Parses the name of a sealed object into thread and node name.
    pub(super) fn key_of_node(&self, path: &Path) -> Option<(Key, String)> {
        let rest = path.as_ref().strip_prefix(&self.prefix)?.strip_prefix("segments/")?;
        let mut parts = rest.split('/');
        let (tenant, user, kind) = (parts.next()?, parts.next()?, parts.next()?);
        let key = key_of(tenant, user, kind, parts.next()?.strip_suffix('!')?)?;
        Some((key, parts.next()?.to_owned()))
    }
}

fn thread(key: &Key) -> String {
    let Key { scope: Scope { tenant, user }, kind, id } = key;
    format!("{tenant}!/{user}!/{}!/{id}", kind.as_str())
}

fn key_of(tenant: &str, user: &str, kind: &str, id: &str) -> Option<Key> {
    let tenant = TenantId::new(tenant.strip_suffix('!')?).ok()?;
    let user = UserId::new(user.strip_suffix('!')?).ok()?;
    let kind = Kind::from_name(kind.strip_suffix('!')?)?;
    Some(Key { scope: Scope { tenant, user }, kind, id: ThreadId::new(id).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(tenant: &str, user: &str, id: &str) -> Key {
        let scope =
            Scope { tenant: TenantId::new(tenant).unwrap(), user: UserId::new(user).unwrap() };
        Key { scope, kind: Kind::Session, id: ThreadId::new(id).unwrap() }
    }

    #[test]
    fn the_order_of_paths_is_the_order_of_keys() {
        let layout = Layout::new("pre/fix");
        let mut keys = Vec::new();
        for tenant in ["a", "a-b", "a.b", "a_b", "A", "a0"] {
            for user in ["u", "u-", "u.x"] {
                keys.extend(["1", "1-", "1.", "10"].map(|id| key(tenant, user, id)));
            }
        }
        let mut by_path = keys.clone();
        keys.sort();
        by_path.sort_by_key(|key| layout.head(key).to_string());
        assert_eq!(keys, by_path);
    }

    #[test]
    fn a_path_reads_back_as_its_key() {
        let layout = Layout::new("");
        let key = key("t", "u", "s.1");
        assert_eq!(layout.key_of_head(&layout.head(&key)), Some(key.clone()));
        let node = layout.node(&key, "n");
        assert_eq!(layout.key_of_node(&node), Some((key, "n".to_owned())));
        assert_eq!(layout.key_of_head(&Path::from("heads/t/u/session/x")), None);
    }
}
