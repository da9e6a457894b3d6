//! `throughline context`: conversation partners, and chats from elsewhere.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use throughline_engine::access::Caller;
use throughline_engine::engine::{ChatFormat, ContextPatch, NewContext, StartingPoint};
use throughline_engine::preset::PersonaDraft;

use super::Settings;
use crate::assemble::{self, Demo, IfAbsent};
use crate::failure::Failure;
use crate::persona_view::ContextView;

/// Flags of `context`.
#[derive(Debug, Args)]
pub struct ContextCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List contexts.
    List {
        /// Also expired and deleted ones.
        #[arg(long)]
        all: bool,
    },
    /// Show a context with its figures.
    Show {
        /// The context's id.
        id: String,
    },
    /// Create a context from a preset.
    Create {
        /// The preset's id.
        #[arg(long, default_value = "preset-calm-counselor")]
        preset: String,
        /// Its name instead of the preset's.
        #[arg(long)]
        name: Option<String>,
    },
    /// Extend a context, or bring back a deleted or expired one.
    Extend {
        /// The context's id.
        id: String,
    },
    /// Put a context aside.
    Delete {
        /// The context's id.
        id: String,
    },
    /// Bring in chats that another product exported.
    Import {
        /// `conversations.json` of a ChatGPT or Claude export, or Markdown.
        file: PathBuf,
        /// chatgpt, claude or markdown; found out when absent.
        #[arg(long)]
        format: Option<String>,
    },
}

impl ContextCommand {
    /// Does it, as the person at this machine.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let then = match self.verb {
            Verb::Create { .. } | Verb::Import { .. } => IfAbsent::Create,
            _ => IfAbsent::Refuse,
        };
        let config = settings.load_for(then)?;
        let store = assemble::store(&config).await?;
        let engine = assemble::engine(&config, store, Demo::Without).await?.engine;
        let caller = Caller::local();
        match self.verb {
            Verb::List { all } => {
                for loaded in engine.list_contexts(&caller, 1, 100, all).await?.contexts {
                    let Some(view) = ContextView::of(&loaded, engine.now()) else { continue };
                    let state = if view.is_active { "" } else { " (inactive)" };
                    println!(
                        "{}  {}  {} exchanges, expires {}{state}",
                        view.id, view.name, view.exchanges, view.expires_at
                    );
                }
            }
            Verb::Show { id } => {
                let loaded = engine.context(&caller, &id).await?;
                print_json(&ContextView::of(&loaded, engine.now()));
                print_json(&engine.statistics(&caller, &loaded.head.id).await?);
            }
            Verb::Create { preset, name } => {
                let draft = PersonaDraft { name, ..PersonaDraft::default() };
                let from = StartingPoint::Preset(preset);
                let new = NewContext { from, draft, ..NewContext::default() };
                println!("{}", engine.create_context(&caller, new).await?.head.id);
            }
            Verb::Extend { id } => {
                let patch = ContextPatch { active: Some(true), ..ContextPatch::default() };
                let loaded = engine.update_context(&caller, &id, patch).await?;
                let until = loaded.head.expires_at.map(|at| at.to_string()).unwrap_or_default();
                println!("{id} expires {until}");
            }
            Verb::Delete { id } => {
                engine.delete_context(&caller, &id).await?;
                println!("{id} is put aside; throughline context extend {id} brings it back");
            }
            Verb::Import { file, format } => import(&engine, &caller, &file, format).await?,
        }
        Ok(())
    }
}

async fn import(
    engine: &throughline_engine::engine::Engine,
    caller: &Caller,
    file: &std::path::Path,
    format: Option<String>,
) -> Result<(), Failure> {
    let format = format
        .map(|name| {
            ChatFormat::from_name(&name).ok_or_else(|| {
                let what = format!("there is no format {name}");
                Failure::wrong_use(what, "there are: chatgpt, claude, markdown")
            })
        })
        .transpose()?;
    let text = std::fs::read_to_string(file).map_err(|error| {
        let what = format!("{} cannot be read: {error}", file.display());
        Failure::new(what, "name a file that the other product exported")
    })?;
    let report = engine.import_chats(caller, &text, format).await?;
    for chat in &report.imported {
        let title = chat.title.as_deref().unwrap_or("untitled");
        println!("{}  {title}  {} turns", chat.session, chat.turns);
    }
    for skipped in &report.skipped {
        eprintln!("skipped: {skipped}");
    }
    let (new, known) = (report.imported.len(), report.already_there.len());
    eprintln!("{new} brought in, {known} were there already, {} skipped", report.skipped.len());
    Ok(())
}

fn print_json(value: &impl serde::Serialize) {
    println!("{}", serde_json::to_string_pretty(value).unwrap_or_default());
}
