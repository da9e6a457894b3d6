//! One conversation: messages, decisions, and the data of slash commands.

use axum::http::header;
use futures::StreamExt;
use serde_json::{Value, json};
use sse_stream::SseStream;
use throughline_engine::session::pending::AwaitedCall;
use throughline_engine::turn::{Approval, Remember};
use tokio_util::task::TaskTracker;

use super::screen::{Screen, ShownOn};
use crate::cli::api::{Api, Call};
use crate::cli::local::session_id;
use crate::cli::output::{self, field};
use crate::cli::receipt::{of_turn, readable};
use crate::failure::Failure;

pub(super) struct Talk {
    api: Api,
    session: Option<String>,
    agent: Option<String>,
    following_up: TaskTracker,
}

/// How a turn ended.
pub(super) enum Ended {
    /// It was committed or waits for approval; the REST response.
    Turn(Box<Value>),
    /// The user stopped it; the reply so far is kept.
    Stopped,
    /// The user stopped it a second time.
    Left,
}

impl Talk {
    /// Continues `session`, or starts a new one with `agent`.
    pub(super) async fn begin(
        api: Api,
        session: Option<String>,
        agent: Option<String>,
    ) -> Result<Self, Failure> {
        let checked = async {
            if let Some(agent) = &agent {
                known_agent(&api, agent).await?;
            }
            let Some(typed) = session else { return Ok(None) };
            let id = api.session_or_new(&typed).await?;
            if let Some(agent) = &agent {
                note_other_agent(&api, &id, agent).await;
            }
            Ok(Some(id))
        };
        match checked.await {
            Ok(session) => Ok(Self { api, session, agent, following_up: TaskTracker::new() }),
            Err(failure) => {
                api.close().await;
                Err(failure)
            }
        }
    }

    /// The session, once there is one.
    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Starts a new session with the next message.
    pub(super) fn begin_anew(&mut self) {
        self.session = None;
    }

    /// Finishes background work and stops the MCP servers.
    pub(super) async fn close(self) {
        self.following_up.close();
        self.following_up.wait().await;
        self.api.close().await;
    }

    /// Sends a message and streams the reply.
    pub(super) async fn say(&mut self, message: String, place: ShownOn) -> Result<Ended, Failure> {
        // Chosen here, so that it is known even if the stream ends early.
        let id = self.session.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let body = json!({"message": message, "conversation_id": id, "agent": self.agent});
        let ended = self.take(Call::post(&["chat", "stream"]).body(body), &id, place).await?;
        self.session = Some(id);
        self.follow_up(place).await;
        Ok(ended)
    }

    /// Decides a pending call.
    pub(super) async fn decide(
        &mut self,
        call: &str,
        approval: Approval,
        place: ShownOn,
    ) -> Result<Ended, Failure> {
        let Some(id) = self.session.clone() else {
            return Err(Failure::new("no tool call waits for approval", "say something first"));
        };
        let scope = approval.remember.map(|remember| match remember {
            Remember::Session => "session",
            Remember::User => "user",
        });
        let call = Call::post(&["conversations", &id, "approvals", call])
            .header(header::ACCEPT, "text/event-stream")
            .body(json!({"approve": approval.approve, "scope": scope}));
        let ended = self.take(call, &id, place).await?;
        self.follow_up(place).await;
        Ok(ended)
    }

    /// Runs a turn and shows it; closing its stream cancels it.
    async fn take(&self, call: Call, id: &str, place: ShownOn) -> Result<Ended, Failure> {
        let mut screen = Screen::new(place);
        let ended = tokio::select! {
            biased;
            ended = self.told(call, &mut screen) => Some(ended),
            _ = tokio::signal::ctrl_c() => None,
        };
        screen.still();
        let Some(ended) = ended else {
            screen.stopped();
            tracing::debug!(session.id = id, "a turn was cancelled");
            return tokio::select! {
                () = self.api.settle() => Ok(Ended::Stopped),
                _ = tokio::signal::ctrl_c() => Ok(Ended::Left),
            };
        };
        let reply = ended?;
        screen.finished(&reply)?;
        Ok(Ended::Turn(Box::new(reply)))
    }

    /// Shows the events of a turn until its end.
    async fn told(&self, call: Call, screen: &mut Screen) -> Result<Value, Failure> {
        let response = self.api.call(call).await?;
        let mut events = SseStream::new(response.into_body());
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| broken(&error.to_string()))?;
            let data: Value = event
                .data
                .as_deref()
                .map(serde_json::from_str)
                .transpose()
                .map_err(|error: serde_json::Error| broken(&error.to_string()))?
                .unwrap_or_default();
            match event.event.as_deref() {
                Some("done") => return Ok(data),
                Some("error") => {
                    let failure = Failure::new(field(&data, "detail"), field(&data, "hint"));
                    return Err(failure.coded(field(&data, "code")));
                }
                Some(name) => screen.event(name, &data),
                None => {}
            }
        }
        Err(broken("the stream ended before the turn"))
    }

    /// Runs the work after a turn. A program waits for it, so that the same input gives the same conversation;
    /// a person does not.
    async fn follow_up(&self, place: ShownOn) {
        let Some(work) = self.session.as_deref().and_then(|id| self.api.follow_up(id)) else {
            return;
        };
        match place {
            ShownOn::Terminal => drop(self.following_up.spawn(work)),
            ShownOn::Pipe | ShownOn::Nowhere => work.await,
        }
    }

    /// The session; `None` before its first message.
    async fn head(&self) -> Result<Option<Value>, Failure> {
        let Some(id) = &self.session else { return Ok(None) };
        match self.api.json(Call::get(&["conversations", id])).await {
            Err(failure) if failure.code == "no_session" => Ok(None),
            head => head.map(Some),
        }
    }

    /// Calls that wait for approval.
    pub(super) async fn waiting(&self) -> Result<Vec<AwaitedCall>, Failure> {
        match self.head().await? {
            Some(mut head) => output::read(head["awaiting_approval"].take()),
            None => Ok(Vec::new()),
        }
    }

    pub(super) async fn turn(&self, number: u64) -> Result<Value, Failure> {
        let id = self.session.as_deref().unwrap_or_default();
        self.api.json(Call::get(&["conversations", id, "turns", &number.to_string()])).await
    }

    /// The receipt of the last turn, for people.
    pub(super) async fn context(&self) -> Result<String, Failure> {
        let head = self.head().await?.unwrap_or_default();
        match (head["id"].as_str(), head["turns"].as_u64()) {
            (Some(id), Some(turns)) if turns > 0 => {
                Ok(readable::receipt(&output::read(of_turn(&self.api, id, turns).await?)?))
            }
            _ => Ok("this session has no turns yet".to_owned()),
        }
    }

    async fn things(&self) -> Result<Value, Failure> {
        match self.head().await? {
            Some(head) => {
                self.api.json(Call::get(&["conversations", &field(&head, "id"), "entities"])).await
            }
            None => Ok(Value::Null),
        }
    }

    /// The entities of the session, one per line.
    pub(super) async fn entities(&self) -> Result<Vec<String>, Failure> {
        let line = |thing: &Value| {
            let mark = if thing["active"] == true { "*" } else { " " };
            let known_as = match output::list(thing, "aliases") {
                [] => String::new(),
                _ => format!(", also {}", field(thing, "aliases")),
            };
            let relevance = thing["relevanceScore"].as_f64().unwrap_or_default();
            format!(
                "{mark} {} {} {relevance:.2}{known_as}",
                field(thing, "type"),
                field(thing, "name")
            )
        };
        Ok(output::list(&self.things().await?, "entities").iter().map(line).collect())
    }

    /// Names of the entities, for completion.
    pub(super) async fn names(&self) -> Vec<String> {
        let things = self.things().await.unwrap_or_default();
        output::list(&things, "entities").iter().map(|thing| field(thing, "name")).collect()
    }

    /// Earlier messages of this session, oldest first.
    pub(super) async fn asked_before(&self, limit: u64) -> Vec<String> {
        let Some(id) = &self.session else { return Vec::new() };
        let call = Call::get(&["conversations", id, "history"]).with("limit", limit);
        let page = self.api.json(call.with("order", "desc")).await.unwrap_or_default();
        output::list(&page, "turns").iter().rev().map(|turn| field(turn, "message")).collect()
    }

    /// The items of the agent, and whether each is in the session.
    pub(super) async fn items(&self) -> Result<Vec<(Value, bool)>, Failure> {
        let head = self.head().await?.unwrap_or_default();
        let agent = match head["agent"].as_str().or(self.agent.as_deref()) {
            Some(agent) => agent.to_owned(),
            None => {
                let agents = self.api.json(Call::get(&["agents"])).await?;
                let agents = output::list(&agents, "agents").iter();
                agents
                    .filter(|agent| agent["default"] == true)
                    .map(|agent| field(agent, "name"))
                    .collect()
            }
        };
        let mut items = self.api.json(Call::get(&["agents", &agent, "items"])).await?;
        let pinned: Vec<String> = output::list(&head, "items").iter().map(output::item).collect();
        let mark = |item: Value| {
            let present = pinned.contains(&output::item(&item));
            (item, present)
        };
        let items: Vec<Value> = output::read(items["items"].take())?;
        Ok(items.into_iter().map(mark).collect())
    }

    /// Adds an item to the session.
    pub(super) async fn pin(&mut self, name: &str) -> Result<String, Failure> {
        let items = self.items().await?;
        let called = |item: &Value| {
            let own = field(item, "name");
            let full = item["serverName"].as_str().map(|server| format!("{server}:{own}"));
            own == name || full.as_deref() == Some(name) || output::item(item) == name
        };
        let Some((item, _)) = items.iter().find(|(item, _)| called(item)) else {
            let what = format!("there is no item {name:?}");
            return Err(Failure::new(what, "/pin alone lists them"));
        };
        let body = json!({
            "type": item["type"], "name": item["name"], "serverName": item["serverName"],
        });
        let id = self.present_session().await?;
        self.api.json(Call::post(&["conversations", &id, "context"]).body(body)).await?;
        Ok(output::item(item))
    }

    /// The presets, one per line.
    pub(super) async fn presets(&self) -> Result<Vec<String>, Failure> {
        let list = self.api.json(Call::get(&["presets"]).with("pageSize", 100)).await?;
        let line =
            |preset: &Value| format!("{:<34} {}", field(preset, "id"), field(preset, "name"));
        Ok(output::list(&list, "presets").iter().map(line).collect())
    }

    /// Sets the persona of the session from a preset.
    pub(super) async fn persona(&mut self, preset: &str) -> Result<String, Failure> {
        // Built-in presets are also known by their short names.
        let short = format!("preset-{preset}");
        let found = match self.api.json(Call::get(&["presets", &short])).await {
            Ok(found) => found,
            Err(_) => self.api.json(Call::get(&["presets", preset])).await?,
        };
        let settings = &found["defaultSettings"];
        let persona = json!({
            "name": found["name"], "system_prompt": found["systemPrompt"],
            "personality": found["defaultPersonality"], "temperature": settings["temperature"],
            "reply_tokens_max": settings["maxTokens"],
            "history_tokens_max": settings["maxHistoryTokens"],
            "expiry_days": settings["expiryDays"], "preset": found["id"],
        });
        let id = self.present_session().await?;
        let call = Call::patch(&["conversations", &id]).body(json!({"persona": persona}));
        self.api.json(call).await?;
        Ok(field(&found, "name"))
    }

    /// The session, created if there is none.
    async fn present_session(&mut self) -> Result<String, Failure> {
        if let Some(head) = self.head().await? {
            return Ok(field(&head, "id"));
        }
        let body = json!({"id": self.session, "agent": self.agent});
        let created = self.api.json(Call::post(&["conversations"]).body(body)).await?;
        let id = session_id(&field(&created, "id"))?.to_string();
        self.session = Some(id.clone());
        Ok(id)
    }
}

async fn known_agent(api: &Api, name: &str) -> Result<(), Failure> {
    let agents = api.json(Call::get(&["agents"])).await?;
    let known: Vec<String> =
        output::list(&agents, "agents").iter().map(|agent| field(agent, "name")).collect();
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    let hint = format!("known: {}", known.join(", "));
    Err(Failure::new(format!("there is no agent {name}"), hint).coded("no_agent"))
}

/// Says so if the session exists and has another agent: `--agent` is for new ones.
async fn note_other_agent(api: &Api, id: &str, wanted: &str) {
    let Ok(head) = api.json(Call::get(&["conversations", id])).await else { return };
    match head["agent"].as_str() {
        Some(agent) if agent == wanted => {}
        Some(agent) => eprintln!("the session keeps its agent, {}", output::plain(agent)),
        None => eprintln!("the session keeps the default agent"),
    }
}

fn broken(reason: &str) -> Failure {
    let what = format!("the response was interrupted: {reason}");
    Failure::new(what, "the reply so far is kept; send the message again").coded("answer_broken")
}
