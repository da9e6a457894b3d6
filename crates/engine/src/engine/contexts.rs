//! Contexts: sessions with a persona.
//!
//! A context *is* a session with the same id. Specific to it are: creating one from a draft, a preset or a
//! template, changing its persona, and listing existing contexts if one is not found.
//!
//! Invariant: every persona change is checked with [`crate::persona::Persona::validate`] on the head it applies
//! to.

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::id::{AgentName, SessionId};
use crate::preset::{PersonaDraft, template};
use crate::session::LoadedSession;
use crate::session::apply::RequestKey;
use crate::session::sessions::Step;

use super::Engine;
use super::listing::SessionQuery;
use crate::creation::{NewSession, checked_tags};
use crate::preset::check_page;
use crate::turn::{answered, id_for_key};

/// Maximum sessions scanned to list or count contexts.
const LOOKED_THROUGH_MAX: usize = 10_000;
/// Maximum contexts listed if one is not found.
const NAMED_MAX: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StartingPoint {
    /// The draft alone.
    #[default]
    Blank,
    Preset(String),
    Template(String),
}

#[derive(Debug, Clone, Default)]
pub struct NewContext {
    /// Generated if absent.
    pub id: Option<SessionId>,
    pub from: StartingPoint,
    /// Overrides of it.
    pub draft: PersonaDraft,
    pub tags: Vec<String>,
    /// The default agent if absent.
    pub agent: Option<AgentName>,
    pub key: Option<RequestKey>,
}

/// Changes to a context; absent fields stay as they are.
#[derive(Debug, Clone, Default)]
pub struct ContextPatch {
    pub draft: PersonaDraft,
    pub tags: Option<Vec<String>>,
    /// `true` restores a deleted or expired context, `false` archives it.
    pub active: Option<bool>,
}

#[derive(Debug)]
pub struct ContextList {
    /// Most recently changed first.
    pub contexts: Vec<LoadedSession>,
    pub total: usize,
    /// Whether sessions beyond the scanned ones may contain more.
    pub more: bool,
}

impl Engine {
    /// Creates a context. Repeating a key with the same request returns the existing one.
    pub async fn create_context(&self, caller: &Caller, new: NewContext) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let mut tags = new.tags;
        let persona = match &new.from {
            StartingPoint::Blank => new.draft.build(self.limits())?,
            StartingPoint::Preset(id) => {
                new.draft.over(&self.presets.active(caller, id).await?.persona())?
            }
            StartingPoint::Template(id) => {
                let Some(template) = template::find(id) else {
                    let known = template::all().iter().map(|t| t.id.clone()).collect();
                    return Err(Error::Missing { kind: "template", name: id.clone(), known });
                };
                if tags.is_empty() {
                    tags.clone_from(&template.tags);
                }
                let preset = self.presets.active(caller, &template.preset).await?;
                new.draft.over(&template.draft().over(&preset.persona())?)?
            }
        };
        let id = match (&new.id, &new.key) {
            (Some(id), _) => Some(id.clone()),
            (None, Some(key)) => Some(id_for_key(caller, key)?),
            (None, None) => None,
        };
        if let (Some(id), Some(key)) = (&id, &new.key)
            && let Some(there) = self.sessions.find(&caller.session_key(id)).await?
        {
            return match answered(&there.head, Some(key))? {
                Some(_) => Ok(there),
                None => Err(Error::SessionExists(id.clone())),
            };
        }
        self.check_context_room(caller).await?;
        let title = Some(persona.name.clone());
        let session = NewSession {
            id,
            agent: new.agent,
            title,
            tags,
            persona: Some(persona),
            key: new.key,
            ..NewSession::default()
        };
        self.create_session(caller, session).await
    }

    /// A page of the caller's contexts; `page` counts from 1.
    pub async fn list_contexts(
        &self,
        caller: &Caller,
        page: usize,
        page_size: usize,
        with_expired: bool,
    ) -> Result<ContextList> {
        check_page(page, page_size)?;
        let (all, more) = self.all_contexts(caller, with_expired).await?;
        let total = all.len();
        let contexts = all.into_iter().skip((page - 1) * page_size).take(page_size).collect();
        Ok(ContextList { contexts, total, more })
    }

    /// A context, even an expired or deleted one. The error lists the existing ones.
    pub async fn context(&self, caller: &Caller, id: &str) -> Result<LoadedSession> {
        authorize(caller, Action::Read)?;
        let found = match SessionId::new(id) {
            Ok(id) => self.sessions.find(&caller.session_key(&id)).await?,
            Err(_) => None,
        };
        match found.filter(|loaded| loaded.head.persona.is_some()) {
            Some(loaded) => Ok(loaded),
            None => Err(self.no_context(caller, id).await?),
        }
    }

    /// Changes a context and restarts its expiry.
    pub async fn update_context(
        &self,
        caller: &Caller,
        id: &str,
        patch: ContextPatch,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let key = self.context(caller, id).await?.key;
        let tags = patch.tags.map(|tags| checked_tags(tags, self.limits())).transpose()?;
        let now = self.now();
        let mut ended = Vec::new();
        let (loaded, ()) = self
            .sessions
            .update(&key, |head, _| {
                ended = head.end_shares(now);
                if let Some(persona) = &head.persona {
                    let changed = patch.draft.clone().over(persona)?;
                    if changed.name != persona.name {
                        head.title = Some(changed.name.clone());
                    }
                    head.persona = Some(changed);
                }
                if let Some(tags) = &tags {
                    head.tags.clone_from(tags);
                }
                match patch.active {
                    Some(true) => head.deleted_at = None,
                    Some(false) => head.deleted_at = head.deleted_at.or(Some(now)),
                    None => {}
                }
                head.touch(now);
                ended.extend(head.end_shares(now));
                Ok(Step::Commit(None, ()))
            })
            .await?;
        self.erase_shares(&ended).await?;
        Ok(loaded)
    }

    /// Archives a context; it can be restored until it is purged.
    pub async fn delete_context(&self, caller: &Caller, id: &str) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let id = self.context(caller, id).await?.head.id.clone();
        self.put_aside(caller, &id).await
    }

    /// The caller's contexts, as `(id, name)`.
    pub async fn context_names(&self, caller: &Caller) -> Result<Vec<(String, String)>> {
        let (all, _) = self.all_contexts(caller, false).await?;
        Ok(all
            .iter()
            .filter_map(|loaded| {
                let persona = loaded.head.persona.as_ref()?;
                Some((loaded.head.id.to_string(), persona.name.clone()))
            })
            .collect())
    }

    async fn all_contexts(
        &self,
        caller: &Caller,
        with_inactive: bool,
    ) -> Result<(Vec<LoadedSession>, bool)> {
        let (mut contexts, mut looked, mut after) = (Vec::new(), 0, None);
        loop {
            let query = SessionQuery { limit: 500, after, tag: None, with_inactive };
            let list = self.list_sessions(caller, query).await?;
            looked += list.sessions.len();
            contexts.extend(list.sessions.into_iter().filter(|l| l.head.persona.is_some()));
            after = list.next;
            if after.is_none() || looked >= LOOKED_THROUGH_MAX {
                return Ok((contexts, after.is_some()));
            }
        }
    }

    async fn check_context_room(&self, caller: &Caller) -> Result<()> {
        let allowed = self.limits().contexts_max;
        let (contexts, _) = self.all_contexts(caller, false).await?;
        if contexts.len() < allowed {
            return Ok(());
        }
        Err(Error::OverLimit {
            what: "the number of contexts".into(),
            size: contexts.len() as u64 + 1,
            limit: "contexts_max",
            allowed: allowed as u64,
        })
    }

    async fn no_context(&self, caller: &Caller, id: &str) -> Result<Error> {
        let names = self.context_names(caller).await?;
        let known = names.iter().take(NAMED_MAX).map(|(id, name)| format!("{id} ({name})"));
        let name: String = id.chars().take(128).collect();
        Ok(Error::Missing { kind: "context", name, known: known.collect() })
    }
}
