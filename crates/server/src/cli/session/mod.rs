//! `throughline session`: the same as REST, for people and scripts.

mod erase;
mod look;
mod transfer;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use throughline_engine::engine::SessionPatch;

use super::local::{Local, Who, session_id};
use super::{Settings, output};
use crate::assemble::IfAbsent;
use crate::failure::Failure;
use crate::http::conversations::view::conversation;

pub use erase::confirm;

/// Flags of `session`.
#[derive(Debug, Args)]
pub struct Session {
    #[command(flatten)]
    who: Who,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List sessions, the most recently changed first.
    List(look::List),
    /// Show a session's head: settings, items, counters.
    Show {
        /// The session.
        session: String,
    },
    /// Show what was said.
    History(look::History),
    /// Make a new session that begins as this one did.
    Fork {
        /// The session.
        session: String,
        /// Up to and with this turn; all of them when absent.
        #[arg(long)]
        turn: Option<u64>,
        /// The new session's id; made up when absent.
        #[arg(long)]
        id: Option<String>,
    },
    /// Erase a session everywhere, or the content of single turns.
    Erase(erase::Erase),
    /// Write a session as JSON, which can be imported again, or as Markdown.
    Export {
        /// The session.
        session: String,
        /// The form.
        #[arg(long, value_enum, default_value_t = Format::Json)]
        format: Format,
        /// The file to write, which must not exist; standard output when absent.
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Bring in an export of ours, or the export of a chat product.
    Import {
        /// The file; - reads standard input.
        file: PathBuf,
        /// Another id than the exported one.
        #[arg(long)]
        id: Option<String>,
    },
    /// Let a session live on, or bring back one that was deleted or has expired.
    Extend {
        /// The session.
        session: String,
    },
    /// Set, add or remove a session's tags.
    Tag {
        /// The session.
        session: String,
        /// Tags to add.
        tags: Vec<String>,
        /// A tag to take away; may be given several times.
        #[arg(long, value_name = "TAG")]
        remove: Vec<String>,
    },
}

/// A form of export.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Head and turns as they are stored.
    Json,
    /// For people.
    Markdown,
}

impl Session {
    /// Does it.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let then = match self.verb {
            Verb::Import { .. } => IfAbsent::Create,
            _ => IfAbsent::Refuse,
        };
        let local = Local::open(settings, &self.who, then).await?;
        let done = act(&local, self.verb, self.who.json).await;
        local.close().await;
        done
    }
}

async fn act(local: &Local, verb: Verb, json: bool) -> Result<(), Failure> {
    match verb {
        Verb::List(list) => list.run(local, json).await,
        Verb::Show { session } => look::show(local, &session, json).await,
        Verb::History(history) => history.run(local, json).await,
        Verb::Fork { session, turn, id } => fork(local, &session, turn, id, json).await,
        Verb::Erase(erase) => erase.run(local, json).await,
        Verb::Export { session, format, output } => {
            transfer::export(local, &session, format, output).await
        }
        Verb::Import { file, id } => transfer::import(local, &file, id, json).await,
        Verb::Extend { session } => extend(local, &session, json).await,
        Verb::Tag { session, tags, remove } => tag(local, &session, tags, &remove, json).await,
    }
}

async fn fork(
    local: &Local,
    session: &str,
    turn: Option<u64>,
    id: Option<String>,
    json: bool,
) -> Result<(), Failure> {
    let id = id.as_deref().map(session_id).transpose()?;
    let forked = local.engine.fork(&local.caller, &session_id(session)?, turn, id).await?;
    if json {
        return output::json(&conversation(&forked, local.engine.now()));
    }
    output::line(format!("{} has {} turns of {session}", forked.head.id, forked.head.turns))
}

async fn extend(local: &Local, session: &str, json: bool) -> Result<(), Failure> {
    let id = session_id(session)?;
    let patch = SessionPatch { active: Some(true), ..SessionPatch::default() };
    let changed = local.engine.change_session(&local.caller, &id, patch, None).await?;
    if json {
        return output::json(&conversation(&changed, local.engine.now()));
    }
    output::line(match changed.head.expires_at {
        Some(at) => format!("{id} expires {at}"),
        None => format!("{id} does not expire"),
    })
}

async fn tag(
    local: &Local,
    session: &str,
    add: Vec<String>,
    remove: &[String],
    json: bool,
) -> Result<(), Failure> {
    if add.is_empty() && remove.is_empty() {
        let hint = "throughline session tag SESSION urgent --remove old";
        return Err(Failure::wrong_use("no tag was named", hint));
    }
    let id = session_id(session)?;
    let loaded = local.engine.session(&local.caller, &id).await?;
    let mut tags = loaded.head.tags.clone();
    tags.retain(|tag| !remove.contains(tag));
    tags.extend(add);
    let patch = SessionPatch { tags: Some(tags), ..SessionPatch::default() };
    let expected = Some(loaded.version.number);
    let changed = local.engine.change_session(&local.caller, &id, patch, expected).await?;
    if json {
        return output::json(&conversation(&changed, local.engine.now()));
    }
    output::line(format!("{id}: {}", changed.head.tags.join(", ")))
}
