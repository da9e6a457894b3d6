"""A LangGraph checkpointer: a thread is a private session, each checkpoint and each set of writes a record of its log.

A record of a checkpoint has all channel values, so that the latest state is read with one request as a rule. Deleting runs,
pruning and deleting threads erase from the server.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    PendingWrite,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from .. import names, operations as op
from ..client import AsyncThroughline, Throughline
from ..errors import ConflictError, NotFoundError
from ..transport import Steps
from . import log
from .log import Record

# Writes may reach the log shortly before the checkpoint that they belong to, as LangGraph sends both at once.
_EARLY_WRITES_MAX = 32


class ThroughlineSaver(BaseCheckpointSaver[str]):
    """Checkpoints on a Throughline server. Without clients of your own, the address and key come from the environment."""

    def __init__(
        self,
        *,
        client: Throughline | None = None,
        async_client: AsyncThroughline | None = None,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._client = client or Throughline()
        self._async_client = async_client or AsyncThroughline()

    # The operations

    def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> Steps[RunnableConfig]:
        thread_id, ns = _place(config)
        kept = get_checkpoint_metadata(config, metadata)
        header = {
            "kind": "checkpoint",
            "ns": ns,
            "checkpoint_id": checkpoint["id"],
            "parent_id": get_checkpoint_id(config),
            "run_id": kept.get("run_id"),
        }
        data = _pack([self.serde.dumps_typed(checkpoint), self.serde.dumps_typed(kept)])
        yield from log.append(log.session_of(thread_id), thread_id, Record(header, data))
        return _config(thread_id, ns, checkpoint["id"])

    def _put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> Steps[None]:
        thread_id, ns = _place(config)
        header = {
            "kind": "writes",
            "ns": ns,
            "checkpoint_id": config["configurable"]["checkpoint_id"],
            "task_id": task_id,
            "task_path": task_path,
            "writes": [[WRITES_IDX_MAP.get(channel, index), channel] for index, (channel, _) in enumerate(writes)],
        }
        data = _pack([self.serde.dumps_typed(value) for _, value in writes])
        yield from log.append(log.session_of(thread_id), thread_id, Record(header, data))

    def _get_tuple(self, config: RunnableConfig) -> Steps[CheckpointTuple | None]:
        thread_id, ns = _place(config)
        wanted = get_checkpoint_id(config)

        def enough(record: Record) -> bool:
            header = record.header
            is_here = header["kind"] == "checkpoint" and header["ns"] == ns
            return is_here and wanted in (None, header["checkpoint_id"])

        records = yield from log.read(log.session_of(thread_id), enough, _EARLY_WRITES_MAX)
        found = next((record for record in records if enough(record)), None)
        return None if found is None else self._tuple(thread_id, found, records)

    def _list(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Steps[list[CheckpointTuple]]:
        threads = [config["configurable"]["thread_id"]] if config else (yield from log.threads())
        ns = config["configurable"].get("checkpoint_ns") if config else None
        wanted = get_checkpoint_id(config) if config else None
        end = get_checkpoint_id(before) if before else None
        found: list[CheckpointTuple] = []
        for thread_id in map(str, threads):
            records = yield from log.read(log.session_of(thread_id))
            for record in _checkpoints(records):
                id = record.header["checkpoint_id"]
                if limit is not None and len(found) >= limit:
                    return found
                if ns is not None and record.header["ns"] != ns or wanted is not None and id != wanted:
                    continue
                if end is not None and id >= end:
                    continue
                tuple = self._tuple(thread_id, record, records)
                metadata = cast(dict[str, Any], tuple.metadata)
                if all(metadata.get(key) == value for key, value in (filter or {}).items()):
                    found.append(tuple)
        return found

    def _delete_thread(self, thread_id: str) -> Steps[None]:
        session = log.session_of(thread_id)
        yield from names.erase(names.spare_of(session))
        yield from names.erase(session)

    def _delete_for_runs(self, run_ids: Sequence[str]) -> Steps[None]:
        runs = set(run_ids)
        for thread_id in (yield from log.threads()) if runs else []:
            session = log.session_of(thread_id)
            records = yield from log.read(session)
            gone = {_name(r) for r in records if r.header["kind"] == "checkpoint" and r.header["run_id"] in runs}
            if gone:
                yield from log.rewrite(session, thread_id, (r for r in reversed(records) if _name(r) not in gone))

    def _copy_thread(self, source: str, target: str) -> Steps[None]:
        try:
            yield from op.fork_session(log.session_of(source), id=log.session_of(target))
        except NotFoundError:
            return
        except ConflictError:
            for record in reversed((yield from log.read(log.session_of(source)))):
                yield from log.append(log.session_of(target), target, record)
            return
        head = yield from op.get_session(log.session_of(target))
        settings = {**head["settings"], "preferences": {"thread_id": target}}
        yield from op.change_session(
            log.session_of(target), title=f"LangGraph thread {target}"[:200], settings=cast(Any, settings)
        )

    def _prune(self, thread_ids: Sequence[str], strategy: str) -> Steps[None]:
        for thread_id in thread_ids:
            if strategy in ("delete", "delete_all"):
                yield from self._delete_thread(thread_id)
            elif strategy == "keep_latest":
                session = log.session_of(thread_id)
                records = yield from log.read(session)
                kept = self._latest(records)
                if any(_name(record) not in kept for record in records):
                    yield from log.rewrite(session, thread_id, (r for r in reversed(records) if _name(r) in kept))
            else:
                raise ValueError(f"there is no strategy {strategy!r}; use 'keep_latest' or 'delete'")

    def _latest(self, records: list[Record]) -> set[tuple[str, str]]:
        """The latest checkpoint of each namespace, and the ancestors that its delta channels are made from."""
        checkpoints = {_name(record): record for record in _checkpoints(records)}
        kept: set[tuple[str, str]] = set()
        for ns in {name[0] for name in checkpoints}:
            name = max(name for name in checkpoints if name[0] == ns)
            kept.add(name)
            checkpoint, metadata = self._load(checkpoints[name])
            open_channels = set(metadata.get("counters_since_delta_snapshot", {})) - set(checkpoint["channel_values"])
            while open_channels:
                name = (ns, checkpoints[name].header["parent_id"] or "")
                if name not in checkpoints:
                    break
                kept.add(name)
                open_channels -= set(self._load(checkpoints[name])[0]["channel_values"])
        return kept

    # Records and tuples

    def _load(self, record: Record) -> tuple[Checkpoint, CheckpointMetadata]:
        checkpoint, metadata = (self.serde.loads_typed(value) for value in _unpack(record.data))
        return cast(Checkpoint, checkpoint), cast(CheckpointMetadata, metadata)

    def _tuple(self, thread_id: str, record: Record, records: list[Record]) -> CheckpointTuple:
        ns, id = _name(record)
        parent = record.header["parent_id"]
        checkpoint, metadata = self._load(record)
        return CheckpointTuple(
            config=_config(thread_id, ns, id),
            checkpoint=checkpoint,
            metadata=metadata,
            parent_config=_config(thread_id, ns, parent) if parent else None,
            pending_writes=self._writes(record, records),
        )

    def _writes(self, checkpoint: Record, records: list[Record]) -> list[PendingWrite]:
        found: dict[tuple[str, str, int], PendingWrite] = {}
        for record in reversed(records):
            header = record.header
            if header["kind"] != "writes" or _name(record) != _name(checkpoint):
                continue
            for (index, channel), value in zip(header["writes"], _unpack(record.data), strict=True):
                # One task's writes are known by index; the path only sorts them.
                same = next((k for k in found if k[1] == header["task_id"] and k[2] == index), None)
                if same is not None and index >= 0:
                    continue
                if same is not None:
                    del found[same]
                key = writes_sort_key(header["task_path"], header["task_id"], index)
                found[key] = (header["task_id"], channel, self.serde.loads_typed(value))
        return [found[key] for key in sorted(found)]

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Versions sort as text; the fraction tells apart what two processes made of the same version."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.random():016}"

    # What LangGraph calls

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names, or the latest."""
        return self._client.connection.run(self._get_tuple(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, the newest first."""
        yield from self._client.connection.run(self._list(config, filter, before, limit))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keeps a checkpoint."""
        return self._client.connection.run(self._put(config, checkpoint, metadata))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keeps writes that belong to a checkpoint."""
        self._client.connection.run(self._put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """Erases a thread."""
        self._client.connection.run(self._delete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Erases the checkpoints of these runs; reads every thread to find them."""
        self._client.connection.run(self._delete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies all checkpoints and writes."""
        self._client.connection.run(self._copy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keeps the latest checkpoint of each namespace, or none."""
        self._client.connection.run(self._prune(thread_ids, strategy))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names, or the latest."""
        return await self._async_client.connection.run(self._get_tuple(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Checkpoints, the newest first."""
        for found in await self._async_client.connection.run(self._list(config, filter, before, limit)):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keeps a checkpoint."""
        return await self._async_client.connection.run(self._put(config, checkpoint, metadata))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keeps writes that belong to a checkpoint."""
        await self._async_client.connection.run(self._put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """Erases a thread."""
        await self._async_client.connection.run(self._delete_thread(thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Erases the checkpoints of these runs; reads every thread to find them."""
        await self._async_client.connection.run(self._delete_for_runs(run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies all checkpoints and writes."""
        await self._async_client.connection.run(self._copy_thread(source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keeps the latest checkpoint of each namespace, or none."""
        await self._async_client.connection.run(self._prune(thread_ids, strategy))


def _place(config: RunnableConfig) -> tuple[str, str]:
    configurable = config["configurable"]
    return str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")


def _config(thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}


def _name(record: Record) -> tuple[str, str]:
    return record.header["ns"], record.header["checkpoint_id"]


def _checkpoints(records: list[Record]) -> list[Record]:
    """The checkpoints by id, the newest first; of one that was put twice, the later."""
    found: dict[tuple[str, str], Record] = {}
    for record in records:
        if record.header["kind"] == "checkpoint":
            found.setdefault(_name(record), record)
    return sorted(found.values(), key=lambda record: record.header["checkpoint_id"], reverse=True)


def _pack(values: Sequence[tuple[str, bytes]]) -> bytes:
    """Typed bytes behind each other, after a line that says what and how long they are."""
    index = json.dumps([[kind, len(data)] for kind, data in values]).encode()
    return b"\n".join([index, b"".join(data for _, data in values)])


def _unpack(data: bytes) -> Sequence[tuple[str, bytes]]:
    index, _, rest = data.partition(b"\n")
    found: list[tuple[str, bytes]] = []
    start = 0
    for kind, length in json.loads(index):
        found.append((kind, rest[start : start + length]))
        start += length
    return found
