"""The memory tool, called as the SDK's tool runner calls it, beside the SDK's own file tool."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

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


def test_the_sdks_tool_runner_runs_it(tool):
    """Against a server that plays the model: it writes a file, and then says so."""
    asked = []
    contents = [
        [{"type": "tool_use", "id": "t1", "name": "memory", "input": COMMANDS[0]}],
        [{"type": "tool_use", "id": "t2", "name": "memory", "input": COMMANDS[6]}],
        [{"type": "text", "text": "Kept."}],
    ]

    class Model(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            content = contents[len(asked) - 1]
            reason = "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
            message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
                       "stop_reason": reason, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
            text = json.dumps(message).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        anthropic = Anthropic(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}")
        messages = [{"role": "user", "content": "Remember the racks"}]
        runner = anthropic.beta.messages.tool_runner(model="m", max_tokens=100, messages=messages, tools=[tool])
        assert runner.until_done().content[0].text == "Kept."
    finally:
        server.shutdown()
        server.server_close()
    results = [request["messages"][-1]["content"][0] for request in asked[1:]]
    assert [(result["type"], bool(result.get("is_error"))) for result in results] == [("tool_result", False), ("tool_result", True)]
    assert "Rack 4" in tool.call(COMMANDS[1])
