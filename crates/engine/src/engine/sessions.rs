//! Creating, reading, changing and putting aside sessions.

use jiff::SignedDuration;
use uuid::Uuid;

use crate::access::{Action, Caller, authorize};
use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::id::{AgentName, SessionId};
use crate::limits::Limits;
use crate::persona::Persona;
use crate::piece::IncludeMode;
use crate::select::KnownTool;
use crate::session::Loaded;
use crate::session::apply::RequestKey;
use crate::session::head::{AnsweredKey, ItemName, SessionHead, SessionItem, Settings};
use crate::session::keep::Step;

use super::Engine;

/// A session to be created.
#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// Its id; made here when absent.
    pub id: Option<SessionId>,
    /// The agent; the default one when absent.
    pub agent: Option<AgentName>,
    /// A title.
    pub title: Option<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// How the assistant carries itself.
    pub persona: Option<Persona>,
    /// The preset that the persona is made from; the agent's when neither is given.
    pub preset: Option<String>,
    /// Settings.
    pub settings: Settings,
    /// The idempotency key of the creation.
    pub key: Option<RequestKey>,
}

/// What to change of a session; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct SessionPatch {
    /// A new title; `Some(None)` takes it away.
    pub title: Option<Option<String>>,
    /// New labels.
    pub tags: Option<Vec<String>>,
    /// New settings.
    pub settings: Option<Settings>,
    /// A new persona; `Some(None)` takes it away.
    pub persona: Option<Option<Persona>>,
    /// `false` puts it aside, `true` brings it back.
    pub active: Option<bool>,
    /// Days from now until it expires.
    pub extend_days: Option<u32>,
    /// A new agent.
    pub agent: Option<AgentName>,
}

impl Engine {
    /// Creates a session with the agent's `always` items.
    pub async fn create_session(&self, caller: &Caller, new: NewSession) -> Result<Loaded> {
        authorize(caller, Action::Write)?;
        let agent = self.agents().get(new.agent.as_ref())?;
        let id = match new.id {
            Some(id) => id,
            None => SessionId::new(self.new_id().to_string())?,
        };
        let now = self.now();
        let mut head = SessionHead::new(id.clone(), now);
        head.agent = new.agent;
        head.title = checked_title(new.title, self.limits())?;
        head.tags = checked_tags(new.tags, self.limits())?;
        head.settings = new.settings;
        let preset = new.preset.or_else(|| agent.preset.clone());
        head.persona = match (new.persona, preset) {
            (Some(persona), _) => Some(persona),
            (None, Some(preset)) => Some(self.active_preset(caller, &preset).await?.persona()),
            (None, None) => None,
        };
        if let Some(persona) = &head.persona {
            persona.validate()?;
        }
        if let Some(key) = new.key {
            head.answered.push_back(AnsweredKey {
                key: key.key,
                body: key.body,
                turn: 0,
                version: 1,
            });
        }
        head.items = always_items(&agent, &self.tools_of(&agent).await?);
        head.touch(now);
        self.sessions.create(&caller.session_key(&id), head, Vec::new()).await
    }

    /// A session, also one that was put aside.
    pub async fn session(&self, caller: &Caller, id: &SessionId) -> Result<Loaded> {
        authorize(caller, Action::Read)?;
        self.sessions.load(&caller.session_key(id)).await
    }

    /// Changes a session, if it is still at `expected`.
    pub async fn change_session(
        &self,
        caller: &Caller,
        id: &SessionId,
        patch: SessionPatch,
        expected: Option<u64>,
    ) -> Result<Loaded> {
        authorize(caller, Action::Write)?;
        let title = match patch.title {
            Some(title) => Some(checked_title(title, self.limits())?),
            None => None,
        };
        let tags = patch.tags.map(|tags| checked_tags(tags, self.limits())).transpose()?;
        if let Some(Some(persona)) = &patch.persona {
            persona.validate()?;
        }
        if let Some(agent) = &patch.agent {
            self.agents().get(Some(agent))?;
        }
        let now = self.now();
        let expiry = match patch.extend_days {
            Some(days @ 1..=3_650) => Some(now + SignedDuration::from_hours(i64::from(days) * 24)),
            Some(days) => {
                return Err(Error::invalid("extend_days", format!("{days} is outside 1-3650")));
            }
            None => None,
        };
        let (loaded, ()) = self
            .sessions
            .update(&caller.session_key(id), |head, version| {
                check_version(id, expected, version.number)?;
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
                if let Some(agent) = &patch.agent {
                    head.agent = Some(agent.clone());
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
                Ok(Step::Commit(Box::new(None), ()))
            })
            .await?;
        Ok(loaded)
    }

    /// Puts a session aside: out of the caches and inactive, but restorable.
    pub async fn put_aside(&self, caller: &Caller, id: &SessionId) -> Result<Loaded> {
        let patch = SessionPatch { active: Some(false), ..SessionPatch::default() };
        let loaded = self.change_session(caller, id, patch, None).await?;
        self.sessions.forget(&loaded.key);
        self.forget_derived(&loaded.key);
        Ok(loaded)
    }

    /// A session in which a turn may be made: neither put aside nor expired.
    pub(crate) fn check_active(&self, head: &SessionHead) -> Result<()> {
        let state = if head.deleted_at.is_some() {
            "deleted"
        } else if head.is_expired(self.now()) {
            "expired"
        } else {
            return Ok(());
        };
        Err(Error::Inactive { session: head.id.clone(), state })
    }
}

/// The session id that a keyed request without one always means.
pub(crate) fn id_for_key(caller: &Caller, key: &RequestKey) -> Result<SessionId> {
    let name = format!("{}/{}/{}", caller.scope.tenant, caller.scope.user, key.key);
    let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes());
    Ok(SessionId::new(id.to_string())?)
}

/// The caller's version must be the current one, where it gave one.
pub(crate) fn check_version(id: &SessionId, expected: Option<u64>, current: u64) -> Result<()> {
    match expected {
        Some(given) if given != current => {
            Err(Error::VersionConflict { what: format!("session {id}"), given, current })
        }
        _ => Ok(()),
    }
}

/// Items that are in every session of the agent.
pub(crate) fn always_items(agent: &Agent, tools: &[KnownTool]) -> Vec<SessionItem> {
    let always = |item| SessionItem { item, mode: IncludeMode::Always };
    let rules = agent.rules.iter().filter(|rule| rule.include == IncludeMode::Always);
    let references = agent.references.iter().filter(|r| r.include == IncludeMode::Always);
    let tools = tools
        .iter()
        .map(|known| &known.definition.tool)
        .filter(|tool| agent.tool_mode(tool) == Some(IncludeMode::Always));
    rules
        .map(|rule| always(ItemName::Rule { name: rule.name.clone() }))
        .chain(references.map(|r| always(ItemName::Reference { name: r.name.clone() })))
        .chain(tools.map(|tool| always(ItemName::tool(tool))))
        .collect()
}

fn checked_title(title: Option<String>, limits: &Limits) -> Result<Option<String>> {
    match title {
        Some(title) if title.chars().count() > limits.title_characters_max => {
            Err(Error::OverLimit {
                what: "the title's length in characters".into(),
                size: title.chars().count() as u64,
                limit: "title_characters_max",
                allowed: limits.title_characters_max as u64,
            })
        }
        title => Ok(title),
    }
}

pub(crate) fn checked_tags(tags: Vec<String>, limits: &Limits) -> Result<Vec<String>> {
    if tags.len() > limits.tags_max {
        return Err(Error::OverLimit {
            what: "the number of tags".into(),
            size: tags.len() as u64,
            limit: "tags_max",
            allowed: limits.tags_max as u64,
        });
    }
    let mut unique = Vec::with_capacity(tags.len());
    for tag in tags {
        if tag.trim().is_empty() || tag.chars().count() > limits.title_characters_max {
            return Err(Error::invalid("tags", "a tag has 1-200 characters"));
        }
        if !unique.contains(&tag) {
            unique.push(tag);
        }
    }
    Ok(unique)
}
