//! Documents that wait to be written in one batch.
//!
//! One transaction for many turns costs little more than one for a single turn. Pending documents are lost with
//! the process, like all derived data: the session's position is then behind, and it is indexed again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use throughline_engine::id::SessionId;
use throughline_engine::index::{Document, Position};
use throughline_engine::store::Scope;

/// Maximum size of pending texts; beyond it, they are written at once.
const WAITING_BYTES_MAX: usize = 1024 * 1024;

/// Documents of one session.
#[derive(Debug)]
pub(super) struct Put {
    pub scope: Scope,
    pub session: SessionId,
    pub documents: Vec<Document>,
    pub position: Position,
}

/// The queue of pending documents.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    puts: Vec<Put>,
    bytes: usize,
}

/// What the caller has to do after [`Pending::add`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AfterAdd {
    /// The queue was empty: schedule a write.
    WriteSoon,
    /// The queue is full: write now.
    WriteNow,
    /// A write is already scheduled.
    Wait,
}

impl Pending {
    pub(super) fn add(&self, put: Put) -> AfterAdd {
        let mut waiting = self.lock();
        let is_first = waiting.puts.is_empty();
        waiting.bytes += put.documents.iter().map(|document| document.text.len()).sum::<usize>();
        waiting.puts.push(put);
        match waiting.bytes > WAITING_BYTES_MAX {
            true => AfterAdd::WriteNow,
            false if is_first => AfterAdd::WriteSoon,
            false => AfterAdd::Wait,
        }
    }

    /// Removes and returns all pending documents in order.
    pub(super) fn take(&self) -> Vec<Put> {
        std::mem::take(&mut *self.lock()).puts
    }

    /// The position of a session once everything is written, if any of its documents are pending.
    pub(super) fn position(&self, scope: &Scope, session: &SessionId) -> Option<Position> {
        let waiting = self.lock();
        let of_session =
            waiting.puts.iter().rev().filter(|put| put.scope == *scope && put.session == *session);
        let mut position: Option<Position> = None;
        for put in of_session {
            if position.is_none_or(|known| put.position.is_after(&known)) {
                position = Some(put.position);
            }
        }
        position
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
