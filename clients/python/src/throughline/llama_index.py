"""LlamaIndex: a memory that keeps its messages in a Throughline session, and the tools of the session's agent.

    SimpleChatEngine.from_defaults(llm=llm, memory=ThroughlineMemory.from_defaults(session_id="user-1"))
    await FunctionAgent(llm=llm, tools=throughline_tools("user-1")).run(message, memory=ThroughlineMemory("user-1"))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.memory.types import BaseMemory
from pydantic import PrivateAttr

from . import types
from .client import AsyncThroughline, Throughline
from .llama_index_tools import throughline_tools
from .transcript import Role, Transcript

__all__ = ["ThroughlineMemory", "throughline_tools"]


def _has_calls(message: ChatMessage) -> bool:
    return bool(message.additional_kwargs.get("tool_calls")) or any(isinstance(b, ToolCallBlock) for b in message.blocks)


def _called(block: ToolCallBlock) -> types.ExecutionBody:
    """The tool that was called through `call_tool`, or the tool itself."""
    given = block.tool_kwargs
    if block.tool_name == "call_tool" and isinstance(given, dict) and isinstance(given.get("tool"), str):
        return {"name": given["tool"], "arguments": given.get("arguments") or {}}
    return {"name": block.tool_name, "arguments": given}


class _Format:
    name = "llama-index"

    def dump(self, message: ChatMessage) -> Any:
        return message.model_dump(mode="json")

    def load(self, value: Any) -> ChatMessage:
        return ChatMessage.model_validate(value)

    def role(self, message: ChatMessage) -> Role:
        if message.role == MessageRole.USER:
            return "user"
        is_answer = message.role in (MessageRole.ASSISTANT, MessageRole.CHATBOT) and not _has_calls(message)
        return "assistant" if is_answer else "other"

    def text(self, message: ChatMessage) -> str:
        return message.content or ""

    def from_turn(self, message: str, reply: str) -> list[ChatMessage]:
        found: list[ChatMessage] = []
        if message:
            found.append(ChatMessage(role=MessageRole.USER, content=message))
        if reply:
            found.append(ChatMessage(role=MessageRole.ASSISTANT, content=reply))
        return found

    def executions(self, messages: Sequence[ChatMessage]) -> list[types.ExecutionBody]:
        results = {m.additional_kwargs.get("tool_call_id"): m.content or "" for m in messages if m.role == MessageRole.TOOL}
        return [
            {**_called(block), "result": results[block.tool_call_id]}
            for message in messages
            for block in message.blocks
            if isinstance(block, ToolCallBlock) and block.tool_call_id in results
        ]


class ThroughlineMemory(BaseMemory):
    """The messages of a session.

    With `budget_tokens`, `get` answers the context that the server prepares for the last message – what was said before, what
    fits from earlier or from the user's other sessions – instead of all messages.
    """

    session_id: str
    budget_tokens: int | None = None
    _client: Throughline = PrivateAttr()
    _async_client: AsyncThroughline = PrivateAttr()
    _transcript: Transcript[ChatMessage] = PrivateAttr()

    def __init__(
        self,
        session_id: str,
        *,
        budget_tokens: int | None = None,
        client: Throughline | None = None,
        async_client: AsyncThroughline | None = None,
        agent: str | None = None,
        settings: types.Settings | None = None,
        **kwargs: Any,
    ) -> None:
        fields: dict[str, Any] = {"session_id": session_id, "budget_tokens": budget_tokens, **kwargs}
        super().__init__(**fields)
        self._client = client or Throughline()
        self._async_client = async_client or AsyncThroughline()
        self._transcript = Transcript(session_id, _Format(), agent=agent, settings=settings)

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is serialized."""
        return "ThroughlineMemory"

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> ThroughlineMemory:
        """The same as the constructor."""
        return cls(**kwargs)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """The history for the model."""
        if self.budget_tokens is None:
            return self.get_all()
        return self._client.connection.run(self._transcript.prepare(self.budget_tokens, input))

    def get_all(self) -> list[ChatMessage]:
        """All messages."""
        return self._client.connection.run(self._transcript.load())

    def put(self, message: ChatMessage) -> None:
        """Adds a message."""
        self.put_messages([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Adds messages."""
        self._client.connection.run(self._transcript.add(messages))

    def set(self, messages: list[ChatMessage]) -> None:
        """Makes these all messages."""
        self._client.connection.run(self._transcript.replace(messages))

    def reset(self) -> None:
        """Erases the session."""
        self._client.connection.run(self._transcript.clear())

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """The history for the model."""
        if self.budget_tokens is None:
            return await self.aget_all()
        return await self._async_client.connection.run(self._transcript.prepare(self.budget_tokens, input))

    async def aget_all(self) -> list[ChatMessage]:
        """All messages."""
        return await self._async_client.connection.run(self._transcript.load())

    async def aput(self, message: ChatMessage) -> None:
        """Adds a message."""
        await self.aput_messages([message])

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Adds messages."""
        await self._async_client.connection.run(self._transcript.add(messages))

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Makes these all messages."""
        await self._async_client.connection.run(self._transcript.replace(messages))

    async def areset(self) -> None:
        """Erases the session."""
        await self._async_client.connection.run(self._transcript.clear())
