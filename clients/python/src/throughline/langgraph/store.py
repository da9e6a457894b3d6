"""A LangGraph `BaseStore`: an item is a private session of its own.

The session's settings hold the value, its labels the namespace; the texts of the value are turns, so that the server's search
finds them. Deleting an item erases its session. There is no `ttl`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from langgraph.store.base.embed import get_text_at_path

from .. import names, operations as op, types
from ..client import AsyncThroughline, Throughline
from ..errors import ConflictError
from ..transport import Steps

TAG = "langgraph-store"
_ITEM = "langgraph.item"
_HITS_MAX = 1000
_ATTEMPTS_MAX = 20
_TEXT_BYTES_MAX = 200_000

Namespace = tuple[str, ...]


class ThroughlineStore(BaseStore):
    """Items on a Throughline server.

    `fields` are the paths of a value whose texts can be searched, all of them as a rule. `name` keeps stores of several programs apart.
    """

    supports_ttl = False

    def __init__(
        self,
        *,
        client: Throughline | None = None,
        async_client: AsyncThroughline | None = None,
        fields: Sequence[str] = ("$",),
        name: str = "default",
    ) -> None:
        self._client = client or Throughline()
        self._async_client = async_client or AsyncThroughline()
        self._fields = list(fields)
        self._name = name

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out operations: reads see the state before the writes, the last write to a key counts."""
        return self._client.connection.run(self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same for asyncio."""
        return await self._async_client.connection.run(self._batch(list(ops)))

    def _batch(self, ops: list[Op]) -> Steps[list[Result]]:
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for operation in ops:
            if isinstance(operation, GetOp):
                head = yield from names.find(self._session(operation.namespace, operation.key))
                results.append(None if head is None else _item(head))
            elif isinstance(operation, SearchOp):
                results.append((yield from self._search(operation)))
            elif isinstance(operation, ListNamespacesOp):
                results.append((yield from self._namespaces(operation)))
            elif isinstance(operation, PutOp):
                puts[operation.namespace, operation.key] = operation
                results.append(None)
            else:
                raise ValueError(f"unknown operation {type(operation).__name__}")
        for put in puts.values():
            if put.value is None:
                yield from names.erase(self._session(put.namespace, put.key))
            else:
                yield from self._put(put)
        return results

    def _put(self, put: PutOp) -> Steps[None]:
        session = self._session(put.namespace, put.key)
        now = datetime.now(timezone.utc).isoformat()
        text = self._text(put)
        for _ in range(_ATTEMPTS_MAX):
            head = yield from names.find(session)
            before = None if head is None else head["settings"]["preferences"][_ITEM]
            item = {
                "namespace": list(put.namespace),
                "key": put.key,
                "value": put.value,
                "created_at": now if before is None else before["created_at"],
                "updated_at": now,
                # The turn with the text of this value; older ones do not count.
                "turn": None if text is None else 1 if head is None else head["turns"] + 1,
            }
            settings: types.Settings = {"private": True, "memory": "off", "preferences": {_ITEM: item}}
            try:
                if head is None:
                    title = f"LangGraph item {'/'.join((*put.namespace, put.key))}"[:200]
                    head = yield from op.create_session(
                        session, title=title, tags=self._tags(put.namespace), settings=settings
                    )
                else:
                    head = yield from op.change_session(session, settings=settings, version=head["version"])
            except ConflictError:
                continue
            if text is not None:
                try:
                    yield from op.record(session, text, version=head["version"])
                except ConflictError:
                    pass  # A later value has taken its place already.
            return
        raise ConflictError(409, {"code": "version_conflict", "detail": f"item {put.key} is changed by others too often"})

    def _text(self, put: PutOp) -> str | None:
        if put.index is False:
            return None
        paths = self._fields if put.index is None else put.index
        texts = [text for path in paths for text in (_leaves(put.value) if path == "$" else get_text_at_path(put.value, path))]
        joined = "\n".join(texts).strip()
        return joined.encode()[:_TEXT_BYTES_MAX].decode(errors="ignore") or None

    def _search(self, search: SearchOp) -> Steps[list[SearchItem]]:
        heads = yield from op.all_sessions(tag=self._tag(search.namespace_prefix))
        present = {head["id"]: head for head in heads if _fits(head, search)}
        ranked: list[tuple[str, float | None]] = []
        if search.query and search.query.strip():
            scores = yield from self._scores(search.query, present)
            ranked = sorted(scores.items(), key=lambda pair: -(pair[1] or 0.0))
            # As in LangGraph's own store: what has no score fills up the rest.
            ranked += [(id, None) for id in present if id not in scores]
        else:
            ranked = [(id, None) for id in sorted(present, key=lambda id: _item(present[id]).created_at)]
        wanted = ranked[search.offset : search.offset + search.limit]
        return [_search_item(present[id], score) for id, score in wanted]

    def _scores(self, query: str, present: dict[str, types.Conversation]) -> Steps[dict[str, float | None]]:
        scores: dict[str, float | None] = {}
        for offset in range(0, _HITS_MAX, 100):
            found = yield from op.search(query, limit=100, offset=offset)
            for hit in found["hits"]:
                head = present.get(hit["session"])
                if head is not None and hit["turn"] == head["settings"]["preferences"][_ITEM]["turn"]:
                    scores.setdefault(hit["session"], hit["score"])
            if len(found["hits"]) < 100:
                break
        return scores

    def _namespaces(self, listing: ListNamespacesOp) -> Steps[list[Namespace]]:
        heads = yield from op.all_sessions(tag=self._tag(()))
        found = {_item(head).namespace for head in heads}
        conditions = listing.match_conditions or ()
        found = {namespace for namespace in found if all(_matches(condition, namespace) for condition in conditions)}
        if listing.max_depth is not None:
            found = {namespace[: listing.max_depth] for namespace in found}
        return sorted(found)[listing.offset : listing.offset + listing.limit]

    def _session(self, namespace: Namespace, key: str) -> str:
        return f"{TAG}.{_digest(self._name, *namespace, key)}"

    def _tags(self, namespace: Namespace) -> list[str]:
        """A label for each prefix, so that the server finds what lies below it."""
        return [self._tag(namespace[:depth]) for depth in range(len(namespace) + 1)]

    def _tag(self, prefix: Namespace) -> str:
        return f"{TAG}:{_digest(self._name, *prefix)}"


def _leaves(value: Any) -> list[str]:
    """The texts and numbers within a value."""
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _leaves(inner)]
    if isinstance(value, (list, tuple)):
        return [text for inner in value for text in _leaves(inner)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _digest(*words: str) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:32]


def _item(head: types.Conversation) -> Item:
    fields = head["settings"]["preferences"][_ITEM]
    return Item(
        value=fields["value"],
        key=fields["key"],
        namespace=tuple(fields["namespace"]),
        created_at=fields["created_at"],
        updated_at=fields["updated_at"],
    )


def _search_item(head: types.Conversation, score: float | None) -> SearchItem:
    item = _item(head)
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def _fits(head: types.Conversation, search: SearchOp) -> bool:
    value = head["settings"]["preferences"][_ITEM]["value"]
    return all(_compares(value.get(field), wanted) for field, wanted in (search.filter or {}).items())


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda a, b: a == b,
    "$ne": lambda a, b: a != b,
    "$gt": lambda a, b: float(a) > float(b),
    "$gte": lambda a, b: float(a) >= float(b),
    "$lt": lambda a, b: float(a) < float(b),
    "$lte": lambda a, b: float(a) <= float(b),
}


def _compares(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, (list, tuple)):
        is_list = isinstance(value, (list, tuple)) and len(value) == len(wanted)
        return is_list and all(_compares(a, b) for a, b in zip(value, wanted, strict=True))
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    if any(name.startswith("$") for name in wanted):
        for name, operand in wanted.items():
            if name not in _OPERATORS:
                raise ValueError(f"unsupported operator {name}; use one of {', '.join(_OPERATORS)}")
            if not _OPERATORS[name](value, operand):
                return False
        return True
    return isinstance(value, dict) and all(_compares(value.get(name), inner) for name, inner in wanted.items())


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", word) for wanted, word in zip(path, part, strict=True))
