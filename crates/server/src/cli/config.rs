//! `throughline config`: prints the default configuration, or the effective settings and their sources.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Settings, out, output};
use crate::config::{DEFAULT_FILE, settings_document};
use crate::failure::Failure;

/// Arguments of `config`.
#[derive(Debug, Args)]
pub(super) struct ConfigCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print the default file, with every setting and a comment.
    Init {
        /// Write it to this file instead, which must not exist.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Read the configuration and say whether it is valid.
    Check,
    /// Print every setting with its default, range and meaning, as a document.
    Document,
    /// Print the effective settings and their sources, without secrets.
    Show,
}

impl ConfigCommand {
    /// Runs the command.
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let json = settings.json;
        match self.verb {
            Verb::Init { file: None } if json => output::json(&json!({"text": DEFAULT_FILE})),
            Verb::Init { file: None } => out::text(DEFAULT_FILE),
            Verb::Init { file: Some(file) } => {
                output::new_file(&file, DEFAULT_FILE.as_bytes())?;
                if json { output::json(&json!({"file": file})) } else { Ok(()) }
            }
            Verb::Check => {
                let config = settings.load()?;
                config.model_configs()?;
                config.server_configs()?;
                if json {
                    return output::json(&json!({"valid": true}));
                }
                out::line("the configuration is valid")
            }
            Verb::Document if json => output::json(&json!({"document": settings_document()})),
            Verb::Document => out::text(settings_document()),
            Verb::Show => {
                let (_, layers) = settings.load_with(&[])?;
                let shown = layers.shown();
                if json {
                    return output::json(&shown);
                }
                shown.into_iter().try_for_each(|value| {
                    out::line(format_args!("{} = {}  # {}", value.setting, value.value, value.from))
                })
            }
        }
    }
}
