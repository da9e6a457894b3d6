//! Notes of calls that are about to be made, kept with the session.
//!
//! See [`crate::session::unsettled`] for what they are good for. The turn's commit takes them away.

use std::sync::Arc;

use crate::error::Result;
use crate::session::Sessions;
use crate::session::sessions::Step;
use crate::session::unsettled::{UnsettledCall, UnsettledTurn};
use crate::store::Key;

/// Where the calls of one turn are noted.
pub struct CallNotes {
    pub sessions: Arc<Sessions>,
    /// The session.
    pub key: Key,
    /// The turn, still without calls.
    pub turn: UnsettledTurn,
}

impl CallNotes {
    /// Notes a call. When this answers, the note is as durable as a turn would be.
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
