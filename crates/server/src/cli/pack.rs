//! `throughline pack`: checks packs before use.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use throughline_engine::pack::PackSet;

use super::{Settings, output};
use crate::failure::Failure;

/// Arguments of `pack`.
#[derive(Debug, Args)]
pub(super) struct Pack {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Check packs and report mistakes with file, line and reason.
    Check {
        /// A folder of packs or a single pack [default: the configured folder].
        #[arg(value_name = "FOLDER")]
        place: Option<PathBuf>,
    },
}

impl Pack {
    /// Runs the command.
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let Verb::Check { place } = self.verb;
        let place = match place {
            Some(place) => place,
            None => settings.load()?.packs.folder,
        };
        let files = read(&place)?;
        let count = files.len();
        let (packs, problems) = PackSet::load(files);
        if settings.json {
            let problems: Vec<_> = problems
                .iter()
                .map(|p| json!({"file": p.file, "line": p.line, "reason": p.reason}))
                .collect();
            let packs: Vec<_> = packs.packs().map(|(name, _)| name).collect();
            output::json(&json!({"files": count, "packs": packs, "problems": problems}))?;
        } else {
            for problem in &problems {
                output::line(output::plain(&problem.to_string()))?;
            }
            if problems.is_empty() {
                output::line(format!("{count} packs are valid"))?;
            }
        }
        match problems.len() {
            0 => Ok(()),
            wrong => Err(Failure::new(
                format!("{wrong} of {count} packs in {} are refused", place.display()),
                "correct the named lines; an invalid pack is ignored when serving",
            )),
        }
    }
}

fn read(place: &Path) -> Result<Vec<(String, String)>, Failure> {
    let fail = |path: &Path, error: std::io::Error| {
        let what = format!("{} cannot be read: {error}", path.display());
        Failure::new(what, "name a folder of .toml files, or one of them")
    };
    let mut paths = vec![place.to_owned()];
    if !place.is_file() {
        paths = std::fs::read_dir(place)
            .map_err(|error| fail(place, error))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
            .collect();
        paths.sort();
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).map_err(|error| fail(&path, error))?;
        Ok((path.display().to_string(), text))
    };
    paths.into_iter().map(read).collect()
}
