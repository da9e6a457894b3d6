//! Erasing again: what was erased since a backup was made does not come back with it.

use std::sync::Arc;

use throughline_engine::access::{Caller, Grants, system_scope};
use throughline_engine::agent::{Agent, AgentBook};
use throughline_engine::engine::{Engine, EngineSettings, Parts};
use throughline_engine::id::{AgentName, ThreadId};
use throughline_engine::limits::Limits;
use throughline_engine::models::ModelBook;
use throughline_engine::pack::PackSet;
use throughline_engine::store::{Change, Expected, Found, Key, Kind, Store, StoreError};
use throughline_engine::tombstone::{Tombstone, tombstone_of};
use throughline_upstream::embed::Embedded;
use throughline_upstream::mcp::McpProxy;

use super::erasures::{Erasure, ErasureLog, Graves};
use crate::assemble;
use crate::failure::Failure;

/// Threads listed at a time.
const STRETCH: usize = 200;

/// What was erased again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct ErasedAgain {
    /// Sessions and other threads.
    pub threads: u64,
    /// Single turns.
    pub turns: u64,
}

/// The tombstones that a store holds, added to `graves`.
pub async fn of_store(store: &dyn Store, graves: &mut Graves) -> Result<(), StoreError> {
    let mut after: Option<Key> = None;
    loop {
        let listed = store.scan(after.as_ref(), STRETCH).await?;
        let Some(last) = listed.last() else { return Ok(()) };
        after = Some(last.key.clone());
        for listed in listed.iter().filter(|listed| listed.key.kind == Kind::Tombstone) {
            let Found::Head(head) = store.head(&listed.key, None).await? else { continue };
            if let Ok(tombstone) = serde_json::from_slice::<Tombstone>(&head.bytes) {
                let Tombstone { key, at } = tombstone;
                graves.add(Erasure { key, at, turns: Default::default() });
            }
        }
    }
}

/// The erasures of a log, added to `graves`.
pub fn of_log(log: &ErasureLog, graves: &mut Graves) -> Result<(), Failure> {
    let erasures = log.read().map_err(|error| {
        let what = format!("{} cannot be read: {error}", log.path().display());
        Failure::new(what, "without it, what was erased could come back; make it readable")
    })?;
    for erasure in erasures {
        graves.add(erasure);
    }
    Ok(())
}

/// Erases in `store` what `graves` hold, and leaves their tombstones there.
pub async fn erase(store: &Arc<dyn Store>, graves: &Graves) -> Result<ErasedAgain, Failure> {
    let mut again = ErasedAgain::default();
    let mut partly = Vec::new();
    let mut after: Option<Key> = None;
    loop {
        let listed = store.scan(after.as_ref(), STRETCH).await?;
        let Some(last) = listed.last() else { break };
        after = Some(last.key.clone());
        for listed in listed.iter().filter(|listed| listed.key.kind != Kind::Tombstone) {
            let hash = tombstone_of(&listed.key);
            if graves.holds(&hash, listed.changed_at) {
                again.threads += store.erase(&listed.key).await?.heads;
                continue;
            }
            let mut turns = graves.turns(&hash, listed.changed_at);
            turns.retain(|turn| *turn <= listed.entries);
            if !turns.is_empty() && listed.key.kind == Kind::Session {
                partly.push((listed.key.clone(), turns));
            }
        }
    }
    bury(store.as_ref(), graves).await?;
    if partly.is_empty() {
        return Ok(again);
    }
    let engine = bare_engine(store.clone()).await?;
    for (key, turns) in partly {
        let owner = Caller { scope: key.scope.clone(), grants: Grants::Write };
        again.turns += engine.erase_turns(&owner, &key.id.clone().into(), &turns).await?;
    }
    Ok(again)
}

/// The tombstones go into the restored store, so that the next restore knows them too.
async fn bury(store: &dyn Store, graves: &Graves) -> Result<(), Failure> {
    for (hash, at) in graves.keys() {
        let tombstone = Tombstone { key: hash.clone(), at };
        let id = ThreadId::new(hash.as_str()).map_err(throughline_engine::error::Error::from)?;
        let key = Key { scope: system_scope(), kind: Kind::Tombstone, id };
        let change = Change {
            at,
            head: serde_json::to_vec(&tombstone).unwrap_or_default().into(),
            append: Vec::new(),
            overwrite: Vec::new(),
            expires_at: None,
            write_id: assemble::clock().id(),
        };
        match store.commit(&key, Expected::Absent, change).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// An engine with no model, tools, agents or index: enough to erase turns.
async fn bare_engine(store: Arc<dyn Store>) -> Result<Engine, Failure> {
    let tools = McpProxy::new(Vec::new())
        .map_err(|error| Failure::new(error.to_string(), "this is a defect; please report it"))?;
    let name = AgentName::new("default").expect("a constant name is valid");
    let parts = Parts {
        store,
        shared: None,
        index: None,
        tools: Arc::new(tools),
        models: ModelBook::default(),
        embedder: Arc::new(Embedded::load()),
        clock: assemble::clock(),
        agents: AgentBook::new(name.clone(), [Agent::plain(name)]),
        packs: PackSet::empty(),
        rules: Default::default(),
        limits: Limits::default(),
        settings: EngineSettings::default(),
    };
    Ok(Engine::start(parts).await?)
}
