//! Which items of a request were used in the reply.
//!
//! A tool is used when it is called. A rule or a reference is used when the reply names it, or shares
//! enough of the words that set it apart. The counts are kept in the head, one line an item, and add up
//! over sessions on request.
//!
//! Invariant: counting never changes what is sent; it only supports suggestions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::piece::Source;
use crate::search::words::stems;
use crate::session::head::{ItemName, SessionHead};
use crate::session::record::TurnRecord;

/// Items counted in one session.
const ITEMS_MAX: usize = 128;
/// Words a reply must share with a rule or reference that it does not name.
const SHARED_WORDS_MIN: usize = 4;
/// Times an item is sent without being used before removing it is suggested.
pub const UNUSED_SENT_MIN: u32 = 5;

/// How often an item was sent and used in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemUsage {
    /// Which.
    #[serde(flatten)]
    pub item: ItemName,
    /// Requests it was part of.
    pub sent: u32,
    /// Replies that used it.
    pub used: u32,
}

/// Counts the items of a finished turn.
pub fn count(head: &mut SessionHead, record: &TurnRecord) {
    let Some(receipt) = &record.receipt else { return };
    let reply: BTreeSet<String> = stems(&record.reply).into_iter().collect();
    for piece in receipt.pieces.iter().filter(|piece| piece.sent()) {
        let Some(item) = item_of(&piece.source) else { continue };
        let used = is_used(&item, record, &reply, record.contents.get(&piece.hash));
        let known = head.item_usage.iter().position(|usage| usage.item == item);
        if let Some(at) = known {
            head.item_usage[at].sent += 1;
            head.item_usage[at].used += u32::from(used);
        } else if head.item_usage.len() < ITEMS_MAX {
            head.item_usage.push(ItemUsage { item, sent: 1, used: u32::from(used) });
        }
    }
}

fn item_of(source: &Source) -> Option<ItemName> {
    match source.clone() {
        Source::Rule { name, .. } => Some(ItemName::Rule { name }),
        Source::Reference { name, .. } => Some(ItemName::Reference { name }),
        Source::Tool { server, name, .. } => Some(ItemName::Tool { server, name }),
        _ => None,
    }
}

fn is_used(
    item: &ItemName,
    record: &TurnRecord,
    reply: &BTreeSet<String>,
    text: Option<&String>,
) -> bool {
    match item {
        ItemName::Tool { server, name } => {
            record.calls.iter().any(|call| call.tool.server == *server && call.tool.name == *name)
        }
        ItemName::Rule { name } | ItemName::Reference { name } => {
            let named =
                !name.is_empty() && record.reply.to_lowercase().contains(&name.to_lowercase());
            let shared = text.map_or(0, |text| {
                let words: BTreeSet<String> = stems(text).into_iter().collect();
                words.intersection(reply).count()
            });
            named || shared >= SHARED_WORDS_MIN
        }
    }
}

/// Session items that were sent often and never used.
pub fn unused(head: &SessionHead) -> Vec<ItemUsage> {
    head.item_usage
        .iter()
        .filter(|usage| usage.used == 0 && usage.sent >= UNUSED_SENT_MIN)
        .filter(|usage| head.items.iter().any(|item| item.item == usage.item))
        .cloned()
        .collect()
}

/// Adds the counts of several sessions.
pub fn total<'a>(heads: impl Iterator<Item = &'a SessionHead>) -> Vec<ItemUsage> {
    let mut totals: BTreeMap<ItemName, (u32, u32)> = BTreeMap::new();
    for usage in heads.flat_map(|head| &head.item_usage) {
        let (sent, used) = totals.entry(usage.item.clone()).or_default();
        *sent += usage.sent;
        *used += usage.used;
    }
    totals.into_iter().map(|(item, (sent, used))| ItemUsage { item, sent, used }).collect()
}
