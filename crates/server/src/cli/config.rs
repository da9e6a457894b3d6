//! `throughline config`: the commented default file; what is in force and from where.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Settings, out};
use crate::config::{DEFAULT_FILE, settings_document};
use crate::failure::Failure;

/// Flags of `config`.
#[derive(Debug, Args)]
pub struct ConfigCommand {
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
    /// Print every value and where it came from, without secrets.
    Show {
        /// Answer in JSON.
        #[arg(long)]
        json: bool,
    },
}

impl ConfigCommand {
    /// Does it.
    pub fn run(self, settings: &Settings) -> Result<(), Failure> {
        match self.verb {
            Verb::Init { file: None } => out::text(DEFAULT_FILE)?,
            Verb::Init { file: Some(file) } => write_new(&file)?,
            Verb::Check => {
                let config = settings.load()?;
                config.model_configs()?;
                config.server_configs()?;
                out::line("the configuration is valid")?;
            }
            Verb::Document => out::text(settings_document())?,
            Verb::Show { json } => {
                let (_, layers) = settings.load_with(&[])?;
                let shown = layers.shown();
                if json {
                    out::line(serde_json::to_string_pretty(&shown).unwrap_or_default())?;
                } else {
                    for value in shown {
                        out::line(format_args!(
                            "{} = {}  # {}",
                            value.setting, value.value, value.from
                        ))?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn write_new(file: &PathBuf) -> Result<(), Failure> {
    use std::io::Write;
    let open = std::fs::File::options().write(true).create_new(true).open(file);
    open.and_then(|mut file| file.write_all(DEFAULT_FILE.as_bytes())).map_err(|error| {
        let what = format!("{} cannot be written: {error}", file.display());
        Failure::new(what, "an existing file is not overwritten; name another one")
    })
}
