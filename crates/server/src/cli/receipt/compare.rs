//! `receipt diff`: what differs between two receipts.

use std::fmt::Write;

use console::style;
use throughline_engine::id::SessionId;
use throughline_engine::receipt::DropReason;
use throughline_engine::receipt_diff::ReceiptDiff;

use super::readable;
use crate::cli::local::{Local, session_id};
use crate::cli::output;
use crate::failure::Failure;

/// Compares what was named.
pub async fn run(local: &Local, what: &[String], json: bool) -> Result<(), Failure> {
    let ((first, first_turn), (second, second_turn)) = both(what)?;
    let diff = local
        .engine
        .receipt_diff(&local.caller, (&first, first_turn), (&second, second_turn))
        .await?;
    if json { output::json(&diff) } else { output::line(shown(&diff).trim_end()) }
}

type Place = (SessionId, u64);

fn both(what: &[String]) -> Result<(Place, Place), Failure> {
    match what {
        [first, second] => Ok((place(first)?, place(second)?)),
        [session, first, second] => {
            let session = session_id(session)?;
            Ok(((session.clone(), turn(first)?), (session, turn(second)?)))
        }
        _ => Err(usage(&what.join(" "))),
    }
}

fn place(text: &str) -> Result<Place, Failure> {
    let (session, number) = text.rsplit_once(':').ok_or_else(|| usage(text))?;
    Ok((session_id(session)?, turn(number)?))
}

fn turn(text: &str) -> Result<u64, Failure> {
    text.parse().map_err(|_| usage(text))
}

fn usage(text: &str) -> Failure {
    let what = format!("{text:?} names no turn");
    Failure::wrong_use(what, "receipt diff SESSION:TURN SESSION:TURN, or SESSION TURN TURN")
}

fn shown(diff: &ReceiptDiff) -> String {
    let [first, second] = diff.used_tokens;
    let mut text = format!("{} pieces are the same; {first} and {second} tokens\n", diff.same);
    if diff.same_request {
        text.push_str("the requests are the same to the byte\n");
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
