"""The server's answers, as it sends them. Every field is described in the server's reference at `/api/docs`.

Fields that the server adds later are in the dictionaries too. A test holds these names against the OpenAPI document.
"""

from __future__ import annotations

import sys
from typing import Any, Literal, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

MemoryKind = Literal["instruction", "profile", "preference", "fact"]
SaidTurn = Literal["withheld", "erased"]


class Settings(TypedDict, total=False):
    """Settings of a session."""

    context_tokens: int | None
    mode: str | None
    model: str | None
    timezone: str | None
    memory: Literal["off", "session", "agent", "user"] | None
    private: bool
    preferences: dict[str, Any]


class Conversation(TypedDict):
    """A session's head."""

    id: str
    version: int
    turns: int
    agent: NotRequired[str | None]
    title: NotRequired[str | None]
    tags: list[str]
    active: bool
    created_at: str
    last_activity: str
    settings: Settings


class Conversations(TypedDict):
    """Some sessions."""

    conversations: list[Conversation]
    next_cursor: NotRequired[str | None]
    damaged: NotRequired[list[str]]


FailureCause = Literal[
    "unreachable",
    "timed_out",
    "rate_limited",
    "unauthorized",
    "rejected",
    "not_found",
    "malformed",
    "failed",
    "too_large",
    "cancelled",
]
"""How a model failed."""


class TurnFailure(TypedDict):
    """Why a turn failed. `cause` says how the model failed, where one did."""

    code: str
    message: str
    cause: NotRequired[FailureCause | None]


class TokenUsage(TypedDict):
    """Tokens as a provider counted them."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: NotRequired[int]
    cache_write_tokens: NotRequired[int]


class TurnBrief(TypedDict):
    """A turn as the history shows it."""

    turn: int
    at: str
    kind: str
    message: str
    reply: str
    status: Literal["complete", "partial", "failed", "refused", "erased"]
    error: NotRequired[TurnFailure | None]
    tools_used: list[str]
    usage: NotRequired[TokenUsage | None]
    metadata: NotRequired[dict[str, Any] | None]


class ToolExecution(TypedDict):
    """A tool call with its result."""

    id: str
    server: str
    name: str
    arguments: Any
    ok: bool
    result: str


class Turn(TurnBrief):
    """A turn with its tool executions."""

    tool_executions: list[ToolExecution]


class History(TypedDict):
    """Some turns."""

    turns: list[TurnBrief]
    next_cursor: NotRequired[str | None]


class ExecutionBody(TypedDict, total=False):
    """What a tool did, for a turn that is recorded. `name` is needed."""

    id: str | None
    server: str
    name: str
    arguments: Any
    result: Any
    error: str | None
    took_ms: int


class RecordedView(TypedDict):
    """Where a recorded exchange stands."""

    turn: int
    version: int
    durability: str
    receipt: NotRequired[Literal["kept", "unknown"] | None]


class ReceiptView(TypedDict):
    """What a request was made of."""

    id: str
    summary: str
    at: str
    mode: str
    stable_prefix_tokens: int
    effective_tokens: float
    pieces: list[dict[str, Any]]


class Block(TypedDict, total=False):
    """A piece of a message: text, or a call of an earlier turn (`tool_use`) or what it gave (`tool_result`, in `content`)."""

    type: Literal["text", "tool_use", "tool_result"]
    text: str
    content: str


class Message(TypedDict):
    """A message for the model."""

    role: Literal["user", "assistant"]
    content: list[Block]


class SystemBlock(TypedDict):
    """A piece of the instructions."""

    text: str


class ModelRequest(TypedDict):
    """What to send to the model."""

    system: list[SystemBlock]
    messages: list[Message]
    tools: list[dict[str, Any]]


class PreparedContext(TypedDict):
    """What to send to the model, and what it was made of. Give the receipt's id when the exchange is recorded."""

    request: ModelRequest
    receipt: ReceiptView


class ChatReply(TypedDict):
    """A turn's outcome."""

    conversation_id: str
    version: int
    turn: NotRequired[int | None]
    reply: str
    status: Literal["complete", "partial", "failed", "refused", "awaiting_approval"]
    error: NotRequired[TurnFailure | None]
    tools_used: list[str]
    tool_executions: list[ToolExecution]
    awaiting_approval: list[dict[str, Any]]
    usage: NotRequired[TokenUsage | None]
    durability: str


class QueryReply(TypedDict):
    """What a query came to."""

    response: str
    success: bool
    session_id: str
    tool_name: NotRequired[str | None]
    error: NotRequired[str | None]
    turn: NotRequired[int | None]


class Erasure(TypedDict):
    """What an erasure removed."""

    session_id: str
    at: str
    turns: int
    records: int
    bytes: int
    memories: int
    tombstone: str


class Share(TypedDict):
    """A read-only link, as its owner sees it."""

    id: str
    up_to_turn: int
    title: NotRequired[str | None]
    created_at: str
    expires_at: str


class NewShare(Share):
    """A link that was just made."""

    token: str
    path: str


class Shares(TypedDict):
    """The links of a session."""

    shares: list[Share]


class TurnErasure(TypedDict):
    """What the erasure of a turn removed."""

    session_id: str
    turn: int
    at: str
    turns: int
    memories: int
    index_documents: int
    left: int
    notes: list[str]


class ErasedUser(TypedDict):
    """What the erasure of a user removed."""

    user_id: str
    at: str
    sessions: int
    memories: int
    files: int
    presets: int
    keys: int
    others: int
    index_documents: int
    records: int
    bytes: int
    left: int
    notes: list[str]


class MemorySource(TypedDict):
    """The sentence that a memory was gathered from."""

    session: str
    turn: int
    sentence: str


class Memory(TypedDict):
    """A statement about the user that outlives its session."""

    id: str
    text: str
    subject: NotRequired[str | None]
    kind: MemoryKind
    trust: Literal["told", "said", "model", "imported"]
    source: NotRequired[MemorySource | None]
    created_at: str
    changed_at: str
    superseded_by: NotRequired[str | None]


class KeptMemory(Memory):
    """A memory that was added or changed, and what that means for others."""

    superseded: list[Memory]
    contradicts: list[Memory]


class FoundMemory(Memory):
    """A memory that a search found."""

    score: float


class Memories(TypedDict):
    """Some memories."""

    memories: list[Memory]
    next_cursor: NotRequired[str | None]
    total: int


class SaidIn(TypedDict):
    """A turn in which a forgotten memory was said."""

    session: str
    turn: int
    became: SaidTurn


class ForgottenMemories(TypedDict):
    """What was forgotten."""

    memories: int
    versions: int
    records: int
    bytes: int
    left: int
    notes: list[str]
    said_in: list[SaidIn]


class ToolResult(TypedDict):
    """The result of a command of Anthropic's memory tool."""

    content: str
    is_error: bool


class SnippetView(TypedDict):
    """A stretch of a text."""

    text: str
    marks: list[dict[str, int]]


class SearchHitView(TypedDict):
    """What a search found."""

    session: str
    turn: int
    part: Literal["title", "message", "reply"]
    score: float
    snippet: SnippetView
    title: NotRequired[str | None]


class Found(TypedDict):
    """The hits, best first."""

    hits: list[SearchHitView]
    sessions_behind: int
