//! A receipt for people: a summary, every piece under its heading, then the dropped ones.

use std::fmt::Write;

use console::style;
use serde::Deserialize;
use serde_json::Value;
use throughline_engine::excerpt::Excerpt;
use throughline_engine::piece::{HistoryPart, IncludeMode, Source};
use throughline_engine::receipt::{BudgetReport, DropReason};
use throughline_engine::tool::ToolName;

use crate::cli::output::plain;

/// Columns of the budget bar.
const BAR_COLUMNS: usize = 40;
/// Headings, in the order shown.
const HEADINGS: [&str; 8] =
    ["Rules", "References", "Tools", "Summary", "Entities", "History", "Instructions", "Message"];

/// The displayed fields of a REST receipt.
#[derive(Debug, Deserialize)]
pub(crate) struct Receipt {
    id: String,
    summary: String,
    #[serde(default)]
    no_model: bool,
    mode: String,
    mode_why: String,
    budget: BudgetReport,
    stable_prefix_tokens: u32,
    pieces: Vec<Piece>,
    calls: Vec<Call>,
}

/// The displayed fields of a piece.
#[derive(Debug, Deserialize)]
pub(crate) struct Piece {
    source: Source,
    why: String,
    score: Option<f32>,
    tokens: u32,
    dropped: Option<DropReason>,
}

/// The displayed fields of a tool call.
#[derive(Debug, Deserialize)]
struct Call {
    #[serde(flatten)]
    tool: ToolName,
    arguments: Value,
    ok: bool,
    error: Option<String>,
}

/// The receipt as text, coloured if the terminal supports it.
pub(crate) fn receipt(receipt: &Receipt) -> String {
    let lead = if receipt.no_model { "no model was asked; it would be sent: " } else { "" };
    let mut text = format!("{}\n", style(format!("{lead}{}", receipt.summary)).bold());
    let _ = writeln!(text, "{}", budget(receipt));
    let _ = writeln!(text, "mode {}: {}", receipt.mode, plain(&receipt.mode_why));
    for heading in HEADINGS {
        let pieces: Vec<_> = receipt
            .pieces
            .iter()
            .filter(|piece| piece.dropped.is_none() && heading_of(&piece.source) == heading)
            .collect();
        if !pieces.is_empty() {
            let tokens: u32 = pieces.iter().map(|piece| piece.tokens).sum();
            let _ = writeln!(text, "\n{} ({tokens} tokens)", style(heading).bold().underlined());
            for piece in pieces {
                let _ = writeln!(text, "  {}", line(piece));
            }
        }
    }
    let dropped: Vec<_> = receipt.pieces.iter().filter(|piece| piece.dropped.is_some()).collect();
    if !dropped.is_empty() {
        let _ = writeln!(text, "\n{}", style("Left out").bold().underlined());
        for piece in dropped {
            let reason = piece.dropped.map_or("", reason);
            let _ = writeln!(text, "  {}: {}", line(piece), style(reason).red());
        }
    }
    if !receipt.calls.is_empty() {
        let _ = writeln!(text, "\n{}", style("Calls").bold().underlined());
        for call in &receipt.calls {
            let _ = writeln!(text, "  {}", call_line(call));
        }
    }
    let _ = writeln!(text, "\nrequest {}", receipt.id);
    text
}

/// A call: tool, arguments, outcome.
fn call_line(call: &Call) -> String {
    let outcome = match (call.ok, &call.error) {
        (true, _) => style("done".to_owned()).green(),
        (false, Some(error)) => style(plain(error)).red(),
        (false, None) => style("failed".to_owned()).red(),
    };
    format!("{} {}: {outcome}", plain(&call.tool.to_string()), plain(&call.arguments.to_string()))
}

fn budget(receipt: &Receipt) -> String {
    let budget = &receipt.budget;
    let limit = u64::from(budget.limit_tokens.max(1));
    let columns = |tokens: u32| {
        let share = (u64::from(tokens) * BAR_COLUMNS as u64).div_ceil(limit);
        usize::try_from(share).unwrap_or(BAR_COLUMNS).min(BAR_COLUMNS)
    };
    let used = columns(budget.used_tokens);
    let stable = columns(receipt.stable_prefix_tokens).min(used);
    let bar = format!(
        "{}{}{}",
        "#".repeat(stable),
        "=".repeat(used - stable),
        ".".repeat(BAR_COLUMNS - used)
    );
    let bar = if budget.warning { style(bar).yellow() } else { style(bar).green() };
    format!(
        "[{bar}] {} of {} tokens, {} stable (#){}",
        budget.used_tokens,
        budget.limit_tokens,
        receipt.stable_prefix_tokens,
        if budget.warning { ", nearly full" } else { "" }
    )
}

/// A piece: how it came in, name, how well it matches, tokens, why; in the words of the page.
pub(crate) fn line(piece: &Piece) -> String {
    let badge = match mode_of(&piece.source) {
        Some(IncludeMode::Always) => format!("{} ", style("[always]").green()),
        Some(IncludeMode::Manual) => format!("{} ", style("[added by hand]").cyan()),
        Some(IncludeMode::Agent) => format!("{} ", style("[when it fits]").magenta()),
        None => String::new(),
    };
    let score = piece.score.map(|score| format!(" {:.0} % match,", score * 100.0));
    let name = plain(&name(&piece.source));
    let (score, tokens) = (score.unwrap_or_default(), piece.tokens);
    let rest = format!("{score} {tokens} tokens · {}", plain(&piece.why));
    format!("{badge}{name}{}", style(format!(" —{rest}")).dim())
}

fn mode_of(source: &Source) -> Option<IncludeMode> {
    match source {
        Source::Rule { mode, .. } | Source::Reference { mode, .. } | Source::Tool { mode, .. } => {
            Some(*mode)
        }
        _ => None,
    }
}

/// Name of a source.
pub(crate) fn name(source: &Source) -> String {
    let part = |part: HistoryPart| match part {
        HistoryPart::Message => "message",
        HistoryPart::Results => "results",
        HistoryPart::Reply => "reply",
        HistoryPart::Calls => "calls",
        HistoryPart::ShortCalls => "short calls",
        HistoryPart::Answer => "answer",
    };
    match source {
        Source::Instructions { part } => part.clone(),
        Source::Persona { name } => format!("persona {name}"),
        Source::Calm => "calm reminder".into(),
        Source::Rule { name, .. } | Source::Reference { name, .. } => name.clone(),
        Source::Tool { server, name, .. } => {
            ToolName { server: server.clone(), name: name.clone() }.to_string()
        }
        Source::ToolNames { tools } => {
            let names: Vec<String> = tools.iter().map(ToString::to_string).collect();
            format!("call_tool, naming {}: {}", names.len(), names.join(", "))
        }
        Source::Summary { from, to } => format!("turns {from}-{to}"),
        Source::Topic => "topic".into(),
        Source::Entity { entity, name } => format!("{entity} {name}"),
        Source::Recalled { turn, part: of, excerpt, .. } => {
            format!("recalled turn {turn} {}{}", part(*of), cut(*excerpt))
        }
        Source::Elsewhere { session, turn, part: of, excerpt, .. } => {
            format!("session {session}, turn {turn} {}{}", part(*of), cut(*excerpt))
        }
        Source::Fact { id, .. } => format!("memory {id}"),
        Source::EarlierResult { turn, .. } => format!("result of turn {turn}"),
        Source::History { turn, part: of } => format!("turn {turn} {}", part(*of)),
        Source::Day { on, .. } => format!("day {on}"),
        Source::Given { name } => format!("given {name}"),
        Source::Preferences => "preferences".into(),
        Source::ClientRequest { bytes } => format!("the client's own request, {bytes} bytes"),
        Source::Message => "the message".into(),
    }
}

fn cut(excerpt: Option<Excerpt>) -> &'static str {
    if excerpt.is_some() { ", excerpt" } else { "" }
}

/// Heading of a source.
pub(crate) fn heading_of(source: &Source) -> &'static str {
    match source {
        Source::Rule { .. } => "Rules",
        Source::Reference { .. } => "References",
        Source::Tool { .. } | Source::ToolNames { .. } => "Tools",
        Source::Summary { .. } | Source::Topic => "Summary",
        Source::Entity { .. } => "Entities",
        Source::History { .. }
        | Source::Recalled { .. }
        | Source::Elsewhere { .. }
        | Source::Fact { .. }
        | Source::EarlierResult { .. }
        | Source::Day { .. } => "History",
        Source::Instructions { .. } | Source::Persona { .. } | Source::Calm => "Instructions",
        Source::Given { .. }
        | Source::Preferences
        | Source::ClientRequest { .. }
        | Source::Message => "Message",
    }
}

/// Why a piece was dropped, in words.
pub(crate) fn reason(reason: DropReason) -> &'static str {
    match reason {
        DropReason::OverWindow => "the window was full",
        DropReason::OverHistory => "the history's share was full",
        DropReason::OverEnrichment => "its share of the budget was full",
        DropReason::WithItsTurn => "the rest of its turn was left out",
        DropReason::NotRelevant => "not relevant enough",
        DropReason::AlreadyPresent => "it is in the request already",
        DropReason::Condensed => "older than the window: condensed in the notes",
        DropReason::Missing => "it no longer exists",
        DropReason::NotApproved => "its definition is not approved",
    }
}
