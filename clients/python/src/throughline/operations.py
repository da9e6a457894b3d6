"""What the server can be asked, one function an operation, without a connection of its own.

What is left out (`None`) is not sent, so the server's defaults hold.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, cast
from urllib.parse import quote

from . import types
from .transport import Request, Steps


def new_key() -> str:
    """A key that no other request has."""
    return str(uuid.uuid4())


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _at(session: str, *rest: str) -> str:
    return "/".join(["conversations", *(quote(part, safe="") for part in (session, *rest))])


def _match(version: int | None) -> dict[str, str]:
    return {} if version is None else {"if-match": f'"{version}"'}


def _keyed(key: str | None, version: int | None = None) -> dict[str, str]:
    return {"idempotency-key": key or new_key(), **_match(version)}


# Sessions


def create_session(
    id: str | None = None,
    *,
    agent: str | None = None,
    title: str | None = None,
    tags: Sequence[str] | None = None,
    preset: str | None = None,
    settings: types.Settings | None = None,
) -> Steps[types.Conversation]:
    """Creates a session. Without an id the server makes one."""
    body = _given(id=id, agent=agent, title=title, tags=None if tags is None else list(tags), preset=preset, settings=settings)
    return cast(types.Conversation, (yield Request("POST", "conversations", body=body)))


def get_session(session: str) -> Steps[types.Conversation]:
    """A session's head."""
    return cast(types.Conversation, (yield Request("GET", _at(session))))


def list_sessions(
    *, limit: int | None = None, cursor: str | None = None, tag: str | None = None, inactive: bool | None = None
) -> Steps[types.Conversations]:
    """One page of sessions, the most recently changed first."""
    query = {"limit": limit, "cursor": cursor, "tag": tag, "inactive": inactive}
    return cast(types.Conversations, (yield Request("GET", "conversations", query)))


def all_sessions(*, tag: str | None = None) -> Steps[list[types.Conversation]]:
    """Every active session, or those with a label."""
    found: list[types.Conversation] = []
    cursor: str | None = None
    while True:
        page = yield from list_sessions(limit=200, cursor=cursor, tag=tag)
        found.extend(page["conversations"])
        cursor = page.get("next_cursor")
        if cursor is None:
            return found


def change_session(
    session: str,
    *,
    title: str | None = None,
    tags: Sequence[str] | None = None,
    settings: types.Settings | None = None,
    agent: str | None = None,
    active: bool | None = None,
    version: int | None = None,
) -> Steps[types.Conversation]:
    """Changes a session. With `version`, only if it is still at it. `settings` replaces all of them."""
    body = _given(
        title=title, tags=None if tags is None else list(tags), settings=settings, agent=agent, active=active
    )
    return cast(types.Conversation, (yield Request("PATCH", _at(session), body=body, headers=_match(version))))


def fork_session(session: str, *, turn: int | None = None, id: str | None = None) -> Steps[types.Conversation]:
    """A new session with the turns up to `turn`, or all of them."""
    return cast(types.Conversation, (yield Request("POST", _at(session, "fork"), body=_given(turn=turn, id=id))))


def share_session(session: str, *, expires_in_days: int | None = None) -> Steps[types.NewShare]:
    """A read-only link to what was said so far. Its token is in this answer and nowhere else."""
    body = _given(expires_in_days=expires_in_days)
    return cast(types.NewShare, (yield Request("POST", _at(session, "shares"), body=body)))


def list_shares(session: str) -> Steps[types.Shares]:
    """The links of a session that open."""
    return cast(types.Shares, (yield Request("GET", _at(session, "shares"))))


def unshare_session(session: str, share: str) -> Steps[types.Shares]:
    """Revokes a link, and answers those that still open."""
    return cast(types.Shares, (yield Request("DELETE", _at(session, "shares", share))))


def archive_session(session: str) -> Steps[types.Conversation]:
    """Archives a session; `change(session, active=True)` brings it back."""
    return cast(types.Conversation, (yield Request("DELETE", _at(session))))


def erase_session(session: str) -> Steps[types.Erasure]:
    """Erases a session and all that was derived from it."""
    return cast(types.Erasure, (yield Request("DELETE", _at(session, "permanent"))))


def erase_turn(session: str, turn: int) -> Steps[types.TurnErasure]:
    """Erases the content of a turn and what was gathered from it. The turn keeps its number."""
    path = _at(session, "turns", str(turn))
    return cast(types.TurnErasure, (yield Request("DELETE", path, {"confirm": turn})))


def export_session(session: str, *, format: Literal["json", "markdown"] = "json") -> Steps[Any]:
    """The session as JSON (for `import_session`) or as text for people."""
    return (yield Request("GET", _at(session, "export"), {"format": format}))


def import_session(exported: Mapping[str, Any], *, id: str | None = None) -> Steps[types.Conversation]:
    """Brings in an exported session."""
    return cast(types.Conversation, (yield Request("POST", "import", {"id": id}, dict(exported))))


# Turns


def history(
    session: str, *, limit: int | None = None, order: Literal["asc", "desc"] | None = None, cursor: str | None = None
) -> Steps[types.History]:
    """One page of turns."""
    query = {"limit": limit, "order": order, "cursor": cursor}
    return cast(types.History, (yield Request("GET", _at(session, "history"), query)))


def all_turns(session: str) -> Steps[list[types.TurnBrief]]:
    """Every turn, oldest first."""
    found: list[types.TurnBrief] = []
    cursor: str | None = None
    while True:
        page = yield from history(session, limit=200, order="asc", cursor=cursor)
        found.extend(page["turns"])
        cursor = page.get("next_cursor")
        if cursor is None:
            return found


def get_turn(session: str, turn: int) -> Steps[types.Turn]:
    """A turn with its tool executions."""
    return cast(types.Turn, (yield Request("GET", _at(session, "turns", str(turn)))))


def receipt(session: str, turn: int) -> Steps[types.ReceiptView]:
    """What the model saw on a turn, and why."""
    return cast(types.ReceiptView, (yield Request("GET", _at(session, "turns", str(turn), "context"))))


def prepare(
    session: str,
    message: str,
    *,
    at: datetime | str | None = None,
    budget_tokens: int | None = None,
    format: Literal["openai", "anthropic"] | None = None,
) -> Steps[types.PreparedContext]:
    """The context for a model of your own. Nothing is kept; give `receipt["id"]` to `record`. `at` is when the message was said.

    With a `format`, `request` has the arguments of that provider's SDK: `create(model=…, **prepared["request"])`.
    """
    said = at.isoformat() if isinstance(at, datetime) else at
    body = _given(message=message, at=said, budget_tokens=budget_tokens, format=format)
    return cast(types.PreparedContext, (yield Request("POST", _at(session, "prepare"), body=body)))


def call(
    session: str,
    name: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    approve: bool = False,
    idempotency_key: str | None = None,
) -> Steps[types.ToolExecution]:
    """Makes a tool call of a model of your own, as it wrote it. One that needs approval is an error unless `approve` is set."""
    body = {"name": name, "arguments": dict(arguments or {}), "approve": approve}
    request = Request("POST", _at(session, "calls"), body=body, headers=_keyed(idempotency_key))
    return cast(types.ToolExecution, (yield request))


def record(
    session: str,
    message: str,
    reply: str = "",
    *,
    receipt: str | types.ReceiptView | types.PreparedContext | None = None,
    tool_executions: Sequence[types.ExecutionBody] | None = None,
    error: types.TurnFailure | None = None,
    metadata: Mapping[str, Any] | None = None,
    at: datetime | str | None = None,
    version: int | None = None,
    idempotency_key: str | None = None,
) -> Steps[types.RecordedView]:
    """Records an exchange. The same `idempotency_key` again answers the same turn; without one, a new one is made."""
    name: Any = receipt
    if isinstance(receipt, Mapping):
        fields: Mapping[str, Any] = receipt
        name = fields["receipt"]["id"] if "receipt" in fields else fields["id"]
    body = _given(
        message=message,
        reply=reply,
        receipt=name,
        tool_executions=None if tool_executions is None else list(tool_executions),
        error=error,
        metadata=None if metadata is None else dict(metadata),
        at=at.isoformat() if isinstance(at, datetime) else at,
    )
    headers = _keyed(idempotency_key, version)
    return cast(types.RecordedView, (yield Request("POST", _at(session, "turns"), body=body, headers=headers)))


# Replies by the server


def chat_request(
    path: Literal["chat", "chat/stream"],
    message: str,
    session: str | None,
    agent: str | None,
    preset: str | None,
    budget_tokens: int | None,
    idempotency_key: str | None,
) -> Request:
    """The request of `chat` and `chat_stream`."""
    body = _given(message=message, conversation_id=session, agent=agent, preset=preset, budget_tokens=budget_tokens)
    return Request("POST", path, body=body, headers=_keyed(idempotency_key))


def chat(
    message: str,
    *,
    session: str | None = None,
    agent: str | None = None,
    preset: str | None = None,
    budget_tokens: int | None = None,
    idempotency_key: str | None = None,
) -> Steps[types.ChatReply]:
    """Has the server answer a message. Without a session it makes one."""
    request = chat_request("chat", message, session, agent, preset, budget_tokens, idempotency_key)
    return cast(types.ChatReply, (yield request))


def query(
    text: str, *, session: str | None = None, agent: str | None = None, idempotency_key: str | None = None
) -> Steps[types.QueryReply]:
    """Has the server select one tool, call it and word the result."""
    body = _given(query=text, session_id=session, agent=agent)
    return cast(types.QueryReply, (yield Request("POST", "query", body=body, headers=_keyed(idempotency_key))))


# Memories


def add_memory(
    text: str, *, subject: str | None = None, kind: types.MemoryKind | None = None
) -> Steps[types.KeptMemory]:
    """Keeps a statement about the user. A newer one about the same subject supersedes the older one."""
    return cast(types.KeptMemory, (yield Request("POST", "memories", body=_given(text=text, subject=subject, kind=kind))))


def get_memory(id: str) -> Steps[types.Memory]:
    """A memory."""
    return cast(types.Memory, (yield Request("GET", f"memories/{quote(id, safe='')}")))


def list_memories(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    kind: types.MemoryKind | None = None,
    subject: str | None = None,
    session: str | None = None,
    superseded: bool | None = None,
) -> Steps[types.Memories]:
    """One page of memories, the most recently changed first."""
    filters = {
        "limit": limit, "cursor": cursor, "kind": kind, "subject": subject, "session": session, "superseded": superseded,
    }  # fmt: skip
    return cast(types.Memories, (yield Request("GET", "memories", filters)))


def search_memories(text: str, *, limit: int | None = None) -> Steps[list[types.FoundMemory]]:
    """The memories that fit, best first."""
    found = yield Request("GET", "memories/search", {"q": text, "limit": limit})
    return cast(list[types.FoundMemory], found["hits"])


def change_memory(
    id: str, *, text: str | None = None, subject: str | None = None, kind: types.MemoryKind | None = None
) -> Steps[types.KeptMemory]:
    """Corrects a memory; the version before stays in its history. An empty subject removes it."""
    body = _given(text=text, subject=subject, kind=kind)
    return cast(types.KeptMemory, (yield Request("PATCH", f"memories/{quote(id, safe='')}", body=body)))


def memory_history(id: str) -> Steps[list[types.Memory]]:
    """What was known before, oldest first."""
    found = yield Request("GET", f"memories/{quote(id, safe='')}/history")
    return cast(list[types.Memory], found["versions"])


def forget_memory(id: str, *, turns: types.SaidTurn | None = None) -> Steps[types.ForgottenMemories]:
    """Erases a memory with its earlier versions. The turns in which it was said are `withheld` (they stay in the
    conversation, and no request uses them) or `erased`."""
    path = f"memories/{quote(id, safe='')}"
    return cast(types.ForgottenMemories, (yield Request("DELETE", path, {"turns": turns})))


def forget_all_memories(*, turns: types.SaidTurn | None = None) -> Steps[types.ForgottenMemories]:
    """Erases every memory of the user."""
    return cast(types.ForgottenMemories, (yield Request("DELETE", "memories", {"confirm": "all", "turns": turns})))


def export_memories() -> Steps[dict[str, Any]]:
    """All memories, for `import_memories`."""
    return cast(dict[str, Any], (yield Request("GET", "memories/export")))


def import_memories(exported: Mapping[str, Any]) -> Steps[dict[str, int]]:
    """Brings in exported memories: all or none."""
    return cast(dict[str, int], (yield Request("POST", "memories/import", body=dict(exported))))


def memory_tool(command: Mapping[str, Any]) -> Steps[types.ToolResult]:
    """Carries out a command of Anthropic's memory tool, as the model wrote it."""
    return cast(types.ToolResult, (yield Request("POST", "memories/tool", body=dict(command))))


# Users


def erase_user(user: str) -> Steps[types.ErasedUser]:
    """Erases everything that is kept of a user: sessions, memories, files, presets, keys."""
    path = f"users/{quote(user, safe='')}"
    return cast(types.ErasedUser, (yield Request("DELETE", path, {"confirm": user})))


def user_export_request(user: str) -> Request:
    """The request for everything that is kept of a user, a JSON value a line."""
    return Request("GET", f"users/{quote(user, safe='')}/export")


# The rest


def search(text: str, *, limit: int | None = None, offset: int | None = None) -> Steps[types.Found]:
    """What was said in the user's sessions."""
    return cast(types.Found, (yield Request("GET", "search", {"q": text, "limit": limit, "offset": offset})))


def health() -> Steps[dict[str, Any]]:
    """How the server and its parts are."""
    return cast(dict[str, Any], (yield Request("GET", "health")))
