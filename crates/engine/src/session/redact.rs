//! Removes what was derived from erased turns from the records of the others.
//!
//! Later requests showed an erased turn, notes on the entities it named, and a summary of it. Their receipts still say
//! that something was shown there, and that it was erased. A request that showed nothing of it can still be rebuilt
//! to the byte: texts that only an erased record stored (rules, tool definitions) move to the next record that uses
//! them.
//!
//! Invariant: what is left of an erased turn is its number, and in later receipts the positions and sizes of what was
//! shown of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::hash::ContentHash;
use crate::piece::{Position, Source};
use crate::receipt::{Receipt, ReceiptPiece};

use super::client_body::ClientBody;
use super::erased_words::{ErasedWords, own_texts};
use super::head::SessionHead;
use super::record::TurnRecord;

/// The reason given for a piece whose source was erased.
const ERASED: &str = "what it was made of was erased";
/// Start of the part of a receipt's sentence that names entities; it is the last part.
const ABOUT: &str = "what is known of ";

/// Rewrites the records of a session whose `turns` are erased.
pub(super) struct Redaction<'a> {
    turns: &'a BTreeSet<u64>,
    records: BTreeMap<u64, Arc<TurnRecord>>,
    words: &'a ErasedWords,
    /// The new places of texts that an erased record stored.
    moved: BTreeMap<ContentHash, u64>,
    /// Contents that are gone.
    gone: BTreeSet<ContentHash>,
    /// Turns whose request cannot be rebuilt.
    broken: BTreeSet<u64>,
    /// Turns whose client's request is no longer stored, or no longer as a difference to another.
    unbased: BTreeSet<u64>,
}

impl<'a> Redaction<'a> {
    /// `records` are those of the session before the erasure.
    pub(super) fn new(
        turns: &'a BTreeSet<u64>,
        records: &[Arc<TurnRecord>],
        words: &'a ErasedWords,
    ) -> Self {
        let records = records.iter().map(|record| (record.turn, record.clone())).collect();
        Self {
            turns,
            records,
            words,
            moved: BTreeMap::new(),
            gone: BTreeSet::new(),
            broken: turns.clone(),
            unbased: turns.clone(),
        }
    }

    /// The record without what was made of erased turns. Records come in the order of their turns.
    pub(super) fn record(&mut self, record: &mut TurnRecord) {
        let turn = record.turn;
        if let Some(mut receipt) = record.receipt.take() {
            let kept = self.receipt(turn, &mut receipt, &record.contents);
            record.contents.retain(|hash, _| !self.gone.contains(hash));
            record.contents.extend(kept);
            record.receipt = Some(receipt);
        }
        if let Some(body) = &record.client_body {
            let rest = self.client_body(turn, body);
            record.client_body = rest;
        }
    }

    /// Redacts what the head stores besides its records.
    pub(super) fn head(&mut self, head: &mut SessionHead) {
        if let Some(pending) = &mut head.pending {
            let turn = head.turns + 1;
            let kept = self.receipt(turn, &mut pending.receipt, &pending.contents);
            pending.contents.retain(|hash, _| !self.gone.contains(hash));
            pending.contents.extend(kept);
            if self.broken.contains(&turn) {
                pending.noticed = Default::default();
            }
            let words = self.words.besides(&pending.message);
            pending.withdraw(ERASED, &words);
        }
        let items = |round: &super::head::ClientRound| {
            let said = serde_json::to_string(&round.items).ok();
            said.is_none_or(|said| self.words.are_in_json(&said))
        };
        head.client_round.take_if(|round| items(round));
        head.contents.retain(|hash, _| !self.gone.contains(hash));
        for (hash, turn) in &self.moved {
            head.contents.insert(*hash, *turn);
        }
    }

    /// Redacts a receipt; returns the texts that its turn stores from now on.
    fn receipt(
        &mut self,
        turn: u64,
        receipt: &mut Receipt,
        contents: &BTreeMap<ContentHash, String>,
    ) -> BTreeMap<ContentHash, String> {
        if receipt.continues.is_some_and(|before| self.turns.contains(&before)) {
            // It stands alone from now on: the receipt that it went on from is gone.
            let mut pieces = self.inherited(receipt.continues);
            pieces.append(&mut receipt.pieces);
            receipt.pieces = pieces;
            receipt.continues = None;
        }
        let mut redacted = false;
        for piece in receipt.pieces.iter_mut().filter(|piece| !piece.erased) {
            if self.is_gone(turn, piece, contents) {
                redacted |= piece.sent();
                self.gone.extend(erase(piece));
            }
        }
        // It may name the tool that was used last.
        if self.is_after(turn) && self.words.name_a_tool_in(&receipt.mode_why) {
            receipt.mode_why = ERASED.into();
        }
        let told = receipt.summary.as_mut().filter(|told| self.words.are_in(told));
        if let Some(told) = told {
            *told = without_names(told);
        }
        let continues = receipt.continues.is_some_and(|before| self.broken.contains(&before));
        if redacted || continues {
            self.broken.insert(turn);
            receipt.request_hash = ContentHash::of(ERASED);
            receipt.handed_on_hash = None;
        }
        self.keep(turn, receipt)
    }

    /// Whether a turn comes after an erased one.
    fn is_after(&self, turn: u64) -> bool {
        self.turns.first().is_some_and(|first| *first < turn)
    }

    /// The pieces at the start of a request that continues `before`.
    fn inherited(&self, mut before: Option<u64>) -> Vec<ReceiptPiece> {
        let mut links = Vec::new();
        while let Some(turn) = before {
            let receipt = self.records.get(&turn).and_then(|record| record.receipt.as_ref());
            let Some(receipt) = receipt else { break };
            before = receipt.continues.filter(|earlier| *earlier < turn);
            links.push((turn, receipt));
        }
        let links = links.into_iter().rev();
        let sent = links.flat_map(|(own, receipt)| {
            let sent = receipt.pieces.iter().filter(|piece| piece.sent());
            sent.map(move |piece| piece.inherited(own))
        });
        sent.collect()
    }

    /// Whether a piece of a turn's request was made of an erased turn.
    fn is_gone(
        &self,
        turn: u64,
        piece: &ReceiptPiece,
        contents: &BTreeMap<ContentHash, String>,
    ) -> bool {
        let holder = piece.kept_in.unwrap_or(turn);
        let after = self.turns.contains(&holder) || self.is_after(holder);
        let from_erased = piece.since.is_some_and(|since| self.turns.contains(&since));
        let text = || {
            let elsewhere = || self.records.get(&holder)?.contents.get(&piece.hash);
            contents.get(&piece.hash).or_else(elsewhere)
        };
        match &piece.source {
            Source::History { turn, .. }
            | Source::Recalled { turn, .. }
            | Source::EarlierResult { turn, .. } => self.turns.contains(turn),
            Source::Summary { from, to } => self.turns.range(from..=to).next().is_some(),
            Source::Entity { name, .. } => {
                after
                    && (self.words.are_in(name)
                        || text().is_none_or(|text| self.words.are_in(text)))
            }
            Source::Topic => after && text().is_none_or(|text| self.words.are_in(text)),
            // Came with a message, or was chosen for it.
            Source::Given { .. } | Source::Calm => from_erased,
            Source::Instructions { .. } => from_erased && piece.place == Position::Aside,
            _ => false,
        }
    }

    /// Moves texts that an erased record stored; returns those that this turn stores now.
    fn keep(&mut self, turn: u64, receipt: &mut Receipt) -> BTreeMap<ContentHash, String> {
        let mut kept = BTreeMap::new();
        for piece in receipt.pieces.iter_mut().filter(|piece| !piece.erased) {
            let Some(holder) = piece.kept_in.filter(|holder| self.turns.contains(holder)) else {
                continue;
            };
            if let Some(moved) = self.moved.get(&piece.hash) {
                piece.kept_in = Some(*moved);
                continue;
            }
            let text = self.records.get(&holder).and_then(|held| held.contents.get(&piece.hash));
            if let Some(text) = text {
                kept.insert(piece.hash, text.clone());
                self.moved.insert(piece.hash, turn);
                piece.kept_in = Some(turn);
            }
        }
        kept
    }

    /// The request of a client, if it says nothing of an erased turn.
    fn client_body(&mut self, turn: u64, body: &ClientBody) -> Option<ClientBody> {
        let rebased = body.base.is_some_and(|base| self.unbased.contains(&base));
        let whole = client_body(&self.records, turn)?;
        if self.is_after(turn) && self.words.are_in_json(&whole) {
            self.unbased.insert(turn);
            return None;
        }
        match rebased {
            true => ClientBody::of(&whole, None, usize::MAX),
            false => Some(body.clone()),
        }
    }
}

/// What a client sent with a turn, from the records that store it.
pub(super) fn client_body(records: &BTreeMap<u64, Arc<TurnRecord>>, turn: u64) -> Option<String> {
    let mut kept = Vec::new();
    let mut next = Some(turn);
    while let Some(turn) = next {
        let body = records.get(&turn)?.client_body.as_ref()?;
        next = body.base.filter(|base| *base < turn);
        kept.push(body);
    }
    kept.into_iter()
        .rev()
        .try_fold(None, |text: Option<String>, body| body.text(text.as_deref()).map(Some))?
}

/// Removes what may be derived from erased turns from a turn that began before the erasure and ends after it.
pub(crate) fn redact_begun(record: &mut TurnRecord) {
    let said = own_texts(record).join("\n").to_lowercase();
    record.entities.retain(|entity| said.contains(&entity.name.to_lowercase()));
    record.client_body = None;
    if let Some(receipt) = &mut record.receipt {
        redact_request(receipt, &mut record.contents);
    }
}

/// Whether a request cannot be rebuilt because something in it was erased.
pub(crate) fn is_redacted(receipt: &Receipt) -> bool {
    receipt.request_hash == ContentHash::of(ERASED)
}

/// The same for the request alone.
pub(crate) fn redact_request(receipt: &mut Receipt, contents: &mut BTreeMap<ContentHash, String>) {
    for piece in &mut receipt.pieces {
        if matches!(piece.source, Source::Entity { .. } | Source::Topic | Source::Summary { .. }) {
            erase(piece).map(|hash| contents.remove(&hash));
        }
    }
    receipt.summary = receipt.summary.take().map(|told| match told.contains(ABOUT) {
        true => without_names(&told),
        false => told,
    });
    (receipt.request_hash, receipt.handed_on_hash) = (ContentHash::of(ERASED), None);
}

/// Leaves only a piece's position and size; returns the hash of a text that is no longer needed.
fn erase(piece: &mut ReceiptPiece) -> Option<ContentHash> {
    let hash = std::mem::replace(&mut piece.hash, ContentHash::of(ERASED));
    match &mut piece.source {
        Source::Entity { entity, name } => {
            entity.clear();
            name.clear();
        }
        Source::Given { name } => name.clear(),
        _ => {}
    }
    piece.why = ERASED.into();
    (piece.kept_in, piece.score, piece.erased) = (None, None, true);
    // Our own words may be shown elsewhere, too.
    (!matches!(piece.source, Source::Instructions { .. } | Source::Calm)).then_some(hash)
}

/// The sentence of a receipt, without the names of things.
fn without_names(sentence: &str) -> String {
    let shown = sentence.split(ABOUT).next().unwrap_or_default();
    let tokens = sentence.rsplit("; ").next().unwrap_or_default();
    format!("{shown}{ABOUT}things that were erased; {tokens}")
}
