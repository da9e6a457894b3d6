//! `throughline completions` and `throughline man`: the command line for shells and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use serde_json::json;

use super::{out, output};
use crate::failure::Failure;

/// Name of the program.
const PROGRAM: &str = "throughline";

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    /// Prints the completions.
    pub(super) fn run(self, mut command: clap::Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, PROGRAM, &mut script);
        out::bytes(&script)
    }
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(super) struct Man {
    /// The folder, created if missing [default: print only the main page to standard output].
    folder: Option<PathBuf>,
}

impl Man {
    /// Writes a page for every command.
    pub(super) fn run(self, command: clap::Command, json: bool) -> Result<(), Failure> {
        let Some(folder) = self.folder else {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            return out::bytes(&page);
        };
        let fail = |error: std::io::Error| {
            let what = format!("{} cannot be written: {error}", folder.display());
            Failure::new(what, "use a writable folder")
        };
        std::fs::create_dir_all(&folder).map_err(fail)?;
        clap_mangen::generate_to(command, &folder).map_err(fail)?;
        let pages = std::fs::read_dir(&folder).map_err(fail)?;
        let pages = pages.filter_map(|page| page.ok()?.file_name().into_string().ok());
        let mut pages: Vec<String> = pages.filter(|name| name.starts_with(PROGRAM)).collect();
        pages.sort();
        if json {
            return output::json(&json!({"folder": folder, "pages": pages}));
        }
        output::line(format!(
            "{} pages written to {}; read the first with man -l {}/{PROGRAM}.1",
            pages.len(),
            folder.display(),
            folder.display()
        ))
    }
}
