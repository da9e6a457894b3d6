"""An append-only log of opaque records, kept as the turns of a private session.

A record has a small header and bytes. It is one turn, or several where the bytes are longer than a turn's metadata may be; the last of
them has the header, so a record is there when its last part is. Nothing of such a session is recalled elsewhere.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .. import names, operations as op, types
from ..errors import ConflictError, NotFoundError
from ..transport import Steps

TAG = "langgraph"
_PART_CHARACTERS_MAX = 56 * 1024
_PAGE = 32


@dataclass(frozen=True)
class Record:
    """What was appended."""

    header: dict[str, Any]
    data: bytes


def session_of(thread_id: str) -> str:
    """The session that holds a thread."""
    return names.session_id(thread_id, "langgraph.")


def create(session: str, thread_id: str) -> Steps[None]:
    """Creates a log that is empty; one that exists stays as it is."""
    settings: types.Settings = {"private": True, "memory": "off", "preferences": {"thread_id": thread_id}}
    try:
        yield from op.create_session(session, title=f"LangGraph thread {thread_id}"[:200], tags=[TAG], settings=settings)
    except ConflictError:
        pass


def append(session: str, thread_id: str, record: Record) -> Steps[None]:
    """Appends a record; creates the log where there is none."""
    text = base64.b64encode(zlib.compress(record.data, 1)).decode()
    parts = [text[i : i + _PART_CHARACTERS_MAX] for i in range(0, len(text), _PART_CHARACTERS_MAX)]
    key = op.new_key()
    for index, part in enumerate(parts):
        metadata: dict[str, Any] = {"record": key, "part": index, "data": part}
        if index == len(parts) - 1:
            metadata["header"] = record.header
        label = f"{record.header['kind']} {record.header['checkpoint_id']}"
        try:
            yield from op.record(session, label, metadata=metadata, idempotency_key=f"{key}-{index}")
        except NotFoundError:
            found = yield from names.find(session)
            if found is None:
                yield from create(session, thread_id)
            yield from op.record(session, label, metadata=metadata, idempotency_key=f"{key}-{index}")


def read(session: str, enough: Callable[[Record], bool] | None = None, more: int = 0) -> Steps[list[Record]]:
    """The records, newest first; up to the one that is `enough`, and `more` turns beyond it."""
    found: list[Record] = []
    parts: dict[str, dict[int, str]] = {}
    headers: dict[str, dict[str, Any]] = {}
    cursor: str | None = None
    left: int | None = None
    if (yield from names.find(session)) is None:
        return found
    while True:
        page = yield from op.history(session, limit=_PAGE, order="desc", cursor=cursor)
        for turn in page["turns"]:
            if left is not None:
                left -= 1
            kept = turn.get("metadata") or {}
            if "record" not in kept:
                continue
            key = kept["record"]
            if "header" in kept:
                headers[key] = kept["header"]
            if key not in headers:
                continue  # Its last part was never written.
            parts.setdefault(key, {})[kept["part"]] = kept["data"]
            if kept["part"] == 0:
                pieces = parts.pop(key)
                text = "".join(pieces[index] for index in sorted(pieces))
                record = Record(headers.pop(key), zlib.decompress(base64.b64decode(text)))
                found.append(record)
                if left is None and enough is not None and enough(record):
                    left = more
        cursor = page.get("next_cursor")
        if cursor is None or (left is not None and left <= 0 and not headers):
            return found


def rewrite(session: str, thread_id: str, records: Iterable[Record]) -> Steps[None]:
    """Makes these the only records, oldest first. What is not among them is erased from the server."""
    spare = names.spare_of(session)
    yield from names.erase(spare)
    kept = list(records)
    if not kept:
        yield from names.erase(session)
        return
    yield from create(spare, thread_id)
    for record in kept:
        yield from append(spare, thread_id, record)
    head = yield from op.get_session(spare)
    yield from op.change_session(spare, settings=names.ready(head, head["settings"]))
    yield from names.swap(session)


def threads() -> Steps[list[str]]:
    """The ids of all threads, the most recently used first."""
    heads = yield from op.all_sessions(tag=TAG)
    found = [head["settings"].get("preferences", {}).get("thread_id") for head in heads]
    return list(dict.fromkeys(thread for thread in found if thread is not None))
