//! What is added to a message: days, known facts about its entities, matching older turns, chosen items,
//! guidance.
//!
//! Nothing is added that the request already shows: neither a turn of the window, nor what was added to an
//! earlier message. A changed fact is stated again, at the end.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::civil::Date;
use serde_json::Value;

use crate::budget::cost;
use crate::fact::{Fact, FactHit, FactKind};
use crate::hash::ContentHash;
use crate::history;
use crate::id::SessionId;
use crate::image::Image;
use crate::layout::DAY_TOKENS;
use crate::lexicon::AsksBack;
use crate::mode;
use crate::notice;
use crate::persona;
use crate::piece::{DayOf, HistoryPart, Piece, Position, Rank, SentPiece, Source};
use crate::prompt;
use crate::select::Selected;

use super::Material;
use super::present::{Present, part_of, turn_of};
use super::recall_room::{ELSEWHERE_PART, RecallRoom};
use super::recalled::{Excerpts, recalled_piece};

/// Maximum present pieces listed in a receipt.
const PRESENT_NAMED_MAX: usize = 20;

/// Candidates for the message.
pub struct Beside {
    /// Everything but recalled turns, in sending order.
    others: Vec<Piece>,
    /// The turns of this session that stated a fact, by the fact's hash.
    said_here: HashMap<ContentHash, u64>,
    /// Parts of older turns, best first.
    recalled: Vec<Piece>,
    /// Parts of turns of the user's other sessions, best first.
    elsewhere: Vec<Piece>,
    today: Date,
    /// Whether to add days; a client that sends the history itself has its own.
    tells_days: bool,
    /// Maximum tokens of recalled turns.
    pub recall_room: u32,
    /// Maximum tokens of this session's turns.
    own_room: u32,
    /// Maximum tokens of other sessions' turns.
    elsewhere_room: u32,
    /// Tokens of wanted recalled turns, as if none were shown yet.
    pub recall_tokens: u32,
    pub tokens: u32,
}

impl Beside {
    pub(super) fn of(material: &Material<'_>, selected: &Selected) -> Self {
        let input = material.input;
        let RecallRoom { asks, tokens: recall_room, elsewhere: elsewhere_room } = material.room;
        let mut others: Vec<Piece> = preferences(material).into_iter().collect();
        let (facts, said_here) = facts(material);
        others.extend(facts);
        let has_tools = selected.pieces.iter().any(|piece| piece.place == Position::Tools);
        let about = material.about.iter().cloned();
        others.extend(match has_tools || material.client.is_some() {
            true => about.collect::<Vec<_>>(),
            false => about.map(notice::without_tools).collect(),
        });
        if material.client.is_none() {
            let aside = selected.pieces.iter().filter(|piece| piece.place == Position::Aside);
            others.extend(aside.cloned());
            others.extend(input.given.iter().map(|(name, text)| given_piece(name, text)));
            others.extend(input.images.iter().map(|(name, image)| image_piece(name, image)));
            others.extend(mode::query_instructions(input.is_query));
            others.extend(guidance(material, selected));
            others.extend(calm(material));
        }
        let sends = |text: &str| material.client.is_some_and(|client| client.sends(text));
        let recalled = material.recalled.iter().filter(|found| !sends(&found.record.message));
        let mut excerpts = Excerpts::of(&input.message, recall_room);
        let pieces = recalled.map(|found| recalled_piece(found, excerpts.next(found), material));
        let (mut elsewhere, recalled): (Vec<Piece>, Vec<Piece>) =
            pieces.partition(|piece| matches!(piece.source, Source::Elsewhere { .. }));
        // The same words in several sessions are told once.
        let mut told: HashSet<ContentHash> = recalled.iter().map(|p| p.hash).collect();
        elsewhere.retain(|piece| told.insert(piece.hash));
        // A question leaves some room to other sessions, however long this one is.
        let others_want: u32 = elsewhere.iter().map(cost).sum();
        let kept_for_others = match asks {
            AsksBack::Yes | AsksBack::Perhaps => others_want.min(recall_room / ELSEWHERE_PART),
            AsksBack::InPassing | AsksBack::No => 0,
        };
        let mut beside = Self {
            tokens: 0,
            recall_tokens: 0,
            recall_room,
            own_room: recall_room - kept_for_others,
            elsewhere_room,
            tells_days: material.client.is_none_or(|client| client.earlier.is_empty()),
            today: input.at.unwrap_or(material.now).to_zoned(material.zone.clone()).date(),
            others,
            said_here,
            recalled,
            elsewhere,
        };
        let shown: &[Arc<SentPiece>] = material.prefix.as_ref().map_or(&[], |p| p.stream());
        let present = Present::of(shown);
        let new = beside.others.iter();
        let new = new.filter(|piece| beside.since(piece, &present, u64::MAX, shown).is_none());
        beside.tokens = new.map(cost).sum();
        beside.recall_tokens = beside.recall_beyond(u64::MAX, &[]);
        beside
    }

    /// Tokens of wanted turns that neither the window nor `stream` shows.
    pub(super) fn recall_beyond(&self, window_from: u64, stream: &[Arc<SentPiece>]) -> u32 {
        let present = Present::of(stream);
        let missing = self.wanted().filter(|piece| !present.shows(piece, window_from));
        let own: u32 = missing.map(|piece| cost(piece) + DAY_TOKENS).sum();
        let missing =
            self.wanted_elsewhere().filter(|piece| !present.texts.contains_key(&piece.hash));
        own + missing.map(|piece| cost(piece) + DAY_TOKENS).sum::<u32>()
    }

    /// The turns of other sessions that fit into the room left by the session's own.
    fn wanted_elsewhere(&self) -> impl Iterator<Item = &Piece> {
        let own: u32 = self.wanted().map(cost).sum();
        let left = self.recall_room.saturating_sub(own);
        worth(&self.elsewhere, left.min(self.elsewhere_room))
    }

    /// The turns that fit, best first. A turn that is already shown takes room too: a weaker match does not
    /// replace it.
    fn wanted(&self) -> impl Iterator<Item = &Piece> {
        worth(&self.recalled, self.own_room)
    }

    /// The turn since which the request shows a piece: the piece itself, or the message of this session that
    /// stated it.
    fn since(
        &self,
        piece: &Piece,
        present: &Present,
        window_from: u64,
        stream: &[Arc<SentPiece>],
    ) -> Option<u64> {
        let stated = self.said_here.get(&piece.hash).copied();
        let stated = stated.filter(|turn| {
            *turn >= window_from || present.whole.contains(&(*turn, HistoryPart::Message))
        });
        present.since(piece, stream).or(stated)
    }

    /// The new pieces after `stream`, in sending order, and those it already shows.
    pub(super) fn candidates(
        &self,
        window_from: u64,
        stream: &[Arc<SentPiece>],
    ) -> (Vec<Piece>, Vec<Arc<SentPiece>>) {
        let present = Present::of(stream);
        let (_, told) = history::told_days(stream);
        let is_new = self.tells_days && told != Some(self.today);
        let today = is_new.then(|| history::day_piece(self.today, DayOf::Message));
        let mut pieces: Vec<Piece> = today.into_iter().collect();
        let mut already = Vec::new();
        let mut recalled: Vec<Piece> = Vec::new();
        for piece in self.wanted() {
            match present.shows(piece, window_from) {
                true => already.extend(turn_of(piece).map(|turn| shown(piece, turn))),
                false => recalled.push(piece.clone()),
            }
        }
        let mut elsewhere: Vec<Piece> = Vec::new();
        for piece in self.wanted_elsewhere() {
            match present.since(piece, stream) {
                Some(since) => already.push(shown(piece, since)),
                None => elsewhere.push(piece.clone()),
            }
        }
        already.truncate(PRESENT_NAMED_MAX);
        recalled.sort_by_key(|piece| (turn_of(piece), part_of(piece)));
        elsewhere.sort_by(|one, other| place_elsewhere(one).cmp(&place_elsewhere(other)));
        elsewhere.append(&mut recalled);
        let mut recalled = elsewhere;
        let (about, rest): (Vec<&Piece>, Vec<&Piece>) = self
            .others
            .iter()
            .partition(|piece| matches!(piece.source, Source::Entity { .. } | Source::Topic));
        for (group, last) in [(about, false), (rest, true)] {
            for piece in group {
                match self.since(piece, &present, window_from, stream) {
                    Some(since) => already.push(shown(piece, since)),
                    None => pieces.push(piece.clone()),
                }
            }
            if !last {
                pieces.append(&mut recalled);
            }
        }
        (pieces, already)
    }
}

/// The pieces, best first, that fit into `room`. If one does not fit, the next one is tried.
fn worth(pieces: &[Piece], room: u32) -> impl Iterator<Item = &Piece> {
    let mut left = room;
    pieces.iter().filter(move |piece| {
        let needed = cost(piece);
        let fits = needed <= left;
        left -= if fits { needed } else { 0 };
        fits
    })
}

/// The order of pieces of other sessions: by day, session and turn.
fn place_elsewhere(piece: &Piece) -> Option<(Date, &SessionId, u64, HistoryPart)> {
    match &piece.source {
        Source::Elsewhere { session, turn, part, on, .. } => Some((*on, session, *turn, *part)),
        _ => None,
    }
}

/// A piece that the request already has, for the receipt.
fn shown(piece: &Piece, since: u64) -> Arc<SentPiece> {
    Arc::new(SentPiece { piece: piece.clone(), since, kept_in: None, day: None })
}

/// The user's preferences from the session's settings.
fn preferences(material: &Material<'_>) -> Option<Piece> {
    let preferences = &material.head.settings.preferences;
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("- {name}: {text}"),
        value => format!("- {name}: {value}"),
    };
    let lines: Vec<String> = preferences.iter().map(line).collect();
    let text = prompt::quote("the user's preferences", &lines.join("\n"));
    let why = "the session's preferences";
    let piece = Piece::new(Source::Preferences, why, Position::Aside, Rank::SessionItem, text);
    (!lines.is_empty()).then_some(piece)
}

/// Facts about the user, best first, as many as their share of the budget allows, and the turns of this session
/// that stated them. Instructions are repeated anyway, because they apply to every reply.
fn facts(material: &Material<'_>) -> (Vec<Piece>, HashMap<ContentHash, u64>) {
    let pieces: Vec<Piece> = material.facts.iter().map(fact_piece).collect();
    let said_here =
        pieces.iter().zip(&material.facts).filter_map(|(piece, FactHit { fact, .. })| {
            let source =
                fact.source.as_ref().filter(|source| source.session == material.head.id)?;
            (fact.kind != FactKind::Instruction).then_some((piece.hash, source.turn))
        });
    let said_here = said_here.collect();
    let room = material.budget.share(material.limits.facts_share);
    (worth(&pieces, room).cloned().collect(), said_here)
}

fn fact_piece(hit: &FactHit) -> Piece {
    let Fact { id, kind, changed_at, text, .. } = &hit.fact;
    let why = match kind {
        FactKind::Instruction | FactKind::Profile => "known of the user",
        FactKind::Preference | FactKind::Fact => "known of the user, and fits the message",
    };
    let quoted = hit.fact.is_quoted();
    let source = Source::Fact { id: id.clone(), at: *changed_at, quoted };
    let line = Fact::line(text, quoted);
    Piece::new(source, why, Position::Aside, Rank::Recalled, line).scored(hit.score)
}

/// Guidance for the message. Without tools an inferred mode has nothing to guide; an explicit mode applies
/// anyway.
fn guidance(material: &Material<'_>, selected: &Selected) -> Option<Piece> {
    let has_tools = || selected.pieces.iter().any(|piece| piece.place == Position::Tools);
    let wanted = material.head.settings.mode.is_some() || has_tools();
    wanted.then(|| mode::guidance(material.mode.0, &material.mode.1)).flatten()
}

/// The reminder to stay calm, if the message is heated.
fn calm(material: &Material<'_>) -> Option<Piece> {
    let persona = material.head.persona.as_ref()?;
    let keeps_calm = material.input.keeps_calm.unwrap_or(persona.keeps_calm);
    persona::calm(&material.input.message).filter(|_| keeps_calm)
}

fn image_piece(name: &str, image: &Image) -> Piece {
    Piece::counted(
        Source::Given { name: name.into() },
        "came with the message",
        Position::Aside,
        Rank::SessionItem,
        image.url(),
        image.tokens(),
    )
}

fn given_piece(name: &str, text: &str) -> Piece {
    Piece::new(
        Source::Given { name: name.into() },
        "came with the message",
        Position::Aside,
        Rank::SessionItem,
        prompt::quote(name, text),
    )
}
