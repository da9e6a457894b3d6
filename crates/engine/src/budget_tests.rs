//! Which pieces fit, in shorthand: `R10.8` is recalled, 10 tokens, score 0.8.

use super::*;
use crate::piece::{HistoryPart, IncludeMode, Source};

/// `R` recalled, `E` entity, `I` agent item, `G` guidance, `Q` required; tokens, then `.` and a digit of score.
fn parse(word: &str) -> Piece {
    let (tokens, score) = word[1..].split_once('.').unwrap_or((&word[1..], "0"));
    let part = |name: &str| Source::Instructions { part: name.into() };
    let (source, rank) = match &word[..1] {
        "R" => {
            let part = HistoryPart::Message;
            (Source::Recalled { turn: 1, part, on: None, excerpt: None }, Rank::Recalled)
        }
        "E" => (Source::Entity { entity: "e".into(), name: "n".into() }, Rank::Entity),
        "I" => {
            let mode = IncludeMode::Agent;
            (Source::Rule { name: "r".into(), mode }, Rank::AgentItem)
        }
        "G" => (part("mode/search"), Rank::Guidance),
        _ => (part("query"), Rank::Required),
    };
    let tokens = tokens.parse().expect("tokens in the shorthand");
    let score = score.parse::<f32>().expect("a score in the shorthand") / 10.0;
    Piece::counted(source, "", Position::Aside, rank, "text", tokens).scored(score)
}

/// `-` marks pieces over the window, `~` those over their share.
#[track_caller]
fn check(pieces: &str, room: u32, shares: (u32, u32), expected: &str) {
    let parsed: Vec<Piece> = pieces.split(' ').map(parse).collect();
    let fates = choose(&parsed, room, shares);
    let shown = pieces.split(' ').zip(&fates).map(|(word, fate)| match fate {
        None => word.to_owned(),
        Some(DropReason::OverEnrichment) => format!("~{word}"),
        Some(_) => format!("-{word}"),
    });
    assert_eq!(shown.collect::<Vec<_>>().join(" "), expected);
}

const ALL: (u32, u32) = (1_000, 1_000);

#[test]
fn everything_is_sent_while_there_is_room() {
    check("G10 E10 R10.5 I10.9", 100, ALL, "G10 E10 R10.5 I10.9");
}

#[test]
fn the_highest_rank_comes_first_then_the_best_score() {
    check("G10 E10 R10.5 I10.9", 25, ALL, "-G10 -E10 R10.5 -I10.9");
    check("E10.1 E10.9 E10.5", 24, ALL, "-E10.1 E10.9 E10.5");
}

#[test]
fn what_does_not_fit_leaves_its_room_to_the_next() {
    check("R500.9 R10.2 G10", 100, ALL, "-R500.9 R10.2 G10");
}

#[test]
fn recalled_turns_keep_to_their_share_and_leave_the_rest_alone() {
    check("R20.9 R20.8 R20.7 E10", 200, (60, 1_000), "R20.9 R20.8 ~R20.7 E10");
}

#[test]
fn what_is_required_counts_against_no_share() {
    check("Q50 E50 I50.9", 200, (0, 60), "Q50 E50 ~I50.9");
}
