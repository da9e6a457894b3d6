//! The entities of a session, and the sessions about an entity.

use serde::Serialize;

use crate::access::{Action, Caller, authorize};
use crate::entity::{
    Entity, EntityRef, FORGOTTEN_MAX, Forgotten, Kind, KnownEntities, Reference, Trust,
};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::session::LoadedSession;
use crate::session::sessions::Step;
use crate::session::unreadable::if_readable;
use crate::store::{Page, PageMark};

use super::Engine;

/// Maximum sessions scanned.
const SESSIONS_MAX: usize = 10_000;
/// Sessions read per step.
const STEP: usize = 200;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntityView {
    #[serde(flatten)]
    pub entity: Entity,
    /// Combines recency, mentions, relations and type.
    #[serde(rename = "relevanceScore")]
    pub relevance: f64,
    /// The lowest trust among its data.
    pub trust: Trust,
    /// Whether recent turns mentioned it.
    pub active: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntityList {
    /// Most relevant first.
    pub entities: Vec<EntityView>,
    pub topic: Option<String>,
    /// Number of entities known from the log but not in the head.
    pub more_known: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RelatedSession {
    pub session_id: SessionId,
    pub title: Option<String>,
    /// Number of mentions by the user.
    pub mention_count: u32,
    pub last_mentioned: jiff::Timestamp,
}

impl Engine {
    /// The entities of a session, with relations and relevance.
    pub async fn entities(&self, caller: &Caller, id: &SessionId) -> Result<EntityList> {
        let loaded = self.session(caller, id).await?;
        let known = self.turns.memory.known(&self.sessions, &loaded).await?;
        let entities = &loaded.head.entities;
        let active = entities.active();
        let views: Vec<EntityView> = entities
            .by_relevance(self.packs(), self.now())
            .into_iter()
            .map(|(entity, relevance)| EntityView {
                entity: entity.clone(),
                relevance,
                trust: entity.trust(),
                active: active.iter().any(|spoken| spoken.is(&entity.entity)),
            })
            .collect();
        Ok(EntityList {
            more_known: known.len().saturating_sub(views.len()),
            topic: entities.topic.as_ref().map(ToString::to_string),
            entities: views,
        })
    }

    /// References of one type in a session: `{spec_id, name, mentioned_at, action, aliases}`.
    pub async fn references(
        &self,
        caller: &Caller,
        id: &SessionId,
        kind: &str,
        query: Option<&str>,
    ) -> Result<Vec<Reference>> {
        let loaded = self.session(caller, id).await?;
        let known = self.turns.memory.known(&self.sessions, &loaded).await?;
        let kind = Kind::new(kind);
        Ok(match query {
            Some(query) => known
                .find(query, Some(&kind), STEP)
                .into_iter()
                .filter_map(|found| known.get(&found.entity).map(Reference::from))
                .collect(),
            None => known.references(Some(&kind)),
        })
    }

    /// The caller's sessions about an entity, most recently changed first.
    pub async fn sessions_about(
        &self,
        caller: &Caller,
        kind: &str,
        name: &str,
    ) -> Result<Vec<RelatedSession>> {
        authorize(caller, Action::Read)?;
        let kind = Kind::new(kind);
        let mut about = Vec::new();
        let mut after: Option<PageMark> = None;
        let mut looked_at = 0;
        while looked_at < SESSIONS_MAX {
            let page = Page { limit: STEP, after: after.clone() };
            let listed = self.sessions.list(&caller.scope, page).await?;
            let Some(last) = listed.last() else { break };
            after = Some(PageMark { changed_at: last.changed_at, id: last.key.id.clone() });
            looked_at += listed.len();
            for listed in &listed {
                let found = if_readable(self.sessions.find(&listed.key).await)?;
                let Some(loaded) = found else { continue };
                about.extend(self.about_it(&loaded, &kind, name).await?);
            }
        }
        Ok(about)
    }

    async fn about_it(
        &self,
        loaded: &LoadedSession,
        kind: &Kind,
        name: &str,
    ) -> Result<Option<RelatedSession>> {
        if loaded.head.deleted_at.is_some() || loaded.head.entities.tracked.is_empty() {
            return Ok(None);
        }
        let tracked = &loaded.head.entities.tracked;
        let known = self.turns.memory.known(&self.sessions, loaded).await?;
        let found = tracked.iter().find(|entity| is(entity, kind, name)).cloned();
        let found = found.or_else(|| known.iter().find(|entity| is(entity, kind, name)).cloned());
        Ok(found.map(|entity| RelatedSession {
            session_id: loaded.head.id.clone(),
            title: loaded.head.title.clone(),
            mention_count: entity.mention_count,
            last_mentioned: entity.last_mentioned,
        }))
    }

    /// Removes what the session knows of an entity; the log stays.
    pub async fn forget_entity(
        &self,
        caller: &Caller,
        id: &SessionId,
        kind: &str,
        name: &str,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let kind = Kind::new(kind);
        let loaded = self.session(caller, id).await?;
        let key = loaded.key.clone();
        let known = self.turns.memory.known(&self.sessions, &loaded).await?;
        let (loaded, ()) = self
            .sessions
            .update(&key, |head, _| {
                let tracked = head.entities.tracked.iter();
                let Some(entity) = tracked.chain(known.iter()).find(|e| is(e, &kind, name)) else {
                    let known = head.entities.tracked.iter().map(|e| e.entity.to_string());
                    return Err(Error::Missing {
                        kind: "entity",
                        name: format!("{kind} {name}"),
                        known: known.collect(),
                    });
                };
                let entity = entity.entity.clone();
                let turn = head.turns;
                head.entities.forget(&entity, &mut KnownEntities::new());
                head.entities.forgotten.retain(|gone| !gone.entity.is(&entity));
                head.entities.forgotten.push(Forgotten { entity, turn });
                check_forgotten(&head.entities.forgotten)?;
                Ok(Step::Commit(None, ()))
            })
            .await?;
        self.forget_derived(&key);
        self.store().erase(&key.derived()).await?;
        Ok(loaded)
    }

    /// Corrects a misunderstanding in the last turn: `right` instead of `wrong`.
    pub async fn correct_entity(
        &self,
        caller: &Caller,
        id: &SessionId,
        wrong: Option<EntityRef>,
        right: EntityRef,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let correction =
            crate::entity::Correction { wrong, kind: Some(right.kind.clone()), right: Some(right) };
        let (loaded, ()) = self
            .sessions
            .update(&caller.session_key(id), |head, _| {
                let turn = head.turns;
                head.entities.correct(&correction, turn);
                if let (Some(dialogue), Some(right)) = (&mut head.dialogue, &correction.right) {
                    dialogue.meant(&right.kind, &right.name, right.id.as_deref());
                }
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(loaded)
    }
}

fn check_forgotten(forgotten: &[Forgotten]) -> Result<()> {
    if forgotten.len() <= FORGOTTEN_MAX {
        return Ok(());
    }
    Err(Error::OverLimit {
        what: "the number of forgotten entities".into(),
        size: forgotten.len() as u64,
        limit: "FORGOTTEN_MAX",
        allowed: FORGOTTEN_MAX as u64,
    })
}

/// Whether an entity has that name, slug, alias or id.
fn is(entity: &Entity, kind: &Kind, name: &str) -> bool {
    let same = |other: &str| other.eq_ignore_ascii_case(name);
    entity.entity.kind == *kind
        && (same(&entity.entity.name)
            || entity.entity.id.as_deref().is_some_and(same)
            || entity.slug.as_deref().is_some_and(same)
            || entity.aliases.iter().any(|alias| same(alias)))
}
