//! `throughline item`: rules, references and tools: what an agent offers, what is in a session, what is
//! used.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use throughline_engine::engine::{AgentItem, SessionItemView};
use throughline_engine::id::AgentName;
use throughline_engine::item::ItemName;
use throughline_engine::piece::IncludeMode;
use throughline_engine::session::usage::ItemUsage;

use super::local::{Local, Who, invalid, session_id};
use super::{Settings, output};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;
use crate::http::agents::usage::{AgentUsageView, SessionUsageView, agent_csv, session_csv};

/// Characters of a description in a list.
const DESCRIPTION_CHARACTERS: usize = 60;

/// Flags of `item`.
#[derive(Debug, Args)]
pub struct ItemCommand {
    #[command(flatten)]
    who: Who,
    /// Also start the demo inventory.
    #[arg(long, global = true)]
    demo: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// What an agent offers, and how each item gets into a conversation.
    Available {
        /// The agent; the default one when absent.
        agent: Option<String>,
    },
    /// The items of a session, and which of them no longer exist.
    List {
        /// The session.
        session: String,
    },
    /// Put an item into a session, whatever its mode.
    Add {
        /// The session.
        session: String,
        /// rule:NAME, reference:NAME or tool:SERVER:NAME
        item: String,
    },
    /// Take an item out of a session.
    Remove {
        /// The session.
        session: String,
        /// rule:NAME, reference:NAME or tool:SERVER:NAME
        item: String,
    },
    /// How often items were sent and used: in a session, or over all sessions with an agent.
    Usage(Usage),
}

#[derive(Debug, Args)]
struct Usage {
    /// The session.
    #[arg(required_unless_present = "agent", conflicts_with = "agent")]
    session: Option<String>,
    /// All sessions with this agent instead.
    #[arg(long)]
    agent: Option<String>,
    /// The form.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// The file to write, which must not exist; standard output when absent.
    #[arg(long, short)]
    output: Option<PathBuf>,
}

/// A form of the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For a spreadsheet.
    Csv,
}

impl ItemCommand {
    /// Does it.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let then = match self.verb {
            Verb::Available { .. } => IfAbsent::Pretend,
            _ => IfAbsent::Refuse,
        };
        let act = async |local: &Local| act(local, self.verb, self.who.json).await;
        Local::during(settings, &self.who, Demo::by(self.demo), then, act).await
    }
}

async fn act(local: &Local, verb: Verb, json: bool) -> Result<(), Failure> {
    match verb {
        Verb::Available { agent } => available(local, agent, json).await,
        Verb::List { session } => list(local, &session, json).await,
        Verb::Add { session, item } => {
            let item = item_name(&item)?;
            local.engine.add_item(&local.caller, &session_id(&session)?, item, None).await?;
            list(local, &session, json).await
        }
        Verb::Remove { session, item } => {
            let item = item_name(&item)?;
            local.engine.remove_item(&local.caller, &session_id(&session)?, &item, None).await?;
            list(local, &session, json).await
        }
        Verb::Usage(usage) => usage.run(local, json).await,
    }
}

async fn available(local: &Local, agent: Option<String>, json: bool) -> Result<(), Failure> {
    let agent = agent_name(local, agent)?;
    let items = local.engine.agent_items(&local.caller, &agent).await?;
    if json {
        return output::json(&json!({"items": items}));
    }
    if items.is_empty() {
        return output::line(format!("the agent {agent} has no items"));
    }
    let row = |item: &AgentItem| {
        let about = item.refused.as_deref().unwrap_or(&item.description);
        [
            item.item.to_string(),
            mode(item.include).to_owned(),
            output::brief(about, DESCRIPTION_CHARACTERS),
        ]
    };
    output::table(["item", "mode", "about"], items.iter().map(row))
}

async fn list(local: &Local, session: &str, json: bool) -> Result<(), Failure> {
    let (loaded, items) = local.engine.session_items(&local.caller, &session_id(session)?).await?;
    if json {
        return output::json(&json!({"version": loaded.version.number, "items": items}));
    }
    if items.is_empty() {
        return output::line(format!("{session} has no items"));
    }
    let row = |view: &SessionItemView| {
        let state = if view.missing { "missing" } else { "" };
        [view.item.item.to_string(), mode(view.item.mode).to_owned(), state.to_owned()]
    };
    output::table(["item", "mode", ""], items.iter().map(row))
}

fn mode(mode: IncludeMode) -> &'static str {
    match mode {
        IncludeMode::Always => "always",
        IncludeMode::Manual => "manual",
        IncludeMode::Agent => "agent",
    }
}

impl Usage {
    async fn run(self, local: &Local, json: bool) -> Result<(), Failure> {
        let format = if json { Format::Json } else { self.format };
        let text = match self.session {
            Some(session) => of_session(local, &session, format).await?,
            None => of_agent(local, self.agent, format).await?,
        };
        match self.output {
            Some(file) => output::new_file(&file, text.as_bytes()),
            None => output::line(text.trim_end()),
        }
    }
}

async fn of_session(local: &Local, session: &str, format: Format) -> Result<String, Failure> {
    let usage = local.engine.session_usage(&local.caller, &session_id(session)?).await?;
    Ok(match format {
        Format::Json => output::json_text(&SessionUsageView::from(&usage))?,
        Format::Csv => session_csv(&usage),
        Format::Table => {
            let rows = usage.items.iter().map(|item| {
                let advice =
                    if usage.unused.contains(item) { "never used: remove it?" } else { "" };
                let [name, sent, used] = counts(item);
                [name, sent, used, advice.to_owned()]
            });
            output::table_text(["item", "sent", "used", ""], rows)
        }
    })
}

async fn of_agent(local: &Local, agent: Option<String>, format: Format) -> Result<String, Failure> {
    let agent = agent_name(local, agent)?;
    let usage = local.engine.agent_usage(&local.caller, &agent).await?;
    Ok(match format {
        Format::Json => output::json_text(&AgentUsageView::from(&usage))?,
        Format::Csv => agent_csv(&usage),
        Format::Table => {
            let rows = usage.items.iter().map(|total| {
                let [name, sent, used] = counts(&total.usage);
                [name, sent, used, total.sessions.to_string()]
            });
            output::table_text(["item", "sent", "used", "sessions"], rows)
        }
    })
}

fn counts(usage: &ItemUsage) -> [String; 3] {
    [usage.item.to_string(), usage.sent.to_string(), usage.used.to_string()]
}

fn agent_name(local: &Local, name: Option<String>) -> Result<AgentName, Failure> {
    match name {
        Some(name) => AgentName::new(name).map_err(invalid),
        None => Ok(local.engine.agents().default_name().clone()),
    }
}

fn item_name(text: &str) -> Result<ItemName, Failure> {
    let (kind, name) = text.split_once(':').unwrap_or(("", text));
    match (kind, name.split_once(':')) {
        ("rule", _) if !name.is_empty() => Ok(ItemName::Rule { name: name.into() }),
        ("reference", _) if !name.is_empty() => Ok(ItemName::Reference { name: name.into() }),
        ("tool", Some((server, name))) if !server.is_empty() && !name.is_empty() => {
            Ok(ItemName::Tool { server: server.into(), name: name.into() })
        }
        _ => Err(Failure::wrong_use(
            format!("{text:?} names no item"),
            "write rule:NAME, reference:NAME or tool:SERVER:NAME",
        )),
    }
}
