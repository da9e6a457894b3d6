//! `throughline preset`: stored personas.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::api::{Api, Call, Named};
use super::local::Identity;
use super::output::field;
use super::{Settings, output};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;

/// Arguments of `preset`.
#[derive(Debug, Args)]
pub(super) struct PresetCommand {
    #[command(flatten)]
    who: Identity,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List presets.
    List {
        /// Include deactivated presets.
        #[arg(long)]
        all: bool,
    },
    /// Show a preset, with a review of its prompt.
    Show {
        /// The preset's id or a unique prefix.
        id: String,
    },
    /// Create a preset from a prompt file.
    Create {
        /// The name of the preset.
        name: String,
        /// The file that contains the prompt.
        #[arg(long, value_name = "FILE")]
        prompt: PathBuf,
        /// The personality, in one sentence.
        #[arg(long, default_value = "")]
        personality: String,
    },
    /// Delete a preset, or deactivate a built-in one.
    Delete {
        /// The preset's id or a unique prefix.
        id: String,
    },
    /// Restore a built-in preset to its original state.
    Restore {
        /// The preset's id or a unique prefix.
        id: String,
    },
}

impl PresetCommand {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let then = match self.verb {
            Verb::List { .. } | Verb::Show { .. } => IfAbsent::Pretend,
            Verb::Create { .. } | Verb::Delete { .. } | Verb::Restore { .. } => IfAbsent::Create,
        };
        let act = async |api: &Api| act(api, self.verb, settings.json).await;
        Api::during(settings, &self.who, Demo::Without, then, act).await
    }
}

async fn act(api: &Api, verb: Verb, json: bool) -> Result<(), Failure> {
    match verb {
        Verb::List { all } => {
            let call = Call::get(&["presets"]).with("pageSize", 100).with("includeInactive", all);
            let presets = api.json(call).await?;
            output::show(json, &presets, || {
                output::list(&presets, "presets").iter().try_for_each(|preset| {
                    let state = if preset["isActive"] == true { "" } else { " (inactive)" };
                    let (name, about) = (field(preset, "name"), field(preset, "description"));
                    output::line(format!("{}  {name}: {about}{state}", field(preset, "id")))
                })
            })
        }
        Verb::Show { id } => {
            let id = api.id(Named::Preset, &id).await?;
            let preset = api.json(Call::get(&["presets", &id])).await?;
            output::show(json, &preset, || output::fields(&preset))
        }
        Verb::Create { name, prompt, personality } => {
            let text = std::fs::read_to_string(&prompt).map_err(|error| {
                let what = format!("{} cannot be read: {error}", prompt.display());
                Failure::new(what, "name a text file with --prompt")
            })?;
            let body = json!({
                "name": name, "systemPrompt": text.trim(), "defaultPersonality": personality,
            });
            let preset = api.json(Call::post(&["presets"]).body(body)).await?;
            output::show(json, &preset, || {
                for advice in output::list(&preset["review"], "advice") {
                    eprintln!("advice ({}): {}", field(advice, "aspect"), field(advice, "advice"));
                }
                output::line(field(&preset, "id"))
            })
        }
        Verb::Delete { id } => {
            let id = api.id(Named::Preset, &id).await?;
            let gone = api.json(Call::delete(&["presets", &id])).await?;
            let what = if gone["outcome"] == "erased" { "deleted" } else { "deactivated" };
            output::show(json, &gone, || output::line(format!("{id} is {what}")))
        }
        Verb::Restore { id } => {
            let id = api.id(Named::Preset, &id).await?;
            let preset = api.json(Call::post(&["presets", &id, "restore"])).await?;
            output::show(json, &preset, || output::line(format!("{id} is restored")))
        }
    }
}
