//! Standard output.
//!
//! A closed pipe (`| head`) is not an error; the rest is discarded.

use std::io::{self, ErrorKind, Write};

use crate::failure::Failure;

/// Writes a line.
pub(super) fn line(text: impl std::fmt::Display) -> Result<(), Failure> {
    write(format_args!("{text}\n"))
}

/// Writes text as it is.
pub(super) fn text(text: impl std::fmt::Display) -> Result<(), Failure> {
    write(format_args!("{text}"))
}

/// Writes bytes as they are.
pub(super) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    gone_is_fine(out.write_all(bytes).and_then(|()| out.flush()))
}

fn write(text: std::fmt::Arguments<'_>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    gone_is_fine(out.write_fmt(text).and_then(|()| out.flush()))
}

fn gone_is_fine(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
