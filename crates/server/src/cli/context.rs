//! `throughline context`: contexts, and chats from other products.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::api::{Api, Call, Named};
use super::local::Identity;
use super::output::field;
use super::session::import;
use super::{Settings, output};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;

/// Arguments of `context`.
#[derive(Debug, Args)]
pub(super) struct ContextCommand {
    #[command(flatten)]
    who: Identity,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List contexts.
    List {
        /// Include expired and archived contexts.
        #[arg(long)]
        all: bool,
    },
    /// Show a context and its statistics.
    Show {
        /// The context's id or a unique prefix.
        id: String,
    },
    /// Create a context from a preset.
    Create {
        /// The preset's id or a unique prefix.
        #[arg(long, default_value = "preset-calm-counselor")]
        preset: String,
        /// The name of the context [default: the preset's name].
        #[arg(long)]
        name: Option<String>,
    },
    /// Extend a context, or restore an archived or expired one.
    Extend {
        /// The context's id or a unique prefix.
        id: String,
    },
    /// Archive a context; `context extend` restores it.
    Delete {
        /// The context's id or a unique prefix.
        id: String,
    },
    /// Import chats exported from another product.
    Import {
        /// `conversations.json` of a ChatGPT or Claude export, or Markdown.
        file: PathBuf,
        /// chatgpt, claude or markdown [default: detected].
        #[arg(long)]
        format: Option<String>,
    },
}

impl ContextCommand {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let then = match self.verb {
            Verb::Create { .. } | Verb::Import { .. } => IfAbsent::Create,
            _ => IfAbsent::Refuse,
        };
        let act = async |api: &Api| act(api, self.verb, settings.json).await;
        Api::during(settings, &self.who, Demo::Without, then, act).await
    }
}

async fn act(api: &Api, verb: Verb, json: bool) -> Result<(), Failure> {
    match verb {
        Verb::List { all } => {
            let call = Call::get(&["contexts"]).with("pageSize", 100).with("includeExpired", all);
            let contexts = api.json(call).await?;
            output::show(json, &contexts, || {
                output::list(&contexts, "contexts").iter().try_for_each(|context| {
                    let state = if context["isActive"] == true { "" } else { " (inactive)" };
                    let word = |name| field(context, name);
                    output::line(format!(
                        "{}  {}  {} exchanges, expires {}{state}",
                        word("id"),
                        word("name"),
                        word("exchanges"),
                        word("expiresAt")
                    ))
                })
            })
        }
        Verb::Show { id } => {
            let id = api.id(Named::Context, &id).await?;
            let context = api.json(Call::get(&["contexts", &id])).await?;
            let statistics = api.json(Call::get(&["contexts", &id, "statistics"])).await?;
            let both = json!({"context": context, "statistics": statistics});
            output::show(json, &both, || {
                output::fields(&context)?;
                output::fields(&statistics)
            })
        }
        Verb::Create { preset, name } => {
            let preset = api.id(Named::Preset, &preset).await?;
            let body = json!({"presetId": preset, "name": name});
            let context = api.json(Call::post(&["contexts"]).body(body)).await?;
            output::show(json, &context, || output::line(field(&context, "id")))
        }
        Verb::Extend { id } => {
            let id = api.id(Named::Context, &id).await?;
            let call = Call::patch(&["contexts", &id]).body(json!({"isActive": true}));
            let context = api.json(call).await?;
            output::show(json, &context, || {
                output::line(format!("{id} expires {}", field(&context, "expiresAt")))
            })
        }
        Verb::Delete { id } => {
            let id = api.id(Named::Context, &id).await?;
            let context = api.json(Call::delete(&["contexts", &id])).await?;
            output::show(json, &context, || {
                output::line(format!(
                    "{id} is archived; throughline context extend {id} restores it"
                ))
            })
        }
        Verb::Import { file, format } => import(api, &file, format, None, json).await,
    }
}
