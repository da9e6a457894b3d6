"""The checkpointer under LangGraph's own conformance suite and in graphs; the store beside `InMemoryStore`."""

from __future__ import annotations

import asyncio
import operator
import random
import uuid
from typing import Annotated, TypedDict

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import GetOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt

from throughline.langgraph import ThroughlineSaver, ThroughlineStore
from throughline.langgraph.log import session_of

from conftest import run_until


def test_the_librarys_own_suite_passes(client, connect):
    @checkpointer_test(name="ThroughlineSaver")
    async def saver():
        yield ThroughlineSaver(client=client, async_client=connect())

    report = asyncio.run(validate(saver))
    failed = {name: result.failures for name, result in report.results.items() if result.passed is not True}
    assert failed == {}
    assert report.passed_all()
    assert sum(result.tests_passed for result in report.results.values()) >= 70


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def graph(saver, store=None):
    builder = StateGraph(State)
    builder.add_node("ask", lambda state: {"said": [interrupt("which rack?")]})
    builder.add_node("answer", lambda state: {"said": ["two switches"]})
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver, store=store)


def test_an_interrupted_graph_goes_on_in_another_process(client, server, name):
    config = {"configurable": {"thread_id": name}}
    stopped = graph(ThroughlineSaver(client=client)).invoke({"said": ["hello"]}, config)
    assert stopped["__interrupt__"][0].value == "which rack?"
    server.stop()
    server.start()
    again = graph(ThroughlineSaver())
    assert again.invoke(Command(resume="rack 4"), config)["said"] == ["hello", "rack 4", "two switches"]
    history = list(again.get_state_history(config))
    assert [len(state.values.get("said", [])) for state in history] == [3, 2, 1, 0]
    earlier = again.update_state(history[1].config, {"said": ["no, rack 5"]}, as_node="ask")
    assert again.invoke(None, earlier)["said"] == ["hello", "rack 4", "no, rack 5", "two switches"]
    head = client.sessions.get(session_of(name))
    assert head["settings"]["private"] is True


def test_a_graph_runs_in_asyncio(connect, client, name):
    async def run():
        config = {"configurable": {"thread_id": name}}
        running = graph(ThroughlineSaver(client=client, async_client=connect()))
        await running.ainvoke({"said": ["hello"]}, config)
        result = await running.ainvoke(Command(resume="rack 4"), config)
        assert result["said"] == ["hello", "rack 4", "two switches"]
        assert [state async for state in running.aget_state_history(config, limit=2)][0].values == result

    asyncio.run(run())


def test_a_large_checkpoint_is_kept_whole(client, name):
    saver = ThroughlineSaver(client=client)
    noise = random.Random(1).randbytes(500_000)
    checkpoint = {**empty_checkpoint(), "channel_values": {"a": noise}, "channel_versions": {"a": "1"}}
    config = saver.put({"configurable": {"thread_id": name, "checkpoint_ns": ""}}, checkpoint, {"step": 1}, {"a": "1"})
    saver.put_writes(config, [("a", noise), ("b", None)], "task")
    found = saver.get_tuple(config)
    assert found.checkpoint["channel_values"]["a"] == noise
    assert found.pending_writes == [("task", "a", noise), ("task", "b", None)]
    assert client.sessions.get(session_of(name))["turns"] > 10
    saver.delete_thread(name)
    assert saver.get_tuple(config) is None


def test_a_record_whose_last_part_is_missing_does_not_count(client, name):
    saver = ThroughlineSaver(client=client)
    config = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
    first = saver.put(config, empty_checkpoint(), {"step": 0}, {})
    large = {**empty_checkpoint(), "channel_values": {"a": random.Random(2).randbytes(200_000)}}
    steps = saver._put(first, large, {"step": 1})
    request = next(steps)
    for _ in range(2):
        request = steps.send(client.connection._send(request))
    assert saver.get_tuple(config).metadata["step"] == 0
    assert len(list(saver.list(config))) == 1


def test_writes_are_in_order_and_the_first_of_equal_ones_stays(client, name):
    """The same writes to the library's own saver."""
    found = []
    for saver in (ThroughlineSaver(client=client), InMemorySaver()):
        config = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
        config = saver.put(config, empty_checkpoint(), {"step": 0}, {})
        saver.put_writes(config, [("a", 1), ("b", 2)], "task-2", "~path-1")
        saver.put_writes(config, [("a", 3), ("b", 4)], "task-1", "~path-2")
        saver.put_writes(config, [("a", 5)], "task-2", "~path-1")
        saver.put_writes(config, [(INTERRUPT, "first")], "task-1", "~path-2")
        saver.put_writes(config, [(INTERRUPT, "second")], "task-1", "~path-2")
        found.append(saver.get_tuple(config).pending_writes)
    assert found[0] == found[1]
    assert ("task-1", INTERRUPT, "second") in found[0] and ("task-2", "a", 1) in found[0]


@pytest.mark.parametrize("requests", range(16))
def test_pruning_that_is_interrupted_keeps_the_latest(client, name, requests):
    saver = ThroughlineSaver(client=client)
    config = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
    for step in range(3):
        checkpoint = {**empty_checkpoint(), "channel_values": {"a": step}, "channel_versions": {"a": step}}
        config = saver.put(config, checkpoint, {"step": step}, {"a": step})
    complete = run_until(client, saver._prune([name], "keep_latest"), requests)
    latest = saver.get_tuple({"configurable": {"thread_id": name}})
    assert latest.checkpoint["channel_values"] == {"a": 2}
    steps = [found.metadata["step"] for found in saver.list({"configurable": {"thread_id": name}})]
    assert steps == [2] if complete else steps in ([2], [2, 1, 0])


def test_pruning_keeps_what_a_delta_channel_is_made_from(client, name):
    saver = ThroughlineSaver(client=client)
    config = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
    for step, values in enumerate([{"a": 0}, {"a": 1}, {}, {}]):
        checkpoint = {**empty_checkpoint(), "channel_values": values, "channel_versions": {"a": step}}
        metadata = {"step": step, "counters_since_delta_snapshot": {"a": (step, step)}}
        config = saver.put(config, checkpoint, metadata, {"a": step})
        saver.put_writes(config, [("a", step + 10)], f"task-{step}")
    before = saver.get_delta_channel_history(config=config, channels=["a"])
    saver.prune([name])
    assert [found.metadata["step"] for found in saver.list({"configurable": {"thread_id": name}})] == [3, 2, 1]
    assert saver.get_delta_channel_history(config=config, channels=["a"]) == before
    assert before["a"]["seed"] == 1 and [write[2] for write in before["a"]["writes"]] == [11, 12]


def test_a_thread_that_was_erased_does_not_come_back(client, name):
    saver = ThroughlineSaver(client=client)
    config = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
    for step in range(3):
        config = saver.put(config, empty_checkpoint(), {"step": step}, {})
    assert not run_until(client, saver._prune([name], "keep_latest"), 5)
    client.sessions.erase(session_of(name))
    assert saver.get_tuple({"configurable": {"thread_id": name}}) is None


@pytest.fixture
def stores(client, name):
    return ThroughlineStore(client=client, name=name), InMemoryStore()


def plain(result):
    """A result without times, which differ."""
    if result is None or isinstance(result, tuple):
        return result
    if isinstance(result, list):
        return sorted((plain(one) for one in result), key=str)
    return (result.namespace, result.key, result.value)


def test_the_store_answers_what_the_librarys_own_answers(stores):
    """A seeded run of operations on both."""
    chance = random.Random(11)
    spaces = [("users",), ("users", "ada"), ("users", "ada", "notes"), ("racks", "v1"), ("racks", "v2")]
    for step in range(60):
        space, key = chance.choice(spaces), chance.choice("abc")
        what = chance.random()
        for_both = []
        for store in stores:
            if what < 0.45:
                value = {"n": step % 5, "text": f"note {step}", "inner": {"a": [1, step % 2]}}
                store.put(space, key, value)
                for_both.append(plain(store.get(space, key)))
            elif what < 0.55:
                store.delete(space, key)
                for_both.append(plain(store.get(space, key)))
            elif what < 0.8:
                filter = [None, {"n": 2}, {"n": {"$gte": 1, "$lt": 4}}, {"inner": {"a": [1, 0]}}, {"n": {"$ne": 3}}][step % 5]
                for_both.append(plain(store.search(space[: step % 3], filter=filter, limit=50)))
            else:
                if isinstance(store, InMemoryStore):  # Reading makes it list namespaces that hold nothing.
                    full, store = store, InMemoryStore()
                    for item in full.search((), limit=1000):
                        store.put(item.namespace, item.key, item.value)
                found = store.list_namespaces(
                    prefix=[None, ("users",), ("*", "v1")][step % 3],
                    suffix=[None, ("notes",)][step % 2],
                    max_depth=[None, 1, 2][step % 3],
                )
                for_both.append(found)
        assert for_both[0] == for_both[1], (step, what)


def test_a_batch_reads_before_it_writes(stores):
    for store in stores:
        store.put(("a",), "k", {"v": 1})
        found = store.batch([
            PutOp(("a",), "k", {"v": 2}), GetOp(("a",), "k"), PutOp(("a",), "k", {"v": 3}), SearchOp(("a",), limit=5),
        ])  # fmt: skip
        assert [plain(one) for one in found] == [None, (("a",), "k", {"v": 1}), None, [(("a",), "k", {"v": 1})]]
        assert store.get(("a",), "k").value == {"v": 3}


def test_search_ranks_by_words_and_pages(client, name):
    store = ThroughlineStore(client=client, name=name)
    store.put(("m",), "1", {"text": "Ada prefers espresso in the morning"})
    store.put(("m",), "2", {"text": "The rack in Lisbon has two switches"})
    store.put(("m",), "3", {"text": "espresso, but hidden"}, index=False)
    store.put(("m",), "4", {"title": "espresso machine", "text": "nothing"}, index=["text"])
    store.put(("m",), "2", {"text": "The rack in Lisbon has three switches"})
    found = store.search(("m",), query="espresso")
    assert found[0].key == "1" and found[0].score is not None
    assert {item.key for item in found if item.score is None} >= {"3"}
    switches = store.search(("m",), query="switches", limit=1)
    assert [(item.key, item.value["text"]) for item in switches] == [("2", "The rack in Lisbon has three switches")]
    assert all(item.score is None for item in store.search(("m",), query="two"))
    pages = [item.key for offset in range(4) for item in store.search(("m",), limit=1, offset=offset)]
    assert sorted(pages) == ["1", "2", "3", "4"]
    assert store.search(("other",), query="espresso") == []


def test_times_and_what_is_not_supported(client, name):
    store = ThroughlineStore(client=client, name=name)
    store.put(("a",), "k", {"v": 1})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"v": 2})
    second = store.get(("a",), "k")
    assert first.created_at == second.created_at < second.updated_at
    with pytest.raises(NotImplementedError):
        store.put(("a",), "k", {"v": 3}, ttl=5)
    with pytest.raises(ValueError):
        store.put(("a.b",), "k", {"v": 3})
    assert ThroughlineStore(client=client, name=name + "2").get(("a",), "k") is None


def test_a_node_uses_the_store_in_asyncio(client, connect, name):
    async def run():
        store = ThroughlineStore(client=client, async_client=connect(), name=name)
        builder = StateGraph(State)

        async def note(state, *, store):
            await store.aput(("notes",), str(uuid.uuid4()), {"text": state["said"][-1]})
            return {"said": [str(len(await store.asearch(("notes",))))]}

        builder.add_node("note", note)
        builder.add_edge(START, "note")
        running = builder.compile(store=store)
        assert (await running.ainvoke({"said": ["a"]}))["said"] == ["a", "1"]
        assert (await running.ainvoke({"said": ["b"]}))["said"] == ["b", "2"]

    asyncio.run(run())
