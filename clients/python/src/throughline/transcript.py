"""A library's list of messages, kept as the exchanges of a session.

An exchange is all messages up to an assistant's answer that nothing but a user's message follows. It becomes one turn: what the user
wrote, what the assistant answered, what the tools did – so that search, recall and `prepare` know it – and the
messages themselves, exactly, in the turn's metadata. Messages of an exchange that is not complete wait in the session's
settings. Turns that came another way (chat, the drop-in endpoints, another library) are read as a user's and an assistant's message.

Invariant: nothing that was added is lost or doubled when a process ends between two requests. A turn names the waiting messages
that it took (`took`), and waiting messages that a turn took no longer count.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any, Generic, Literal, Protocol, TypeVar

from . import names, operations as op, types
from .errors import ApiError, ConflictError
from .transport import Request, Steps

M = TypeVar("M")
Role = Literal["user", "assistant", "other"]

_WAITING = "throughline.waiting"
_ATTEMPTS_MAX = 20
_PLAIN_BYTES_MAX = 48 * 1024
_WAITING_BYTES_MAX = 64 * 1024
_EXECUTIONS_MAX = 64
_RESULT_CHARACTERS_MAX = 60_000


class Format(Protocol[M]):
    """What a transcript must know of a library's messages."""

    name: str

    def dump(self, message: M) -> Any:
        """The message as JSON."""

    def load(self, value: Any) -> M:
        """The message that `dump` made this of."""

    def role(self, message: M) -> Role:
        """`assistant` only for an answer, not for a call of tools."""

    def text(self, message: M) -> str:
        """What a person would read."""

    def from_turn(self, message: str, reply: str) -> list[M]:
        """The messages for a turn that came another way; an empty text stands for no message."""

    def executions(self, messages: Sequence[M]) -> list[types.ExecutionBody]:
        """The calls of tools among the messages, with their results."""


class Transcript(Generic[M]):
    """The messages of one session. Its methods are operations, to be run by a connection."""

    def __init__(self, name: str, format: Format[M], *, agent: str | None = None, settings: types.Settings | None = None) -> None:
        self.session = names.session_id(name)
        self._name = name
        self._format = format
        self._agent = agent
        self._settings = settings
        self._receipt: str | None = None

    def load(self) -> Steps[list[M]]:
        """All messages."""
        head = yield from names.find(self.session)
        if head is None:
            return []
        turns = yield from op.all_turns(self.session)
        found = [message for turn in turns for message in self._of_turn(turn)]
        waiting = _Waiting.of(head)
        if not waiting.taken_by(turns):
            found.extend(self._of_waiting(waiting))
        return found

    def add(self, messages: Sequence[M], *, complete: bool = False) -> Steps[None]:
        """Adds messages. With `complete`, they end an exchange whatever they are."""
        if not messages:
            return
        receipt = self._receipt
        head, waiting = yield from self._open()
        exchanges: list[list[M]] = []
        for _ in range(_ATTEMPTS_MAX):
            exchanges, rest = self._split([*self._of_waiting(waiting), *messages], complete)
            if not exchanges:
                done = yield from self._wait(head, rest, receipt or waiting.receipt)
                if done:
                    return
            else:
                try:
                    yield from self._record(exchanges[0], head["version"], waiting.id, receipt or waiting.receipt)
                    break
                except ConflictError:
                    pass
            head, waiting = yield from self._open()
        else:
            raise _too_many(self.session)
        self._receipt = None
        for exchange in exchanges[1:]:
            yield from self._record(exchange, None, None, None)
        yield from self._rewait(rest)

    def pop(self) -> Steps[M | None]:
        """Removes the last message, and answers it."""
        for _ in range(_ATTEMPTS_MAX):
            head = yield from names.find(self.session)
            if head is None:
                return None
            waiting = yield from self._waiting(head)
            messages = self._of_waiting(waiting)
            if messages:
                done = yield from self._wait(head, messages[:-1], waiting.receipt)
                if done:
                    return messages[-1]
                continue
            page = yield from op.history(self.session, limit=1, order="desc")
            if not page["turns"]:
                return None
            turn = page["turns"][0]
            messages = self._of_turn(turn)
            yield from self._cut(turn["turn"] - 1, messages[:-1])
            if messages:
                return messages[-1]
        raise _too_many(self.session)

    def clear(self) -> Steps[None]:
        """Erases the session."""
        yield from names.erase(names.spare_of(self.session))
        yield from names.erase(self.session)

    def replace(self, messages: Sequence[M]) -> Steps[None]:
        """Makes these all messages. What is there already at the start stays as it is."""
        present = [self._format.dump(message) for message in (yield from self.load())]
        wanted = [self._format.dump(message) for message in messages]
        if present == wanted[: len(present)]:
            yield from self.add(messages[len(present) :])
        else:
            yield from self.clear()
            yield from self.add(messages)

    def prepare(self, budget_tokens: int | None, input: str | None) -> Steps[list[M]]:
        """The context that the server prepares for the last message of the user, or for one that is still to be added.

        The message itself is among the answer where it was added. The receipt goes into the turn that the message becomes.
        """
        head = yield from names.find(self.session)
        if head is None:
            return []
        waiting = yield from self._waiting(head)
        messages = self._of_waiting(waiting)
        last = max((i for i, m in enumerate(messages) if self._format.role(m) == "user"), default=None)
        text = input or "" if last is None else self._text_of(messages[: last + 1], "user")
        if not text.strip():
            return (yield from self.load())
        prepared = yield from op.prepare(self.session, text, budget_tokens=budget_tokens)
        self._receipt = prepared["receipt"]["id"]
        context: list[M] = []
        for message in prepared["request"]["messages"][:-1]:
            words = _words(message["content"])
            is_user = message["role"] == "user"
            context.extend(self._format.from_turn(words if is_user else "", "" if is_user else words))
        # What the server puts beside the message (recalled turns, facts) goes before it; the message itself stays as it is.
        context.extend(self._format.from_turn(_words(prepared["request"]["messages"][-1]["content"][:-1]), ""))
        return [*context, *messages[last:]]

    # Reading

    def _of_turn(self, turn: types.TurnBrief) -> list[M]:
        kept = turn.get("metadata") or {}
        if kept.get("format") == self._format.name:
            return [self._format.load(value) for value in _unpack(kept)]
        if turn["status"] == "erased":
            return []
        # What the product says about a failure is nobody's words.
        return self._format.from_turn(turn["message"], "" if turn["status"] == "failed" else turn["reply"])

    def _of_waiting(self, waiting: _Waiting) -> list[M]:
        if waiting.format == self._format.name:
            return [self._format.load(value["message"]) for value in waiting.messages]
        found: list[M] = []
        for value in waiting.messages:
            user = value["role"] == "user"
            found.extend(self._format.from_turn(value["text"] if user else "", "" if user else value["text"]))
        return found

    def _open(self) -> Steps[tuple[types.Conversation, _Waiting]]:
        head = yield from names.find(self.session)
        if head is None:
            try:
                head = yield from op.create_session(self.session, agent=self._agent, settings=self._settings)
            except ConflictError:
                head = yield from op.get_session(self.session)
        waiting = yield from self._waiting(head)
        return head, waiting

    def _waiting(self, head: types.Conversation) -> Steps[_Waiting]:
        waiting = _Waiting.of(head)
        since = head["turns"] - waiting.turns
        if waiting.messages and since > 0:
            page = yield from op.history(self.session, limit=min(since, 1000), order="desc")
            if waiting.taken_by(page["turns"]):
                return _Waiting.none()
        return waiting

    # Writing

    def _split(self, messages: list[M], complete: bool) -> tuple[list[list[M]], list[M]]:
        """Complete exchanges, and what is left."""
        roles = [self._format.role(message) for message in messages]
        exchanges: list[list[M]] = []
        start = 0
        for i, role in enumerate(roles):
            ends = role == "assistant" and (i + 1 == len(roles) or roles[i + 1] == "user")
            if ends and "user" in roles[start : i + 1]:
                exchanges.append(messages[start : i + 1])
                start = i + 1
        rest = messages[start:]
        if rest and (complete or len(json.dumps(self._entries(rest))) > _WAITING_BYTES_MAX):
            exchanges.append(rest)
            rest = []
        return exchanges, rest

    def _text_of(self, messages: Sequence[M], role: Role) -> str:
        texts = [self._format.text(message).strip() for message in messages if self._format.role(message) == role]
        return "\n\n".join(text for text in texts if text)

    def _record(self, exchange: list[M], version: int | None, took: str | None, receipt: str | None) -> Steps[None]:
        metadata = {"format": self._format.name, **_pack([self._format.dump(message) for message in exchange])}
        if took is not None:
            metadata["took"] = took
        executions = self._format.executions(exchange)[-_EXECUTIONS_MAX:]
        for execution in executions:
            result = execution.get("result")
            if isinstance(result, str) and len(result) > _RESULT_CHARACTERS_MAX:
                execution["result"] = result[:_RESULT_CHARACTERS_MAX] + "…"
        yield from op.record(
            self.session,
            self._text_of(exchange, "user") or "(no text)",
            self._text_of(exchange, "assistant"),
            tool_executions=executions or None,
            metadata=metadata,
            version=version,
            receipt=receipt,
        )

    def _entries(self, messages: Sequence[M]) -> list[dict[str, Any]]:
        form = self._format
        return [{"role": form.role(m), "text": form.text(m), "message": form.dump(m)} for m in messages]

    def _wait(self, head: types.Conversation, messages: Sequence[M], receipt: str | None) -> Steps[bool]:
        """Makes these the waiting messages; `False` where the session has changed since."""
        settings = self._settings_with(head, messages, receipt)
        try:
            yield from op.change_session(self.session, settings=settings, version=head["version"])
            return True
        except ConflictError:
            return False

    def _settings_with(self, head: types.Conversation, messages: Sequence[M], receipt: str | None) -> types.Settings:
        preferences = dict(head["settings"].get("preferences", {}))
        preferences.pop(_WAITING, None)
        if messages:
            waiting = _Waiting(op.new_key(), self._format.name, self._entries(messages), head["turns"], receipt)
            preferences[_WAITING] = waiting.as_json()
        return {**head["settings"], "preferences": preferences}

    def _rewait(self, rest: list[M]) -> Steps[None]:
        """After a turn took the waiting messages: what another process added meanwhile stays, and the rest joins it."""
        for _ in range(_ATTEMPTS_MAX):
            head, waiting = yield from self._open()
            if not rest and _WAITING not in head["settings"].get("preferences", {}):
                return
            done = yield from self._wait(head, [*self._of_waiting(waiting), *rest], waiting.receipt)
            if done:
                return
        raise _too_many(self.session)

    def _cut(self, turns: int, waiting: list[M]) -> Steps[None]:
        """Keeps the first turns only, and lets these messages wait."""
        spare = names.spare_of(self.session)
        yield from names.erase(spare)
        head = yield from op.fork_session(self.session, turn=turns, id=spare)
        body: dict[str, Any] = {"settings": names.ready(head, self._settings_with(head, waiting, None))}
        if turns == 0:
            body["title"] = None  # It was made from the first message.
        yield Request("PATCH", f"conversations/{spare}", body=body)
        yield from names.swap(self.session)


class _Waiting:
    """Messages of an exchange that is not complete."""

    def __init__(self, id: str | None, format: str, messages: list[dict[str, Any]], turns: int, receipt: str | None) -> None:
        self.id = id
        self.format = format
        self.messages = messages
        self.turns = turns
        self.receipt = receipt

    @staticmethod
    def none() -> _Waiting:
        return _Waiting(None, "", [], 0, None)

    @staticmethod
    def of(head: types.Conversation) -> _Waiting:
        kept = head["settings"].get("preferences", {}).get(_WAITING)
        if not kept:
            return _Waiting.none()
        return _Waiting(kept["id"], kept["format"], _unpack(kept), kept["turns"], kept.get("receipt"))

    def as_json(self) -> dict[str, Any]:
        fields = {"id": self.id, "format": self.format, "turns": self.turns, **_pack(self.messages)}
        return fields if self.receipt is None else {**fields, "receipt": self.receipt}

    def taken_by(self, turns: Sequence[types.TurnBrief]) -> bool:
        return self.id is not None and any((turn.get("metadata") or {}).get("took") == self.id for turn in turns)


def _words(content: list[types.Block]) -> str:
    """The text of a message; of a tool's result, what it gave."""
    texts = (block.get("text") or block.get("content") for block in content)
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _pack(messages: list[Any]) -> dict[str, Any]:
    """Messages as fields; compressed where they are long."""
    text = json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
    if len(text.encode()) <= _PLAIN_BYTES_MAX:
        return {"messages": messages}
    return {"packed": base64.b64encode(zlib.compress(text.encode())).decode()}


def _unpack(fields: dict[str, Any]) -> list[Any]:
    if "packed" in fields:
        unpacked: list[Any] = json.loads(zlib.decompress(base64.b64decode(fields["packed"])))
        return unpacked
    messages: list[Any] = fields["messages"]
    return messages


def _too_many(session: str) -> ApiError:
    return ConflictError(409, {
        "code": "version_conflict",
        "detail": f"session {session} is changed by others too often",
        "hint": "let one process at a time write to a session",
    })  # fmt: skip
