"""The memory tool, called as the SDK's tool runner calls it, beside the SDK's own file tool."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

from throughline.anthropic import AsyncThroughlineMemoryTool, ThroughlineMemoryTool

COMMANDS = [
    {"command": "create", "path": "/memories/racks.md", "file_text": "Rack 4\nRack 5\n"},
    {"command": "view", "path": "/memories/racks.md"},
    {"command": "str_replace", "path": "/memories/racks.md", "old_str": "Rack 5", "new_str": "Rack 6"},
    {"command": "insert", "path": "/memories/racks.md", "insert_line": 1, "insert_text": "Rack 4b\n"},
    {"command": "view", "path": "/memories/racks.md", "view_range": [1, 2]},
    {"command": "create", "path": "/memories/racks.md", "file_text": "x"},
    {"command": "view", "path": "/memories/none.md"},
    {"command": "str_replace", "path": "/memories/racks.md", "old_str": "none", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/racks.md", "old_str": "Rack", "new_str": "x"},
    {"command": "insert", "path": "/memories/racks.md", "insert_line": 99, "insert_text": "x"},
    {"command": "rename", "old_path": "/memories/racks.md", "new_path": "/memories/old/racks.md"},
    {"command": "view", "path": "/memories/old/racks.md"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "delete", "path": "/memories/old"},
    {"command": "view", "path": "/memories/old/racks.md"},
    {"command": "delete", "path": "/memories"},
]


def outcome(call, command):
    """Whether it worked, and the text of a file without the words around it."""
    try:
        text = call(command)
    except ToolError:
        return "error"
    return [line for line in text.splitlines() if "\t" in line] if command["command"] == "view" else "done"


@pytest.fixture
def tool(client):
    tool = ThroughlineMemoryTool(client=client)
    tool.clear_all_memory()
    return tool


def test_each_command_does_what_the_sdks_file_tool_does(tool, tmp_path):
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path))
    assert tool.to_dict() == theirs.to_dict()
    for command in COMMANDS:
        assert outcome(tool.call, command) == outcome(theirs.call, command), command


def test_all_of_it_can_be_cleared(tool):
    for path in ("a.md", "b/c.md", "b/d/e.md"):
        tool.call({"command": "create", "path": f"/memories/{path}", "file_text": "x"})
    assert tool.clear_all_memory() == "All memory cleared"
    assert "a.md" not in tool.call({"command": "view", "path": "/memories"})
    with pytest.raises(ToolError):
        tool.call({"command": "view", "path": "/memories/b/d/e.md"})


def test_the_asynchronous_form_does_the_same(tool, connect):
    async def run():
        other = AsyncThroughlineMemoryTool(client=connect())
        await other.call(COMMANDS[0])
        assert "Rack 4" in await other.call(COMMANDS[1])
        with pytest.raises(ToolError):
            await other.call({"command": "view", "path": "/memories/none.md"})
        await other.clear_all_memory()

    asyncio.run(run())
    with pytest.raises(ToolError):
        tool.call(COMMANDS[1])
