//! Whether a request continues the one before, and which turns it shows word for word if not.
//!
//! It continues while what it begins with, the message and what the message needs stay below the high mark. A
//! message that asks for something said earlier may use the whole budget, and where even that has no room for
//! what was recalled, it starts anew. A request that starts anew keeps the newest turns up to the low mark and
//! condenses the rest; that of a query keeps as many exchanges as it may show, as far as they leave room to grow.

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

/// What stands between the frame and what is new.
pub(super) struct Window {
    /// The turn whose request is continued.
    pub continues: Option<u64>,
    /// The first turn that is shown word for word.
    pub from: u64,
    /// Why the request does not begin with the one before, where there is one.
    pub broken_by: Option<String>,
    /// The frame as it was sent before, where it is the same.
    frame: Option<Vec<Arc<SentPiece>>>,
    /// Summary, history, and what stood beside earlier messages.
    stream: Vec<Arc<SentPiece>>,
    /// Turns that this request condenses.
    condensed: Vec<Arc<SentPiece>>,
    /// The notes that it makes of them.
    pub summary: Option<Summary>,
}

impl Window {
    /// Chooses the window for a message with what is wanted `beside` it.
    pub fn choose(
        material: &Material<'_>,
        frame: &[Piece],
        message: &Piece,
        beside: &Beside,
    ) -> Self {
        let fixed: u32 = frame.iter().map(cost).sum::<u32>() + cost(message);
        let Some(prefix) = &material.prefix else {
            return Self::fresh(material, fixed, beside, None);
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

    /// A window of its own: the newest turns, and the rest condensed.
    fn fresh(
        material: &Material<'_>,
        fixed: u32,
        beside: &Beside,
        broken_by: Option<String>,
    ) -> Self {
        let limits = material.limits;
        let budget = material.budget;
        let turns = match &material.prefix {
            Some(prefix) => prefix.turns(),
            None => material.history.clone(),
        };
        let before = before(material, &turns);
        let room = budget.total_tokens.saturating_sub(fixed);
        let all: u32 = turns.iter().map(HistoryTurn::tokens).sum();
        let high = budget.share(limits.compact_at).saturating_sub(fixed);
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
            // However long the last exchange is, what the message is about comes in.
            let brought_in = beside.tokens.min(budget.enrichment_tokens);
            let left = room.saturating_sub(beside.recall_tokens + brought_in);
            newest(&turns, wanted.min(left), left, turns_max)
        };
        let (dropped, kept) = turns.split_at(turns.len() - kept);
        let summary_room = budget.share(limits.summary_budget_share).min(limits.summary_tokens_max);
        let summary = match (limits.summaries, dropped.is_empty()) {
            (false, _) => None,
            (true, true) => before,
            (true, false) => {
                summary::condense(before.as_ref(), dropped, summary_room, material.now)
            }
        };
        let mut stream: Vec<Arc<SentPiece>> = Vec::new();
        stream.extend(summary.as_ref().map(history::summary_piece).map(new));
        stream.extend(shown(kept));
        let from = kept.first().map_or(material.head.turns + 1, |turn| turn.turn);
        let named = dropped.len().saturating_sub(CONDENSED_NAMED_MAX);
        let condensed = dropped[named..].iter().flat_map(|turn| turn.pieces.clone()).collect();
        Self { continues: None, from, broken_by, frame: None, stream, condensed, summary }
    }

    /// The window of a client that sends the conversation itself: only what was put beside its earlier
    /// messages, in the same places again.
    pub fn of_client(material: &Material<'_>, client: &ClientRequest, beside: &Beside) -> Self {
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

    /// The whole request: frame, window, what fits beside the message, the message.
    pub fn fit(
        &self,
        material: &Material<'_>,
        frame: Vec<Piece>,
        message: Piece,
        beside: Beside,
    ) -> Fitted {
        let frame = self.frame.clone().unwrap_or_else(|| frame.into_iter().map(new).collect());
        let resends = self.from == u64::MAX;
        let counted = |sent: &&Arc<SentPiece>| !resends || sent.piece.place == Position::Aside;
        let before = frame.iter().chain(&self.stream).filter(counted);
        let before: u32 = before.map(|sent| cost(&sent.piece)).sum();
        // A client's own request is between it and its model.
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

/// A piece that comes in with this request.
fn new(piece: Piece) -> Arc<SentPiece> {
    Arc::new(SentPiece { piece, since: NEW, kept_in: None, day: None })
}

/// Whether the request can begin with the one before, or why not.
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
        return Err(format!("compaction: the window is filled to its high mark of {high} tokens"));
    }
    if fixed + stream + beside.tokens + recall > budget.total_tokens {
        return Err("compaction: no room was left for what the message asks about".to_owned());
    }
    if stream > budget.history_tokens {
        let most = budget.history_tokens;
        return Err(format!("compaction: the history is over its limit of {most} tokens"));
    }
    if !turns_allowed(limits, prefix.turns().len()) {
        return Err("compaction: the window has as many turns as it may".to_owned());
    }
    Ok(())
}

fn turns_allowed(limits: &crate::limits::Limits, turns: usize) -> bool {
    let turns = u64::try_from(turns).unwrap_or(u64::MAX);
    limits.window_turns == 0 || turns < limits.turns_condensed_at()
}

/// How many of the newest turns fit into `wanted` tokens. The last exchange may take `most`.
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

/// The notes on what came before `turns`, where they reach up to them.
fn before(material: &Material<'_>, turns: &[HistoryTurn]) -> Option<Summary> {
    let first = turns.first().map_or(material.head.turns + 1, |turn| turn.turn);
    material.head.summary.clone().filter(|summary| summary.to < first)
}

/// Turns word for word, with a line where the day changes.
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

/// What differs first between the frame that was sent and the one that is to be.
fn difference(before: &[Arc<SentPiece>], now: &[Piece]) -> Option<String> {
    let pairs = before.iter().map(|sent| &sent.piece).zip(now);
    if let Some((old, new)) = pairs.into_iter().find(|(old, new)| old.hash != new.hash) {
        return Some(format!(
            "{} is not what it was",
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
        Source::Persona { name } => format!("persona {name}"),
        Source::Instructions { part } => format!("instructions {part}"),
        _ => "the system".to_owned(),
    }
}
