//! The command line: one file a command, and this match.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong use. Errors say what failed, then what to try.

mod demo_inventory;
mod serve;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::Config;
use crate::failure::Failure;

/// Keeps the thread of a conversation.
#[derive(Debug, Parser)]
#[command(name = "throughline", version, about, propagate_version = true)]
struct Cli {
    /// The configuration file; throughline.toml in this folder when absent.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve REST, MCP and the page.
    Serve(serve::Serve),
    /// The demo MCP server on standard input and output.
    DemoInventory,
}

/// Runs the command that was asked for.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&error.into()),
    };
    match runtime.block_on(run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

async fn run(cli: Cli) -> Result<(), Failure> {
    let config = || Config::load(cli.config.as_deref());
    match cli.command {
        Command::Serve(serve) => serve.run(config()?).await,
        Command::DemoInventory => demo_inventory::run().await,
    }
}

fn report(failure: &Failure) -> ExitCode {
    eprintln!("error: {failure}");
    if let Some(hint) = &failure.hint {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(failure.exit)
}
