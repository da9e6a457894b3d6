//! Looking things up through the user's own MCP tools.
//!
//! Only tools that read, only through their pinned definitions. A failed look-up is logged and harmless.
//!
//! Invariant: what is found is data from a tool and carries that origin.

use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::engine::Engine;
use crate::entity::{
    Entity, EntityRef, Harvest, How, Mention, Resolution, Span, plan_resolution, read_resolution,
};
use crate::error::Result;
use crate::pack::PackSet;
use crate::session::Loaded;
use crate::session::head::SessionHead;
use crate::tool::ToolDefinition;

/// Things looked up after one turn.
const LOOK_UPS_MAX: usize = 5;

/// Things of the last turn that were named but not yet found in the user's systems.
pub fn open<'a>(
    head: &'a SessionHead,
    packs: &'a PackSet,
) -> impl Iterator<Item = &'a EntityRef> + 'a {
    let last = head.entities.focus.first().filter(|focus| focus.turn == head.turns);
    last.into_iter().flat_map(|focus| &focus.refs).filter(|entity| {
        entity.id.is_none()
            && packs.entity_type(&entity.kind).is_some_and(|kind| !kind.resolvers.is_empty())
    })
}

/// Looks up what is open in a session.
pub async fn look_up_open(engine: &Engine, loaded: &Loaded) -> Result<Harvest> {
    let agent = engine.agents().get(loaded.head.agent.as_ref())?;
    let mut found = Harvest::default();
    for entity in open(&loaded.head, engine.packs()).take(LOOK_UPS_MAX) {
        let mention = mention_of(entity);
        if let Resolution::One(entity) =
            look_up(engine, &agent, &mention, CancellationToken::new()).await?
        {
            found.entities.push(*entity);
        }
    }
    Ok(found)
}

/// Looks up one thing.
pub async fn look_up(
    engine: &Engine,
    agent: &Agent,
    mention: &Mention,
    cancel: CancellationToken,
) -> Result<Resolution> {
    let tools: Vec<ToolDefinition> = engine
        .tools_of(agent)
        .await?
        .into_iter()
        .filter(|known| known.pin.refusal().is_none() && !known.definition.changes_something())
        .map(|known| known.definition)
        .collect();
    let Some((tool, arguments)) = plan_resolution(mention, engine.packs(), &tools) else {
        return Ok(Resolution::None);
    };
    match engine.tools.call(&tool, &arguments, cancel).await {
        Ok(output) => Ok(read_resolution(mention, &tool, &output, engine.packs(), engine.now())),
        Err(error) => {
            tracing::info!(%tool, %error, "a look-up failed");
            Ok(Resolution::None)
        }
    }
}

fn mention_of(entity: &EntityRef) -> Mention {
    Mention {
        kind: entity.kind.clone(),
        name: entity.name.clone(),
        id: entity.id.clone(),
        entity: Some(entity.clone()),
        span: Span { start: 0, end: 0 },
        how: How::Name,
        confidence: 1.0,
    }
}

/// The entity of a look-up that found exactly one.
pub fn only(resolution: Resolution) -> Option<Entity> {
    match resolution {
        Resolution::One(entity) => Some(*entity),
        Resolution::Several(_) | Resolution::None => None,
    }
}
