//! Calls of the engine's own tools, with which a model finds tools that its request does not declare.

use crate::session::record::CallRecord;
use crate::tool::ToolOutput;
use crate::tool_search;

use super::call::RequestedCall;
use super::{Answer, ReplyRequest};

/// Whether a tool other than the search was called.
pub(super) fn has_acted(answer: &Answer) -> bool {
    answer.calls.iter().any(|call| !tool_search::is_search(&call.tool))
}

/// Parses a call of the engine's own tools, if the request offers them.
pub(super) fn search_call(
    asked: &ReplyRequest<'_>,
    name: &str,
    call: &RequestedCall,
) -> Option<tool_search::SearchRequest> {
    let mut sent = asked.assembled.sent.iter();
    let offered = sent.any(|sent| tool_search::is_offered_by(&sent.piece.source));
    let input = call.arguments.as_ref().ok().filter(|_| offered && call.tool.is_err())?;
    tool_search::read(name, input)
}

/// Answers a search.
pub(super) async fn search(
    asked: &ReplyRequest<'_>,
    call: &RequestedCall,
    query: &str,
) -> CallRecord {
    let tools = &asked.assembled.tools;
    let found = asked.ports.selector.find_tools(tools, query, tool_search::FOUND).await;
    let output = ToolOutput { text: tool_search::found(&found), ..ToolOutput::default() };
    asked.calls().answered(call, tool_search::search_name(), output)
}
