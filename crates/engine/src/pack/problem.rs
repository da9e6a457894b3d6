//! Why a pack was refused, and where.

use std::fmt;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackProblem {
    /// The file name given by the caller.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    pub reason: String,
}

impl PackProblem {
    /// A problem at a position in `text`; without one, at its first line.
    pub(super) fn at(file: &str, text: &str, span: Option<Range<usize>>, reason: String) -> Self {
        let end = span.map_or(0, |span| span.start.min(text.len()));
        let line = 1 + text.as_bytes()[..end].iter().filter(|byte| **byte == b'\n').count();
        Self { file: file.to_owned(), line, reason }
    }
}

impl fmt::Display for PackProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.reason)
    }
}

impl std::error::Error for PackProblem {}
