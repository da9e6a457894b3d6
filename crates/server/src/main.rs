//! Entry point: runs the command and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    throughline::cli::main()
}
