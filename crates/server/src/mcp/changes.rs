//! Notifies clients when a caller's contexts or presets change.
//!
//! Within this process only: a client of one server does not see changes made through another. Lists have a
//! short time to live for that reason.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use throughline_engine::access::Caller;
use throughline_engine::store::Scope;
use tokio::sync::broadcast;

use super::resources::path_of;

/// Changes that a slow listener may lag behind before it loses some.
const BACKLOG: usize = 256;

/// Interval of checks for a closed connection.
const GONE_CHECK: Duration = Duration::from_secs(60);

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Owner of what changed.
    pub scope: Scope,
    /// URI without the scheme: `context/ID`.
    pub path: String,
    /// Whether the list of resources changed too.
    pub list: bool,
}

/// Broadcasts changes.
#[derive(Debug, Clone)]
pub struct Changes(broadcast::Sender<Changed>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::channel(BACKLOG).0)
    }
}

impl Changes {
    /// Notifies listeners of this caller's data.
    pub fn tell(&self, caller: &Caller, path: impl Into<String>, list: bool) {
        // It is fine if nobody listens.
        let _ = self.0.send(Changed { scope: caller.scope.clone(), path: path.into(), list });
    }

    /// Receives changes from now on.
    pub fn listen(&self) -> broadcast::Receiver<Changed> {
        self.0.subscribe()
    }
}

/// The next change of this caller's data; `None` when there will be none.
async fn next(changes: &mut broadcast::Receiver<Changed>, caller: &Caller) -> Option<Changed> {
    loop {
        match changes.recv().await {
            Ok(changed) if changed.scope == caller.scope => return Some(changed),
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return None,
        }
    }
}

/// Notifies a stateless client until it stops listening; the sink sends what it asked for.
pub async fn tell_listener(
    mut changes: broadcast::Receiver<Changed>,
    caller: &Caller,
    context: &SubscriptionContext,
) {
    loop {
        let changed = tokio::select! {
            changed = next(&mut changes, caller) => changed,
            () = context.cancelled() => None,
        };
        let Some(changed) = changed else { return };
        if changed.list && context.accepted().resources_list_changed == Some(true) {
            let _ = context.sink().notify_resource_list_changed().await;
        }
        let wanted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        for uri in wanted.into_iter().filter(|uri| path_of(uri) == Some(changed.path.as_str())) {
            let _ = context.sink().notify_resource_updated(uri).await;
        }
    }
}

/// Notifies a client with a session until it disconnects. `list_changed` needs no subscription there; single
/// resources do.
pub async fn tell_legacy(
    mut changes: broadcast::Receiver<Changed>,
    caller: Caller,
    peer: Peer<RoleServer>,
    subscribed: Arc<Mutex<BTreeSet<String>>>,
) {
    loop {
        let changed = tokio::select! {
            changed = next(&mut changes, &caller) => changed,
            () = tokio::time::sleep(GONE_CHECK) => match peer.is_transport_closed() {
                true => None,
                false => continue,
            },
        };
        let Some(changed) = changed else { return };
        if changed.list && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
        let wanted: Vec<String> = {
            let subscribed = subscribed.lock().unwrap_or_else(PoisonError::into_inner);
            let at = |uri: &&String| path_of(uri) == Some(changed.path.as_str());
            subscribed.iter().filter(at).cloned().collect()
        };
        for uri in wanted {
            let params = ResourceUpdatedNotificationParam::new(uri);
            if peer.notify_resource_updated(params).await.is_err() {
                return;
            }
        }
    }
}
