//! Read-only links to a session: managed by its owner, opened by anyone who has the token.
//!
//! A link shows the turns up to its creation, and of tool calls only the names. It works until it expires or is
//! revoked, as long as the session is active and not private.
//!
//! Invariant: what a visitor can read depends only on the link's record, never on the visitor's input.

use std::sync::Arc;

use futures::future::try_join_all;
use jiff::{SignedDuration, Timestamp};

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::id::SessionId;
use crate::sabotage::{self, Switch};
use crate::session::record::TurnRecord;
use crate::session::sessions::Step;
use crate::session::share::Share;
use crate::session::{LoadedSession, SessionHead};
use crate::share::{self, ShareRecord, ShareToken};
use crate::store::{Erased, ListedThread};
use crate::turn::check_active;

use super::Engine;
use super::history::{HistoryPage, HistoryQuery};

/// Default lifetime of a link in days.
const DAYS_DEFAULT: u32 = 7;
/// Age at which a record without a session is swept; a younger one may be about to be listed.
const UNLISTED_FOR: SignedDuration = SignedDuration::from_hours(1);

#[derive(Debug)]
pub struct SharedPage {
    pub share: Share,
    /// In the requested order, without erased and withheld turns.
    pub turns: Vec<Arc<TurnRecord>>,
    /// The first turn of the next page.
    pub next: Option<u64>,
}

impl Engine {
    /// Creates a link that `token` opens for that many days.
    pub async fn share(
        &self,
        caller: &Caller,
        id: &SessionId,
        token: &ShareToken,
        days: Option<u32>,
    ) -> Result<Share> {
        authorize(caller, Action::Write)?;
        let now = self.now();
        let expires_at = now + self.share_time(days)?;
        let share_id = token.id();
        let key = caller.session_key(id);
        self.new_share(&self.sessions.load(&key).await?.head, &share_id, (now, expires_at))?;
        let record = ShareRecord { scope: caller.scope.clone(), session: id.clone(), expires_at };
        let (store, clock) = (self.store().as_ref(), self.clock.as_ref());
        share::create(store, clock, &share_id, &record).await?;
        let listed = self.sessions.update(&key, |head, _| {
            let share = self.new_share(head, &share_id, (now, expires_at))?;
            head.shares.retain(|share| share.expires_at > now);
            head.shares.push(share.clone());
            Ok(Step::Commit(None, share))
        });
        match listed.await {
            Ok((_, share)) => Ok(share),
            Err(error) => {
                store.erase(&share::place(&share_id)?).await?;
                Err(error)
            }
        }
    }

    /// The valid links of a session, newest last.
    pub async fn shares(&self, caller: &Caller, id: &SessionId) -> Result<Vec<Share>> {
        let loaded = self.session(caller, id).await?;
        let now = self.now();
        let open = loaded.head.open_shares(now).map(|share| async move {
            // The head in a restored copy may list links revoked since.
            let record = share::find(self.store().as_ref(), &share.id).await?;
            Ok::<_, Error>(record.map(|_| share.clone()))
        });
        Ok(try_join_all(open).await?.into_iter().flatten().collect())
    }

    /// Revokes a link permanently; returns the remaining ones.
    pub async fn revoke_share(
        &self,
        caller: &Caller,
        id: &SessionId,
        share: &str,
    ) -> Result<Vec<Share>> {
        authorize(caller, Action::Write)?;
        let key = caller.session_key(id);
        let loaded = self.sessions.load(&key).await?;
        let Some(revoked) = loaded.head.shares.iter().find(|known| known.id.as_str() == share)
        else {
            let known = loaded.head.open_shares(self.now()).map(|known| known.id.to_string());
            let name = share.chars().take(64).collect();
            return Err(Error::Missing { kind: "share", name, known: known.collect() });
        };
        if sabotage::is(Switch::KeepShares) {
            return self.shares(caller, id).await;
        }
        // Erase the record first: after an error the link is still listed, and revoking can be repeated.
        self.erase_shares(std::slice::from_ref(revoked)).await?;
        let unlisted = self.sessions.update(&key, |head, _| {
            head.shares.retain(|known| known.id != revoked.id);
            Ok(Step::Commit(None, ()))
        });
        unlisted.await?;
        self.shares(caller, id).await
    }

    /// What a link shows. The error is the same for an unknown, expired or revoked token.
    pub async fn shared(&self, token: &ShareToken, query: HistoryQuery) -> Result<SharedPage> {
        let id = token.id();
        if self.limits().shares_max == 0 {
            return Err(Error::NoShare);
        }
        let record = share::find(self.store().as_ref(), &id).await?.ok_or(Error::NoShare)?;
        let loaded = self.sessions.find(&record.session_key()).await?.ok_or(Error::NoShare)?;
        let share = loaded.head.open_share(&id, self.now()).ok_or(Error::NoShare)?;
        let HistoryPage { mut turns, next, .. } =
            self.turns_up_to(&loaded, share.up_to_turn, query).await?;
        turns.retain(|record| loaded.head.uses(record));
        Ok(SharedPage { share: share.clone(), turns, next })
    }

    /// Erases the records of links that were removed from their session's head.
    pub(super) async fn erase_shares(&self, shares: &[Share]) -> Result<Erased> {
        let (store, clock) = (self.store().as_ref(), self.clock.as_ref());
        let mut erased = Erased::default();
        for share in shares {
            erased.add(share::erase(store, clock, &share.id, share.created_at).await?);
        }
        Ok(erased)
    }

    /// Erases the record of a dead link.
    pub(super) async fn sweep_share(
        &self,
        listed: &ListedThread,
        sweep: &mut super::Sweep,
    ) -> Result<()> {
        let now = self.now();
        let id = listed.key.id.as_str();
        let record = share::read(self.store().as_ref(), &listed.key).await?;
        let opens = match record.filter(|record| record.expires_at > now) {
            None => false,
            Some(record) => {
                let session = self.sessions.find(&record.session_key()).await?;
                let lists =
                    |loaded: LoadedSession| loaded.head.shares.iter().any(|s| s.id.as_str() == id);
                listed.changed_at + UNLISTED_FOR > now || session.is_some_and(lists)
            }
        };
        if !opens {
            self.store().erase(&listed.key).await?;
            sweep.shares += 1;
        }
        Ok(())
    }

    /// The lifetime of a link of that many days.
    fn share_time(&self, days: Option<u32>) -> Result<SignedDuration> {
        let most = self.limits().share_days_max;
        let days = days.unwrap_or(DAYS_DEFAULT.min(most));
        if !(1..=most).contains(&days) {
            let reason = format!("{days} is outside 1-{most} (limits.share_days_max)");
            return Err(Error::invalid("expires_in_days", reason));
        }
        Ok(SignedDuration::from_hours(i64::from(days) * 24))
    }

    /// A new link to the session as it is now, if allowed.
    fn new_share(
        &self,
        head: &SessionHead,
        id: &ContentHash,
        (created_at, expires_at): (Timestamp, Timestamp),
    ) -> Result<Share> {
        let allowed = self.limits().shares_max;
        check_active(head, created_at)?;
        let reason = match () {
            () if allowed == 0 => Some("sharing is disabled (limits.shares_max is 0)"),
            () if head.settings.private => Some("it is private"),
            () if head.turns == 0 => Some("it has no turns yet"),
            () => None,
        };
        if let Some(reason) = reason {
            return Err(Error::NotShareable { session: head.id.clone(), reason });
        }
        let open = head.open_shares(created_at).count();
        if open >= allowed {
            return Err(Error::OverLimit {
                what: "the number of links of the session".into(),
                size: open as u64 + 1,
                limit: "shares_max",
                allowed: allowed as u64,
            });
        }
        let (id, title) = (*id, head.title.clone());
        Ok(Share { id, up_to_turn: head.turns, title, created_at, expires_at })
    }
}
