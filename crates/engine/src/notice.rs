//! What a message refers to, in terms of known entities.
//!
//! A thin layer over [`crate::entity`]: it combines what was noticed, what the head tracks and what the session
//! knows, for the stages that need all three.

use std::sync::Arc;

use serde_json::Value;

use crate::entity::{
    self, Entities, Entity, EntityNote, How, KnownEntities, Mention, Noticed, Relevance, Span,
    with_found,
};
use crate::memory::Recalled;
use crate::pack::{Kind, PackSet};
use crate::piece::{Piece, Position, Rank, Source};
use crate::prompt::quote;
use crate::session::LoadedSession;
use crate::session::record::EntityMention;

/// An entity given along with a message.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenThing {
    pub kind: Kind,
    pub id: Option<String>,
    /// The caller's data about it.
    pub data: Option<Value>,
}

#[derive(Debug, Clone, Default)]
pub struct Understanding {
    pub noticed: Noticed,
    /// Everything the session knows, including what was looked up.
    pub known: Arc<KnownEntities>,
    /// Entities looked up for the message.
    pub found: Vec<Entity>,
}

impl Understanding {
    /// Drops mentions of names that were looked up and not found, unless the session knows such an entity.
    pub fn forget_absent(&mut self, names: &[String]) {
        let absent = |name: &str| names.iter().any(|absent| absent.eq_ignore_ascii_case(name));
        let noticed = &mut self.noticed;
        noticed.mentions.retain(|mention| mention.entity.is_some() || !absent(&mention.name));
        let topic = noticed.topic.take();
        noticed.topic = topic.filter(|topic| {
            topic.entity.as_ref().is_none_or(|entity| entity.id.is_some() || !absent(&entity.name))
        });
    }
}

/// The entities given along with a message.
pub fn given(things: &[GivenThing], packs: &PackSet) -> Vec<Mention> {
    let mentions = things.iter().filter_map(|thing| {
        let known = packs.entity_type(&thing.kind)?;
        let text = |keys: &[String]| {
            let data = thing.data.as_ref()?;
            keys.iter().find_map(|key| match data.get(key)? {
                Value::String(text) if !text.is_empty() => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
        };
        let id = thing.id.clone().or_else(|| text(&known.id));
        let name = text(&known.label).unwrap_or_default();
        let is_named = id.is_some() || !name.is_empty();
        is_named.then(|| Mention {
            kind: thing.kind.clone(),
            name,
            id,
            entity: None,
            span: Span { start: 0, end: 0 },
            how: How::Given,
            confidence: 1.0,
        })
    });
    mentions.collect()
}

/// Notices the entities in a message.
pub fn read(
    session: &LoadedSession,
    message: &str,
    known: Arc<KnownEntities>,
    packs: &PackSet,
) -> Understanding {
    let noticed = entity::notice(message, &session.head.entities, &known, packs);
    Understanding { noticed, known, found: Vec::new() }
}

/// The known entities plus those looked up for the turn.
pub fn with_found_entities(
    mut known: Arc<KnownEntities>,
    found: &[Entity],
    session: &LoadedSession,
) -> Arc<KnownEntities> {
    for found in found {
        let before = session.head.entities.best(&found.entity, &known);
        let entity = with_found(before, found, session.head.turns + 1);
        Arc::make_mut(&mut known).learn(entity);
    }
    known
}

#[derive(Clone, Copy)]
pub struct Understood<'a> {
    pub noticed: &'a Noticed,
    /// What the head tracks.
    pub entities: &'a Entities,
    pub known: &'a KnownEntities,
}

/// Number of recalled parts whose entities count as evidence.
const EVIDENCE_PARTS: usize = 10;
/// Maximum entities whose details are included.
const ENTITIES_MAX: usize = 20;

/// What is known of the entities that the message, or a recalled turn, is about.
pub fn about(
    understood: &Understood<'_>,
    recalled: &[Recalled],
    packs: &PackSet,
    now: jiff::Timestamp,
) -> Vec<Piece> {
    let Understood { noticed, entities, known } = *understood;
    let mut notes = entity::recall(entities, known, noticed, packs, now, ENTITIES_MAX);
    let in_evidence = |note: &EntityNote| {
        let mentions = recalled.iter().take(EVIDENCE_PARTS).flat_map(|r| &r.record.entities);
        mentions.into_iter().any(|mention| {
            mention.kind == note.entity.kind.as_str() && mention.name == note.entity.name
        })
    };
    notes.retain(|note| note.bearing != Relevance::None || in_evidence(note));
    let rank = |bearing: Relevance| match bearing {
        Relevance::Meant => Rank::Subject,
        Relevance::Near | Relevance::None => Rank::Entity,
    };
    let mut pieces = Vec::new();
    if let Some(rank) = notes.iter().map(|note| rank(note.bearing)).max() {
        let source = Source::Instructions { part: "entities".into() };
        let why = "how to use what is known";
        pieces.push(Piece::new(source, why, Position::Aside, rank, entity::usage()).scored(1.0));
    }
    let most = notes.first().map_or(1.0, |note| note.score).max(1.0);
    pieces.extend(notes.into_iter().map(|note| {
        let source = Source::Entity {
            entity: note.entity.kind.to_string(),
            name: note.entity.label().to_owned(),
        };
        let why = match note.bearing {
            Relevance::Meant => "the message is about it",
            Relevance::Near => "related to what the message is about",
            Relevance::None => "an older turn that fits the message is about it",
        };
        let text = quote("what is known", &note.text);
        #[expect(clippy::cast_possible_truncation, reason = "a share between 0 and 1")]
        let score = (note.score / most).clamp(0.0, 1.0) as f32;
        Piece::new(source, why, Position::Aside, rank(note.bearing), text).scored(score)
    }));
    pieces.extend(noticed.ambiguous.iter().map(|ambiguity| {
        let candidates: Vec<String> =
            ambiguity.candidates.iter().map(ToString::to_string).collect();
        let text = format!("\"{}\" could mean: {}", ambiguity.text, candidates.join("; "));
        let text = quote("what the message leaves open; ask which is meant", &text);
        Piece::new(
            Source::Topic,
            "several things fit the words",
            Position::Aside,
            Rank::Entity,
            text,
        )
        .scored(1.0)
    }));
    pieces
}

/// A piece of [`about`] for a request without tools.
pub fn without_tools(piece: Piece) -> Piece {
    match &piece.source {
        Source::Instructions { .. } => {
            let (source, why, rank) = (piece.source.clone(), piece.why.clone(), piece.rank);
            let text = entity::usage_without_tools();
            Piece::new(source, why, piece.place, rank, text).scored(1.0)
        }
        _ => piece,
    }
}

/// The entities for the turn's record.
pub fn mentions(noticed: &Noticed) -> Vec<EntityMention> {
    noticed
        .mentions
        .iter()
        .map(|mention| {
            let target = mention.target();
            EntityMention {
                kind: target.kind.to_string(),
                name: target.label().to_owned(),
                id: target.id,
                how: format!("{:?}", mention.how).to_lowercase(),
                confidence: mention.confidence,
            }
        })
        .collect()
}
