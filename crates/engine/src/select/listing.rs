//! The tools of a request that cannot declare all: a few are declared, more are named, the rest can be found.
//!
//! Invariant: the list stays as it is while it exists; what a later message needs is named beside that message.

use crate::budget::cost;
use crate::catalog::KnownTool;
use crate::limits::Limits;
use crate::piece::Piece;
use crate::tool::ToolName;
use crate::tool_choice::{self, Candidate, ToolOffer};
use crate::tool_search;

/// The share of `tools_tokens` that goes to the search and the tools that are declared; the rest goes to names.
const DECLARED_PARTS: u32 = 2;
/// Of `tools_tokens`, one in so many is left to models that count names in more tokens than we do.
const MARGIN_PARTS: u32 = 12;

#[derive(Default)]
pub(super) struct ToolList {
    pub declared: Vec<ToolName>,
    /// The tools for finding and calling others.
    pub search: Vec<Piece>,
    /// What is named beside the message.
    pub beside: Option<Piece>,
    /// All tools that are named.
    pub named: Vec<ToolName>,
}

/// The list for a message. `ranked` are the tools of `pool` that match it, best first; `known` are those that may be declared.
pub(super) fn list(
    pool: &[&KnownTool],
    ranked: &[(ToolName, f32)],
    (offer, limits): (&ToolOffer, &Limits),
    (candidates, known): (&[Candidate], &[(ToolName, u32)]),
) -> ToolList {
    let usable: Vec<&ToolName> = pool
        .iter()
        .filter(|known| known.pin.refusal().is_none())
        .map(|known| &known.definition.tool)
        .collect();
    let ranked: Vec<(ToolName, f32)> =
        ranked.iter().filter(|(tool, _)| usable.contains(&tool)).cloned().collect();
    let search_tokens = tool_search::tokens();
    let names_tokens = limits.tools_tokens - limits.tools_tokens / DECLARED_PARTS;
    let all = tool_search::that_fit(usable.iter().copied().cloned(), names_tokens);
    let all_fit = all.len() == usable.len();
    let declared_tokens = (limits.tools_tokens / DECLARED_PARTS).saturating_sub(search_tokens);
    let room = Limits { tools_tokens: declared_tokens, ..limits.clone() };
    let choose = || tool_choice::declared(offer, candidates, known, &room);
    let stands =
        |tools: &[ToolName]| tools.iter().filter(|t| usable.contains(t)).cloned().collect();
    if all_fit {
        let offer = ToolOffer { named: all.clone(), ..offer.clone() };
        let declared = tool_choice::declared(&offer, candidates, known, &room);
        return ToolList { declared, search: tool_search::pieces(&all), beside: None, named: all };
    }
    let needs_tools = tool_choice::needs_tools(ranked.first().map(|(_, score)| *score));
    if offer.named.is_empty() {
        let declared = choose();
        let taken: u32 = declared
            .iter()
            .filter_map(|tool| known.iter().find(|(name, _)| name == tool))
            .map(|(_, cost)| cost)
            .sum();
        let most = limits.tools_tokens - limits.tools_tokens / MARGIN_PARTS;
        let left = most.saturating_sub(search_tokens + taken);
        let next = ranked.iter().map(|(tool, _)| tool).filter(|tool| !declared.contains(tool));
        let mut named = match needs_tools {
            true => tool_search::that_fit(next.cloned(), left),
            false => Vec::new(),
        };
        let mut search = tool_search::pieces(&named);
        // Within a definition, names take a little more than by themselves.
        while search.iter().map(cost).sum::<u32>() + taken > most && named.pop().is_some() {
            search = tool_search::pieces(&named);
        }
        return ToolList { declared, search, beside: None, named };
    }
    let declared: Vec<ToolName> = stands(&offer.declared);
    let mut named: Vec<ToolName> = stands(&offer.named);
    let search = tool_search::pieces(&named);
    let given = |tool: &ToolName| {
        [&declared, &named, &offer.named_beside].into_iter().any(|given| given.contains(tool))
    };
    let beside = tool_choice::beside(&ranked, given);
    let piece = (!beside.is_empty()).then(|| tool_search::beside(&beside));
    named.extend(beside);
    ToolList { declared, search, beside: piece, named }
}
