//! `throughline item`: rules, references and tools of agents and sessions, and their use.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use throughline_engine::id::AgentName;

use super::api::{Api, Call, Named};
use super::local::{Identity, invalid};
use super::output::field;
use super::{Settings, output};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;

/// Characters of a description in a list.
const DESCRIPTION_CHARACTERS: usize = 60;

/// Arguments of `item`.
#[derive(Debug, Args)]
pub(super) struct ItemCommand {
    #[command(flatten)]
    who: Identity,
    /// Also start the demo inventory.
    #[arg(long, global = true)]
    demo: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the items that an agent offers, and the include mode of each.
    Available {
        /// The agent [default: the default agent].
        agent: Option<String>,
    },
    /// List the items of a session, including those that no longer exist.
    List {
        /// The session's id or a unique prefix.
        session: String,
    },
    /// Add an item to a session, whatever its include mode.
    Add {
        /// The session's id or a unique prefix.
        session: String,
        /// rule:NAME, reference:NAME or tool:SERVER:NAME
        item: String,
    },
    /// Remove an item from a session.
    Remove {
        /// The session's id or a unique prefix.
        session: String,
        /// rule:NAME, reference:NAME or tool:SERVER:NAME
        item: String,
    },
    /// Show how often items were sent and used, in a session or over all sessions of an agent.
    Usage(Usage),
}

#[derive(Debug, Args)]
struct Usage {
    /// The session's id or a unique prefix.
    #[arg(required_unless_present = "agent", conflicts_with = "agent")]
    session: Option<String>,
    /// All sessions of this agent instead.
    #[arg(long)]
    agent: Option<String>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// The file to write, which must not exist [default: standard output].
    #[arg(long, short)]
    output: Option<PathBuf>,
}

/// Format of the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For spreadsheets.
    Csv,
}

impl ItemCommand {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let then = match self.verb {
            Verb::Available { .. } => IfAbsent::Pretend,
            _ => IfAbsent::Refuse,
        };
        let act = async |api: &Api| act(api, self.verb, settings.json).await;
        Api::during(settings, &self.who, Demo::by(self.demo), then, act).await
    }
}

async fn act(api: &Api, verb: Verb, json: bool) -> Result<(), Failure> {
    match verb {
        Verb::Available { agent } => available(api, agent, json).await,
        Verb::List { session } => {
            let id = api.id(Named::Session, &session).await?;
            list(api, &id, json).await
        }
        Verb::Add { session, item } => change(api, &session, &item, Call::post, json).await,
        Verb::Remove { session, item } => change(api, &session, &item, Call::delete, json).await,
        Verb::Usage(usage) => usage.run(api, json).await,
    }
}

async fn change(
    api: &Api,
    session: &str,
    item: &str,
    method: fn(&[&str]) -> Call,
    json: bool,
) -> Result<(), Failure> {
    let item = item_body(item)?;
    let id = api.id(Named::Session, session).await?;
    api.json(method(&["conversations", &id, "context"]).body(item)).await?;
    list(api, &id, json).await
}

async fn available(api: &Api, agent: Option<String>, json: bool) -> Result<(), Failure> {
    let agent = agent_name(api, agent).await?;
    let answer = api.json(Call::get(&["agents", &agent, "items"])).await?;
    if json {
        return output::json(&answer);
    }
    let items = output::list(&answer, "items");
    if items.is_empty() {
        return output::line(format!("the agent {agent} has no items"));
    }
    let row = |item: &Value| {
        let about = item["refused"].as_str().or(item["description"].as_str()).unwrap_or_default();
        let about = output::brief(about, DESCRIPTION_CHARACTERS);
        [output::item(item), field(item, "include"), about]
    };
    output::table(["item", "mode", "about"], items.iter().map(row))
}

async fn list(api: &Api, session: &str, json: bool) -> Result<(), Failure> {
    let answer = api.json(Call::get(&["conversations", session, "context"])).await?;
    if json {
        return output::json(&answer);
    }
    let items = output::list(&answer, "items");
    if items.is_empty() {
        return output::line(format!("{session} has no items"));
    }
    let row = |item: &Value| {
        let state = if item["missing"] == true { "missing" } else { "" };
        [output::item(item), field(item, "includeMode"), state.to_owned()]
    };
    output::table(["item", "mode", ""], items.iter().map(row))
}

impl Usage {
    async fn run(self, api: &Api, json: bool) -> Result<(), Failure> {
        let format = if json { Format::Json } else { self.format };
        let (call, of_session) = match self.session {
            Some(session) => {
                let id = api.id(Named::Session, &session).await?;
                (Call::get(&["conversations", &id, "context", "usage"]), true)
            }
            None => {
                let agent = agent_name(api, self.agent).await?;
                (Call::get(&["agents", &agent, "usage"]), false)
            }
        };
        let text = match format {
            Format::Csv => {
                let bytes = api.bytes(call.with("format", "csv")).await?;
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Format::Json => output::json_text(&api.json(call).await?)?,
            Format::Table => table(&api.json(call).await?, of_session),
        };
        match self.output {
            Some(file) => output::new_file(&file, text.as_bytes()),
            None => output::line(text.trim_end()),
        }
    }
}

fn table(usage: &Value, of_session: bool) -> String {
    let unused = output::list(usage, "unused");
    let rows = output::list(usage, "items").iter().map(|item| {
        let last = match (of_session, unused.contains(item)) {
            (true, true) => "never used: remove it?".to_owned(),
            (true, false) => String::new(),
            (false, _) => field(item, "sessions"),
        };
        [output::item(item), field(item, "sent"), field(item, "used"), last]
    });
    output::table_text(["item", "sent", "used", if of_session { "" } else { "sessions" }], rows)
}

/// The named agent, or the default one.
async fn agent_name(api: &Api, name: Option<String>) -> Result<String, Failure> {
    if let Some(name) = name {
        return Ok(AgentName::new(name).map_err(invalid)?.to_string());
    }
    let agents = api.json(Call::get(&["agents"])).await?;
    let default = output::list(&agents, "agents").iter().find(|agent| agent["default"] == true);
    Ok(default.map(|agent| field(agent, "name")).unwrap_or_default())
}

fn item_body(text: &str) -> Result<Value, Failure> {
    let (kind, name) = text.split_once(':').unwrap_or(("", text));
    match (kind, name.split_once(':')) {
        ("rule" | "reference", _) if !name.is_empty() => Ok(json!({"type": kind, "name": name})),
        ("tool", Some((server, name))) if !server.is_empty() && !name.is_empty() => {
            Ok(json!({"type": kind, "serverName": server, "name": name}))
        }
        _ => Err(Failure::wrong_use(
            format!("{text:?} is not an item"),
            "write rule:NAME, reference:NAME or tool:SERVER:NAME",
        )),
    }
}
