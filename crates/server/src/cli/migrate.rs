//! `throughline migrate`: copies one store into another.
//!
//! It can be interrupted and repeated: equal threads are skipped, and each copy is verified. Data erased in the
//! source since the last run is erased in the target too, by its tombstones.

use clap::Args;
use serde_json::json;
use throughline_store::StoreUrl;
use throughline_store::copy::{Compare, copy};

use super::{Settings, output};
use crate::assemble;
use crate::backup::again;
use crate::backup::erasures::Erasures;
use crate::backup::unfinished::{self, FilledBy, UnfinishedCopy};
use crate::failure::Failure;

/// Arguments of `migrate`.
#[derive(Debug, Args)]
pub(super) struct Migrate {
    /// The store to read.
    #[arg(long, value_name = "URL")]
    from: String,
    /// The store to write.
    #[arg(long, value_name = "URL")]
    to: String,
    /// Compare every byte of threads that seem to be the same.
    #[arg(long)]
    verify: bool,
}

impl Migrate {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let (source, target): (StoreUrl, StoreUrl) = (self.from.parse()?, self.to.parse()?);
        if source == target {
            let what = format!("{source} cannot be copied into itself");
            return Err(Failure::wrong_use(what, "name another store with --to"));
        }
        if !throughline_store::exists(&source)? {
            return Err(Failure::no_store(&source));
        }
        let (_, mut options) = assemble::store_options(&settings.load()?)?;
        // The traces belong to the configured store.
        options.traces.clear();
        let from = throughline_store::open(&source, &options).await?;
        if let Some(filling) = unfinished::find(&source, from.as_ref()).await? {
            return Err(unfinished::refusal(&source, &filling));
        }
        let since = crate::clock::system().now();
        let filling = UnfinishedCopy { by: FilledBy::Migrate, from: source.to_string(), since };
        let to = unfinished::open(&target, &options, &filling).await?;
        let compare = if self.verify { Compare::Everything } else { Compare::Quickly };
        let bar = output::bar("threads");
        let report = copy(from.as_ref(), to.as_ref(), compare, |progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.report.threads());
        })
        .await;
        bar.finish_and_clear();
        let report = report?;
        let erased = again::erase(&to, Erasures::default()).await?;
        unfinished::end(&target, to.as_ref()).await?;
        // Threads erased just now were counted as only in the target.
        let only_in_target = report
            .only_in_target
            .saturating_sub(erased.threads + unfinished::threads_of_its_own(&target));
        if settings.json {
            output::json(&json!({
                "copied": report.copied, "caught_up": report.caught_up, "same": report.same,
                "entries": report.entries, "bytes": report.bytes,
                "only_in_target": only_in_target, "erased_again": erased,
                "problems": report.problems, "notes": to.facts().notes,
            }))?;
        } else {
            output::line(format!(
                "{} threads copied, {} updated, {} unchanged; {} entries, {} bytes",
                report.copied, report.caught_up, report.same, report.entries, report.bytes
            ))?;
            if only_in_target > 0 {
                output::line(format!(
                    "{only_in_target} threads are only in {target} and were not changed"
                ))?;
            }
            if erased.threads > 0 {
                let count = erased.threads;
                output::line(format!("{count} threads erased in {source} were erased here too"))?;
            }
            for note in to.facts().notes {
                output::line(format!("{target}: {}", output::plain(&note)))?;
            }
            for problem in &report.problems {
                output::line(format!("wrong: {}", output::plain(problem)))?;
            }
        }
        match report.problems.len() {
            0 => Ok(()),
            count => Err(Failure::new(
                format!("{count} threads of {source} were not copied"),
                "fix the reported problems and run it again: finished threads are skipped",
            )),
        }
    }
}
