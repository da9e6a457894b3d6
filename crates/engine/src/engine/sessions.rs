//! Creates, reads, changes and archives sessions.

use jiff::SignedDuration;

use crate::access::{Action, Caller, authorize};
use crate::creation::{NewSession, checked_tags, checked_title};
use crate::error::{Error, Result};
use crate::id::{AgentName, SessionId};
use crate::persona::Persona;
use crate::session::LoadedSession;
use crate::session::head::Settings;
use crate::session::sessions::Step;

use super::Engine;
use crate::turn::check_version;

/// Changes to a session; absent fields stay as they are.
#[derive(Debug, Clone, Default)]
pub struct SessionPatch {
    /// `Some(None)` removes it.
    pub title: Option<Option<String>>,
    pub tags: Option<Vec<String>>,
    pub settings: Option<Settings>,
    /// `Some(None)` removes it.
    pub persona: Option<Option<Persona>>,
    /// `false` archives it, `true` restores it.
    pub active: Option<bool>,
    /// Days from now until it expires.
    pub extend_days: Option<u32>,
    pub agent: Option<AgentName>,
}

impl Engine {
    /// Creates a session with the agent's `always` items.
    pub async fn create_session(&self, caller: &Caller, new: NewSession) -> Result<LoadedSession> {
        self.turns.creator.create(caller, new).await
    }

    /// A session, even an archived one.
    pub async fn session(&self, caller: &Caller, id: &SessionId) -> Result<LoadedSession> {
        authorize(caller, Action::Read)?;
        self.sessions.load(&caller.session_key(id)).await
    }

    /// Changes a session if it is still at `expected`.
    pub async fn change_session(
        &self,
        caller: &Caller,
        id: &SessionId,
        patch: SessionPatch,
        expected: Option<u64>,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let title = match patch.title {
            Some(title) => Some(checked_title(title, self.limits())?),
            None => None,
        };
        let tags = patch.tags.map(|tags| checked_tags(tags, self.limits())).transpose()?;
        if let Some(Some(persona)) = &patch.persona {
            persona.validate()?;
        }
        let items = match &patch.agent {
            Some(agent) => {
                let agent = self.agents().get(Some(agent))?;
                Some(self.turns.creator.items_of(&agent).await?)
            }
            None => None,
        };
        let now = self.now();
        let expiry = match patch.extend_days {
            Some(days @ 1..=3_650) => Some(now + SignedDuration::from_hours(i64::from(days) * 24)),
            Some(days) => {
                return Err(Error::invalid("extend_days", format!("{days} is outside 1-3650")));
            }
            None => None,
        };
        let mut ended = Vec::new();
        let (loaded, ()) = self
            .sessions
            .update(&caller.session_key(id), |head, version| {
                check_version(id, expected, version.number)?;
                ended = head.end_shares(now);
                if let Some(title) = &title {
                    head.title.clone_from(title);
                }
                if let Some(tags) = &tags {
                    head.tags.clone_from(tags);
                }
                if let Some(settings) = &patch.settings {
                    head.settings = settings.clone();
                }
                if let Some(persona) = &patch.persona {
                    head.persona.clone_from(persona);
                }
                if let (Some(agent), Some(items)) = (&patch.agent, &items)
                    && head.agent.as_ref() != Some(agent)
                {
                    head.agent = Some(agent.clone());
                    items.put_into(head);
                }
                match patch.active {
                    Some(true) => head.deleted_at = None,
                    Some(false) => head.deleted_at = head.deleted_at.or(Some(now)),
                    None => {}
                }
                head.touch(now);
                if expiry.is_some() {
                    head.expires_at = expiry;
                }
                ended.extend(head.end_shares(now));
                Ok(Step::Commit(None, ()))
            })
            .await?;
        self.erase_shares(&ended).await?;
        if loaded.head.settings.private {
            self.facts.forget_of(caller, id, None).await?;
        }
        Ok(loaded)
    }

    /// Archives a session: inactive and out of the caches, but restorable.
    pub async fn put_aside(&self, caller: &Caller, id: &SessionId) -> Result<LoadedSession> {
        let patch = SessionPatch { active: Some(false), ..SessionPatch::default() };
        let loaded = self.change_session(caller, id, patch, None).await?;
        self.sessions.forget(&loaded.key);
        self.forget_derived(&loaded.key);
        Ok(loaded)
    }
}
