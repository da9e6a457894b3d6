//! Whether a request continues the one before, and which turns it shows verbatim if not.
//!
//! It continues as long as the prefix, the message and what it needs stay below the high mark. A message that
//! asks about something earlier may use the whole budget; if even that has no room for what was recalled, the
//! request starts a new prefix. A new prefix keeps the newest turns up to the low mark and summarizes the rest;
//! that of a query keeps as many exchanges as allowed, as far as they leave room to grow.

use std::sync::Arc;

use crate::budget::{self, Fitted, cost};
use crate::history::{self, HistoryTurn};
use crate::piece::{DayOf, Piece, Position, SentPiece, Source};
use crate::receipt::DropReason;
use crate::session::head::Summary;
use crate::summary;
use crate::tool::ToolName;

use super::prefix::{NEW, Prefix};
use super::{Beside, ClientRequest, Material, client};

/// Condensed turns that a receipt names one by one.
const CONDENSED_NAMED_MAX: usize = 32;

/// Share of the room between the marks that a compaction must free to keep all turns.
const FREED_SHARE: f32 = 1.0 / 3.0;

/// The part between the frame and what is new.
pub(super) struct Window {
    /// The turn whose request is continued.
    pub continues: Option<u64>,
    /// The first turn shown verbatim.
    pub from: u64,
    /// Why the request does not start with the one before, if there is one.
    pub broken_by: Option<String>,
    /// The frame as sent before, if unchanged.
    frame: Option<Vec<Arc<SentPiece>>>,
    /// Summary, history, and what was added to earlier messages.
    stream: Vec<Arc<SentPiece>>,
    /// Turns summarized by this request.
    condensed: Vec<Arc<SentPiece>>,
    /// The new summary.
    pub summary: Option<Summary>,
}

impl Window {
    /// Chooses the window for a message and what is wanted `beside` it.
    pub(super) fn choose(
        material: &Material<'_>,
        frame: &[Piece],
        message: &Piece,
        beside: &Beside,
    ) -> Self {
        let fixed: u32 = frame.iter().map(cost).sum::<u32>() + cost(message);
        let Some(prefix) = &material.prefix else {
            return Self::fresh(material, fixed, beside, material.lost.map(str::to_owned));
        };
        if let Err(why) = continues(material, prefix, fixed, beside) {
            return Self::fresh(material, fixed, beside, Some(why));
        }
        let (continues, from) = (Some(prefix.turn), prefix.window_from);
        let (stream, condensed) = (prefix.stream().to_vec(), Vec::new());
        match difference(prefix.frame(), frame) {
            None => {
                let frame = Some(prefix.frame().to_vec());
                Self { continues, from, broken_by: None, frame, stream, condensed, summary: None }
            }
            Some(why) => Self {
                continues: None,
                from,
                broken_by: Some(why),
                frame: None,
                stream,
                condensed,
                summary: None,
            },
        }
    }

    /// A new prefix: the newest turns, with the rest summarized.
    fn fresh(
        material: &Material<'_>,
        fixed: u32,
        beside: &Beside,
        broken_by: Option<String>,
    ) -> Self {
        let limits = material.limits;
        let budget = material.budget;
        let turns = match &material.prefix {
            Some(prefix) => prefix.turns().into_iter().map(HistoryTurn::shortened).collect(),
            None => material.history.clone(),
        };
        let before = before(material, &turns);
        let room = budget.total_tokens.saturating_sub(fixed);
        let all: u32 = turns.iter().map(HistoryTurn::tokens).sum();
        // After a compaction there must be room to grow, or the next turn would compact again.
        let mark = match &material.prefix {
            Some(_) => limits.compact_at - (limits.compact_at - limits.compact_to) * FREED_SHARE,
            None => limits.compact_at,
        };
        let high = budget.share(mark).saturating_sub(fixed);
        let fits_whole = material.is_whole
            && all + beside.tokens <= high.min(room)
            && all <= budget.history_tokens
            && turns_allowed(limits, turns.len());
        let kept = if fits_whole {
            turns.len()
        } else {
            let (share, turns_max) = match material.input.is_query {
                true => {
                    let share = (limits.compact_at - limits.compact_to).max(limits.compact_to);
                    (share, limits.query_exchanges.min(limits.turns_kept()))
                }
                false => (limits.compact_to, limits.turns_kept()),
            };
            let wanted = budget.share(share).min(budget.history_tokens);
            // What the message is about gets its room, however long the last exchange is.
            let brought_in = beside.tokens.min(budget.enrichment_tokens);
            let left = room.saturating_sub(beside.recall_tokens + brought_in);
            newest(&turns, wanted.min(left), left, turns_max)
        };
        let (dropped, kept) = turns.split_at(turns.len() - kept);
        let summary_room = budget.share(limits.summary_budget_share).min(limits.summary_tokens_max);
        let condense = || summary::condense(before.as_ref(), dropped, summary_room, material.now);
        let summary = limits.summaries.then(condense).flatten();
        let mut stream: Vec<Arc<SentPiece>> = Vec::new();
        stream.extend(summary.as_ref().map(history::summary_piece).map(new));
        stream.extend(shown(kept));
        let from = kept.first().map_or(material.head.turns + 1, |turn| turn.turn);
        let named = dropped.len().saturating_sub(CONDENSED_NAMED_MAX);
        let condensed = dropped[named..].iter().flat_map(|turn| turn.pieces.clone()).collect();
        Self { continues: None, from, broken_by, frame: None, stream, condensed, summary }
    }

    /// The window of a client that sends the history itself: only what was added to its earlier messages, in the
    /// same places.
    pub(super) fn of_client(
        material: &Material<'_>,
        client: &ClientRequest,
        beside: &Beside,
    ) -> Self {
        let mut window = Self {
            continues: None,
            from: u64::MAX,
            broken_by: None,
            frame: None,
            stream: Vec::new(),
            condensed: Vec::new(),
            summary: None,
        };
        let Some(prefix) = &material.prefix else { return window };
        let before = &prefix.pieces[..prefix.sent];
        let added = before.iter().filter(|sent| sent.piece.place == Position::Aside);
        let added: u32 = added.map(|sent| cost(&sent.piece)).sum();
        let high = material.budget.share(material.limits.compact_at);
        if added + beside.tokens + beside.recall_tokens > high {
            window.broken_by = Some("compaction: what was added before fills the budget".into());
            return window;
        }
        let placed = client::placed(before, &client.users);
        match placed.len() == before.len() {
            true => window.continues = Some(prefix.turn),
            false => {
                window.broken_by = Some("the client no longer sends its earlier messages".into())
            }
        }
        window.stream = placed;
        window
    }

    /// Whether the client sends the history itself.
    fn is_resent(&self) -> bool {
        self.from == u64::MAX
    }

    /// Whether a piece counts as sent by us: of what a client resends, only what was added to it.
    pub(super) fn counts(&self, sent: &SentPiece) -> bool {
        !self.is_resent() || sent.piece.place == Position::Aside
    }

    /// The whole request: frame, window, what fits next to the message, the message.
    pub(super) fn fit(
        &self,
        material: &Material<'_>,
        frame: Vec<Piece>,
        message: Piece,
        beside: Beside,
    ) -> Fitted {
        let frame = self.frame.clone().unwrap_or_else(|| frame.into_iter().map(new).collect());
        let resends = self.is_resent();
        let before = frame.iter().chain(&self.stream).filter(|sent| self.counts(sent));
        let before: u32 = before.map(|sent| cost(&sent.piece)).sum();
        // A client's own request may exceed the budget; that is between it and its model.
        let fixed = if resends { before } else { before + cost(&message) };
        let room = material.budget.total_tokens.saturating_sub(fixed);
        let (candidates, present) = beside.candidates(self.from, &self.stream);
        let shares = (beside.recall_room, material.budget.enrichment_tokens);
        let fates = budget::choose(&candidates, room, shares);
        let used: u32 = candidates
            .iter()
            .zip(&fates)
            .filter(|(_, fate)| fate.is_none())
            .map(|(piece, _)| cost(piece))
            .sum();
        let considered: u32 = candidates.iter().map(cost).sum();
        let report = material.budget.report(fixed + used, fixed + considered);
        let sent = |sent: Arc<SentPiece>| (sent, None);
        let mut pieces: Vec<(Arc<SentPiece>, Option<DropReason>)> =
            frame.into_iter().map(sent).collect();
        let condensed = self.condensed.iter().cloned();
        pieces.extend(condensed.map(|sent| (sent, Some(DropReason::Condensed))));
        pieces.extend(self.stream.iter().cloned().map(sent));
        pieces.extend(present.into_iter().map(|sent| (sent, Some(DropReason::AlreadyPresent))));
        pieces.extend(candidates.into_iter().map(new).zip(fates));
        pieces.extend(material.client.map(|client| (new(client::own_piece(client)), None)));
        pieces.push((new(message), None));
        Fitted { pieces, report }
    }
}

/// A piece added by this request.
fn new(piece: Piece) -> Arc<SentPiece> {
    Arc::new(SentPiece { piece, since: NEW, kept_in: None, day: None })
}

/// Whether the request can continue the one before, or why not.
fn continues(
    material: &Material<'_>,
    prefix: &Prefix,
    fixed: u32,
    beside: &Beside,
) -> Result<(), String> {
    let (limits, budget) = (material.limits, material.budget);
    let stream = prefix.stream_tokens();
    let recall = beside.recall_beyond(prefix.window_from, prefix.stream());
    let high = budget.share(limits.compact_at);
    if fixed + stream + beside.tokens > high.max(1) && recall == 0 {
        return Err(format!("compaction: the window reached its high mark of {high} tokens"));
    }
    if fixed + stream + beside.tokens + recall > budget.total_tokens {
        return Err("compaction: there was no room for what the message asks about".to_owned());
    }
    if stream > budget.history_tokens {
        let most = budget.history_tokens;
        return Err(format!("compaction: the history exceeds its limit of {most} tokens"));
    }
    if !turns_allowed(limits, prefix.turns().len()) {
        return Err("compaction: the window reached its maximum number of turns".to_owned());
    }
    Ok(())
}

fn turns_allowed(limits: &crate::limits::Limits, turns: usize) -> bool {
    let turns = u64::try_from(turns).unwrap_or(u64::MAX);
    limits.window_turns == 0 || turns < limits.turns_condensed_at()
}

/// The number of newest turns that fit into `wanted` tokens. The last exchange may take `most`.
fn newest(turns: &[HistoryTurn], wanted: u32, most: u32, turns_max: usize) -> usize {
    let mut total = 0;
    let mut kept = 0;
    for turn in turns.iter().rev().take(turns_max) {
        total += turn.tokens();
        let limit = if kept == 0 { most } else { wanted };
        if total > limit {
            break;
        }
        kept += 1;
    }
    kept
}

/// The summary of what came before `turns`, if it reaches up to them.
fn before(material: &Material<'_>, turns: &[HistoryTurn]) -> Option<Summary> {
    let first = turns.first().map_or(material.head.turns + 1, |turn| turn.turn);
    material.head.summary.clone().filter(|summary| summary.to < first)
}

/// Turns verbatim, with a line where the day changes.
fn shown(turns: &[HistoryTurn]) -> Vec<Arc<SentPiece>> {
    let mut pieces = Vec::new();
    let mut day = None;
    for turn in turns {
        if day != Some(turn.day) {
            let mark = history::day_piece(turn.day, DayOf::Turn);
            pieces.push(Arc::new(SentPiece {
                piece: mark,
                since: turn.turn,
                kept_in: None,
                day: None,
            }));
            day = Some(turn.day);
        }
        pieces.extend(turn.pieces.iter().cloned());
    }
    pieces
}

/// The first difference between the old frame and the new one.
fn difference(before: &[Arc<SentPiece>], now: &[Piece]) -> Option<String> {
    let pairs = before.iter().map(|sent| &sent.piece).zip(now);
    if let Some((old, new)) = pairs.into_iter().find(|(old, new)| old.hash != new.hash) {
        return Some(format!(
            "{} has changed",
            named(if old.source == new.source { old } else { new })
        ));
    }
    match before.len().cmp(&now.len()) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => {
            now.get(before.len()).map(|new| format!("{} is new", named(new)))
        }
        std::cmp::Ordering::Greater => {
            before.get(now.len()).map(|old| format!("{} is gone", named(&old.piece)))
        }
    }
}

fn named(piece: &Piece) -> String {
    match &piece.source {
        Source::Rule { name, .. } => format!("rule {name}"),
        Source::Reference { name, .. } => format!("reference {name}"),
        Source::Tool { server, name, .. } => {
            format!("tool {}", ToolName { server: server.clone(), name: name.clone() })
        }
        Source::ToolNames { .. } => "the named tools".to_owned(),
        Source::Persona { name } => format!("persona {name}"),
        Source::Instructions { part } => format!("instructions {part}"),
        _ => "the system".to_owned(),
    }
}
