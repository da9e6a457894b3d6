//! Starts the command that was asked for and turns its end into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    throughline::cli::main()
}
