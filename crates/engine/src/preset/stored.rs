//! A caller's presets: the built-in ones with the caller's changes, and the caller's own.
//!
//! A changed or deactivated built-in preset is a thread under the built-in's id; restoring it removes the thread.
//! A caller's own preset is a thread; deleting it erases it.
//!
//! Invariant: no caller sees another caller's changes.

use std::sync::Arc;

use serde::Serialize;
use uuid::Uuid;

use crate::access::{Action, Caller, authorize};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::id::ThreadId;
use crate::life::{encode_with_life, life_of};
use crate::session::apply::RequestKey;
use crate::session::unreadable::if_readable;
use crate::store::{Change, Expected, Found, Key, Kind, Page, Store, StoreError, Version};
use crate::tombstone;

use super::{Preset, PresetDraft, PresetSettings, Review, built_in, review};

/// Maximum presets of a caller, without the built-in ones.
pub(super) const PRESETS_MAX: usize = 1_000;
/// Maximum attempts against concurrent writers.
const ATTEMPTS_MAX: usize = 20;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PresetList {
    /// Built-in ones first.
    pub presets: Vec<Preset>,
    pub total: usize,
}

/// The result of deleting a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresetGone {
    /// A built-in preset is no longer offered; it can be restored.
    Deactivated,
    /// The caller's own preset is erased.
    Erased,
}

/// Which thread a preset was read from.
#[derive(Debug, Clone, Copy)]
struct Incarnation {
    version: Version,
    life: Option<Uuid>,
}

pub struct Presets {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl Presets {
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// A page of the caller's presets; `page` counts from 1.
    pub async fn list(
        &self,
        caller: &Caller,
        page: usize,
        page_size: usize,
        with_inactive: bool,
    ) -> Result<PresetList> {
        check_page(page, page_size)?;
        let mut all = self.all(caller).await?;
        all.retain(|preset| with_inactive || preset.active);
        let total = all.len();
        let presets = all.into_iter().skip((page - 1) * page_size).take(page_size).collect();
        Ok(PresetList { presets, total })
    }

    /// A preset, even one that is no longer offered.
    pub async fn get(&self, caller: &Caller, id: &str) -> Result<Preset> {
        authorize(caller, Action::Read)?;
        match self.stored(caller, id).await? {
            Some((_, preset)) => Ok(preset),
            None => match built_in::find(id) {
                Some(preset) => Ok(preset.clone()),
                None => Err(self.missing(caller, id).await?),
            },
        }
    }

    /// A preset that must be offered.
    pub(crate) async fn active(&self, caller: &Caller, id: &str) -> Result<Preset> {
        let preset = self.get(caller, id).await?;
        if preset.active {
            return Ok(preset);
        }
        Err(Error::invalid("presetId", format!("{id} is deactivated; restore it first")))
    }

    /// Creates a preset. Repeating a key with the same draft returns the existing preset.
    pub async fn create(
        &self,
        caller: &Caller,
        id: Option<&str>,
        draft: PresetDraft,
        key: Option<&RequestKey>,
    ) -> Result<(Preset, Review)> {
        authorize(caller, Action::Write)?;
        let needed = |field: &str| Error::invalid(field, "it is required to create a preset");
        let name = draft.name.clone().ok_or_else(|| needed("name"))?;
        if draft.system_prompt.is_none() {
            return Err(needed("systemPrompt"));
        }
        let id = match (id, key) {
            (Some(id), _) => id.to_owned(),
            (None, Some(key)) => format!("preset-{}", &key.key.as_str()[..32]),
            (None, None) => self.free_id(caller, &name).await?,
        };
        let now = self.clock.now();
        let made = draft.over(Preset {
            id: id.clone(),
            name,
            description: String::new(),
            system_prompt: String::new(),
            personality: String::new(),
            settings: PresetSettings::default(),
            created_at: now,
            updated_at: now,
            active: true,
            experimental: false,
            metadata: serde_json::Map::new(),
        })?;
        let review = review::review(&made.system_prompt, &made.personality);
        if let Some((_, there)) = self.stored(caller, &id).await? {
            let same = Preset { created_at: now, updated_at: now, ..there.clone() } == made;
            return match key {
                Some(_) if same => Ok((there, review)),
                Some(key) => Err(Error::KeyReused { key: key.shown.clone() }),
                None => Err(taken(&id)),
            };
        }
        if built_in::find(&id).is_some() {
            return Err(taken(&id));
        }
        self.check_room(caller).await?;
        self.write(caller, &made, None).await?;
        Ok((made, review))
    }

    pub async fn update(
        &self,
        caller: &Caller,
        id: &str,
        draft: PresetDraft,
    ) -> Result<(Preset, Review)> {
        authorize(caller, Action::Write)?;
        for _ in 0..ATTEMPTS_MAX {
            let (before, base) = match self.stored(caller, id).await? {
                Some((before, preset)) => (Some(before), preset),
                None => (None, self.get(caller, id).await?),
            };
            let preset = Preset { updated_at: self.clock.now(), ..draft.clone().over(base)? };
            match self.write(caller, &preset, before).await {
                Ok(()) => {
                    let review = review::review(&preset.system_prompt, &preset.personality);
                    return Ok((preset, review));
                }
                Err(Error::Store(StoreError::Conflict { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::UnderWay { key: id.into() })
    }

    /// Deletes a caller's own preset, or stops offering a built-in one.
    pub async fn delete(&self, caller: &Caller, id: &str) -> Result<PresetGone> {
        authorize(caller, Action::Write)?;
        if built_in::find(id).is_some() {
            let draft = PresetDraft { active: Some(false), ..PresetDraft::default() };
            self.update(caller, id, draft).await?;
            return Ok(PresetGone::Deactivated);
        }
        if self.stored(caller, id).await?.is_none() {
            return Err(self.missing(caller, id).await?);
        }
        let key = preset_key(caller, id)?;
        tombstone::write(self.store.as_ref(), self.clock.as_ref(), &key, self.clock.now()).await?;
        self.store.erase(&key).await?;
        Ok(PresetGone::Erased)
    }

    /// Restores a built-in preset.
    pub async fn restore(&self, caller: &Caller, id: &str) -> Result<Preset> {
        authorize(caller, Action::Write)?;
        let Some(preset) = built_in::find(id) else {
            let known = built_in::all().iter().map(|preset| preset.id.clone()).collect();
            return Err(Error::Missing { kind: "built-in preset", name: id.into(), known });
        };
        self.store.erase(&preset_key(caller, id)?).await?;
        Ok(preset.clone())
    }

    /// The presets that the caller made or changed, by name.
    pub async fn own(&self, caller: &Caller) -> Result<Vec<Preset>> {
        authorize(caller, Action::Read)?;
        let page = Page { limit: PRESETS_MAX + built_in::all().len(), after: None };
        let mut own = Vec::new();
        for listed in self.store.list(&caller.scope, Kind::Preset, page).await? {
            own.extend(if_readable(self.read(&listed.key).await)?.map(|(_, preset)| preset));
        }
        own.sort_by(|a: &Preset, b| a.name.cmp(&b.name).then_with(|| a.id.cmp(&b.id)));
        Ok(own)
    }

    /// Every preset of the caller, built-in ones first, then by name.
    pub(crate) async fn all(&self, caller: &Caller) -> Result<Vec<Preset>> {
        let mut own = self.own(caller).await?;
        let mut all: Vec<Preset> = built_in::all()
            .iter()
            .map(|preset| {
                let changed = own.iter().find(|other| other.id == preset.id);
                changed.unwrap_or(preset).clone()
            })
            .collect();
        own.retain(|preset| !preset.is_built_in());
        all.extend(own);
        Ok(all)
    }

    async fn stored(&self, caller: &Caller, id: &str) -> Result<Option<(Incarnation, Preset)>> {
        self.read(&preset_key(caller, id)?).await
    }

    async fn read(&self, key: &Key) -> Result<Option<(Incarnation, Preset)>> {
        let Found::Head(head) = self.store.head(key, None).await? else { return Ok(None) };
        let preset = serde_json::from_slice(&head.bytes).map_err(|error| Error::Unreadable {
            what: key.to_string(),
            reason: error.to_string(),
        })?;
        let life = life_of(key, &head.bytes);
        Ok(Some((Incarnation { version: head.version, life }, preset)))
    }

    async fn write(
        &self,
        caller: &Caller,
        preset: &Preset,
        before: Option<Incarnation>,
    ) -> Result<()> {
        let key = preset_key(caller, &preset.id)?;
        let life = before.and_then(|before| before.life).unwrap_or_else(|| self.clock.id());
        let head = encode_with_life(preset, life).map_err(|error| Error::Unreadable {
            what: key.to_string(),
            reason: error.to_string(),
        })?;
        let change = Change::of_head(head, self.clock.now(), self.clock.id());
        let expected = before.map_or(Expected::Absent, |before| Expected::At(before.version));
        self.store.commit(&key, expected, change).await?;
        Ok(())
    }

    async fn check_room(&self, caller: &Caller) -> Result<()> {
        let own = self.all(caller).await?.iter().filter(|p| !p.is_built_in()).count();
        if own < PRESETS_MAX {
            return Ok(());
        }
        Err(Error::OverLimit {
            what: "the number of presets".into(),
            size: own as u64 + 1,
            limit: "presets_max",
            allowed: PRESETS_MAX as u64,
        })
    }

    /// An id derived from the name, or a random one if that is taken.
    async fn free_id(&self, caller: &Caller, name: &str) -> Result<String> {
        let words: Vec<String> = name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let id: String = format!("preset-{}", words.join("-")).chars().take(100).collect();
        let taken = words.is_empty()
            || built_in::find(&id).is_some()
            || self.stored(caller, &id).await?.is_some();
        Ok(if taken { format!("preset-{}", self.clock.id()) } else { id })
    }

    async fn missing(&self, caller: &Caller, id: &str) -> Result<Error> {
        let known = self.all(caller).await?.into_iter().map(|preset| preset.id).collect();
        Ok(Error::Missing { kind: "preset", name: id.into(), known })
    }
}

/// Checks that pages count from 1 and have 1–100 entries.
pub(crate) fn check_page(page: usize, page_size: usize) -> Result<()> {
    if !(1..=1_000_000).contains(&page) {
        return Err(Error::invalid("page", format!("{page} is outside 1-1000000")));
    }
    if !(1..=100).contains(&page_size) {
        return Err(Error::invalid("pageSize", format!("{page_size} is outside 1-100")));
    }
    Ok(())
}

fn preset_key(caller: &Caller, id: &str) -> Result<Key> {
    Ok(caller.key(Kind::Preset, ThreadId::new(id)?))
}

fn taken(id: &str) -> Error {
    Error::invalid("presetId", format!("{id} is already the id of another preset"))
}
