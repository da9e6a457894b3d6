"""LangChain: a `BaseChatMessageHistory` that keeps its messages in a Throughline session.

    RunnableWithMessageHistory(chain, lambda session_id: ThroughlineHistory(session_id))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
)

from . import types
from .client import AsyncThroughline, Throughline
from .transcript import Role, Transcript


class _Format:
    name = "langchain"

    def dump(self, message: BaseMessage) -> Any:
        return message_to_dict(message)

    def load(self, value: Any) -> BaseMessage:
        return messages_from_dict([value])[0]

    def role(self, message: BaseMessage) -> Role:
        if isinstance(message, HumanMessage):
            return "user"
        return "assistant" if isinstance(message, AIMessage) and not message.tool_calls else "other"

    def text(self, message: BaseMessage) -> str:
        return str(message.text)

    def from_turn(self, message: str, reply: str) -> list[BaseMessage]:
        found: list[BaseMessage] = []
        if message:
            found.append(HumanMessage(content=message))
        if reply:
            found.append(AIMessage(content=reply))
        return found

    def executions(self, messages: Sequence[BaseMessage]) -> list[types.ExecutionBody]:
        results = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
        found: list[types.ExecutionBody] = []
        for message in messages:
            for call in message.tool_calls if isinstance(message, AIMessage) else []:
                result = results.get(call["id"] or "")
                if result is not None:
                    field = "error" if result.status == "error" else "result"
                    found.append({"name": call["name"], "arguments": call["args"], field: str(result.text)})  # type: ignore[misc]
        return found


class ThroughlineHistory(BaseChatMessageHistory):
    """The messages of a session.

    `clear` erases the session. Without clients of your own, the address and key come from the environment.
    """

    def __init__(
        self,
        session_id: str,
        *,
        client: Throughline | None = None,
        async_client: AsyncThroughline | None = None,
        agent: str | None = None,
        settings: types.Settings | None = None,
    ) -> None:
        self._client = client
        self._async_client = async_client
        self._transcript = Transcript(session_id, _Format(), agent=agent, settings=settings)

    @property
    def _blocking(self) -> Throughline:
        self._client = self._client or Throughline()
        return self._client

    @property
    def _async(self) -> AsyncThroughline:
        self._async_client = self._async_client or AsyncThroughline()
        return self._async_client

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages, oldest first."""
        return self._blocking.connection.run(self._transcript.load())

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Adds messages."""
        self._blocking.connection.run(self._transcript.add(messages))

    def clear(self) -> None:
        """Erases the session."""
        self._blocking.connection.run(self._transcript.clear())

    async def aget_messages(self) -> list[BaseMessage]:
        """All messages, oldest first."""
        return await self._async.connection.run(self._transcript.load())

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Adds messages."""
        await self._async.connection.run(self._transcript.add(messages))

    async def aclear(self) -> None:
        """Erases the session."""
        await self._async.connection.run(self._transcript.clear())
