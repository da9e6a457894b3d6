//! `throughline user`: all data of one user, erased or handed over.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use futures::StreamExt;

use super::local::{Local, Who};
use super::session::confirm;
use super::{Settings, out, output};
use crate::access::Keys;
use crate::assemble::{Demo, IfAbsent};
use crate::clock;
use crate::failure::Failure;
use crate::user_view::{self, ErasedUser};

/// Flags of `user`.
#[derive(Debug, Args)]
pub struct UserCommand {
    #[command(flatten)]
    who: Who,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Erase everything that is kept of --user: sessions, memories, files, presets, keys.
    Erase {
        /// Everything is meant.
        #[arg(long, short)]
        yes: bool,
    },
    /// Write everything that is kept of --user, a JSON value a line, to a file or to standard output.
    Export {
        /// The file; it must not exist.
        file: Option<PathBuf>,
    },
}

impl UserCommand {
    /// Does it.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let Self { who, verb } = self;
        let act = async |local: &Local| verb.run(local, who.json).await;
        Local::during(settings, &who, Demo::Without, IfAbsent::Refuse, act).await
    }
}

impl Verb {
    async fn run(self, local: &Local, json: bool) -> Result<(), Failure> {
        let (engine, caller) = (&local.engine, &local.caller);
        let user = &caller.scope.user;
        match self {
            Self::Erase { yes } => {
                if !yes {
                    confirm(&format!("everything that is kept of user {user}"))?;
                }
                let keys = Keys::new(engine.store().clone(), clock::system());
                let erased = user_view::erase(engine, &keys, caller, user).await?;
                if json { output::json(&erased) } else { tell(&erased) }
            }
            Self::Export { file } => {
                let mut lines = Box::pin(user_view::export(engine.clone(), caller, user).await?);
                let mut written = match &file {
                    Some(file) => Some(BufWriter::new(File::create_new(file)?)),
                    None => None,
                };
                while let Some(line) = lines.next().await {
                    match &mut written {
                        Some(file) => writeln!(file, "{}", line?)?,
                        None => out::line(line?)?,
                    }
                }
                if let Some(file) = written {
                    file.into_inner().map_err(|error| error.into_error())?.sync_all()?;
                }
                Ok(())
            }
        }
    }
}

fn tell(erased: &ErasedUser) -> Result<(), Failure> {
    let ErasedUser { user_id, sessions, memories, files, presets, keys, records, bytes, .. } =
        erased;
    out::line(format_args!(
        "erased {user_id}: {sessions} sessions, {memories} memories, {files} files, {presets} presets, {keys} keys; \
         {records} records, {bytes} bytes"
    ))?;
    erased.notes.iter().try_for_each(out::line)
}
