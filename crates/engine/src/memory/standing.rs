//! Turns of other sessions: which ones pieces come from, and which of them may still be shown.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::giving::gives;
use crate::error::Result;
use crate::fact::gather;
use crate::id::SessionId;
use crate::piece::Source;
use crate::session::Sessions;
use crate::session::record::TurnRecord;
use crate::store::{Key, Kind, Scope};

/// The turns of other sessions that pieces come from.
pub fn elsewhere<'a>(
    sources: impl Iterator<Item = &'a Source>,
) -> BTreeMap<SessionId, BTreeSet<u64>> {
    let mut named: BTreeMap<SessionId, BTreeSet<u64>> = BTreeMap::new();
    for source in sources {
        if let Source::Elsewhere { session, turn, .. } = source {
            named.entry(session.clone()).or_default().insert(*turn);
        }
    }
    named
}

/// The turns of other sessions that may still be shown.
pub async fn standing(
    sessions: &Sessions,
    scope: &Scope,
    wanted: &BTreeMap<SessionId, BTreeSet<u64>>,
) -> Result<HashMap<(SessionId, u64), Arc<TurnRecord>>> {
    let mut standing = HashMap::new();
    for (id, turns) in wanted {
        let key = Key { scope: scope.clone(), kind: Kind::Session, id: id.clone().into() };
        let Some(loaded) = sessions.find(&key).await? else { continue };
        if !gives(&loaded.head, sessions.now()) {
            continue;
        }
        for record in sessions.turns_at(&loaded, turns).await? {
            if loaded.head.shows(&record) && !gather::is_unsaved(&record.message) {
                standing.insert((id.clone(), record.turn), record);
            }
        }
    }
    Ok(standing)
}
