//! Which server is meant if several have the same tool.
//!
//! A message may name one ("list the tasks at home"), or do nothing else ("and at work?", "no, at home"): then it
//! repeats the previous message for another server.
//!
//! Invariant: a tool that several servers have with the same parameters is called only after one of the servers
//! was named or is in focus.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::entity::Span;
use crate::entity::token::{Token, tokens};
use crate::lexicon::{Class, Language};
use crate::pack::words_of_identifier;
use crate::session::record::TurnRecord;
use crate::tool::ToolDefinition;

/// Words allowed next to a server's name in a message that says nothing else.
const BESIDE: [Class; 17] = [
    Class::Filler,
    Class::Placing,
    Class::In,
    Class::From,
    Class::To,
    Class::With,
    Class::Of,
    Class::And,
    Class::Continue,
    Class::SameFor,
    Class::Yes,
    Class::No,
    Class::Sorry,
    Class::Wait,
    Class::Meant,
    Class::Mean,
    Class::Else,
];

#[derive(Debug, Default)]
pub(super) struct Servers {
    /// Where the message names one.
    pub spans: Vec<Span>,
    /// The previous message, if this one only names a server.
    pub instead: Option<String>,
    /// Servers with the same tools, of which none was named.
    pub undecided: BTreeSet<String>,
}

/// Removes the tools of servers that are not meant, if another server has them too.
pub(super) fn choose(
    tools: &mut Vec<ToolDefinition>,
    message: &str,
    language: &'static Language,
    recent: &[Arc<TurnRecord>],
) -> Servers {
    let shared: BTreeSet<String> = {
        let has_other = |tool: &&ToolDefinition| tools.iter().any(|other| same_name(tool, other));
        tools.iter().filter(has_other).map(|tool| tool.tool.server.clone()).collect()
    };
    if shared.is_empty() {
        return Servers::default();
    }
    let (said, mut spans) = named(message, &shared);
    let mut chosen: Option<String> = said.first().filter(|_| said.len() == 1).cloned();
    let mut instead = None;
    if chosen.is_some() && says_nothing_else(message, &spans, language) {
        let before = recent.iter().rev().map(|turn| turn.message.as_str()).find(|earlier| {
            let (_, spans) = named(earlier, &shared);
            !says_nothing_else(earlier, &spans, language)
        });
        if let Some(before) = before {
            spans = named(before, &shared).1;
            instead = Some(before.to_owned());
        }
    }
    if said.is_empty() && leans(message, language) {
        let calls = recent.iter().rev().flat_map(|turn| turn.calls.iter().rev());
        let last = calls.map(|call| &call.tool.server).find(|server| shared.contains(*server));
        chosen = last.cloned();
    }
    let mut undecided = BTreeSet::new();
    match &chosen {
        Some(server) => {
            let all = tools.clone();
            let meant = |tool: &ToolDefinition| {
                let theirs =
                    all.iter().any(|other| same_name(tool, other) && other.tool.server == *server);
                !theirs || tool.tool.server == *server
            };
            tools.retain(meant);
        }
        None => {
            let copied = |tool: &&ToolDefinition| tools.iter().any(|other| is_copy(tool, other));
            undecided.extend(tools.iter().filter(copied).map(|tool| tool.tool.server.clone()));
        }
    }
    Servers { spans, instead, undecided }
}

/// Whether another server has the same tool with the same parameters.
pub(super) fn has_copies(tool: &ToolDefinition, tools: &[ToolDefinition]) -> bool {
    tools.iter().any(|other| is_copy(tool, other))
}

/// The only one of these servers that a message names.
pub(super) fn names_one<'a>(
    message: &str,
    servers: impl Iterator<Item = &'a String>,
) -> Option<String> {
    named(message, &servers.cloned().collect()).0.into_iter().next()
}

fn same_name(one: &ToolDefinition, two: &ToolDefinition) -> bool {
    one.tool.name == two.tool.name && one.tool.server != two.tool.server
}

fn is_copy(one: &ToolDefinition, two: &ToolDefinition) -> bool {
    same_name(one, two) && one.input_schema == two.input_schema
}

/// The servers that a message names, each once, and where.
fn named(message: &str, servers: &BTreeSet<String>) -> (Vec<String>, Vec<Span>) {
    let (words, _) = tokens(message);
    let (mut found, mut spans) = (Vec::new(), Vec::new());
    for server in servers {
        let own = words_of_identifier(server);
        let is = |run: &[Token<'_>]| run.iter().zip(&own).all(|(token, own)| token.lower == *own);
        for run in words.windows(own.len().max(1)).filter(|run| is(run)) {
            spans.push(Span { start: run[0].span.start, end: run[run.len() - 1].span.end });
            if !found.contains(server) {
                found.push(server.clone());
            }
        }
    }
    (found, spans)
}

/// Whether a message is only a server's name with function words.
fn says_nothing_else(message: &str, spans: &[Span], language: &Language) -> bool {
    let (words, _) = tokens(message);
    let rest: Vec<&Token<'_>> = words
        .iter()
        .filter(|token| {
            !spans.iter().any(|span| span.start <= token.span.start && token.span.end <= span.end)
        })
        .collect();
    let mut at = 0;
    while at < rest.len() {
        let words = || rest[at..].iter().map(|token| token.lower.as_str());
        match BESIDE.iter().filter_map(|class| language.starts(*class, words())).max() {
            Some(count) => at += count.max(1),
            None => return false,
        }
    }
    !spans.is_empty()
}

/// Whether a message depends on what was shown before.
fn leans(message: &str, language: &Language) -> bool {
    let pointing = [
        Class::It,
        Class::Its,
        Class::They,
        Class::Their,
        Class::This,
        Class::These,
        Class::Ones,
        Class::One,
        Class::Only,
        Class::Continue,
        Class::There,
    ];
    let (words, _) = tokens(message);
    words.iter().any(|token| pointing.iter().any(|class| language.is(*class, &token.lower)))
}
