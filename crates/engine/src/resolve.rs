//! Looks up entities with the user's own MCP tools, during a turn or afterwards.
//!
//! It uses only the session's tools, only calls that are known to be read-only and need no approval, and only
//! pinned definitions. A failed look-up is logged and harmless; results are cached for a while ([`LookUps`]). A
//! tool that returns an error has failed, unless the error says that there is no such thing.
//!
//! What is done with the results is decided elsewhere: a turn gets an
//! [`Understanding`](crate::notice::Understanding), the background a harvest.
//!
//! Invariant: a result is data from a tool and carries that origin.

mod at_once;
mod cache;
mod changes;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::catalog::KnownTool;
use crate::clock::Clock;
use crate::entity::{
    EntityRef, Harvest, How, Mention, Resolution, Span, plan_resolution, read_resolution,
};
use crate::error::{Error, Result};
use crate::failure::{UpstreamError, UpstreamFault};
use crate::lexicon;
use crate::pack::PackSet;
use crate::permission::{Effect, Permission, Policy, Taint, may_read, permission};
use crate::pin::PinState;
use crate::session::LoadedSession;
use crate::session::head::SessionHead;
use crate::store::Scope;
use crate::tool::{ToolDefinition, Tools};

pub(crate) use at_once::could_need;
pub use at_once::{LookedUp, Reader};
pub use cache::{LookUpStatistics, LookUps};
pub use changes::{ChangeMark, Changes};

/// Maximum look-ups per turn.
const LOOK_UPS_MAX: usize = 5;
/// Time limit of a look-up in the background.
const BACKGROUND_LIMIT: Duration = Duration::from_secs(30);

/// Entities of the last turn that were mentioned but not found yet, unless that turn's look-ups are done.
pub fn open<'a>(
    head: &'a SessionHead,
    packs: &'a PackSet,
) -> impl Iterator<Item = &'a EntityRef> + 'a {
    let last = head.entities.focus.first().filter(|focus| focus.turn == head.turns);
    let last = last.filter(|_| head.looked_up_turn < head.turns);
    last.into_iter().flat_map(|focus| &focus.refs).filter(|entity| {
        entity.id.is_none()
            && packs.entity_type(&entity.kind).is_some_and(|kind| !kind.resolvers.is_empty())
    })
}

pub struct Resolver {
    pub look_ups: LookUps,
    tools: Arc<dyn Tools>,
    packs: Arc<PackSet>,
    clock: Arc<dyn Clock>,
}

impl Resolver {
    pub fn new(
        look_ups: LookUps,
        tools: Arc<dyn Tools>,
        packs: Arc<PackSet>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { look_ups, tools, packs, clock }
    }

    /// Looks up the open entities of a session. Fails if any look-up fails, so that it is retried; results found
    /// so far are cached and cost nothing the next time.
    pub async fn look_up_open(
        &self,
        session: &LoadedSession,
        policy: &Policy,
        tools: &[KnownTool],
    ) -> Result<Harvest> {
        let tools = reading_tools(policy, tools);
        let mut found = Harvest::default();
        for entity in open(&session.head, &self.packs).take(LOOK_UPS_MAX) {
            let mention = mention_of(entity);
            let mark = self.look_ups.changes.mark().await;
            let asking = LookUp {
                scope: &session.key.scope,
                tools: &tools,
                policy,
                mark,
                limit: BACKGROUND_LIMIT,
                cancel: &CancellationToken::new(),
            };
            let looked_up = self.look_up(&mention, &asking).await.map_err(Error::Upstream)?;
            if let Some(Resolution::One(entity)) = looked_up {
                found.entities.push(*entity);
            }
        }
        Ok(found)
    }

    /// Looks up one entity within the time limit; `None` if no tool can look it up.
    async fn look_up(
        &self,
        mention: &Mention,
        asking: &LookUp<'_>,
    ) -> Result<Option<Resolution>, UpstreamError> {
        let Some((tool, arguments)) = plan_resolution(mention, &self.packs, asking.tools) else {
            return Ok(None);
        };
        let definition = asking.tools.iter().find(|definition| definition.tool == tool);
        let reads = definition.is_some_and(|definition| {
            let decided = permission(definition, &arguments, asking.policy, &Taint::default());
            decided == Permission::Run(Effect::Reads)
        });
        if !reads {
            return Ok(None);
        }
        let key = cache::LookUpKey::new(asking.scope, mention, &tool, &arguments);
        if let Some(mark) = asking.mark
            && let Some(cached) = self.look_ups.get(&key, mark, self.clock.now()).await
        {
            return Ok(Some(cached));
        }
        // Cancels the call when the caller stops waiting.
        let cancel = asking.cancel.child_token();
        let stops = cancel.clone().drop_guard();
        let called = self.tools.call(&tool, &arguments, cancel);
        let limit = asking.limit;
        let answered = tokio::time::timeout(limit, called).await.unwrap_or_else(|_| {
            let why = format!("the look-up took longer than {} ms", limit.as_millis());
            Err(UpstreamError::new(&tool.server, UpstreamFault::TimedOut, why))
        });
        drop(stops);
        let answered = answered.and_then(|output| {
            match output.is_error && !lexicon::says_none(&output.text) {
                true => {
                    let why = format!("{} answered with an error", tool.name);
                    Err(UpstreamError::new(&tool.server, UpstreamFault::Failed, why))
                }
                false => Ok(output),
            }
        });
        self.look_ups.count(answered.is_ok());
        let output = answered.inspect_err(|error| {
            tracing::info!(%tool, %error, "look-up failed");
        })?;
        let now = self.clock.now();
        let resolution = read_resolution(mention, &tool, &output, &self.packs, now);
        if let Some(mark) = asking.mark {
            self.look_ups.keep(key, mark, &resolution, now).await;
        }
        Ok(Some(resolution))
    }
}

struct LookUp<'a> {
    scope: &'a Scope,
    tools: &'a [ToolDefinition],
    policy: &'a Policy,
    /// Read before the call; without it the cache is neither read nor written.
    mark: Option<ChangeMark>,
    limit: Duration,
    cancel: &'a CancellationToken,
}

/// The tools that may be used for look-ups; each call is still authorized.
fn reading_tools(policy: &Policy, tools: &[KnownTool]) -> Vec<ToolDefinition> {
    let pinned = tools.iter().filter(|known| known.pin == PinState::Approved);
    pinned.map(|known| &known.definition).filter(|tool| may_read(tool, policy)).cloned().collect()
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
