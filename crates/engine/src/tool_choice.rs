//! Decides which tools a request declares and which it offers through search.
//!
//! Declared tools are at the start of a request, so every change there invalidates a provider's cache. A declared
//! tool stays declared while there is room, and one is added only if the message needs it. If the tools with mode
//! `agent`, and those of servers too large to declare, do not all fit, the best few are declared and the next best
//! named. `find_tools` finds the rest, and `call_tool` calls them ([`crate::tool_search`]). That list is made once; what a
//! later message needs is named beside it.
//!
//! Invariant: pure functions; the same tools and scores give the same choice.

use std::collections::BTreeSet;

use crate::limits::Limits;
use crate::tool::ToolName;

/// Below this score a message needs no tool: small talk.
const SCORE_FLOOR: f32 = 0.4;
/// Tools always offered, however low their score.
const KEPT_MIN: usize = 2;
/// If the best score is lower, only the best few are declared. Half of all small talk scores lower, requests hardly ever.
const FILL_FLOOR: f32 = 0.5;
/// Tools with a score this close to the best are included too.
const CLOSE: f32 = 0.1;
/// Of the tools for a later message, this many are named however far they are from the best,
const BESIDE_MIN: usize = 12;
/// and no more than this many.
const BESIDE_MAX: usize = 16;

#[derive(Debug, Clone, Default)]
pub struct ToolOffer {
    /// Tools declared by the request before, in order.
    pub declared: Vec<ToolName>,
    /// Tools called recently.
    pub used: Vec<ToolName>,
    /// Maximum tokens of declared tools.
    pub tokens: u32,
    /// Whether tools can be found by search.
    pub search: bool,
    /// Tools that `call_tool` named in the request before, in order.
    pub named: Vec<ToolName>,
    /// Tools that were named beside earlier messages.
    pub named_beside: Vec<ToolName>,
}

/// A tool that could be declared for a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub tool: ToolName,
    /// How well it matches, 0–1.
    pub score: f32,
    /// Tokens of its definition.
    pub tokens: u32,
}

/// The servers to search instead of declaring all their tools: the largest, until the rest fits.
pub fn searched_servers<'a>(
    always: impl Iterator<Item = (&'a str, u32)>,
    tokens: u32,
) -> BTreeSet<String> {
    let mut sizes: Vec<(u32, &str)> = Vec::new();
    for (server, cost) in always {
        match sizes.iter_mut().find(|(_, name)| *name == server) {
            Some((size, _)) => *size += cost,
            None => sizes.push((cost, server)),
        }
    }
    sizes.sort_by(|left, right| right.cmp(left));
    let mut total: u32 = sizes.iter().map(|(size, _)| size).sum();
    let mut searched = BTreeSet::new();
    for (size, server) in sizes {
        if total <= tokens {
            break;
        }
        total -= size;
        searched.insert(server.to_owned());
    }
    searched
}

/// The best few tools for a message, more if their scores are close, as far as they fit.
fn best_few(candidates: &[Candidate], limits: &Limits) -> Vec<ToolName> {
    let Some(best) = candidates.first().filter(|best| best.score >= SCORE_FLOOR) else {
        return Vec::new();
    };
    let mut left = limits.tools_tokens;
    let mut chosen = Vec::new();
    for (rank, candidate) in candidates.iter().take(limits.candidates_kept).enumerate() {
        let wanted = rank < KEPT_MIN
            || candidate.score >= limits.score_min
            || candidate.score >= best.score - CLOSE;
        if !wanted || (candidate.tokens > left && !chosen.is_empty()) {
            continue;
        }
        left = left.saturating_sub(candidate.tokens);
        chosen.push(candidate.tool.clone());
    }
    chosen
}

/// The tools to declare besides the permanent ones: those declared before, then new ones.
///
/// `known` are the existing tools with their tokens.
pub fn declared(
    offer: &ToolOffer,
    candidates: &[Candidate],
    known: &[(ToolName, u32)],
    limits: &Limits,
) -> Vec<ToolName> {
    let cost = |tool: &ToolName| known.iter().find(|(name, _)| name == tool).map(|(_, cost)| *cost);
    let mut kept: Vec<ToolName> =
        offer.declared.iter().filter(|tool| cost(tool).is_some()).cloned().collect();
    let sure = |tool: &ToolName| {
        let score = candidates.iter().find(|c| c.tool == *tool).map(|c| c.score);
        score.is_some_and(|score| score >= limits.score_min)
    };
    // A tool that can be called anyway is not worth a change of the list, and one that a search would find only if it
    // clearly matches.
    let stands = offer.search && !kept.is_empty();
    let needed = |tool: &ToolName| !stands || (sure(tool) && !offer.named.contains(tool));
    let mut joins: Vec<ToolName> = best_few(candidates, limits)
        .into_iter()
        .filter(|tool| !kept.contains(tool) && needed(tool))
        .collect();
    let tokens = |tools: &[ToolName]| tools.iter().filter_map(cost).sum::<u32>();
    if !joins.is_empty() && candidates.first().is_some_and(|best| best.score >= FILL_FLOOR) {
        // The list changes anyway, so it takes as many good guesses as there is room for: the next message may need no change.
        let mut left = limits.tools_tokens.saturating_sub(tokens(&joins));
        for candidate in candidates {
            let known = kept.contains(&candidate.tool) || joins.contains(&candidate.tool);
            if !known && candidate.tokens <= left {
                left -= candidate.tokens;
                joins.push(candidate.tool.clone());
            }
        }
    }
    if !joins.is_empty() && tokens(&kept) + tokens(&joins) > offer.tokens {
        // The list is full: break the prefix once and keep only tools in use, plus the new ones.
        kept.retain(|tool| offer.used.contains(tool));
        if tokens(&kept) + tokens(&joins) > offer.tokens {
            kept.clear();
        }
    }
    kept.extend(joins);
    kept
}

/// Whether a message is about tools at all, so that more than the best two are worth their tokens.
pub fn needs_tools(best_score: Option<f32>) -> bool {
    best_score.is_some_and(|best| best >= FILL_FLOOR)
}

/// The tools to name beside a message, best first, where `is_given` tells what the request has already.
pub fn beside(scores: &[(ToolName, f32)], is_given: impl Fn(&ToolName) -> bool) -> Vec<ToolName> {
    let best = scores.first().map(|(_, score)| *score);
    if !needs_tools(best) {
        return Vec::new();
    }
    let close = best.unwrap_or_default() - CLOSE;
    let scores = scores.iter().take(BESIDE_MAX).enumerate();
    let wanted = scores.filter(|(rank, (_, score))| *rank < BESIDE_MIN || *score >= close);
    wanted.map(|(_, (tool, _))| tool).filter(|tool| !is_given(tool)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> ToolName {
        ToolName { server: "s".into(), name: name.into() }
    }

    fn candidates(scored: &[(&str, f32)]) -> Vec<Candidate> {
        let candidate = |(name, score): &(&str, f32)| Candidate {
            tool: tool(name),
            score: *score,
            tokens: 100,
        };
        scored.iter().map(candidate).collect()
    }

    fn names(tools: &[ToolName]) -> Vec<&str> {
        tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    fn known() -> Vec<(ToolName, u32)> {
        ["a", "b", "c", "d"].map(|name| (tool(name), 100)).to_vec()
    }

    fn offer(declared: &[&str], search: bool) -> ToolOffer {
        let declared = declared.iter().map(|name| tool(name)).collect();
        ToolOffer { declared, search, tokens: 300, ..ToolOffer::default() }
    }

    #[test]
    fn the_best_are_given_though_none_is_sure_and_small_talk_is_given_none() {
        let limits = Limits { tools_tokens: 200, ..Limits::default() };
        let unsure = candidates(&[("a", 0.5), ("b", 0.35), ("c", 0.2)]);
        let chosen = declared(&offer(&[], true), &unsure, &known(), &limits);
        assert_eq!(names(&chosen), ["a", "b"]);
        let limits = Limits { tools_tokens: 300, ..limits };
        let close = candidates(&[("a", 0.5), ("b", 0.49), ("c", 0.45)]);
        let chosen = declared(&offer(&[], true), &close, &known(), &limits);
        assert_eq!(names(&chosen), ["a", "b", "c"]);
        let idle = candidates(&[("a", 0.3), ("b", 0.1)]);
        assert!(declared(&offer(&[], true), &idle, &known(), &limits).is_empty());
    }

    #[test]
    fn what_was_declared_stays_and_another_joins_where_it_is_sure_or_cannot_be_found() {
        let limits = Limits::default();
        let unsure = candidates(&[("c", 0.5)]);
        let sure = candidates(&[("c", 0.9)]);
        let chosen = |offer: &ToolOffer, candidates: &[Candidate]| {
            names(&declared(offer, candidates, &known(), &limits)).join(" ")
        };
        assert_eq!(chosen(&offer(&["a"], true), &unsure), "a");
        assert_eq!(chosen(&offer(&["a"], true), &sure), "a c");
        assert_eq!(chosen(&offer(&["a"], false), &unsure), "a c");
        let named = ToolOffer { named: vec![tool("c")], ..offer(&["a"], true) };
        assert_eq!(chosen(&named, &sure), "a");
        assert_eq!(chosen(&offer(&["gone", "a"], true), &[]), "a");
    }

    #[test]
    fn a_list_that_changes_is_filled_and_one_that_need_not_change_is_not() {
        let limits = Limits { tools_tokens: 200, ..Limits::default() };
        let chosen = |offer: &ToolOffer, scored: &[(&str, f32)]| {
            names(&declared(offer, &candidates(scored), &known(), &limits)).join(" ")
        };
        let scored = [("c", 0.9), ("b", 0.45), ("d", 0.4)];
        assert_eq!(chosen(&offer(&["a"], true), &scored), "a c b");
        assert_eq!(chosen(&offer(&["c"], true), &scored), "c");
        let vague = [("c", 0.49), ("b", 0.35), ("d", 0.3)];
        let limits = Limits { tools_tokens: 300, ..Limits::default() };
        let chosen = declared(&offer(&[], true), &candidates(&vague), &known(), &limits);
        assert_eq!(names(&chosen), ["c", "b"]);
    }

    #[test]
    fn beside_a_later_message_its_best_tools_are_named_if_they_are_not_given() {
        let named = |scored: &[(&str, f32)]| {
            let scores: Vec<(ToolName, f32)> =
                scored.iter().map(|(name, score)| (tool(name), *score)).collect();
            names(&beside(&scores, |given| given.name == "b")).join(" ")
        };
        assert_eq!(named(&[("a", 0.6), ("b", 0.3), ("c", 0.2)]), "a c");
        assert_eq!(named(&[("a", 0.49)]), "");
        assert_eq!(named(&[("b", 0.9)]), "");
    }

    #[test]
    fn a_full_list_keeps_what_is_used() {
        let limits = Limits::default();
        let mut offer = offer(&["a", "b", "c"], true);
        offer.used = vec![tool("b")];
        let chosen = declared(&offer, &candidates(&[("d", 0.9)]), &known(), &limits);
        assert_eq!(names(&chosen), ["b", "d"]);
    }

    #[test]
    fn the_largest_servers_are_searched_until_the_rest_fits() {
        let sizes = [("small", 50), ("large", 300), ("middle", 100), ("large", 300)];
        let searched = |tokens| searched_servers(sizes.into_iter(), tokens);
        assert!(searched(750).is_empty());
        assert_eq!(searched(749).into_iter().collect::<Vec<_>>(), ["large"]);
        assert_eq!(searched(149).into_iter().collect::<Vec<_>>(), ["large", "middle"]);
    }
}
