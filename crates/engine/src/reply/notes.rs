//! Notes calls in the session before they are made.
//!
//! See [`crate::session::unsettled`] for the reason. The turn's commit removes the notes.

use std::sync::Arc;

use crate::error::Result;
use crate::session::Sessions;
use crate::session::sessions::Step;
use crate::session::unsettled::{UnsettledCall, UnsettledTurn};
use crate::store::Key;

pub struct CallNotes {
    pub sessions: Arc<Sessions>,
    pub key: Key,
    /// The turn, still without calls.
    pub turn: UnsettledTurn,
}

impl CallNotes {
    /// Notes a call. On return the note is as durable as a turn.
    pub async fn begin(&self, call: &UnsettledCall) -> Result<()> {
        self.sessions
            .update(&self.key, |head, _| {
                match head.unsettled.iter_mut().find(|turn| turn.id == self.turn.id) {
                    Some(turn) => turn.calls.push(call.clone()),
                    None => {
                        let calls = vec![call.clone()];
                        head.unsettled.push(UnsettledTurn { calls, ..self.turn.clone() });
                    }
                }
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(())
    }
}
