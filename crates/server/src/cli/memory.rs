//! `throughline memory`: memories of a user.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::api::{Api, Call, Named};
use super::local::Identity;
use super::output::field;
use super::session::read;
use super::{Settings, output};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;
use crate::memory_view::MemoryKind;

/// Arguments of `memory`.
#[derive(Debug, Args)]
pub(super) struct MemoryCommand {
    #[command(flatten)]
    who: Identity,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List memories, most recently changed first.
    List {
        /// Only memories of this kind.
        #[arg(long)]
        kind: Option<MemoryKind>,
        /// Only memories about this subject.
        #[arg(long)]
        subject: Option<String>,
        /// Only memories extracted from this session, given by its id or a unique prefix.
        #[arg(long)]
        session: Option<String>,
        /// Include superseded memories.
        #[arg(long)]
        superseded: bool,
    },
    /// Remember a statement.
    Add {
        /// The statement.
        #[arg(required = true)]
        text: Vec<String>,
        /// The subject; a newer statement about the same subject supersedes the older one.
        #[arg(long)]
        subject: Option<String>,
        /// The kind of statement; otherwise its form decides.
        #[arg(long)]
        kind: Option<MemoryKind>,
    },
    /// Find memories by words or by meaning.
    Search {
        /// The words to search for.
        #[arg(required = true)]
        query: Vec<String>,
        /// The maximum number of results, 1-100.
        #[arg(long, default_value_t = 10)]
        limit: usize,
    },
    /// Show a memory in full.
    Show {
        /// The memory's id or a unique prefix.
        id: String,
    },
    /// Correct a memory; the earlier version stays in its history.
    Change {
        /// The memory's id or a unique prefix.
        id: String,
        /// The new text.
        #[arg(long)]
        text: Option<String>,
        /// The new subject; an empty string removes it.
        #[arg(long)]
        subject: Option<String>,
        /// The new kind.
        #[arg(long)]
        kind: Option<MemoryKind>,
    },
    /// Erase a memory, or all of them with --all --yes.
    Forget {
        /// The memory's id or a unique prefix.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// Forget all memories of the user.
        #[arg(long, requires = "yes")]
        all: bool,
        /// Confirm that everything is to be erased.
        #[arg(long, short)]
        yes: bool,
        /// Also erase the turns in which it was said. Otherwise they stay in the session, but no request uses them.
        #[arg(long)]
        erase_turns: bool,
    },
    /// Show earlier versions of a memory, oldest first.
    History {
        /// The memory's id or a unique prefix.
        id: String,
    },
    /// Write all memories to a file or to standard output.
    Export {
        /// The file to write, which must not exist.
        file: Option<PathBuf>,
    },
    /// Import our own export, mem0's JSON, or the MCP memory server's graph.
    Import {
        /// The file to read; - reads standard input.
        file: PathBuf,
        /// Bring back statements that were forgotten here; otherwise they are left out and counted.
        #[arg(long)]
        with_forgotten: bool,
    },
}

impl MemoryCommand {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let Self { who, verb } = self;
        let then = match verb {
            Verb::Add { .. } | Verb::Import { .. } => IfAbsent::Create,
            _ => IfAbsent::Refuse,
        };
        let act = async |api: &Api| verb.run(api, settings.json).await;
        Api::during(settings, &who, Demo::Without, then, act).await
    }
}

impl Verb {
    async fn run(self, api: &Api, json: bool) -> Result<(), Failure> {
        match self {
            Self::List { kind, subject, session, superseded } => {
                let session = match session {
                    Some(session) => Some(api.id(Named::Session, &session).await?),
                    None => None,
                };
                let call = Call::get(&["memories"])
                    .with("limit", 100)
                    .with("superseded", superseded)
                    .with_any("kind", kind.map(|kind| kind.as_str()))
                    .with_any("subject", subject)
                    .with_any("session", session);
                show_all(&all(api, call).await?, json)
            }
            Self::Add { text, subject, kind } => {
                let (text, kind) = (text.join(" "), kind.map(|kind| kind.as_str()));
                let body = json!({"text": text, "subject": subject, "kind": kind});
                show_kept(&api.json(Call::post(&["memories"]).body(body)).await?, json)
            }
            Self::Search { query, limit } => {
                let call = Call::get(&["memories", "search"]).with("q", query.join(" "));
                let found = api.json(call.with("limit", limit)).await?;
                if json {
                    return output::json(&found);
                }
                show_all(output::list(&found, "hits"), false)
            }
            Self::Show { id } => {
                let memory = api.json(Call::get(&["memories", &whole(api, &id).await?])).await?;
                if json { output::json(&memory) } else { output::fields(&memory) }
            }
            Self::Change { id, text, subject, kind } => {
                let kind = kind.map(|kind| kind.as_str());
                let body = json!({"text": text, "subject": subject, "kind": kind});
                let call = Call::patch(&["memories", &whole(api, &id).await?]).body(body);
                show_kept(&api.json(call).await?, json)
            }
            Self::Forget { id, erase_turns, .. } => {
                let call = match &id {
                    Some(id) => Call::delete(&["memories", &whole(api, id).await?]),
                    None => Call::delete(&["memories"]).with("confirm", "all"),
                };
                let turns = if erase_turns { "erased" } else { "withheld" };
                let forgotten = api.json(call.with("turns", turns)).await?;
                if json {
                    return output::json(&forgotten);
                }
                output::line(format!("forgot {} memories", field(&forgotten, "memories")))?;
                let notes = output::list(&forgotten, "notes").iter().filter_map(Value::as_str);
                notes.map(output::plain).try_for_each(output::line)
            }
            Self::History { id } => {
                let call = Call::get(&["memories", &whole(api, &id).await?, "history"]);
                let versions = api.json(call).await?;
                if json {
                    return output::json(&versions);
                }
                let row = |version: &Value| {
                    ["changed_at", "text", "trust"].map(|name| field(version, name))
                };
                output::table(
                    ["when", "text", "trust"],
                    output::list(&versions, "versions").iter().map(row),
                )
            }
            Self::Export { file } => {
                let text = output::json_text(&api.json(Call::get(&["memories", "export"])).await?)?;
                match file {
                    Some(file) => {
                        output::new_file(&file, text.as_bytes())?;
                        if json {
                            output::json(&json!({"file": file, "bytes": text.len()}))
                        } else {
                            Ok(())
                        }
                    }
                    None => output::line(text),
                }
            }
            Self::Import { file, with_forgotten } => {
                let call = Call::post(&["memories", "import"]);
                let call = call.with_any("with_forgotten", with_forgotten.then_some("true"));
                let report = api.json(call.document("application/json", read(&file)?)).await?;
                if json {
                    return output::json(&report);
                }
                let count = |name| field(&report, name);
                output::line(format!(
                    "{} new, {} known, {} superseded, {} contradicting, {} left out because they were forgotten",
                    count("imported"),
                    count("known"),
                    count("superseded"),
                    count("contradicting"),
                    count("forgotten")
                ))?;
                for one in output::list(&report, "contradictions") {
                    for other in output::list(one, "contradicts") {
                        output::line(format!("{} contradicts {}", named(one), named(other)))?;
                    }
                }
                Ok(())
            }
        }
    }
}

async fn whole(api: &Api, id: &str) -> Result<String, Failure> {
    api.id(Named::Memory, id).await
}

/// All pages of a listing.
async fn all(api: &Api, first: Call) -> Result<Vec<Value>, Failure> {
    let (mut all, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = api.json(first.clone().with_any("cursor", cursor.as_ref())).await?;
        all.extend_from_slice(output::list(&page, "memories"));
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

fn show_all(memories: &[Value], json: bool) -> Result<(), Failure> {
    if json {
        return output::json(&json!({"memories": memories}));
    }
    if memories.is_empty() {
        return output::line("there are no memories");
    }
    let row = |memory: &Value| {
        let source = &memory["source"];
        let from = match source["session"].as_str() {
            Some(session) => format!("{session} turn {}", field(source, "turn")),
            None => field(memory, "trust"),
        };
        let used = memory["last_used_at"].as_str().unwrap_or("never").to_owned();
        let text = output::brief(&field(memory, "text"), 80);
        [field(memory, "id"), field(memory, "kind"), text, from, used]
    };
    output::table(["id", "kind", "text", "from", "last used"], memories.iter().map(row))
}

fn named(memory: &Value) -> String {
    format!("{}  {}", field(memory, "id"), output::plain(&field(memory, "text")))
}

fn show_kept(kept: &Value, json: bool) -> Result<(), Failure> {
    if json {
        return output::json(kept);
    }
    output::line(named(kept))?;
    for old in output::list(kept, "superseded") {
        output::line(format!("it supersedes {}", named(old)))?;
    }
    for other in output::list(kept, "contradicts") {
        output::line(format!("it contradicts {}", named(other)))?;
    }
    Ok(())
}
