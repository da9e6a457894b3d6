"""What a transcript promises when a process ends between two of its requests."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from conftest import run_until
from throughline.langchain import _Format
from throughline.transcript import Transcript


def texts(client, transcript):
    return [message.text for message in client.connection.run(transcript.load())]


@pytest.mark.parametrize("requests", range(12))
def test_adding_that_is_interrupted_loses_and_doubles_nothing(client, name, requests):
    transcript = Transcript(name, _Format())
    client.connection.run(transcript.add([HumanMessage("one"), AIMessage("1"), HumanMessage("two")]))
    complete = run_until(client, transcript.add([AIMessage("2")]), requests)
    found = texts(client, transcript)
    assert found == ["one", "1", "two", "2"] if complete else found in (["one", "1", "two"], ["one", "1", "two", "2"])
    client.connection.run(transcript.add([HumanMessage("three"), AIMessage("3")]))
    assert texts(client, transcript) == [*found, "three", "3"]
    client.chat("hello", session=transcript.session)
    assert texts(client, transcript)[: len(found) + 2] == [*found, "three", "3"]


@pytest.mark.parametrize("requests", range(14))
def test_removing_that_is_interrupted_removes_the_last_or_nothing(client, name, requests):
    transcript = Transcript(name, _Format())
    client.connection.run(transcript.add([HumanMessage("one"), AIMessage("1"), HumanMessage("two"), AIMessage("2")]))
    complete = run_until(client, transcript.pop(), requests)
    found = texts(client, transcript)
    assert found == ["one", "1", "two"] if complete else found in (["one", "1", "two"], ["one", "1", "two", "2"])
    client.connection.run(transcript.add([HumanMessage("three"), AIMessage("3")]))
    assert texts(client, transcript) == [*found, "three", "3"]


def test_what_was_removed_is_gone_from_the_server(client, name):
    transcript = Transcript(name, _Format())
    word = name.replace("-", "")
    client.connection.run(transcript.add([HumanMessage("one"), AIMessage("1"), HumanMessage(word), AIMessage("2")]))
    assert client.search(word)["hits"]
    assert [client.connection.run(transcript.pop()).text for _ in range(4)] == ["2", word, "1", "one"]
    assert client.connection.run(transcript.pop()) is None
    assert client.search(word)["hits"] == []
    assert word not in str(client.sessions.export(name))
