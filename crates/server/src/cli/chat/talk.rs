//! One conversation with the engine: messages, decisions, and what the commands ask for.

use throughline_engine::creation::NewSession;
use throughline_engine::engine::{AgentItem, SessionPatch};
use throughline_engine::error::{Error, Result as EngineResult};
use throughline_engine::events::Events;
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::item::ItemName;
use throughline_engine::request::TurnInput;
use throughline_engine::session::LoadedSession;
use throughline_engine::session::pending::AwaitedCall;
use throughline_engine::turn::{Approval, TurnOutcome, TurnRequest};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::screen::{Place, Screen};
use crate::cli::local::Local;
use crate::cli::receipt::readable;
use crate::failure::Failure;

/// A conversation.
pub struct Talk {
    local: Local,
    session: Option<SessionId>,
    agent: Option<AgentName>,
    tending: TaskTracker,
}

/// How a turn ended, for the one who types.
pub enum Ended {
    /// It is in the log, or failed with what was shown.
    Turn(Box<TurnOutcome>),
    /// The person asked a second time to stop.
    Left,
}

/// What is to be done.
enum Step {
    Say(String),
    Decide(String, Approval),
}

impl Talk {
    /// A conversation in `session`, or in a new one.
    pub fn new(local: Local, session: Option<SessionId>, agent: Option<AgentName>) -> Self {
        Self { local, session, agent, tending: TaskTracker::new() }
    }

    /// The session, once there is one.
    pub fn session(&self) -> Option<&SessionId> {
        self.session.as_ref()
    }

    /// The next message begins another conversation.
    pub fn begin_anew(&mut self) {
        self.session = None;
    }

    /// Finishes what is under way in the background, and ends the MCP servers.
    pub async fn close(self) {
        self.tending.close();
        self.tending.wait().await;
        self.local.close().await;
    }

    /// Says something and shows the answer as it comes.
    pub async fn say(&mut self, message: String, place: Place) -> Result<Ended, Failure> {
        self.take(Step::Say(message), place).await
    }

    /// Decides a call that waits.
    pub async fn decide(
        &mut self,
        call: String,
        approval: Approval,
        place: Place,
    ) -> Result<Ended, Failure> {
        self.take(Step::Decide(call, approval), place).await
    }

    async fn take(&mut self, step: Step, place: Place) -> Result<Ended, Failure> {
        let (sender, mut events) = unbounded_channel();
        let cancel = CancellationToken::new();
        let work = self.work(step, Events::to(sender), cancel.clone());
        let mut work = tokio::spawn(work);
        let mut screen = Screen::new(place);
        let mut asked_to_stop = false;
        let outcome = loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => screen.event(&event),
                outcome = &mut work => break outcome,
                _ = tokio::signal::ctrl_c() => {
                    if asked_to_stop {
                        return Ok(Ended::Left);
                    }
                    asked_to_stop = true;
                    cancel.cancel();
                }
            }
        };
        // What was told just before the end is shown before the end is.
        while let Ok(event) = events.try_recv() {
            screen.event(&event);
        }
        let ended = outcome.map_err(|error| Failure::new(error.to_string(), "try again"))?;
        screen.still();
        let outcome = ended?;
        match &outcome {
            TurnOutcome::Finished { session, record, .. } => {
                self.session = Some(session.head.id.clone());
                screen.finished(record);
            }
            TurnOutcome::Paused { session, pending } => {
                self.session = Some(session.head.id.clone());
                let calls: Vec<AwaitedCall> = pending.undecided().cloned().collect();
                screen.waiting(&calls);
            }
        }
        self.follow_up(place).await;
        Ok(Ended::Turn(Box::new(outcome)))
    }

    fn work(
        &self,
        step: Step,
        events: Events,
        cancel: CancellationToken,
    ) -> impl Future<Output = EngineResult<TurnOutcome>> + Send + 'static {
        let (engine, caller) = (self.local.engine.clone(), self.local.caller.clone());
        let (session, agent) = (self.session.clone(), self.agent.clone());
        async move {
            match (step, session) {
                (Step::Decide(call, approval), Some(id)) => {
                    engine.decide(&caller, (&id, &call), approval, events, cancel).await
                }
                (Step::Decide(message, _) | Step::Say(message), session) => {
                    let input = TurnInput { message, ..TurnInput::default() };
                    let request = TurnRequest { session, agent, input, ..TurnRequest::default() };
                    engine.converse(&caller, request, events, cancel).await
                }
            }
        }
    }

    /// What follows a turn: entities resolved, the index brought up. A program's next line waits for it,
    /// so that the same lines give the same conversation; a person's does not.
    async fn follow_up(&self, place: Place) {
        let Some(id) = &self.session else { return };
        let (engine, key) = (self.local.engine.clone(), self.local.caller.session_key(id));
        let work = async move {
            if let Err(error) = engine.background().work_on(&key).await {
                tracing::debug!(%error, "the session is tended later");
            }
        };
        match place {
            Place::Terminal => drop(self.tending.spawn(work)),
            Place::Pipe | Place::Nowhere => work.await,
        }
    }

    /// The session as it is stored; none before the first message to a new one.
    async fn loaded(&self) -> Result<Option<LoadedSession>, Failure> {
        let Some(id) = &self.session else { return Ok(None) };
        match self.local.engine.session(&self.local.caller, id).await {
            Err(Error::NoSession(_)) => Ok(None),
            loaded => Ok(Some(loaded?)),
        }
    }

    /// Calls that wait for a decision.
    pub async fn waiting(&self) -> Result<Vec<AwaitedCall>, Failure> {
        let Some(loaded) = self.loaded().await? else { return Ok(Vec::new()) };
        let pending = loaded.head.pending.as_ref();
        let pending = pending.filter(|pending| pending.expires_at > self.local.engine.now());
        Ok(pending.map(|pending| pending.undecided().cloned().collect()).unwrap_or_default())
    }

    /// The receipt of the last turn, for people.
    pub async fn context(&self) -> Result<String, Failure> {
        let nothing = "nothing was said yet".to_owned();
        let Some(loaded) = self.loaded().await?.filter(|loaded| loaded.head.turns > 0) else {
            return Ok(nothing);
        };
        let (id, turns) = (&loaded.head.id, loaded.head.turns);
        let receipt = self.local.engine.receipt(&self.local.caller, id, turns).await?;
        let (_, record) = self.local.engine.turn(&self.local.caller, id, turns).await?;
        Ok(readable::receipt(&receipt, &record.calls))
    }

    /// The things it is about, a line each.
    pub async fn entities(&self) -> Result<Vec<String>, Failure> {
        let Some(loaded) = self.loaded().await? else { return Ok(Vec::new()) };
        let list = self.local.engine.entities(&self.local.caller, &loaded.head.id).await?;
        let line = |view: &throughline_engine::engine::EntityView| {
            let mark = if view.active { "*" } else { " " };
            let thing = &view.entity;
            let known_as = match thing.aliases.is_empty() {
                true => String::new(),
                false => format!(", also {}", thing.aliases.join(", ")),
            };
            format!("{mark} {} {:.2}{known_as}", thing.entity, view.relevance)
        };
        Ok(list.entities.iter().map(line).collect())
    }

    /// Names of the known things, for completion.
    pub async fn names(&self) -> Vec<String> {
        let Some(id) = &self.session else { return Vec::new() };
        let found = self.local.engine.entities(&self.local.caller, id).await;
        found.map_or_else(
            |_| Vec::new(),
            |list| list.entities.into_iter().map(|view| view.entity.entity.name).collect(),
        )
    }

    /// What was asked before in this session, oldest first.
    pub async fn asked_before(&self, limit: u64) -> Vec<String> {
        use throughline_engine::engine::{HistoryQuery, Order};
        let Some(id) = &self.session else { return Vec::new() };
        let query = HistoryQuery { limit, order: Order::Descending, from: None };
        let found = self.local.engine.history(&self.local.caller, id, query).await;
        found.map_or_else(
            |_| Vec::new(),
            |page| page.turns.iter().rev().map(|turn| turn.message.clone()).collect(),
        )
    }

    /// The items of the agent, and which of them are in the session.
    pub async fn items(&self) -> Result<Vec<(AgentItem, bool)>, Failure> {
        let agent = self.local.engine.agents().get(self.agent.as_ref())?;
        let items = self.local.engine.agent_items(&self.local.caller, &agent.name).await?;
        let pinned = match self.loaded().await? {
            Some(loaded) => loaded.head.items.clone(),
            None => Vec::new(),
        };
        let mark = |item: AgentItem| {
            let pinned = pinned.iter().any(|present| present.item == item.item);
            (item, pinned)
        };
        Ok(items.into_iter().map(mark).collect())
    }

    /// Adds the item of that name to the session.
    pub async fn pin(&mut self, name: &str) -> Result<ItemName, Failure> {
        let items = self.items().await?;
        let called = |item: &ItemName| match item {
            ItemName::Rule { name: own } | ItemName::Reference { name: own } => own == name,
            ItemName::Tool { server, name: own } => {
                own == name || format!("{server}:{own}") == name
            }
        };
        let found = items
            .iter()
            .map(|(item, _)| &item.item)
            .find(|item| item.to_string() == name || called(item));
        let Some(item) = found.cloned() else {
            let what = format!("there is no item {name:?}");
            return Err(Failure::new(what, "/pin alone lists them"));
        };
        let id = self.present_session().await?;
        self.local.engine.add_item(&self.local.caller, &id, item.clone(), None).await?;
        Ok(item)
    }

    /// The presets, a line each.
    pub async fn presets(&self) -> Result<Vec<String>, Failure> {
        let list = self.local.engine.presets().list(&self.local.caller, 1, 100, false).await?;
        Ok(list.presets.iter().map(|preset| format!("{:<34} {}", preset.id, preset.name)).collect())
    }

    /// The session carries itself like that preset from now on.
    pub async fn persona(&mut self, preset: &str) -> Result<String, Failure> {
        // The built-in ones are known by their short names, too.
        let short = format!("preset-{preset}");
        let found = match self.local.engine.presets().get(&self.local.caller, &short).await {
            Ok(found) => found,
            Err(_) => self.local.engine.presets().get(&self.local.caller, preset).await?,
        };
        let persona = found.persona();
        let name = persona.name.clone();
        let id = self.present_session().await?;
        let patch = SessionPatch { persona: Some(Some(persona)), ..SessionPatch::default() };
        self.local.engine.change_session(&self.local.caller, &id, patch, None).await?;
        Ok(name)
    }

    /// The session, created where there is none yet.
    async fn present_session(&mut self) -> Result<SessionId, Failure> {
        if let Some(loaded) = self.loaded().await? {
            return Ok(loaded.head.id.clone());
        }
        let new = NewSession {
            id: self.session.clone(),
            agent: self.agent.clone(),
            ..NewSession::default()
        };
        let created = self.local.engine.create_session(&self.local.caller, new).await?;
        self.session = Some(created.head.id.clone());
        Ok(created.head.id.clone())
    }
}
