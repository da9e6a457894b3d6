//! Full-text search across sessions, as the engine sees it.
//!
//! An index is derived: it can be cleared and rebuilt from the logs at any time, and it is never asked
//! whether something exists. It knows words, not meaning; [`crate::search`] ranks within a session.
//!
//! Invariant: a search answers only documents of the scope it was asked for.

use std::ops::Range;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::id::SessionId;
use crate::store::{Result, Scope, Version};

/// The longest text of one document that is indexed, in bytes; what is beyond is not found.
pub const DOCUMENT_BYTES_MAX: usize = 64 * 1024;
/// The most words and phrases of a query that are looked for; what is beyond is not.
pub const QUERY_TERMS_MAX: usize = 32;
/// The most hits of one answer.
pub const HITS_MAX: usize = 1000;

/// Finds words in sessions.
#[async_trait]
pub trait Index: Send + Sync + 'static {
    /// Adds or replaces `documents` of one session and moves its position, as one step. A document
    /// with an empty text is removed. A position older than the one kept changes nothing.
    ///
    /// Every later call sees it; a crash may lose it together with its position.
    async fn put(
        &self,
        scope: &Scope,
        session: &SessionId,
        documents: Vec<Document>,
        position: Position,
    ) -> Result<()>;

    /// How far the session is indexed; `None` when it is not at all.
    async fn position(&self, scope: &Scope, session: &SessionId) -> Result<Option<Position>>;

    /// The same for several sessions of a scope, in their order.
    async fn positions(
        &self,
        scope: &Scope,
        sessions: &[SessionId],
    ) -> Result<Vec<Option<Position>>>;

    /// Removes all of a session and answers how many documents went.
    async fn remove_session(&self, scope: &Scope, session: &SessionId) -> Result<u64>;

    /// Removes all of a scope and answers how many documents went.
    async fn remove_scope(&self, scope: &Scope) -> Result<u64>;

    /// The best hits first. Any text is a valid query; one without a word finds nothing. One that takes too long
    /// is an error.
    async fn search(&self, query: &Query) -> Result<Vec<Hit>>;

    /// The places in `texts` where the words of `query` stand, one for each. The index itself keeps no texts.
    async fn snippets(&self, query: &Query, texts: Vec<String>) -> Result<Vec<Snippet>>;

    /// Removes everything.
    async fn clear(&self) -> Result<()>;
}

/// How much of a session is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The version of the head whose title and entries were indexed.
    pub version: Version,
    /// Entries of its log that were indexed.
    pub entries: u64,
}

impl Position {
    /// Whether an index that is here knows more than one at `other`: a later version of the same life.
    /// Different lives cannot be compared; the one that is written last holds.
    pub fn is_after(&self, other: &Self) -> bool {
        self.version.incarnation == other.version.incarnation
            && self.version.number > other.version.number
    }
}

/// Which text of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Its title; belongs to turn 0.
    Title,
    /// What the user said.
    Message,
    /// What was answered.
    Reply,
}

/// One text of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The turn, counted from 1; 0 for the title.
    pub turn: u64,
    /// Which text of it.
    pub part: Part,
    pub text: String,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Whose sessions.
    pub scope: Scope,
    /// The words; text in double quotes is a phrase.
    pub text: String,
    /// Whether all of them must be found.
    pub words: Words,
    /// At most this many hits.
    pub limit: usize,
    /// Leave out this many of the best.
    pub offset: usize,
}

/// How the words of a query are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Words {
    /// Every word must be found.
    #[default]
    All,
    /// One is enough; more are better.
    Any,
}

/// One document that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    pub session: SessionId,
    /// The turn, counted from 1; 0 for the title.
    pub turn: u64,
    /// Which text of it.
    pub part: Part,
    /// The higher the better; comparable within one answer only.
    pub score: f64,
}

/// A stretch of a text with the found words marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// The stretch; an ellipsis stands where it was cut.
    pub text: String,
    /// Found words as byte ranges of `text`, in order, without overlap.
    pub marks: Vec<Range<usize>>,
}

impl Snippet {
    /// The text with `open` and `close` around the found words; `plain` dresses all other text (to
    /// escape it, say).
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
