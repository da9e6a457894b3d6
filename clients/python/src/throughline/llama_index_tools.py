"""LlamaIndex: two tools that lead to all tools of a session's agent. `throughline.llama_index` offers them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llama_index.core.tools import FunctionTool

from . import operations as op
from .client import AsyncThroughline, Throughline
from .errors import ConflictError, NotFoundError
from .names import session_id as id_of
from .transport import Steps


def throughline_tools(
    session_id: str,
    *,
    client: Throughline | None = None,
    async_client: AsyncThroughline | None = None,
    agent: str | None = None,
    approve: bool | Callable[[str, dict[str, Any]], bool] = False,
) -> list[FunctionTool]:
    """Two tools that lead to all tools of the session's agent, which the server calls under the session's rules.

    A call that needs approval is not made, and the model is told so, unless `approve` is set or says so for the tool and its arguments.
    `agent` is that of a session that does not exist yet.
    """
    client, async_client = client or Throughline(), async_client or AsyncThroughline()
    session = id_of(session_id)

    def call(name: str, arguments: dict[str, Any], approved: bool) -> Steps[str]:
        try:
            made = yield from op.call(session, name, arguments, approve=approved)
        except NotFoundError as error:
            if error.code != "no_session":
                raise
            yield from op.create_session(session, agent=agent)
            made = yield from op.call(session, name, arguments, approve=approved)
        return made["result"]

    def call_tool_steps(tool: str, arguments: dict[str, Any] | None) -> Steps[str]:
        given = {"tool": tool, "arguments": arguments or {}}
        try:
            return (yield from call("call_tool", given, approve is True))
        except ConflictError as error:
            if error.code != "approval_needed":
                raise
            if not callable(approve):
                return error.detail
            if not approve(tool, arguments or {}):
                return f"{error.detail}; it was refused"
        return (yield from call("call_tool", given, True))

    def find_tools(query: str) -> str:
        """Finds tools by what they do, or definitions by name."""
        return client.connection.run(call("find_tools", {"query": query}, False))

    async def afind_tools(query: str) -> str:
        return await async_client.connection.run(call("find_tools", {"query": query}, False))

    def call_tool(tool: str, arguments: dict[str, Any] | None = None) -> str:
        """Calls a tool that find_tools returned."""
        return client.connection.run(call_tool_steps(tool, arguments))

    async def acall_tool(tool: str, arguments: dict[str, Any] | None = None) -> str:
        return await async_client.connection.run(call_tool_steps(tool, arguments))

    return [
        FunctionTool.from_defaults(find_tools, async_fn=afind_tools),
        FunctionTool.from_defaults(call_tool, async_fn=acall_tool),
    ]
