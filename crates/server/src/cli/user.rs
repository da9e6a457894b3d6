//! `throughline user`: exports or erases all data of a user.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use futures::StreamExt;
use serde_json::{Value, json};

use super::api::{Api, Call};
use super::local::Identity;
use super::output::{self, field};
use super::session::confirm;
use super::{Settings, out};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;

/// Arguments of `user`.
#[derive(Debug, Args)]
pub(super) struct UserCommand {
    #[command(flatten)]
    who: Identity,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Erase all data of --user: sessions, memories, files, presets, keys.
    Erase {
        /// Confirm that everything is to be erased.
        #[arg(long, short)]
        yes: bool,
    },
    /// Export all data of --user as JSON Lines, to a file or to standard output.
    Export {
        /// The file to write, which must not exist.
        file: Option<PathBuf>,
    },
}

impl UserCommand {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let Self { mut who, verb } = self;
        let user = who.caller()?.scope.user.to_string();
        if settings.server().is_some() && who.take_user().is_none() {
            let what = "no user was named";
            return Err(Failure::wrong_use(what, "name the user with --user"));
        }
        let act = async |api: &Api| verb.run(api, &user, settings.json).await;
        Api::during(settings, &who, Demo::Without, IfAbsent::Refuse, act).await
    }
}

impl Verb {
    async fn run(self, api: &Api, user: &str, json: bool) -> Result<(), Failure> {
        match self {
            Self::Erase { yes } => {
                if !yes {
                    confirm(&format!("all data of user {user}"))?;
                }
                let call = Call::delete(&["users", user]).with("confirm", user);
                let erased = api.json(call).await?;
                if json { output::json(&erased) } else { tell(&erased) }
            }
            Self::Export { file } => {
                let response = api.call(Call::get(&["users", user, "export"])).await?;
                let mut lines = response.into_body().into_data_stream();
                let mut written = match &file {
                    Some(file) => Some(BufWriter::new(File::create_new(file)?)),
                    None => None,
                };
                while let Some(chunk) = lines.next().await {
                    let chunk = chunk.map_err(|error| {
                        Failure::new(format!("the export was interrupted: {error}"), "try again")
                    })?;
                    match &mut written {
                        Some(file) => file.write_all(&chunk)?,
                        None => out::bytes(&chunk)?,
                    }
                }
                if let Some(file) = written {
                    file.into_inner().map_err(|error| error.into_error())?.sync_all()?;
                }
                match file {
                    Some(file) if json => output::json(&json!({"user_id": user, "file": file})),
                    _ => Ok(()),
                }
            }
        }
    }
}

fn tell(erased: &Value) -> Result<(), Failure> {
    let count = |name| field(erased, name);
    out::line(format_args!(
        "erased {}: {} sessions, {} memories, {} files, {} presets, {} keys; {} records, {} bytes",
        count("user_id"),
        count("sessions"),
        count("memories"),
        count("files"),
        count("presets"),
        count("keys"),
        count("records"),
        count("bytes")
    ))?;
    output::list(erased, "notes").iter().filter_map(Value::as_str).try_for_each(out::line)
}
