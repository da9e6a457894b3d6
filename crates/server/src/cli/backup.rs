//! `throughline backup` and `throughline restore`.

use std::path::PathBuf;

use clap::Args;

use super::{Settings, output};
use crate::assemble;
use crate::backup::make;
use crate::backup::restore::Restore;
use crate::failure::Failure;

/// Arguments of `backup`.
#[derive(Debug, Args)]
pub(super) struct BackupCommand {
    /// The file to write, which must not exist [default: a dated file in the backup folder].
    path: Option<PathBuf>,
}

impl BackupCommand {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let config = settings.load()?;
        let (url, options) = assemble::store_options(&config)?;
        let folder = &config.backups.folder;
        let dated = || folder.join(make::file_name(crate::clock::system().now()));
        let file = self.path.clone().unwrap_or_else(dated);
        let bar = output::bar("copying");
        let progress = bar.clone();
        let made = make::make(&url, &options, &file, move |done, total| {
            progress.set_length(total);
            progress.set_position(done);
        })
        .await;
        bar.finish_and_clear();
        let made = made?;
        for problem in &made.left_out {
            eprintln!("warning: left out: {}", output::plain(problem));
        }
        // An older backup may be the only one with what is damaged now.
        if self.path.is_none() && made.left_out.is_empty() {
            make::prune(folder, config.backups.keep);
        }
        if settings.json {
            return output::json(&made);
        }
        output::line(format!(
            "{}: {} threads with {} entries, {} bytes, verified",
            made.file.display(),
            made.threads,
            made.entries,
            made.bytes
        ))?;
        if !made.left_out.is_empty() {
            let count = made.left_out.len();
            output::line(format!("{count} damaged threads were left out; older backups are kept"))?;
        }
        Ok(())
    }
}

/// Arguments of `restore`.
#[derive(Debug, Args)]
pub(super) struct RestoreCommand {
    /// The backup. Stop the server first.
    path: PathBuf,
    /// Replace a store that is not empty; the old store is kept.
    #[arg(long)]
    force: bool,
}

impl RestoreCommand {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let config = settings.load()?;
        let (url, options) = assemble::store_options(&config)?;
        let restore = Restore {
            file: &self.path,
            url: &url,
            options: &options,
            folder: &config.backups.folder,
            force: self.force,
            at: crate::clock::system().now(),
        };
        let restored = restore.run().await?;
        if settings.json {
            return output::json(&restored);
        }
        output::line(format!(
            "restored {} threads with {} entries into {url}",
            restored.threads, restored.entries
        ))?;
        let again = restored.erased_again;
        output::line(format!(
            "erased again what was erased since: {} threads, {} turns",
            again.threads, again.turns
        ))?;
        if let Some(kept) = restored.kept {
            output::line(format!("the previous contents are kept as {}", kept.display()))?;
        }
        for problem in &restored.log_problems {
            eprintln!("warning: {problem}: the data it names may be back");
        }
        if let Some(reason) = restored.unread {
            eprintln!("the replaced store could not be read ({reason}); the erasure log was used");
        }
        Ok(())
    }
}
