"""Anthropic: the memory tool, with its files on the Throughline server.

    client.beta.messages.tool_runner(model=..., tools=[ThroughlineMemoryTool()], ...)
"""

from __future__ import annotations

from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import BetaCacheControlEphemeralParam

from . import operations as op, types
from .client import AsyncThroughline, Throughline
from .transport import Steps


def _command(command: Any) -> dict[str, Any]:
    fields: dict[str, Any] = command if isinstance(command, dict) else command.to_dict()
    return {name: value for name, value in fields.items() if value is not None}


def _text(result: types.ToolResult) -> str:
    if result["is_error"]:
        raise ToolError(result["content"])
    return result["content"]


def _clear() -> Steps[str]:
    listing = yield from op.memory_tool({"command": "view", "path": "/memories"})
    for line in listing["content"].splitlines()[1:]:
        path = line.partition("\t")[2].rstrip("/")
        # What lies below a folder goes with it.
        if path.count("/") == 2:
            yield from op.memory_tool({"command": "delete", "path": path})
    return "All memory cleared"


class ThroughlineMemoryTool(BetaAbstractMemoryTool):
    """The memory tool; its files are the ones of the key's user. Every edit keeps the text before."""

    def __init__(
        self, *, client: Throughline | None = None, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client or Throughline()

    def _run(self, command: Any) -> str:
        return _text(self._client.memories.tool(_command(command)))

    def view(self, command: Any) -> str:
        """Shows a file or a folder."""
        return self._run(command)

    def create(self, command: Any) -> str:
        """Creates a file."""
        return self._run(command)

    def str_replace(self, command: Any) -> str:
        """Replaces a text that occurs once."""
        return self._run(command)

    def insert(self, command: Any) -> str:
        """Inserts a text after a line."""
        return self._run(command)

    def delete(self, command: Any) -> str:
        """Deletes a file or a folder."""
        return self._run(command)

    def rename(self, command: Any) -> str:
        """Renames a file or a folder."""
        return self._run(command)

    def clear_all_memory(self) -> str:
        """Deletes all files."""
        return self._client.connection.run(_clear())


class AsyncThroughlineMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for asyncio."""

    def __init__(
        self, *, client: AsyncThroughline | None = None, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client or AsyncThroughline()

    async def _run(self, command: Any) -> str:
        return _text(await self._client.memories.tool(_command(command)))

    async def view(self, command: Any) -> str:
        """Shows a file or a folder."""
        return await self._run(command)

    async def create(self, command: Any) -> str:
        """Creates a file."""
        return await self._run(command)

    async def str_replace(self, command: Any) -> str:
        """Replaces a text that occurs once."""
        return await self._run(command)

    async def insert(self, command: Any) -> str:
        """Inserts a text after a line."""
        return await self._run(command)

    async def delete(self, command: Any) -> str:
        """Deletes a file or a folder."""
        return await self._run(command)

    async def rename(self, command: Any) -> str:
        """Renames a file or a folder."""
        return await self._run(command)

    async def clear_all_memory(self) -> str:
        """Deletes all files."""
        return await self._client.connection.run(_clear())
