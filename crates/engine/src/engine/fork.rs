//! Forks a session: a new one starts with the turns of an old one. Editing a message is forking.

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::permission::Named;
use crate::session::head::{ForkedFrom, SessionHead};
use crate::session::record::TurnRecord;
use crate::session::sessions::encode;
use crate::session::{LoadedSession, apply};

use super::Engine;

/// Turns copied at once.
const COPY_TURNS: u64 = 512;

impl Engine {
    /// A new session with the turns of `id` up to `turn`, or all of them.
    pub async fn fork(
        &self,
        caller: &Caller,
        id: &SessionId,
        turn: Option<u64>,
        new_id: Option<SessionId>,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let loaded = self.sessions.load(&caller.session_key(id)).await?;
        let turns = loaded.head.turns;
        let turn = turn.unwrap_or(turns);
        if turn > turns {
            return Err(Error::NoTurn { session: id.clone(), turn, turns });
        }
        let new_id = match new_id {
            Some(id) => id,
            None => SessionId::new(self.new_id().to_string())?,
        };
        let key = caller.session_key(&new_id);
        let mut head = beginning(&loaded.head, new_id, self.now());
        let mut log = Vec::new();
        let mut next = 0;
        while next < turn {
            let end = (next + COPY_TURNS).min(turn);
            for record in self.sessions.turns(&loaded, next..end).await? {
                replay(&mut head, TurnRecord::clone(&record));
                log.push(encode(&key, &record)?);
            }
            next = end;
        }
        head.summary = loaded.head.summary.clone().filter(|summary| summary.to <= turn);
        head.withheld = loaded.head.withheld.up_to(turn);
        head.imported_turns = loaded.head.imported_turns.min(turn);
        head.forked_from = Some(ForkedFrom { session: id.clone(), turn });
        head.touch(self.now());
        self.sessions.create(&key, head, log).await
    }
}

/// The head of a fork: settings, persona, items, tags, and restrictions on calls.
fn beginning(old: &SessionHead, id: SessionId, now: jiff::Timestamp) -> SessionHead {
    let mut head = SessionHead::new(id, now);
    head.agent.clone_from(&old.agent);
    head.title.clone_from(&old.title);
    head.tags.clone_from(&old.tags);
    head.settings = old.settings.clone();
    head.persona.clone_from(&old.persona);
    head.items.clone_from(&old.items);
    head.unlisted_servers.clone_from(&old.unlisted_servers);
    head.entities = old.entities.clone();
    // Restrictions and names given by tools are copied; permissions applied to the old session only.
    head.tool_rules = old.tool_rules.iter().filter(|known| !known.rule.grants()).cloned().collect();
    head.tool_words = old.tool_words.clone();
    head
}

/// Applies a turn from the log; derived state follows from it.
pub(crate) fn replay(head: &mut SessionHead, mut record: TurnRecord) {
    let at = record.at;
    Named::of(&record).remember(&mut head.tool_words);
    head.erased_turns += u64::from(record.status == crate::session::record::TurnStatus::Erased);
    apply::turn(head, &mut record, None, 0, at);
}
