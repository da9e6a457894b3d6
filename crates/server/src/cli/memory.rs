//! `throughline memory`: what is known about a user beyond sessions.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use throughline_engine::fact::{FactDraft, FactFilter, FactPatch, Trust};
use throughline_engine::store::Page;

use super::local::{Local, Who, session_id};
use super::{Settings, output};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;
use crate::memory_view::{
    ForgottenMemories, FoundMemory, ImportedMemories, KeptMemory, Memory, MemoryKind,
};

/// Flags of `memory`.
#[derive(Debug, Args)]
pub struct MemoryCommand {
    #[command(flatten)]
    who: Who,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List what is known, most recently changed first.
    List {
        /// Only of this kind.
        #[arg(long)]
        kind: Option<MemoryKind>,
        /// Only about this subject.
        #[arg(long)]
        subject: Option<String>,
        /// Only gathered in this session.
        #[arg(long)]
        session: Option<String>,
        /// Also superseded ones.
        #[arg(long)]
        superseded: bool,
    },
    /// Remember a statement.
    Add {
        /// The statement.
        #[arg(required = true)]
        text: Vec<String>,
        /// What it is about; a newer one about the same subject supersedes the older one.
        #[arg(long)]
        subject: Option<String>,
        /// What sort of statement it is.
        #[arg(long, default_value = "fact")]
        kind: MemoryKind,
    },
    /// Find memories by words or by meaning.
    Search {
        /// What to look for.
        #[arg(required = true)]
        query: Vec<String>,
        /// At most this many, 1-100.
        #[arg(long, default_value_t = 10)]
        limit: usize,
    },
    /// Show one with all that is known of it.
    Show {
        /// Its id.
        id: String,
    },
    /// Correct one; the version before stays in its history.
    Change {
        /// Its id.
        id: String,
        /// The new text.
        #[arg(long)]
        text: Option<String>,
        /// The new subject; an empty one removes it.
        #[arg(long)]
        subject: Option<String>,
        /// The new kind.
        #[arg(long)]
        kind: Option<MemoryKind>,
    },
    /// Forget one for good, or all with --all --yes.
    Forget {
        /// Its id.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// Everything that is known about the user.
        #[arg(long, requires = "yes")]
        all: bool,
        /// Everything is meant.
        #[arg(long, short)]
        yes: bool,
    },
    /// What was known before, oldest first.
    History {
        /// Its id.
        id: String,
    },
    /// Write everything to a file, or to standard output.
    Export {
        /// The file; it must not exist.
        file: Option<PathBuf>,
    },
    /// Bring in our own export, mem0's JSON, or the MCP memory server's graph.
    Import {
        /// The file.
        file: PathBuf,
    },
}

impl MemoryCommand {
    /// Does it.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let Self { who, verb } = self;
        let then = match verb {
            Verb::Add { .. } | Verb::Import { .. } => IfAbsent::Create,
            _ => IfAbsent::Refuse,
        };
        let act = async |local: &Local| verb.run(local, who.json).await;
        Local::during(settings, &who, Demo::Without, then, act).await
    }
}

impl Verb {
    async fn run(self, local: &Local, json: bool) -> Result<(), Failure> {
        let (facts, caller) = (local.engine.facts(), &local.caller);
        match self {
            Self::List { kind, subject, session, superseded } => {
                let session = session.as_deref().map(session_id).transpose()?;
                let kind = kind.map(Into::into);
                let filter = FactFilter { kind, subject, session, with_superseded: superseded };
                show_all(list(local, &filter).await?, json)
            }
            Self::Add { text, subject, kind } => {
                let (text, kind) = (text.join(" "), kind.into());
                let draft = FactDraft { text, subject, kind, trust: Trust::Told, source: None };
                show_kept(facts.add(caller, draft).await?.into(), json)
            }
            Self::Search { query, limit } => {
                let hits = facts.search(caller, &query.join(" "), limit).await?;
                if json {
                    let hits: Vec<FoundMemory> = hits.into_iter().map(Into::into).collect();
                    return output::json(&json!({"hits": hits}));
                }
                show_all(hits.into_iter().map(|hit| hit.fact.into()).collect(), false)
            }
            Self::Show { id } => output::json(&Memory::from(facts.get(caller, &id).await?)),
            Self::Change { id, text, subject, kind } => {
                let patch = FactPatch { text, subject, kind: kind.map(Into::into) };
                show_kept(facts.change(caller, &id, &patch).await?.into(), json)
            }
            Self::Forget { id, .. } => {
                let forgotten = match &id {
                    Some(id) => facts.forget(caller, id).await?,
                    None => facts.forget_all(caller).await?,
                };
                if json {
                    return output::json(&ForgottenMemories::from(forgotten));
                }
                output::line(format!("forgot {} memories", forgotten.facts))
            }
            Self::History { id } => {
                let versions = facts.history(caller, &id).await?;
                let versions: Vec<Memory> = versions.into_iter().map(Into::into).collect();
                if json {
                    return output::json(&json!({"versions": versions}));
                }
                output::table(
                    ["when", "text", "trust"],
                    versions.into_iter().map(|version| {
                        let trust = format!("{:?}", version.trust).to_lowercase();
                        [version.changed_at.to_string(), output::plain(&version.text), trust]
                    }),
                )
            }
            Self::Export { file } => export(local, file.as_deref()).await,
            Self::Import { file } => {
                let text = std::fs::read_to_string(&file).map_err(|error| {
                    let what = format!("{} cannot be read: {error}", file.display());
                    Failure::new(what, "name a text file")
                })?;
                let report = facts.import(caller, &text).await?;
                if json {
                    return output::json(&ImportedMemories::from(report));
                }
                output::line(format!(
                    "{} new, {} known, {} superseded, {} contradicting",
                    report.imported, report.known, report.superseded, report.contradicting
                ))
            }
        }
    }
}

/// Every memory that `filter` admits.
async fn list(local: &Local, filter: &FactFilter) -> Result<Vec<Memory>, Failure> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = Page { limit: 100, after };
        let listed = local.engine.facts().list(&local.caller, filter, page).await?;
        all.extend(listed.facts.into_iter().map(Memory::from));
        after = listed.next;
        if after.is_none() {
            return Ok(all);
        }
    }
}

async fn export(local: &Local, file: Option<&Path>) -> Result<(), Failure> {
    let export = local.engine.facts().export(&local.caller).await?;
    let text = output::json_text(&export)?;
    match file {
        Some(file) => output::new_file(file, text.as_bytes()),
        None => output::line(text),
    }
}

fn show_all(memories: Vec<Memory>, json: bool) -> Result<(), Failure> {
    if json {
        return output::json(&json!({"memories": memories}));
    }
    if memories.is_empty() {
        return output::line("nothing is known");
    }
    output::table(
        ["id", "kind", "text", "from", "last used"],
        memories.into_iter().map(|memory| {
            let from = match &memory.source {
                Some(source) => format!("{} turn {}", source.session, source.turn),
                None => format!("{:?}", memory.trust).to_lowercase(),
            };
            let used = memory.last_used_at.map_or("never".into(), |at| at.to_string());
            let text = output::brief(&memory.text, 80);
            [memory.id, memory.kind.as_str().into(), text, from, used]
        }),
    )
}

fn show_kept(kept: KeptMemory, json: bool) -> Result<(), Failure> {
    if json {
        return output::json(&kept);
    }
    output::line(format!("{}  {}", kept.memory.id, output::plain(&kept.memory.text)))?;
    for old in &kept.superseded {
        output::line(format!("it supersedes {}  {}", old.id, output::plain(&old.text)))?;
    }
    for other in &kept.contradicts {
        output::line(format!("it contradicts {}  {}", other.id, output::plain(&other.text)))?;
    }
    Ok(())
}
