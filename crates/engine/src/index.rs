//! The port of full-text search across sessions.
//!
//! An index is derived: it can be cleared and rebuilt from the logs at any time, and it is never the authority on
//! whether something exists. It matches words, not meaning; [`crate::search`] ranks within a session.
//!
//! Invariant: a search returns only documents of the requested scope.

use std::ops::Range;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::id::SessionId;
use crate::store::{Result, Scope, Version};

/// Maximum bytes of a document that are indexed; the rest is not searchable.
pub const DOCUMENT_BYTES_MAX: usize = 64 * 1024;
/// Maximum words and phrases of a query; the rest are ignored.
pub const QUERY_TERMS_MAX: usize = 32;
/// Maximum hits of a query.
pub const HITS_MAX: usize = 1000;

#[async_trait]
pub trait Index: Send + Sync + 'static {
    /// Adds or replaces `documents` of one session and updates its position atomically. A document with an empty
    /// text is removed. A position older than the stored one is ignored.
    ///
    /// Visible to every later call; a crash may lose it, but then together with its position.
    async fn put(
        &self,
        scope: &Scope,
        session: &SessionId,
        documents: Vec<Document>,
        position: Position,
    ) -> Result<()>;

    /// How far the session is indexed; `None` if not at all.
    async fn position(&self, scope: &Scope, session: &SessionId) -> Result<Option<Position>>;

    /// The positions of several sessions of a scope, in order.
    async fn positions(
        &self,
        scope: &Scope,
        sessions: &[SessionId],
    ) -> Result<Vec<Option<Position>>>;

    /// Removes a session; returns the number of documents removed.
    async fn remove_session(&self, scope: &Scope, session: &SessionId) -> Result<u64>;

    /// Removes a scope; returns the number of documents removed.
    async fn remove_scope(&self, scope: &Scope) -> Result<u64>;

    /// Returns the best hits first. Any text is a valid query; one without words finds nothing. Fails if it takes
    /// too long.
    async fn search(&self, query: &Query) -> Result<Vec<Hit>>;

    /// Marks the words of `query` in each of `texts`, because the index stores no texts.
    async fn snippets(&self, query: &Query, texts: Vec<String>) -> Result<Vec<Snippet>>;

    /// Removes everything.
    async fn clear(&self) -> Result<()>;
}

/// How much of a session is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The head version whose title and entries were indexed.
    pub version: Version,
    /// Number of log entries indexed.
    pub entries: u64,
}

impl Position {
    /// Whether this is a later version of the same incarnation as `other`. Incarnations are not comparable; the
    /// last write wins.
    pub fn is_after(&self, other: &Self) -> bool {
        self.version.incarnation == other.version.incarnation
            && self.version.number > other.version.number
    }
}

/// A text of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The title; belongs to turn 0.
    Title,
    Message,
    Reply,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The turn, from 1; 0 for the title.
    pub turn: u64,
    pub part: Part,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub scope: Scope,
    /// The words; text in double quotes is a phrase.
    pub text: String,
    pub words: Words,
    /// Maximum number of hits.
    pub limit: usize,
    /// Number of best hits to skip.
    pub offset: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Words {
    #[default]
    All,
    /// One is enough; more rank higher.
    Any,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    pub session: SessionId,
    /// The turn, from 1; 0 for the title.
    pub turn: u64,
    pub part: Part,
    /// Higher is better; comparable only within one result.
    pub score: f64,
}

/// An excerpt of a text with the matches marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// The excerpt, with an ellipsis where it was cut.
    pub text: String,
    /// Matches as byte ranges of `text`, in order, not overlapping.
    pub marks: Vec<Range<usize>>,
}

impl Snippet {
    /// The text with `open` and `close` around the matches; `plain` transforms all text, e.g. to escape it.
    pub fn marked(&self, open: &str, close: &str, plain: impl Fn(&str) -> String) -> String {
        let mut marked = String::with_capacity(self.text.len() + self.marks.len() * 8);
        let mut at = 0;
        for mark in &self.marks {
            marked.push_str(&plain(&self.text[at..mark.start]));
            marked.push_str(open);
            marked.push_str(&plain(&self.text[mark.clone()]));
            marked.push_str(close);
            at = mark.end;
        }
        marked.push_str(&plain(&self.text[at..]));
        marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_marked_and_everything_is_dressed() {
        let snippet = Snippet { text: "a <b> c".into(), marks: vec![0..1, 2..5] };
        let escape = |text: &str| text.replace('<', "&lt;").replace('>', "&gt;");
        assert_eq!(snippet.marked("[", "]", escape), "[a] [&lt;b&gt;] c");
    }
}
