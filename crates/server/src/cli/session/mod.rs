//! `throughline session`: the same operations as REST, for people and scripts.

mod erase;
mod look;
mod share;
mod transfer;

use std::path::PathBuf;

use axum::http::header;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::api::{Api, Call, Named};
use super::local::{Identity, session_id};
use super::output::field;
use super::{Settings, output};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;

pub(super) use erase::confirm;
pub(super) use transfer::{import, read};

/// Arguments of `session`.
#[derive(Debug, Args)]
pub(super) struct Session {
    #[command(flatten)]
    who: Identity,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List sessions, the most recently changed first.
    List(look::List),
    /// Show a session: settings, items, counters.
    Show {
        /// The session's id or a unique prefix.
        session: String,
    },
    /// Show the conversation.
    History(look::History),
    /// Create a new session from the turns of this one.
    Fork {
        /// The session's id or a unique prefix.
        session: String,
        /// The last turn to copy [default: all turns].
        #[arg(long)]
        turn: Option<u64>,
        /// The new session's id [default: generated].
        #[arg(long)]
        id: Option<String>,
    },
    /// Create a read-only link to the conversation so far.
    Share(share::Share),
    /// List the valid links of a session.
    Shares {
        /// The session's id or a unique prefix.
        session: String,
    },
    /// Revoke a link.
    Unshare {
        /// The session's id or a unique prefix.
        session: String,
        /// The link's id or a unique prefix.
        share: String,
    },
    /// Archive a session; `session extend` restores it.
    Delete {
        /// The session's id or a unique prefix.
        session: String,
    },
    /// Erase a session everywhere, or the content of single turns.
    Erase(erase::Erase),
    /// Write a session as JSON, which can be imported again, or as Markdown.
    Export {
        /// The session's id or a unique prefix.
        session: String,
        /// The output format.
        #[arg(long, value_enum, default_value_t = Format::Json)]
        format: Format,
        /// The file to write, which must not exist [default: standard output].
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Import our own export, or the export of a chat product.
    Import {
        /// The file to read; - reads standard input.
        file: PathBuf,
        /// The id to use instead of the exported one.
        #[arg(long)]
        id: Option<String>,
    },
    /// Extend a session's life, or restore an archived or expired one.
    Extend {
        /// The session's id or a unique prefix.
        session: String,
    },
    /// Set, add or remove a session's tags.
    Tag {
        /// The session's id or a unique prefix.
        session: String,
        /// Tags to add.
        tags: Vec<String>,
        /// A tag to remove; may be given several times.
        #[arg(long, value_name = "TAG")]
        remove: Vec<String>,
    },
}

/// Format of an export.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Head and turns as stored.
    Json,
    /// Text for people.
    Markdown,
}

impl Session {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let then = match self.verb {
            Verb::Import { .. } => IfAbsent::Create,
            _ => IfAbsent::Refuse,
        };
        let json = settings.json;
        let act = async |api: &Api| act(api, self.verb, json).await;
        Api::during(settings, &self.who, Demo::Without, then, act).await
    }
}

async fn act(api: &Api, verb: Verb, json: bool) -> Result<(), Failure> {
    match verb {
        Verb::List(list) => list.run(api, json).await,
        Verb::Show { session } => look::show(api, &session, json).await,
        Verb::History(history) => history.run(api, json).await,
        Verb::Fork { session, turn, id } => fork(api, &session, turn, id, json).await,
        Verb::Share(share) => share.run(api, json).await,
        Verb::Shares { session } => share::list(api, &session, json).await,
        Verb::Unshare { session, share } => share::revoke(api, &session, &share, json).await,
        Verb::Delete { session } => {
            let id = api.id(Named::Session, &session).await?;
            let head = api.json(Call::delete(&["conversations", &id])).await?;
            told(&head, json, |_| {
                format!("{id} is archived; throughline session extend {id} restores it")
            })
        }
        Verb::Erase(erase) => erase.run(api, json).await,
        Verb::Export { session, format, output } => {
            transfer::export(api, &session, format, output, json).await
        }
        Verb::Import { file, id } => transfer::import(api, &file, None, id, json).await,
        Verb::Extend { session } => {
            let id = api.id(Named::Session, &session).await?;
            let call = Call::patch(&["conversations", &id]).body(json!({"active": true}));
            told(&api.json(call).await?, json, |head| match head["expires_at"].as_str() {
                Some(at) => format!("{id} expires {at}"),
                None => format!("{id} does not expire"),
            })
        }
        Verb::Tag { session, tags, remove } => tag(api, &session, tags, &remove, json).await,
    }
}

/// Prints a response as JSON or in words.
fn told(answer: &Value, json: bool, words: impl Fn(&Value) -> String) -> Result<(), Failure> {
    if json { output::json(answer) } else { output::line(words(answer)) }
}

async fn fork(
    api: &Api,
    session: &str,
    turn: Option<u64>,
    id: Option<String>,
    json: bool,
) -> Result<(), Failure> {
    if let Some(id) = &id {
        session_id(id)?;
    }
    let from = api.id(Named::Session, session).await?;
    let call = Call::post(&["conversations", &from, "fork"]).body(json!({"turn": turn, "id": id}));
    told(&api.json(call).await?, json, |head| {
        format!("{} has {} turns of {from}", field(head, "id"), field(head, "turns"))
    })
}

async fn tag(
    api: &Api,
    session: &str,
    add: Vec<String>,
    remove: &[String],
    json: bool,
) -> Result<(), Failure> {
    if add.is_empty() && remove.is_empty() {
        let hint = "throughline session tag SESSION urgent --remove old";
        return Err(Failure::wrong_use("no tag was named", hint));
    }
    let id = api.id(Named::Session, session).await?;
    let head = api.json(Call::get(&["conversations", &id])).await?;
    let present = output::list(&head, "tags").iter().filter_map(Value::as_str);
    let mut tags: Vec<String> = present.map(str::to_owned).collect();
    tags.retain(|tag| !remove.contains(tag));
    tags.extend(add);
    let call = Call::patch(&["conversations", &id])
        .header(header::IF_MATCH, format!("\"{}\"", field(&head, "version")))
        .body(json!({"tags": tags}));
    told(&api.json(call).await?, json, |head| format!("{id}: {}", field(head, "tags")))
}
