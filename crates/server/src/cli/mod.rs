//! The command line: one file a command, and this match.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong use. Errors say what failed, then what to try.
//!
//! A new command is a file with a `clap::Args` struct and a `run`, a variant here and an arm below.

mod backup;
mod chat;
mod check;
mod config;
mod context;
mod demo_inventory;
mod item;
mod key;
mod local;
mod mcp;
mod memory;
mod migrate;
mod out;
mod output;
mod pack;
mod preset;
mod receipt;
mod repair;
mod replay;
mod search;
mod serve;
mod session;
mod tools;
mod user;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::assemble::{self, IfAbsent};
use crate::config::{Config, Environment, Layers};
use crate::failure::Failure;

/// Keeps the thread of a conversation.
#[derive(Debug, Parser)]
#[command(name = "throughline", version, about, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

/// Where a command's settings come from.
#[derive(Debug, clap::Args)]
pub struct Settings {
    /// The configuration file; throughline.toml in this folder when absent.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The store instead of the configured one.
    #[arg(long, global = true, value_name = "URL")]
    store: Option<String>,
}

impl Settings {
    /// The configuration with these flags over it.
    pub fn load(&self) -> Result<Config, Failure> {
        Ok(self.load_with(&[])?.0)
    }

    /// The same for a command that does `then` where there is no store.
    pub fn load_for(&self, then: IfAbsent) -> Result<Config, Failure> {
        let mut config = self.load()?;
        assemble::if_absent(&mut config, then)?;
        Ok(config)
    }

    /// The configuration with these and more flags over it, and where each value came from.
    pub fn load_with(&self, flags: &[(&str, String)]) -> Result<(Config, Layers), Failure> {
        let mut all = flags.to_vec();
        all.extend(self.store.iter().map(|url| ("store.url", url.clone())));
        Config::load(self.config.as_deref(), Environment::of_process(), &all)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve REST, MCP and the page.
    Serve(serve::Serve),
    /// A conversation in the terminal, or through a pipe.
    Chat(chat::Chat),
    /// The demo MCP server on standard input and output.
    DemoInventory,
    /// The MCP server on standard input and output.
    Mcp(mcp::Serve),
    /// Starting points for personas.
    Preset(preset::PresetCommand),
    /// Conversation partners with a persona, and chats from elsewhere.
    Context(context::ContextCommand),
    /// Conversations: list, show, history, fork, erase, export, import, tag.
    Session(session::Session),
    /// Rules, references and tools: what is available, in a session, and used.
    Item(item::ItemCommand),
    /// What the model saw on a turn, and why; two of them compared.
    Receipt(receipt::ReceiptCommand),
    /// The exact request of a turn again, to the byte.
    Replay(replay::Replay),
    /// Find words across sessions.
    Search(search::Search),
    /// The search index.
    Index(search::Index),
    /// What is known about a user: list, add, search, correct, forget, export, import.
    Memory(memory::MemoryCommand),
    /// Upstream tools through the proxy.
    Tools(tools::Tools),
    /// Packs: domain knowledge as data.
    Pack(pack::Pack),
    /// Copy the store to one file, and prove the copy.
    Backup(backup::BackupCommand),
    /// Bring a backup back, without what was erased since.
    Restore(backup::RestoreCommand),
    /// Prove that the store is sound, or name what is not.
    Check(check::Check),
    /// Mend a damaged session: make it anew, take it from a backup, or set it aside.
    Repair(repair::Repair),
    /// Copy everything from one store into another.
    Migrate(migrate::Migrate),
    /// All data of one user: erase it, or hand it over.
    User(user::UserCommand),
    /// API keys: shown once, stored hashed.
    Key(key::Key),
    /// The commented default file; what is in force and from where.
    Config(config::ConfigCommand),
}

/// The stack of a worker: a turn passes through many stages, whose frames are large in builds for debugging.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// Runs the command that was asked for.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = match runtime.thread_stack_size(STACK_BYTES).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&error.into()),
    };
    match runtime.block_on(run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

async fn run(Cli { settings, command }: Cli) -> Result<(), Failure> {
    match command {
        Command::Serve(command) => command.run(&settings).await,
        Command::Chat(command) => command.run(&settings).await,
        Command::DemoInventory => demo_inventory::run().await,
        Command::Mcp(flags) => mcp::run(&flags, &settings).await,
        Command::Preset(command) => command.run(&settings).await,
        Command::Context(command) => command.run(&settings).await,
        Command::Session(command) => command.run(&settings).await,
        Command::Item(command) => command.run(&settings).await,
        Command::Receipt(command) => command.run(&settings).await,
        Command::Replay(command) => command.run(&settings).await,
        Command::Search(command) => command.run(&settings).await,
        Command::Index(command) => command.run(&settings).await,
        Command::Memory(command) => command.run(&settings).await,
        Command::Tools(command) => command.run(&settings).await,
        Command::Pack(command) => command.run(&settings),
        Command::Backup(command) => command.run(&settings).await,
        Command::Restore(command) => command.run(&settings).await,
        Command::Check(command) => command.run(&settings).await,
        Command::Repair(command) => command.run(&settings).await,
        Command::Migrate(command) => command.run(&settings).await,
        Command::User(command) => command.run(&settings).await,
        Command::Key(command) => command.run(&settings).await,
        Command::Config(command) => command.run(&settings),
    }
}

fn report(failure: &Failure) -> ExitCode {
    eprintln!("error: {failure}");
    if let Some(hint) = &failure.hint {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(failure.exit)
}
