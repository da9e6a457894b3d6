//! `throughline preset`: starting points for personas.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use throughline_engine::access::Caller;
use throughline_engine::preset::PresetGone;
use throughline_engine::preset::{PresetDraft, review};

use super::Settings;
use crate::assemble::{self, Demo, IfAbsent};
use crate::failure::Failure;
use crate::persona_view::{PresetView, ReviewView};

/// Flags of `preset`.
#[derive(Debug, Args)]
pub struct PresetCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List presets.
    List {
        /// Also deactivated ones.
        #[arg(long)]
        all: bool,
    },
    /// Show a preset, with a review of its prompt.
    Show {
        /// The preset's id.
        id: String,
    },
    /// Create a preset from a file with its prompt.
    Create {
        /// Its name.
        name: String,
        /// The file with its prompt.
        #[arg(long, value_name = "FILE")]
        prompt: PathBuf,
        /// The character in a sentence.
        #[arg(long, default_value = "")]
        personality: String,
    },
    /// Delete a preset, or stop offering a built-in one.
    Delete {
        /// The preset's id.
        id: String,
    },
    /// Make a built-in preset what it was.
    Restore {
        /// The preset's id.
        id: String,
    },
}

impl PresetCommand {
    /// Does it, as the person at this machine.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let then = match self.verb {
            Verb::List { .. } | Verb::Show { .. } => IfAbsent::Pretend,
            Verb::Create { .. } | Verb::Delete { .. } | Verb::Restore { .. } => IfAbsent::Create,
        };
        let config = settings.load_for(then)?;
        let store = assemble::store(&config).await?;
        let engine = assemble::engine(&config, store, Demo::Without).await?.engine;
        let caller = Caller::local();
        match self.verb {
            Verb::List { all } => {
                for preset in engine.presets().list(&caller, 1, 100, all).await?.presets {
                    let state = if preset.active { "" } else { " (inactive)" };
                    println!("{}  {}: {}{state}", preset.id, preset.name, preset.description);
                }
            }
            Verb::Show { id } => {
                let preset = engine.presets().get(&caller, &id).await?;
                let review = review::review(&preset.system_prompt, &preset.personality);
                print_json(&PresetView::from(preset));
                print_json(&ReviewView::from(review));
            }
            Verb::Create { name, prompt, personality } => {
                let text = std::fs::read_to_string(&prompt).map_err(|error| {
                    let what = format!("{} cannot be read: {error}", prompt.display());
                    Failure::new(what, "name a text file with --prompt")
                })?;
                let draft = PresetDraft {
                    name: Some(name),
                    system_prompt: Some(text.trim().to_owned()),
                    personality: Some(personality),
                    ..PresetDraft::default()
                };
                let (preset, review) = engine.presets().create(&caller, None, draft, None).await?;
                println!("{}", preset.id);
                for advice in review.advice {
                    eprintln!("advice ({}): {}", advice.aspect, advice.advice);
                }
            }
            Verb::Delete { id } => match engine.presets().delete(&caller, &id).await? {
                PresetGone::Erased => println!("{id} is deleted"),
                PresetGone::Deactivated => println!("{id} is no longer offered"),
            },
            Verb::Restore { id } => {
                println!("{} is restored", engine.presets().restore(&caller, &id).await?.id);
            }
        }
        Ok(())
    }
}

fn print_json(value: &impl serde::Serialize) {
    println!("{}", serde_json::to_string_pretty(value).unwrap_or_default());
}
