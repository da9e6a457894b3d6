//! Looking things up through the user's own MCP tools: at once, where a turn needs it, or afterwards.
//!
//! Only tools that read, that need nobody's approval, and only through their pinned definitions. A
//! failed look-up is logged and harmless; what is found is kept for a while ([`LookUps`]). A tool that
//! answers with an error has failed, unless the error says that there is no such thing.
//!
//! Not here: what the found is used for. A turn gets it as a [`Meant`](crate::notice::Meant), the background as a harvest.
//!
//! Invariant: what is found is data from a tool and carries that origin.

mod at_once;
mod changes;
mod kept;

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::engine::Engine;
use crate::entity::{
    EntityRef, Harvest, How, Mention, Resolution, Span, plan_resolution, read_resolution,
};
use crate::error::{Error, Result};
use crate::failure::{UpstreamError, UpstreamFault};
use crate::pack::PackSet;
use crate::session::Loaded;
use crate::session::head::SessionHead;
use crate::store::Scope;
use crate::tool::ToolDefinition;

pub use at_once::{Reader, at_once};
pub(crate) use changes::Changes;
pub use changes::Mark;
pub use kept::{LookUpStatistics, LookUps};

/// Things looked up for one turn.
const LOOK_UPS_MAX: usize = 5;
/// Time for one look-up in the background.
const BACKGROUND_LIMIT: Duration = Duration::from_secs(30);

/// Things of the last turn that were named but not yet found in the user's systems, unless that turn's
/// look-ups are done.
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

/// Looks up what is open in a session. A look-up that failed fails the whole, so that it is tried again;
/// what was found until then is kept and costs nothing the next time.
pub async fn look_up_open(engine: &Engine, loaded: &Loaded) -> Result<Harvest> {
    let agent = engine.agents().get(loaded.head.agent.as_ref())?;
    let looking = LookingUp::new(engine, &loaded.key.scope, &agent).await?;
    let mut found = Harvest::default();
    for entity in open(&loaded.head, engine.packs()).take(LOOK_UPS_MAX) {
        let mention = mention_of(entity);
        let mark = engine.look_ups.changes.mark().await;
        let cancel = CancellationToken::new();
        let looked_up = looking.look_up(&mention, mark, BACKGROUND_LIMIT, &cancel).await;
        match looked_up.map_err(Error::Upstream)? {
            Resolution::One(entity) => found.entities.push(*entity),
            Resolution::Several(_) | Resolution::None => {}
        }
    }
    Ok(found)
}

/// The tools that things may be looked up with.
struct LookingUp<'a> {
    engine: &'a Engine,
    scope: &'a Scope,
    tools: Vec<ToolDefinition>,
}

impl<'a> LookingUp<'a> {
    async fn new(engine: &'a Engine, scope: &'a Scope, agent: &Agent) -> Result<Self> {
        let tools = engine.tools_of(agent).await?.into_iter();
        let tools = tools
            .filter(|known| known.pin.refusal().is_none())
            .map(|known| known.definition)
            .filter(|tool| !tool.changes_something() && agent.approval_reason(tool).is_none());
        Ok(Self { engine, scope, tools: tools.collect() })
    }

    /// Looks up one thing, within the time. `mark` was read just now; without it nothing is spared or kept.
    async fn look_up(
        &self,
        mention: &Mention,
        mark: Option<Mark>,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Resolution, UpstreamError> {
        let engine = self.engine;
        let Some((tool, arguments)) = plan_resolution(mention, engine.packs(), &self.tools) else {
            return Ok(Resolution::None);
        };
        let place = kept::Place::new(self.scope, mention, &tool, &arguments);
        if let Some(mark) = mark
            && let Some(kept) = engine.look_ups.get(&place, mark, engine.now()).await
        {
            return Ok(kept);
        }
        // Whoever stops waiting also stops the call.
        let cancel = cancel.child_token();
        let stops = cancel.clone().drop_guard();
        let called = engine.tools.call(&tool, &arguments, cancel);
        let answered = tokio::time::timeout(limit, called).await.unwrap_or_else(|_| {
            let why = format!("the look-up took longer than {} ms", limit.as_millis());
            Err(UpstreamError::new(&tool.server, UpstreamFault::TimedOut, why))
        });
        drop(stops);
        let answered =
            answered.and_then(|output| match output.is_error && !says_none(&output.text) {
                true => {
                    let why = format!("{} answered with an error", tool.name);
                    Err(UpstreamError::new(&tool.server, UpstreamFault::Failed, why))
                }
                false => Ok(output),
            });
        engine.look_ups.count(answered.is_ok());
        let output = answered.inspect_err(|error| {
            tracing::info!(%tool, %error, "a look-up failed");
        })?;
        let resolution = read_resolution(mention, &tool, &output, engine.packs(), engine.now());
        if let Some(mark) = mark {
            engine.look_ups.keep(place, mark, &resolution, engine.now()).await;
        }
        Ok(resolution)
    }
}

/// Whether an error only says that there is no such thing, as many servers answer it.
fn says_none(error: &str) -> bool {
    const SAYINGS: [&str; 5] =
        ["not found", "no such", "does not exist", "doesn't exist", "no match"];
    let error = error.to_lowercase();
    let mut words = error.split(|c: char| !c.is_alphanumeric());
    SAYINGS.iter().any(|saying| error.contains(saying)) || words.any(|word| word == "404")
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
