//! `receipt diff`: the differences between two receipts.

use std::fmt::Write;

use console::style;
use serde::Deserialize;
use throughline_engine::piece::Source;
use throughline_engine::receipt::DropReason;

use super::readable::{self, Piece};
use crate::cli::api::{Api, Call, Named};
use crate::cli::output;
use crate::failure::Failure;

/// The displayed fields of a REST comparison.
#[derive(Debug, Deserialize)]
struct Diff {
    only_first: Vec<Piece>,
    only_second: Vec<Piece>,
    moved: Vec<Moved>,
    changed: Vec<Changed>,
    same: usize,
    used_tokens: [u32; 2],
    same_request: bool,
}

#[derive(Debug, Deserialize)]
struct Moved {
    source: Source,
    first: Option<DropReason>,
    second: Option<DropReason>,
}

#[derive(Debug, Deserialize)]
struct Changed {
    source: Source,
    tokens: [u32; 2],
}

/// Compares two turns.
pub(super) async fn run(api: &Api, what: &[String], json: bool) -> Result<(), Failure> {
    let ((first, turn), (second, with)) = both(what)?;
    let first = api.id(Named::Session, first).await?;
    let second = api.id(Named::Session, second).await?;
    let turn = turn.to_string();
    let call = Call::get(&["conversations", &first, "turns", &turn, "context", "diff"])
        .with("with", with)
        .with("session", second);
    let diff = api.json(call).await?;
    if json { output::json(&diff) } else { output::line(shown(&output::read(diff)?).trim_end()) }
}

type PiecePosition<'a> = (&'a str, u64);

fn both(what: &[String]) -> Result<(PiecePosition<'_>, PiecePosition<'_>), Failure> {
    match what {
        [first, second] => Ok((place(first)?, place(second)?)),
        [session, first, second] => Ok(((session, turn(first)?), (session, turn(second)?))),
        _ => Err(usage(&what.join(" "))),
    }
}

fn place(text: &str) -> Result<PiecePosition<'_>, Failure> {
    let (session, number) = text.rsplit_once(':').ok_or_else(|| usage(text))?;
    Ok((session, turn(number)?))
}

fn turn(text: &str) -> Result<u64, Failure> {
    text.parse().map_err(|_| usage(text))
}

fn usage(text: &str) -> Failure {
    let what = format!("{text:?} is not a turn");
    Failure::wrong_use(what, "receipt diff SESSION:TURN SESSION:TURN, or SESSION TURN TURN")
}

fn shown(diff: &Diff) -> String {
    let [first, second] = diff.used_tokens;
    let mut text = format!("{} pieces are the same; {first} and {second} tokens\n", diff.same);
    if diff.same_request {
        text.push_str("the requests are identical\n");
    }
    for piece in &diff.only_first {
        let _ = writeln!(text, "{} {}", style("-").red(), readable::line(piece));
    }
    for piece in &diff.only_second {
        let _ = writeln!(text, "{} {}", style("+").green(), readable::line(piece));
    }
    for piece in &diff.moved {
        let name = output::plain(&readable::name(&piece.source));
        let fate = |reason: Option<DropReason>| reason.map_or("sent", readable::reason);
        let (before, after) = (fate(piece.first), fate(piece.second));
        let _ = writeln!(text, "{} {name}: {before} → {after}", style("~").yellow());
    }
    for piece in &diff.changed {
        let name = output::plain(&readable::name(&piece.source));
        let [before, after] = piece.tokens;
        let _ = writeln!(text, "{} {name}: {before} → {after} tokens", style("~").yellow());
    }
    text
}
