//! The command line: one file per command, and dispatch.
//!
//! Exit codes: 0 success, 1 failure, 2 wrong use. Errors say what failed and what to try; with `--json` as an
//! object.
//!
//! A new command is a file with a `clap::Args` struct and a `run`, a variant here, an arm below and an example
//! in [`examples`]. Its requests go through [`api`], so that it also works on a server.

mod api;
mod backup;
mod chat;
mod check;
mod config;
mod context;
mod demo_inventory;
mod doctor;
mod examples;
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
mod shell;
mod tools;
mod user;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use secrecy::SecretString;

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

/// Options of all commands.
#[derive(Debug, clap::Args)]
pub struct Settings {
    /// The configuration file [default: throughline.toml in the working directory].
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Use this store instead of the configured one.
    #[arg(long, global = true, value_name = "URL")]
    store: Option<String>,
    /// Use a server instead of a store; also THROUGHLINE_SERVER.
    #[arg(long, global = true, value_name = "URL", conflicts_with = "store")]
    server: Option<String>,
    /// The API key for that server. Prefer THROUGHLINE_KEY, which is not visible in the process list.
    #[arg(long, global = true, value_name = "KEY")]
    key: Option<SecretString>,
    /// Print JSON, including errors.
    #[arg(long, global = true)]
    pub json: bool,
}

impl Settings {
    /// The server to use and its key; `--store` takes precedence over the environment.
    pub fn server(&self) -> Option<(String, Option<SecretString>)> {
        let environment = Environment::of_process();
        let named = || environment.get("THROUGHLINE_SERVER").filter(|_| self.store.is_none());
        let address = self.server.clone().or_else(|| named().map(str::to_owned))?;
        Some((address, self.key.clone().or_else(|| environment.secret("THROUGHLINE_KEY"))))
    }

    /// Rejects `--server` for commands that work on this machine only.
    fn only_here(&self, what: &str, why: &str) -> Result<(), Failure> {
        let Some(_) = self.server() else { return Ok(()) };
        let refused = Failure::wrong_use(
            format!("{what} cannot run through a server: {why}"),
            "run it on the server's machine, without --server and THROUGHLINE_SERVER",
        );
        Err(refused.coded("local_only"))
    }

    /// The configuration with these options applied.
    pub fn load(&self) -> Result<Config, Failure> {
        Ok(self.load_with(&[])?.0)
    }

    /// Like [`Self::load`], for a command that does `then` if there is no store. One that was named is never made up.
    pub fn load_for(&self, then: IfAbsent) -> Result<Config, Failure> {
        let mut config = self.load()?;
        let then = match then {
            IfAbsent::Pretend if self.store.is_some() => IfAbsent::Refuse,
            then => then,
        };
        assemble::if_absent(&mut config, then)?;
        Ok(config)
    }

    /// The configuration with these and more options applied, and the source of each value.
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
    /// Chat in the terminal or through a pipe.
    Chat(chat::Chat),
    /// Send one message and print the answer.
    Ask(chat::Ask),
    /// Run the demo MCP server over stdio.
    DemoInventory,
    /// Run the MCP server over stdio.
    Mcp(mcp::Serve),
    /// Manage presets: stored personas.
    Preset(preset::PresetCommand),
    /// Manage contexts (sessions with a persona), and import chats from other products.
    Context(context::ContextCommand),
    /// Manage sessions: list, show, history, fork, delete, erase, export, import, tag.
    Session(session::Session),
    /// Manage rules, references and tools, and see which are used.
    Item(item::ItemCommand),
    /// Show what the model saw on a turn, and why, or compare two turns.
    Receipt(receipt::ReceiptCommand),
    /// Print the exact request of a turn, to the byte.
    Replay(replay::Replay),
    /// Find words across sessions.
    Search(search::Search),
    /// Manage the search index.
    Index(search::Index),
    /// Manage memories of a user: list, add, search, correct, forget, export, import.
    Memory(memory::MemoryCommand),
    /// List, search, call and approve upstream tools.
    Tools(tools::Tools),
    /// Check packs, which describe the things of a domain.
    Pack(pack::Pack),
    /// Copy the store to one file and verify the copy.
    Backup(backup::BackupCommand),
    /// Restore a backup, without data that was erased since.
    Restore(backup::RestoreCommand),
    /// Verify the store and report damage.
    Check(check::Check),
    /// Repair a damaged session: rebuild it, take it from a backup, or move it away.
    Repair(repair::Repair),
    /// Copy everything from one store to another.
    Migrate(migrate::Migrate),
    /// Export or erase all data of a user.
    User(user::UserCommand),
    /// Create, list and revoke API keys.
    Key(key::Key),
    /// Print the default configuration, or the effective settings and their sources.
    Config(config::ConfigCommand),
    /// Check configuration, store, models, MCP servers and clock, and suggest fixes.
    Doctor(doctor::Doctor),
    /// Print completions for a shell.
    Completions(shell::Completions),
    /// Write the manual pages to a folder.
    Man(shell::Man),
}

/// Stack size of workers: a turn passes through many stages, whose frames are large in debug builds.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// Runs the command line.
pub fn main() -> ExitCode {
    let cli = match parsed() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let json = cli.settings.json;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = match runtime.thread_stack_size(STACK_BYTES).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&error.into(), json),
    };
    match runtime.block_on(run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure, json),
    }
}

/// The complete command line, as it is parsed, completed and documented.
fn command_line() -> clap::Command {
    examples::add(Cli::command())
}

/// Parses the arguments; help, version and wrong use end here.
fn parsed() -> Result<Cli, ExitCode> {
    let matches = command_line().try_get_matches();
    matches.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)).map_err(|error| {
        let for_program = std::env::args_os().any(|argument| argument == "--json");
        if error.use_stderr() && for_program {
            let text = error.render().to_string();
            let (what, rest) = text.split_once('\n').unwrap_or((&text, ""));
            let what = what.trim_start_matches("error: ");
            return report(&Failure::wrong_use(what, rest.trim()), true);
        }
        // Ignores a closed pipe.
        let _ = error.print();
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

async fn run(Cli { settings, command }: Cli) -> Result<(), Failure> {
    if let Some((what, why)) = command.only_here() {
        settings.only_here(what, why)?;
    }
    match command {
        Command::Serve(command) => command.run(&settings).await,
        Command::Chat(command) => command.run(&settings).await,
        Command::Ask(command) => command.run(&settings).await,
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
        Command::Doctor(command) => command.run(&settings).await,
        Command::Completions(completions) => completions.run(command_line()),
        Command::Man(man) => man.run(command_line(), settings.json),
    }
}

impl Command {
    /// Name of a command that works on this machine only, and why.
    fn only_here(&self) -> Option<(&'static str, &'static str)> {
        const STORE: &str = "it works on the store itself";
        const HERE: &str = "it starts a server on this machine";
        match self {
            Self::Serve(_) => Some(("serve", HERE)),
            Self::Mcp(_) => Some(("mcp", HERE)),
            Self::Index(_) => Some(("index", STORE)),
            Self::Backup(_) => Some(("backup", STORE)),
            Self::Restore(_) => Some(("restore", STORE)),
            Self::Check(_) => Some(("check", STORE)),
            Self::Repair(_) => Some(("repair", STORE)),
            Self::Migrate(_) => Some(("migrate", STORE)),
            Self::Key(_) => Some(("key", "a key that leaks must not be able to create others")),
            Self::Chat(_)
            | Self::Ask(_)
            | Self::DemoInventory
            | Self::Preset(_)
            | Self::Context(_)
            | Self::Session(_)
            | Self::Item(_)
            | Self::Receipt(_)
            | Self::Replay(_)
            | Self::Search(_)
            | Self::Memory(_)
            | Self::Tools(_)
            | Self::Pack(_)
            | Self::User(_)
            | Self::Config(_)
            | Self::Doctor(_)
            | Self::Completions(_)
            | Self::Man(_) => None,
        }
    }
}

fn report(failure: &Failure, json: bool) -> ExitCode {
    if json {
        eprintln!("{:#}", failure.json());
        return ExitCode::from(failure.exit);
    }
    eprintln!("error: {failure}");
    if let Some(hint) = &failure.hint {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(failure.exit)
}
