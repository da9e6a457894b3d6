//! What must hold for any input: of the budget, the layout, requests made again, and entities that are merged.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;
use throughline_engine::budget::{choose, cost};
use throughline_engine::entity::{Entity, with_found};
use throughline_engine::layout::{self, lay_out};
use throughline_engine::model::{Block, ModelRequest, Role};
use throughline_engine::piece::{HistoryPart, IncludeMode, Piece, Position, Rank, Source};
use throughline_engine::receipt::Parameters;

use crate::bench::{Line, bench, session};

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let piece = (0..6_u8, 0..400_u32, prop::option::of(-1.0..2.0_f32), "[a-z ]{1,12}");
    let piece = piece.prop_map(|(kind, tokens, score, text)| {
        let part = HistoryPart::Message;
        let rule = |mode| Source::Rule { name: "r".into(), mode };
        let (source, place, rank) = match kind {
            0 => (
                Source::Recalled { turn: 1, part, on: None, excerpt: None },
                Position::Aside,
                Rank::Recalled,
            ),
            1 => {
                let source = Source::Entity { entity: "e".into(), name: "n".into() };
                (source, Position::Aside, Rank::Entity)
            }
            2 => (rule(IncludeMode::Agent), Position::Aside, Rank::AgentItem),
            3 => (rule(IncludeMode::Always), Position::Aside, Rank::SessionItem),
            4 => (
                Source::History { turn: 1, part: HistoryPart::Reply },
                Position::History,
                Rank::Required,
            ),
            _ => (Source::Message, Position::Message, Rank::Required),
        };
        let piece = Piece::counted(source, "", place, rank, text, tokens);
        score.into_iter().fold(piece, Piece::scored)
    });
    prop::collection::vec(piece, 0..40)
}

/// Who says what, in order; what one side says in a row may be one message or several.
fn said(request: &ModelRequest) -> Vec<(Role, String)> {
    let texts = |message: &throughline_engine::model::Message| {
        let role = message.role;
        let text = |block: &Block| match block {
            Block::Text { text, .. } => Some((role, text.clone())),
            _ => None,
        };
        message.content.iter().filter_map(text).collect::<Vec<_>>()
    };
    request.messages.iter().flat_map(texts).collect()
}

fn entity() -> impl Strategy<Value = Entity> {
    let word = "[a-c]{1,2}";
    let fields = (
        word,
        prop::option::of(word),
        prop::option::of(word),
        prop::collection::vec(word, 0..30),
        0..99_i64,
    );
    fields.prop_map(|(name, id, url, aliases, at)| {
        let at = Timestamp::from_second(at).unwrap();
        let relations: Vec<_> =
            aliases.iter().map(|alias| json!({"relation": "parent", "type": "site", "name": alias})).collect();
        let value = json!({"type": "device", "name": name, "id": id, "url": url, "aliases": aliases,
            "first_mentioned": at, "last_mentioned": at, "relations": relations, "data": {"name": name}});
        serde_json::from_value(value).unwrap_or_else(|error| panic!("an entity: {error}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_chosen_fits_its_room_and_its_shares(
        pieces in pieces(), room in 0..4_000_u32, recall in 0..2_000_u32, enrichment in 0..2_000_u32,
    ) {
        let fates = choose(&pieces, room, (recall, enrichment));
        prop_assert_eq!(fates.len(), pieces.len());
        let sum = |wanted: &dyn Fn(&Piece) -> bool| -> u32 {
            let kept = pieces.iter().zip(&fates).filter(|(piece, fate)| fate.is_none() && wanted(piece));
            kept.map(|(piece, _)| cost(piece)).sum()
        };
        let is_required = |piece: &Piece| matches!(piece.rank, Rank::Required | Rank::SessionItem);
        prop_assert!(sum(&|_| true) <= room);
        prop_assert!(sum(&Piece::is_recalled) <= recall);
        prop_assert!(sum(&|piece| !is_required(piece)) <= enrichment);
        // What does not fit alone is the only reason to leave out a piece that comes before all others.
        let first = pieces.iter().position(|piece| piece.rank == Rank::Required);
        if let Some(first) = first && pieces.iter().all(|piece| piece.score.is_none()) {
            prop_assert_eq!(fates[first].is_none(), cost(&pieces[first]) <= room);
        }
    }

    #[test]
    fn a_request_of_more_pieces_begins_with_the_one_of_fewer(pieces in pieces(), cut in 0..40_usize) {
        let parameters = Parameters { reply_tokens_max: 100, temperature: 0.5 };
        // A frame of recalled turns is closed by what comes after it.
        let cut = (0..=cut.min(pieces.len())).rev().find(|at| *at == 0 || !pieces[at - 1].is_recalled()).unwrap_or(0);
        let short = said(&lay_out(&pieces[..cut], parameters, layout::CURRENT));
        let long = said(&lay_out(&pieces, parameters, layout::CURRENT));
        prop_assert!(long.starts_with(&short), "{:?} does not begin with {:?}", long, short);
        for piece in &pieces {
            prop_assert!(long.iter().any(|(_, text)| text.contains(&*piece.text)), "{} is lost", piece.text);
        }
    }

    #[test]
    fn to_merge_again_changes_nothing(known in entity(), found in entity(), turn in 1..9_u64) {
        let once = with_found(Some(&known), &found, turn);
        let twice = with_found(Some(&once), &found, turn);
        prop_assert_eq!(&once, &twice);
        prop_assert!(once.aliases.len() <= known.aliases.len().max(throughline_engine::pack::ENTITY_ALIASES_MAX));
        prop_assert_eq!(once.last_mentioned, known.last_mentioned.max(found.last_mentioned));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_request_of_a_conversation_is_made_again_to_the_byte(
        messages in prop::collection::vec("[A-Z][a-z]{2,8} (is|has|likes) [a-z ]{3,60}[.?]", 2..9),
        tokens in 1_200..4_000_u32,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let lines: Vec<Line> = messages.iter().map(|_| Line::Says("Noted, and it is so.")).collect();
            let bench = bench().model(lines).limits(|limits| limits.context_tokens = tokens).start().await;
            for message in &messages {
                bench.turn(message).await;
            }
            let sent = bench.model.requests.lock().unwrap().clone();
            for (number, sent) in (1..).zip(&sent) {
                let again = bench.engine.request(&bench.caller, &session(), number).await.unwrap();
                assert_eq!(said(&again), said(sent), "turn {number}");
            }
        });
    }
}
