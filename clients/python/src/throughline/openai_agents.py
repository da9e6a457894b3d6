"""OpenAI Agents: a `Session` that keeps its items in a Throughline session.

    await Runner.run(agent, text, session=ThroughlineSession("user-1"))
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agents.items import TResponseInputItem
from agents.memory import Session, SessionSettings

from . import types
from .client import AsyncThroughline
from .transcript import Role, Transcript

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


class _Format:
    name = "openai-agents"

    def dump(self, message: Any) -> Any:
        return message

    def load(self, value: Any) -> Any:
        return value

    def role(self, message: Any) -> Role:
        if message.get("role") == "user":
            return "user"
        return "assistant" if message.get("role") == "assistant" else "other"

    def text(self, message: Any) -> str:
        content = message.get("content")
        if isinstance(content, str):
            return content
        parts = content if isinstance(content, list) else []
        return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)

    def from_turn(self, message: str, reply: str) -> list[Any]:
        found: list[Any] = []
        if message:
            found.append({"role": "user", "content": message})
        if reply:
            found.append({"role": "assistant", "content": reply})
        return found

    def executions(self, messages: Sequence[Any]) -> list[types.ExecutionBody]:
        outputs = {m["call_id"]: m.get("output") for m in messages if m.get("type") in _OUTPUTS}
        return [
            {"name": m["name"], "arguments": _value(m[_CALLS[m["type"]]]), "result": _text(outputs[m["call_id"]])}
            for m in messages
            if m.get("type") in _CALLS and m.get("call_id") in outputs
        ]


def _value(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return {"input": arguments}


def _text(output: Any) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


class ThroughlineSession(Session):
    """The items of a session. `clear_session` erases it; `pop_item` removes an item from the server for good."""

    def __init__(
        self,
        session_id: str,
        *,
        client: AsyncThroughline | None = None,
        agent: str | None = None,
        settings: types.Settings | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._client = client or AsyncThroughline()
        self._transcript: Transcript[Any] = Transcript(session_id, _Format(), agent=agent, settings=settings)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """All items, or the latest, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = await self._client.connection.run(self._transcript.load())
        return items if limit is None else items[-limit:] if limit > 0 else []

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items."""
        await self._client.connection.run(self._transcript.add(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the last item, and answers it."""
        item: TResponseInputItem | None = await self._client.connection.run(self._transcript.pop())
        return item

    async def clear_session(self) -> None:
        """Erases the session."""
        await self._client.connection.run(self._transcript.clear())
