//! Validates an imported session as untrusted input.
//!
//! Everything in it counts as data. What would let something run, or make the server believe that it was already
//! approved, is removed; inconsistent data is rejected.
//!
//! Invariant: nothing in a file approves, allows or answers anything, or waits for an answer.

use crate::creation::{checked_tags, checked_title};
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::limits::Limits;
use crate::permission::Named;
use crate::rebuild;
use crate::session::head::{CONTENTS_MAX, FORMAT, PRUNINGS_MAX, SessionHead, TOOL_HISTORY_MAX};
use crate::session::record::TurnRecord;
use crate::session::tool_words::ToolWords;
use crate::turn::{check_message, check_recorded};

use super::transfer::{EXPORT_FORMAT, Export};

/// Maximum plausible counter.
const COUNT_MAX: u64 = 1 << 50;
const ENTITIES_MAX: usize = 256;
/// Maximum pieces laid out to check receipts; what is not checked is not shown as a request either.
const PIECES_MAX: usize = 200_000;

/// The head without what belongs to the server: waiting calls, permissions, idempotency keys, names given by
/// tools, read-only links.
pub(super) fn portable(mut head: SessionHead) -> SessionHead {
    head.pending = None;
    head.client_round = None;
    head.under_way.clear();
    head.unsettled.clear();
    head.answered.clear();
    head.tool_rules.clear();
    head.tool_words = ToolWords::default();
    head.imported_turns = 0;
    head.life = None;
    head.shares.clear();
    head
}

/// Validates an export and returns the head of the new session.
pub(super) fn checked(export: &Export, limits: &Limits) -> Result<SessionHead> {
    if export.format != EXPORT_FORMAT {
        let given = &export.format;
        return Err(Error::invalid("format", format!("{given:?} is not {EXPORT_FORMAT:?}")));
    }
    let mut head = portable(export.head.clone());
    check_head(&head, export.turns.len() as u64, limits)?;
    for (at, record) in export.turns.iter().enumerate() {
        check_turn(record, at as u64 + 1, limits)?;
        Named::of_imported(record).remember(&mut head.tool_words);
    }
    check_receipts(&export.turns)?;
    head.imported_turns = head.turns;
    Ok(head)
}

/// Receipts must tell of the requests that their pieces give, as far as the export has the texts.
fn check_receipts(turns: &[TurnRecord]) -> Result<()> {
    let mut laid_out = 0;
    for record in turns {
        if laid_out > PIECES_MAX {
            break;
        }
        let Some((reproduces, pieces)) = rebuild::reproduces(turns, record) else { continue };
        laid_out += pieces;
        if !reproduces {
            let reason = format!("turn {}: its receipt does not match its request", record.turn);
            return Err(Error::invalid("turns", reason));
        }
    }
    Ok(())
}

fn check_head(head: &SessionHead, turns: u64, limits: &Limits) -> Result<()> {
    if head.format > FORMAT {
        return Err(Error::invalid(
            "head.format",
            format!("{} is newer than {FORMAT}", head.format),
        ));
    }
    if head.turns != turns {
        return Err(Error::invalid(
            "head.turns",
            format!("the head says {}, but there are {turns}", head.turns),
        ));
    }
    most("head.turns", head.turns, limits.turns_max)?;
    most("head.items", head.items.len() as u64, limits.session_items_max as u64)?;
    most("head.tool_history", head.tool_history.len() as u64, TOOL_HISTORY_MAX as u64)?;
    most("head.prunings", head.prunings.len() as u64, PRUNINGS_MAX as u64)?;
    most("head.contents", head.contents.len() as u64, CONTENTS_MAX as u64)?;
    most("head.entities", head.entities.tracked.len() as u64, ENTITIES_MAX as u64)?;
    checked_title(head.title.clone(), limits)?;
    checked_tags(head.tags.clone(), limits)?;
    if let Some(persona) = &head.persona {
        persona.validate()?;
    }
    let preferences = serde_json::to_vec(&head.settings.preferences).map_or(0, |bytes| bytes.len());
    most("head.settings.preferences", preferences as u64, limits.metadata_bytes_max as u64)?;
    if let Some(summary) = &head.summary {
        let whole = summary.from >= 1 && summary.from <= summary.to && summary.to <= turns;
        if !whole {
            let reason = format!("it covers turns {} to {}", summary.from, summary.to);
            return Err(Error::invalid("head.summary", reason));
        }
        most("head.summary", summary.text.len() as u64, limits.reply_bytes_max as u64)?;
    }
    let named = head.tool_history.iter().map(|execution| execution.turn);
    let named = named.chain(head.contents.values().copied()).chain([head.looked_up_turn]);
    if let Some(turn) = named.into_iter().find(|turn| *turn > turns) {
        return Err(Error::invalid("head", format!("it refers to turn {turn} of {turns}")));
    }
    let counters =
        [head.usage.said_tokens, head.usage.model.input_tokens, head.usage.model.output_tokens];
    let counters = counters
        .into_iter()
        .chain([head.usage.model.cache_read_tokens, head.usage.model.cache_write_tokens]);
    counters.into_iter().try_for_each(|count| most("head.usage", count, COUNT_MAX))
}

fn check_turn(record: &TurnRecord, number: u64, limits: &Limits) -> Result<()> {
    if record.turn != number {
        let reason = format!("it has number {}, but is in position {number}", record.turn);
        return Err(Error::invalid("turns", reason));
    }
    let wrong = |reason: String| Error::invalid("turns", format!("turn {number}: {reason}"));
    if !record.message.is_empty() {
        check_message(&record.message, limits)?;
    }
    check_recorded(&record.reply, &record.calls, record.metadata.as_ref(), limits)?;
    if let Some((hash, _)) =
        record.contents.iter().find(|(hash, text)| ContentHash::of(text) != **hash)
    {
        return Err(wrong(format!("the content {hash} does not match its hash")));
    }
    let pieces = record.receipt.iter().flat_map(|receipt| &receipt.pieces);
    if let Some(kept) =
        pieces.filter_map(|piece| piece.kept_in).find(|kept| *kept > number || *kept == 0)
    {
        return Err(wrong(format!("its receipt refers to turn {kept}")));
    }
    let tokens = record.usage.map_or(0, |usage| usage.input_tokens.max(usage.output_tokens));
    most("turns.usage", tokens, COUNT_MAX)
}

fn most(what: &'static str, size: u64, allowed: u64) -> Result<()> {
    match size <= allowed {
        true => Ok(()),
        false => Err(Error::invalid(what, format!("{size} is more than {allowed}"))),
    }
}
