"""The two clients. Each method is an operation of `operations`, run here."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any

from . import operations as op
from .events import ChatEvent, EventParser
from .transport import AsyncConnection, Connection, HasAsyncConnection, HasConnection, asynchronous, blocking


class Sessions(HasConnection):
    """Sessions and their turns."""

    create = blocking(op.create_session)
    get = blocking(op.get_session)
    list = blocking(op.list_sessions)
    all = blocking(op.all_sessions)
    change = blocking(op.change_session)
    fork = blocking(op.fork_session)
    share = blocking(op.share_session)
    shares = blocking(op.list_shares)
    unshare = blocking(op.unshare_session)
    archive = blocking(op.archive_session)
    erase = blocking(op.erase_session)
    erase_turn = blocking(op.erase_turn)
    export = blocking(op.export_session)
    import_ = blocking(op.import_session)
    history = blocking(op.history)
    turns = blocking(op.all_turns)
    turn = blocking(op.get_turn)
    receipt = blocking(op.receipt)
    prepare = blocking(op.prepare)
    call = blocking(op.call)
    record = blocking(op.record)


class Memories(HasConnection):
    """What is known about the user, whatever the session."""

    add = blocking(op.add_memory)
    get = blocking(op.get_memory)
    list = blocking(op.list_memories)
    search = blocking(op.search_memories)
    change = blocking(op.change_memory)
    history = blocking(op.memory_history)
    forget = blocking(op.forget_memory)
    forget_all = blocking(op.forget_all_memories)
    export = blocking(op.export_memories)
    import_ = blocking(op.import_memories)
    tool = blocking(op.memory_tool)


class Users(HasConnection):
    """All data of one user: your own, or, for an administrator, that of any user of the tenant."""

    erase = blocking(op.erase_user)

    def export(self, user: str) -> Iterator[dict[str, Any]]:
        """Everything that is kept of a user, value by value: memories, files, presets and sessions."""
        for line in self.connection.lines(op.user_export_request(user)):
            if line:
                yield json.loads(line)


class Throughline(HasConnection):
    """A client that blocks.

    The address comes from `base_url`, `THROUGHLINE_URL` or is `http://127.0.0.1:7400`; the key from `api_key` or
    `THROUGHLINE_API_KEY`. A busy server (429, 503) is asked again up to `retries` times, when it says so. `timeout` in
    seconds is for one request.
    """

    def __init__(
        self, base_url: str | None = None, api_key: str | None = None, *, retries: int = 3, timeout: float = 330.0
    ) -> None:
        super().__init__(Connection(base_url, api_key, retries=retries, timeout=timeout))
        self.sessions = Sessions(self.connection)
        self.memories = Memories(self.connection)
        self.users = Users(self.connection)

    chat = blocking(op.chat)
    query = blocking(op.query)
    search = blocking(op.search)
    health = blocking(op.health)

    def chat_stream(
        self,
        message: str,
        *,
        session: str | None = None,
        agent: str | None = None,
        preset: str | None = None,
        budget_tokens: int | None = None,
        idempotency_key: str | None = None,
    ) -> Iterator[ChatEvent]:
        """The same as `chat`, event by event. Leaving the loop cancels the reply; what was said so far is kept."""
        request = op.chat_request("chat/stream", message, session, agent, preset, budget_tokens, idempotency_key)
        parser = EventParser()
        for line in self.connection.lines(request):
            event = parser.line(line)
            if event is not None:
                yield event

    def close(self) -> None:
        """Closes the connections that are kept open."""
        self.connection.close()

    def __enter__(self) -> Throughline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncSessions(HasAsyncConnection):
    """Sessions and their turns."""

    create = asynchronous(op.create_session)
    get = asynchronous(op.get_session)
    list = asynchronous(op.list_sessions)
    all = asynchronous(op.all_sessions)
    change = asynchronous(op.change_session)
    fork = asynchronous(op.fork_session)
    share = asynchronous(op.share_session)
    shares = asynchronous(op.list_shares)
    unshare = asynchronous(op.unshare_session)
    archive = asynchronous(op.archive_session)
    erase = asynchronous(op.erase_session)
    erase_turn = asynchronous(op.erase_turn)
    export = asynchronous(op.export_session)
    import_ = asynchronous(op.import_session)
    history = asynchronous(op.history)
    turns = asynchronous(op.all_turns)
    turn = asynchronous(op.get_turn)
    receipt = asynchronous(op.receipt)
    prepare = asynchronous(op.prepare)
    call = asynchronous(op.call)
    record = asynchronous(op.record)


class AsyncMemories(HasAsyncConnection):
    """What is known about the user, whatever the session."""

    add = asynchronous(op.add_memory)
    get = asynchronous(op.get_memory)
    list = asynchronous(op.list_memories)
    search = asynchronous(op.search_memories)
    change = asynchronous(op.change_memory)
    history = asynchronous(op.memory_history)
    forget = asynchronous(op.forget_memory)
    forget_all = asynchronous(op.forget_all_memories)
    export = asynchronous(op.export_memories)
    import_ = asynchronous(op.import_memories)
    tool = asynchronous(op.memory_tool)


class AsyncUsers(HasAsyncConnection):
    """All data of one user: your own, or, for an administrator, that of any user of the tenant."""

    erase = asynchronous(op.erase_user)

    async def export(self, user: str) -> AsyncIterator[dict[str, Any]]:
        """Everything that is kept of a user, value by value: memories, files, presets and sessions."""
        async for line in self.connection.lines(op.user_export_request(user)):
            if line:
                yield json.loads(line)


class AsyncThroughline(HasAsyncConnection):
    """The same client for asyncio."""

    def __init__(
        self, base_url: str | None = None, api_key: str | None = None, *, retries: int = 3, timeout: float = 330.0
    ) -> None:
        super().__init__(AsyncConnection(base_url, api_key, retries=retries, timeout=timeout))
        self.sessions = AsyncSessions(self.connection)
        self.memories = AsyncMemories(self.connection)
        self.users = AsyncUsers(self.connection)

    chat = asynchronous(op.chat)
    query = asynchronous(op.query)
    search = asynchronous(op.search)
    health = asynchronous(op.health)

    async def chat_stream(
        self,
        message: str,
        *,
        session: str | None = None,
        agent: str | None = None,
        preset: str | None = None,
        budget_tokens: int | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncIterator[ChatEvent]:
        """The same as `chat`, event by event. Leaving the loop cancels the reply; what was said so far is kept."""
        request = op.chat_request("chat/stream", message, session, agent, preset, budget_tokens, idempotency_key)
        parser = EventParser()
        async for line in self.connection.lines(request):
            event = parser.line(line)
            if event is not None:
                yield event

    async def close(self) -> None:
        """Closes the connections that are kept open."""
        await self.connection.close()

    async def __aenter__(self) -> AsyncThroughline:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
