//! Rebuilds the exact request of a past turn from its receipt.
//!
//! A request that continues another starts with its pieces, so receipts are followed back to the one that started
//! the prefix. Texts come from where the receipts say: the contents of a record, or the quoted turns. The current
//! text of items does not matter.
//!
//! Invariant: the result has the hash recorded in the receipt, otherwise it is an error.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::error::{Error, Result};
use crate::fact::{self, Fact};
use crate::history;
use crate::id::SessionId;
use crate::layout;
use crate::memory;
use crate::model::ModelRequest;
use crate::piece::{HistoryPart, Piece, SentPiece, Source};
use crate::receipt::{Receipt, ReceiptPiece};
use crate::request::{hash_of, must_be_kept};
use crate::rounds;
use crate::session::record::{CallRecord, TurnRecord};
use crate::session::redact::is_redacted;
use crate::session::usage::item_of;
use crate::session::{LoadedSession, Sessions};

pub async fn request(
    sessions: &Sessions,
    session: &LoadedSession,
    record: &TurnRecord,
) -> Result<ModelRequest> {
    let Some(receipt) = &record.receipt else { return Err(not_kept(session, record)) };
    let pieces = pieces(sessions, session, record, &TimeZone::UTC).await?;
    let pieces = pieces.iter().map(|sent| &sent.piece);
    let request = layout::lay_out(pieces, receipt.parameters, receipt.layout);
    if hash_of(&request)? == receipt.request_hash {
        return Ok(request);
    }
    // What another server recorded is no damage of this one.
    match record.turn <= session.head.imported_turns {
        true => Err(not_kept(session, record)),
        false => Err(differs(session, record, receipt)),
    }
}

/// Whether a turn of an export gives the request that its receipt tells of, and the number of pieces that were laid
/// out; `None` if that cannot be known, because texts are kept elsewhere or were erased.
pub fn reproduces(turns: &[TurnRecord], record: &TurnRecord) -> Option<(bool, usize)> {
    let of = |turn: u64| turns.get(usize::try_from(turn.checked_sub(1)?).ok()?);
    let receipt = record.receipt.as_ref().filter(|receipt| !is_redacted(receipt))?;
    let mut links = vec![(record.turn, receipt)];
    while let Some(before) = links.last().and_then(|(_, link)| link.continues) {
        let later = links.last().map_or(0, |(turn, _)| *turn);
        let found = of(before).filter(|_| before < later).and_then(|turn| turn.receipt.as_ref())?;
        links.push((before, found));
    }
    let mut pieces = Vec::new();
    for (own, link) in links.iter().rev() {
        for piece in link.pieces.iter().filter(|piece| piece.sent()) {
            let kept = !piece.erased && !matches!(piece.source, Source::ClientRequest { .. });
            let holder = turn_of(piece, *own).and_then(of).filter(|_| kept)?;
            pieces.push(restored(piece, text_of(piece, holder, link.layout)?));
        }
    }
    let request = layout::lay_out(pieces.iter(), receipt.parameters, receipt.layout);
    Some((hash_of(&request).ok()? == receipt.request_hash, pieces.len()))
}

/// The pieces of a turn's request in sending order.
pub async fn pieces(
    sessions: &Sessions,
    session: &LoadedSession,
    record: &TurnRecord,
    zone: &TimeZone,
) -> Result<Vec<Arc<SentPiece>>> {
    let chain = chain(sessions, session, record).await?;
    let mut needed = BTreeSet::new();
    for (own, receipt) in &chain.links {
        for piece in receipt.pieces.iter().filter(|piece| piece.sent()) {
            needed.extend(turn_of(piece, *own).filter(|turn| !chain.records.contains_key(turn)));
        }
    }
    let mut records = chain.records;
    if !needed.is_empty() {
        let read = sessions.turns_at(session, &needed).await?;
        records.extend(read.into_iter().map(|record| (record.turn, record)));
    }
    let elsewhere = elsewhere(sessions, session, &chain.links).await?;
    let mut sent = Vec::new();
    for (own, receipt) in &chain.links {
        for piece in receipt.pieces.iter().filter(|piece| piece.sent()) {
            let holder = match &piece.source {
                Source::Elsewhere { session, turn, .. } => elsewhere.get(&(session.clone(), *turn)),
                _ => turn_of(piece, *own).and_then(|turn| records.get(&turn)),
            };
            let text = match &piece.source {
                _ if piece.erased => None,
                Source::Fact { id, at, quoted } => {
                    fact_text(sessions, session, (id, *at), *quoted).await?
                }
                _ => holder.and_then(|holder| text_of(piece, holder, receipt.layout)),
            };
            let text = text.ok_or_else(|| not_kept(session, record))?;
            let said = matches!(piece.source, Source::Message | Source::History { .. });
            let day = holder.filter(|_| said).map(|holder| history::day_of(holder, zone));
            sent.push(Arc::new(SentPiece {
                piece: restored(piece, text),
                since: piece.since.unwrap_or(*own),
                kept_in: piece.kept_in.or_else(|| must_be_kept(&piece.source).then_some(*own)),
                day,
            }));
        }
    }
    Ok(sent)
}

/// The turns of other sessions named by receipts, as far as they still exist.
async fn elsewhere(
    sessions: &Sessions,
    session: &LoadedSession,
    links: &[(u64, Receipt)],
) -> Result<HashMap<(SessionId, u64), Arc<TurnRecord>>> {
    let pieces = links.iter().flat_map(|(_, receipt)| &receipt.pieces);
    let named = memory::elsewhere(pieces.filter(|piece| piece.sent()).map(|piece| &piece.source));
    memory::standing(sessions, &session.key.scope, &named).await
}

/// The receipt of a turn with every piece of its request, including those inherited from the one before.
pub async fn whole_receipt(
    sessions: &Sessions,
    session: &LoadedSession,
    record: &TurnRecord,
) -> Result<Option<Receipt>> {
    let Some(receipt) = &record.receipt else { return Ok(None) };
    let mut whole = receipt.clone();
    let chain = match receipt.continues {
        Some(_) => match chain(sessions, session, record).await {
            // A receipt that it goes on from was erased: what came in with this turn is still known.
            Err(Error::NotKept { .. }) => None,
            chain => Some(chain?),
        },
        None => None,
    };
    if let Some(chain) = chain {
        let earlier = chain.links.iter().filter(|(own, _)| *own != record.turn);
        let inherited = earlier.flat_map(|(own, receipt)| {
            let sent = receipt.pieces.iter().filter(|piece| piece.sent());
            sent.map(|piece| piece.inherited(*own))
        });
        let mut pieces: Vec<ReceiptPiece> = inherited.collect();
        pieces.append(&mut whole.pieces);
        whole.pieces = pieces;
    }
    for piece in whole.pieces.iter_mut().filter(|piece| piece.sent()) {
        let item = item_of(&piece.source);
        piece.used |= item.is_some_and(|item| receipt.used.contains(&item));
    }
    Ok(Some(whole))
}

/// The receipts a request is made of, oldest first, and the records of its window.
struct Chain {
    links: Vec<(u64, Receipt)>,
    records: BTreeMap<u64, Arc<TurnRecord>>,
}

/// Turns read at once if a request has no window.
const LINKS_AT_A_TIME: u64 = 64;

async fn chain(sessions: &Sessions, session: &LoadedSession, record: &TurnRecord) -> Result<Chain> {
    let Some(receipt) = &record.receipt else { return Err(not_kept(session, record)) };
    let own = Arc::new(record.clone());
    let mut records = BTreeMap::from([(own.turn, own)]);
    let window = Some(receipt.window_from).filter(|from| *from != u64::MAX);
    let mut links = vec![(record.turn, receipt.clone())];
    let mut before = receipt.continues;
    while let Some(turn) = before {
        if !records.contains_key(&turn) {
            let from = window.unwrap_or(turn.saturating_sub(LINKS_AT_A_TIME)).max(1).min(turn);
            let read = sessions.turns(session, from - 1..turn).await?;
            records.extend(read.into_iter().map(|record| (record.turn, record)));
        }
        let found = records.get(&turn).and_then(|record| record.receipt.clone());
        let found = found.filter(|_| links.last().is_some_and(|(later, _)| turn < *later));
        let link = found.ok_or_else(|| not_kept(session, record))?;
        before = link.continues;
        links.push((turn, link));
    }
    links.reverse();
    Ok(Chain { links, records })
}

/// The text of a piece, if it is stored.
pub async fn piece_text(
    sessions: &Sessions,
    session: &LoadedSession,
    record: &TurnRecord,
    piece: &ReceiptPiece,
) -> Result<Option<String>> {
    let layout = record.receipt.as_ref().map_or(layout::CURRENT, |receipt| receipt.layout);
    if let Source::Fact { id, at, quoted } = &piece.source {
        return fact_text(sessions, session, (id, *at), *quoted).await;
    }
    let Some(turn) = turn_of(piece, record.turn) else {
        let named = memory::elsewhere([&piece.source].into_iter());
        let standing = memory::standing(sessions, &session.key.scope, &named).await?;
        return Ok(standing.values().next().and_then(|found| text_of(piece, found, layout)));
    };
    if turn == record.turn {
        return Ok(text_of(piece, record, layout));
    }
    let found = sessions.turn(session, turn).await?;
    Ok(found.and_then(|found| text_of(piece, &found, layout)))
}

/// The line of a fact as it was shown; `None` if it is forgotten, or from a session that gives nothing any more.
async fn fact_text(
    sessions: &Sessions,
    session: &LoadedSession,
    version: (&str, jiff::Timestamp),
    quoted: bool,
) -> Result<Option<String>> {
    let scope = &session.key.scope;
    let Some(fact) = fact::fact_at(sessions.store().as_ref(), scope, version).await? else {
        return Ok(None);
    };
    let mut silent = memory::silent(sessions, scope, [&fact].into_iter()).await?;
    silent.remove(&session.head.id);
    Ok(silent.is_empty().then(|| Fact::line(&fact.text, quoted)))
}

/// The turn whose record has the text.
fn turn_of(piece: &ReceiptPiece, own: u64) -> Option<u64> {
    match piece.source {
        Source::History { turn, .. }
        | Source::Recalled { turn, .. }
        | Source::EarlierResult { turn, .. } => Some(turn),
        Source::Elsewhere { .. } | Source::Fact { .. } => None,
        // Some receipts name an earlier message as a message, not as history.
        Source::Message => Some(piece.since.unwrap_or(own)),
        _ => Some(piece.kept_in.unwrap_or(own)),
    }
}

fn text_of(piece: &ReceiptPiece, holder: &TurnRecord, layout: u32) -> Option<String> {
    let quoted = || Some(holder).filter(|turn| !turn.message.is_empty());
    match &piece.source {
        Source::Message => quoted().map(|turn| turn.message.clone()),
        Source::History { part, .. } => quoted().map(|turn| history::text_of(turn, *part)),
        Source::Recalled { part, excerpt, .. } | Source::Elsewhere { part, excerpt, .. } => {
            quoted().map(|turn| history::recalled_text(turn, (*part, *excerpt), layout))
        }
        Source::EarlierResult { .. } => {
            quoted().map(|turn| history::recalled_text(turn, (HistoryPart::Results, None), layout))
        }
        Source::Day { on, of } => Some(history::day_text(*on, *of)),
        Source::ClientRequest { .. } => Some(String::new()),
        _ => holder.contents.get(&piece.hash).cloned(),
    }
}

fn restored(piece: &ReceiptPiece, text: String) -> Piece {
    let ReceiptPiece { source, why, place, rank, tokens, score, hash, .. } = piece.clone();
    Piece { source, why, place, rank, score, text: text.into(), tokens, hash }
}

fn not_kept(session: &LoadedSession, record: &TurnRecord) -> Error {
    Error::NotKept {
        session: session.head.id.clone(),
        turn: record.turn,
        what: if record.receipt.is_some() { "stored request" } else { "context data" },
    }
}

fn differs(session: &LoadedSession, record: &TurnRecord, receipt: &Receipt) -> Error {
    Error::Unreadable {
        what: format!("the request of turn {} of session {}", record.turn, session.head.id),
        reason: format!(
            "the stored data does not reproduce the request with hash {}",
            receipt.request_hash
        ),
    }
}

/// The request of a later round: the first one plus each round's calls and results.
pub fn with_rounds(request: &ModelRequest, calls: &[CallRecord]) -> ModelRequest {
    let mut request = request.clone();
    request.messages.extend(rounds::messages(calls));
    request
}
