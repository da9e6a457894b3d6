"""pydantic-ai: the message history of a conversation, kept in a Throughline session.

    history = ThroughlineHistory("user-1")
    result = agent.run_sync(prompt, message_history=history.load())
    history.save(result)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.run import AgentRunResult

from . import types
from .client import AsyncThroughline, Throughline
from .transcript import Role, Transcript
from .transport import Steps


class _Format:
    name = "pydantic-ai"

    def dump(self, message: ModelMessage) -> Any:
        return ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]

    def load(self, value: Any) -> ModelMessage:
        return ModelMessagesTypeAdapter.validate_python([value])[0]

    def role(self, message: ModelMessage) -> Role:
        if isinstance(message, ModelResponse):
            return "assistant"
        return "user" if any(isinstance(part, UserPromptPart) for part in message.parts) else "other"

    def text(self, message: ModelMessage) -> str:
        texts: list[str] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                texts.append(part.content)
            elif isinstance(part, ToolCallPart) and part.tool_name.startswith("final_result"):
                texts.append(part.args_as_json_str())  # An answer that has a schema.
            elif isinstance(part, UserPromptPart):
                content = [part.content] if isinstance(part.content, str) else part.content
                texts.extend(piece for piece in content if isinstance(piece, str))
        return "\n".join(texts)

    def from_turn(self, message: str, reply: str) -> list[ModelMessage]:
        found: list[ModelMessage] = []
        if message:
            found.append(ModelRequest(parts=[UserPromptPart(content=message)]))
        if reply:
            found.append(ModelResponse(parts=[TextPart(content=reply)]))
        return found

    def executions(self, messages: Sequence[ModelMessage]) -> list[types.ExecutionBody]:
        results = {p.tool_call_id: p for m in messages for p in m.parts if isinstance(p, ToolReturnPart)}
        return [
            {"name": p.tool_name, "arguments": p.args_as_dict(), "result": results[p.tool_call_id].model_response_str()}
            for m in messages
            for p in m.parts
            if isinstance(p, ToolCallPart) and p.tool_call_id in results
        ]


class _Kept:
    """What is common to the two forms: a run is one turn, and is kept once."""

    def __init__(self, session_id: str, agent: str | None, settings: types.Settings | None) -> None:
        self._transcript: Transcript[ModelMessage] = Transcript(session_id, _Format(), agent=agent, settings=settings)

    def _save(self, result: AgentRunResult[Any]) -> Steps[None]:
        new = result.new_messages()
        form = _Format()
        present = [form.dump(message) for message in (yield from self._transcript.load())]
        if new and present[-len(new) :] == [form.dump(message) for message in new]:
            return
        yield from self._transcript.add(new, complete=True)


class ThroughlineHistory(_Kept):
    """The messages of a session; blocks. `clear` erases the session."""

    def __init__(
        self,
        session_id: str,
        *,
        client: Throughline | None = None,
        agent: str | None = None,
        settings: types.Settings | None = None,
    ) -> None:
        super().__init__(session_id, agent, settings)
        self._client = client or Throughline()

    def load(self) -> list[ModelMessage]:
        """All messages, for `message_history`."""
        return self._client.connection.run(self._transcript.load())

    def save(self, result: AgentRunResult[Any]) -> None:
        """Keeps the new messages of a run as one turn. Saving the same run again changes nothing."""
        self._client.connection.run(self._save(result))

    def clear(self) -> None:
        """Erases the session."""
        self._client.connection.run(self._transcript.clear())


class AsyncThroughlineHistory(_Kept):
    """The same for asyncio."""

    def __init__(
        self,
        session_id: str,
        *,
        client: AsyncThroughline | None = None,
        agent: str | None = None,
        settings: types.Settings | None = None,
    ) -> None:
        super().__init__(session_id, agent, settings)
        self._client = client or AsyncThroughline()

    async def load(self) -> list[ModelMessage]:
        """All messages, for `message_history`."""
        return await self._client.connection.run(self._transcript.load())

    async def save(self, result: AgentRunResult[Any]) -> None:
        """Keeps the new messages of a run as one turn. Saving the same run again changes nothing."""
        await self._client.connection.run(self._save(result))

    async def clear(self) -> None:
        """Erases the session."""
        await self._client.connection.run(self._transcript.clear())
