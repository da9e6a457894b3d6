//! The budget, checked in shorthand: `H1m40` is turn 1's message with 40 tokens.

use super::*;
use crate::piece::IncludeMode;

/// `S10` system, `M5` message, `I10` agent item, `E10` entity, `R10` recalled,
/// `H1m10` old history message, `H1r10` old reply, `h…` the same but recent, `H1t10` results.
fn parse(word: &str) -> Piece {
    let digits = |text: &str| text.parse::<u32>().expect("digits in the shorthand");
    let history = |rank: Rank, results: Rank| {
        let part_at = word.find(['m', 'r', 't']).expect("a part in the shorthand");
        let turn = u64::from(digits(&word[1..part_at]));
        let (part, rank) = match &word[part_at..=part_at] {
            "m" => (HistoryPart::Message, rank),
            "r" => (HistoryPart::Reply, rank),
            _ => (HistoryPart::Results, results),
        };
        (Source::History { turn, part }, Place::History, rank, digits(&word[part_at + 1..]))
    };
    let (source, place, rank, tokens) = match &word[..1] {
        "S" => (
            Source::Instructions { part: "core".into() },
            Place::System,
            Rank::Required,
            digits(&word[1..]),
        ),
        "M" => (Source::Message, Place::Message, Rank::Required, digits(&word[1..])),
        "I" => (
            Source::Rule { name: "r".into(), mode: IncludeMode::Agent },
            Place::Aside,
            Rank::AgentItem,
            digits(&word[1..]),
        ),
        "E" => (
            Source::Entity { entity: "device".into(), name: "d".into() },
            Place::Aside,
            Rank::Entity,
            digits(&word[1..]),
        ),
        "R" => (
            Source::Recalled { turn: 1, part: HistoryPart::Reply },
            Place::Aside,
            Rank::Recalled,
            digits(&word[1..]),
        ),
        "H" => history(Rank::OldHistory, Rank::OldResults),
        _ => history(Rank::RecentHistory, Rank::RecentResults),
    };
    Piece::counted(source, "test", place, rank, word, tokens)
}

/// Pieces in, fates out: a leading `-` marks what was dropped. Frames cost 4 tokens each.
#[track_caller]
fn check(pieces: &str, total: u32, expected: &str) {
    let budget = Budget {
        total_tokens: total,
        history_tokens: 200,
        enrichment_tokens: 50,
        warning_share: 0.8,
        factor: 1.0,
    };
    let fitted = fit(pieces.split_whitespace().map(parse).collect(), budget).expect("it fits");
    let shown: Vec<String> = fitted
        .pieces
        .iter()
        .map(|(piece, fate)| format!("{}{}", if fate.is_some() { "-" } else { "" }, piece.text))
        .collect();
    assert_eq!(shown.join(" "), expected);
}

#[test]
fn everything_stays_when_it_fits() {
    check("S10 H1m5 H1r5 M5", 100, "S10 H1m5 H1r5 M5");
}

#[test]
fn the_lowest_rank_goes_first_then_the_oldest() {
    check("S10 H1m5 H1r5 H2m5 H2r5 R10 M5", 60, "S10 H1m5 H1r5 H2m5 H2r5 -R10 M5");
    check("S10 H1m5 H1r5 H2m5 H2r5 M5", 40, "S10 -H1m5 -H1r5 H2m5 H2r5 M5");
}

#[test]
fn a_turn_goes_as_a_whole_and_results_before_it() {
    check("S10 H1m5 H1t30 H1r5 M5", 60, "S10 H1m5 -H1t30 H1r5 M5");
    check("S10 H1m5 H1t30 H1r5 M5", 30, "S10 -H1m5 -H1t30 -H1r5 M5");
}

#[test]
fn recent_history_outlives_items_chosen_for_the_request() {
    check("S10 h9m5 h9r5 I30 M5", 50, "S10 h9m5 h9r5 -I30 M5");
}

#[test]
fn history_and_enrichment_have_shares_of_their_own() {
    check("S10 H1m90 H1r90 H2m90 H2r90 M5", 1_000, "S10 -H1m90 -H1r90 H2m90 H2r90 M5");
    check("S10 E30 R30 M5", 1_000, "S10 E30 -R30 M5");
}

#[test]
fn what_is_required_and_too_large_is_an_error_with_both_numbers() {
    let budget = Budget {
        total_tokens: 10,
        history_tokens: 10,
        enrichment_tokens: 10,
        warning_share: 0.8,
        factor: 1.0,
    };
    let error = fit(vec![parse("S10"), parse("M5")], budget).expect_err("too large");
    assert!(matches!(error, Error::OverBudget { needed: 19, budget: 10 }), "{error:?}");
}
