//! What a message is enriched with: what it means, what is known of that, and older turns that fit.
//!
//! The stages notice, resolve and recall meet here. The same message to an unchanged session is enriched
//! once ([`Enrichments`]): an application that prepares and then asks, or asks again after a failure, does
//! not pay twice.
//!
//! Invariant: an enrichment is used only for the version of the session that it was made from, and what was
//! looked up for it only until something is changed through a tool.

mod kept;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::context::Brought;
use crate::engine::Engine;
use crate::entity::{Entity, KnownEntities, Noticed};
use crate::error::Result;
use crate::history;
use crate::memory::{self, Reach, Recalled};
use crate::notice::{self, LookedUp, Meant, Understood};
use crate::piece::Piece;
use crate::resolve::{self, Reader};
use crate::session::Loaded;

pub use kept::{EnrichmentStatistics, Enrichments};

/// A message and what belongs to it.
#[derive(Debug, Clone)]
pub struct Enriched {
    /// What was gathered.
    pub enrichment: Arc<Enrichment>,
    /// All things that the session knows, with what was looked up.
    pub known: Arc<KnownEntities>,
}

/// What was gathered for a message.
#[derive(Debug)]
pub struct Enrichment {
    /// The message's vector.
    pub vector: Vec<f32>,
    /// What was noticed in the message.
    pub noticed: Noticed,
    /// What was looked up for it.
    pub found: Vec<Entity>,
    /// When that was.
    pub looked_up: LookedUp,
    /// Parts of earlier turns that fit, best first.
    pub recalled: Vec<Recalled>,
    /// What is told of all that.
    pub pieces: Vec<Piece>,
}

/// Gathers what belongs to a message.
pub async fn enrich(
    engine: &Engine,
    session: &Loaded,
    brought: &Brought,
    reader: Reader,
    cancel: &CancellationToken,
) -> Result<Enriched> {
    let turns_max = brought.history_turns.unwrap_or(engine.limits().window_turns);
    let place = kept::Place::new(&session.key, &brought.message, turns_max, reader);
    let made_of = kept::MadeOf { version: session.version, agents: engine.agents_generation() };
    let kept = engine.enrichments.get(&place, made_of, engine.now());
    let kept = match kept {
        Some(kept) if holds(engine, kept.looked_up).await => Some(kept),
        _ => None,
    };
    engine.enrichments.count(kept.is_some());
    if let Some(enrichment) = kept {
        let known = engine.memory.known(&engine.sessions, session).await?;
        let known = notice::with_all(known, &enrichment.found, session);
        return Ok(Enriched { enrichment, known });
    }
    let meant = notice::read(engine, session, &brought.message).await?;
    let meant = resolve::at_once(engine, session, meant, reader, cancel).await?;
    let known = meant.known.clone();
    let enrichment = Arc::new(gather(engine, session, brought, turns_max, meant).await?);
    if enrichment.looked_up != LookedUp::Sometime {
        engine.enrichments.keep(place, made_of, enrichment.clone(), engine.now());
    }
    Ok(Enriched { enrichment, known })
}

/// Whether what was looked up then may still be told.
async fn holds(engine: &Engine, looked_up: LookedUp) -> bool {
    match looked_up {
        LookedUp::Never => true,
        LookedUp::At(mark) => engine.look_ups.changes.mark().await == Some(mark),
        LookedUp::Sometime => false,
    }
}

async fn gather(
    engine: &Engine,
    session: &Loaded,
    brought: &Brought,
    turns_max: u64,
    meant: Meant,
) -> Result<Enrichment> {
    let Meant { noticed, known, found, looked_up } = meant;
    let (limits, head) = (engine.limits(), &session.head);
    let understood = Understood { noticed: &noticed, entities: &head.entities, known: &known };
    let mut pieces = notice::recall(&understood, engine.packs(), engine.now());
    let vector = engine.selector.embed(&brought.message).await?;
    let (first, count) = history::window(head, turns_max);
    let reach = Reach {
        parts_max: limits.recalled_turns + 3 * count,
        window_from: first,
        older_max: limits.recalled_turns,
    };
    let message = (brought.message.as_str(), vector.as_slice());
    let recalled = engine.memory.search(&engine.sessions, session, message, reach).await?;
    pieces.extend(memory::pieces(&recalled, first, limits.recalled_turns));
    Ok(Enrichment { vector, noticed, found, looked_up, recalled, pieces })
}
