//! Counts which items of a request were used in the reply.
//!
//! A tool is used if it is called. A rule or reference is used if the reply names it, or shares enough of its
//! distinctive words: those in no other item of the request and not in the message. The receipt marks used items;
//! the head has the counts, which are summed over sessions on request.
//!
//! Invariant: counting never changes what is sent; it only supports suggestions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::item::ItemName;
use crate::piece::{Piece, SentPiece, Source};
use crate::search::words::stems;

use super::head::SessionHead;
use super::record::TurnRecord;

/// Maximum items counted per session.
const ITEMS_MAX: usize = 128;
/// Distinctive words that a reply must share with a rule or reference it does not name; half of them if there are
/// fewer, but at least two.
const SHARED_WORDS: usize = 4;
/// Times an item is sent without being used before its removal is suggested.
pub const UNUSED_SENT_MIN: u32 = 5;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemUsage {
    #[serde(flatten)]
    pub item: ItemName,
    /// Number of requests with it.
    pub sent: u32,
    /// Number of replies that used it.
    pub used: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemTotal {
    #[serde(flatten)]
    pub usage: ItemUsage,
    /// Number of sessions that sent it.
    pub sessions: u32,
}

pub fn item_of(source: &Source) -> Option<ItemName> {
    match source.clone() {
        Source::Rule { name, .. } => Some(ItemName::Rule { name }),
        Source::Reference { name, .. } => Some(ItemName::Reference { name }),
        // The search for tools is ours, not an item.
        Source::Tool { server, name, .. } if !server.is_empty() => {
            Some(ItemName::Tool { server, name })
        }
        _ => None,
    }
}

/// Marks the items that the reply used in the turn's receipt.
pub fn mark(record: &mut TurnRecord, sent: &[Arc<SentPiece>]) {
    let Some(receipt) = &mut record.receipt else { return };
    let items = sent.iter().filter_map(|sent| Some((item_of(&sent.piece.source)?, &sent.piece)));
    let items: Vec<(ItemName, &Piece)> = items.collect();
    let texts = items.iter().filter(|(item, _)| !matches!(item, ItemName::Tool { .. }));
    let texts: HashMap<&ContentHash, &str> =
        texts.map(|(_, piece)| (&piece.hash, piece.text.as_ref())).collect();
    let reply: BTreeSet<String> = stems(&record.reply).into_iter().collect();
    let said = record.reply.to_lowercase();
    let own = own_words(&texts, &record.message);
    let used = items.iter().filter(|(item, piece)| match item {
        ItemName::Tool { server, name } => {
            record.calls.iter().any(|call| call.tool.server == *server && call.tool.name == *name)
        }
        ItemName::Rule { name } | ItemName::Reference { name } => {
            let named = !name.is_empty() && said.contains(&name.to_lowercase());
            named || own.get(&piece.hash).is_some_and(|words| shares(words, &reply))
        }
    });
    receipt.used = used.map(|(item, _)| item.clone()).collect();
}

/// The words of each text that are in no other and not in the message.
fn own_words<'a>(
    texts: &HashMap<&'a ContentHash, &str>,
    message: &str,
) -> HashMap<&'a ContentHash, BTreeSet<String>> {
    let mut own: HashMap<&ContentHash, BTreeSet<String>> =
        texts.iter().map(|(hash, text)| (*hash, stems(text).into_iter().collect())).collect();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for word in own.values().flatten() {
        *seen.entry(word.clone()).or_default() += 1;
    }
    let asked: BTreeSet<String> = stems(message).into_iter().collect();
    for words in own.values_mut() {
        words.retain(|word| seen[word] == 1 && !asked.contains(word));
    }
    own
}

fn shares(own: &BTreeSet<String>, reply: &BTreeSet<String>) -> bool {
    let enough = SHARED_WORDS.min(own.len().div_ceil(2)).max(2);
    own.intersection(reply).count() >= enough
}

/// Counts the items of a finished turn, including inherited ones.
pub fn count(head: &mut SessionHead, record: &TurnRecord) {
    let Some(receipt) = &record.receipt else { return };
    if receipt.continues.is_none() {
        head.shown_items.clear();
    }
    for piece in receipt.pieces.iter().filter(|piece| piece.sent()) {
        let item = item_of(&piece.source).filter(|item| !head.shown_items.contains(item));
        if let Some(item) = item.filter(|_| head.shown_items.len() < ITEMS_MAX) {
            head.shown_items.push(item);
        }
    }
    let marked = receipt.pieces.iter().filter(|piece| piece.used);
    let used: Vec<ItemName> = marked.filter_map(|piece| item_of(&piece.source)).collect();
    for item in head.shown_items.clone() {
        let is_used = u32::from(used.contains(&item) || receipt.used.contains(&item));
        match head.item_usage.iter().position(|usage| usage.item == item) {
            Some(at) => {
                head.item_usage[at].sent += 1;
                head.item_usage[at].used += is_used;
            }
            None if head.item_usage.len() < ITEMS_MAX => {
                head.item_usage.push(ItemUsage { item, sent: 1, used: is_used });
            }
            None => {}
        }
    }
}

/// Session items sent often and never used.
pub fn unused(head: &SessionHead) -> Vec<ItemUsage> {
    head.item_usage
        .iter()
        .filter(|usage| usage.used == 0 && usage.sent >= UNUSED_SENT_MIN)
        .filter(|usage| head.items.iter().any(|item| item.item == usage.item))
        .cloned()
        .collect()
}

#[derive(Debug, Default)]
pub struct Totals(BTreeMap<ItemName, (u32, u32, u32)>);

impl Totals {
    pub fn add(&mut self, head: &SessionHead) {
        for usage in &head.item_usage {
            let (sent, used, sessions) = self.0.entry(usage.item.clone()).or_default();
            *sent = sent.saturating_add(usage.sent);
            *used = used.saturating_add(usage.used);
            *sessions += 1;
        }
    }

    pub fn items(self) -> Vec<ItemTotal> {
        let total = |(item, (sent, used, sessions))| ItemTotal {
            usage: ItemUsage { item, sent, used },
            sessions,
        };
        self.0.into_iter().map(total).collect()
    }
}
