"""`ThroughlineHistory` in LangChain itself, beside the library's own history in memory."""

from __future__ import annotations

import asyncio
import hashlib

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory

from throughline.langchain import ThroughlineHistory
from throughline.names import session_id

CONVERSATION = [
    [SystemMessage("Be brief.", id="s")],
    [HumanMessage("What is in rack 4?", name="ada", additional_kwargs={"a": 1})],
    [AIMessage("", tool_calls=[{"name": "rack", "args": {"number": 4}, "id": "c1"}])],
    [ToolMessage("two switches", tool_call_id="c1", artifact={"n": 2})],
    [AIMessage([{"type": "text", "text": "Two switches."}], response_metadata={"model": "m"})],
    [HumanMessage("Thanks"), AIMessage("You are welcome."), HumanMessage("Bye")],
    [AIMessage("Good"), AIMessage("bye")],
]


def test_messages_come_back_as_they_were_added(client, name):
    ours, theirs = ThroughlineHistory(name, client=client), InMemoryChatMessageHistory()
    assert ours.messages == []
    for messages in CONVERSATION:
        ours.add_messages(messages)
        theirs.add_messages(messages)
        assert ours.messages == theirs.messages
        assert ThroughlineHistory(name, client=client).messages == theirs.messages
    assert str(ours) == str(theirs)
    ours.clear()
    assert ours.messages == []
    ours.add_user_message("Hello")
    ours.add_ai_message("Hi")
    assert ours.messages == [HumanMessage("Hello"), AIMessage("Hi")]


def test_the_server_knows_the_exchanges(client, name):
    history = ThroughlineHistory(name, client=client)
    for messages in CONVERSATION:
        history.add_messages(messages)
    assert [(turn["message"], turn["reply"]) for turn in client.sessions.turns(name)] == [
        ("What is in rack 4?", "Two switches."),
        ("Thanks", "You are welcome."),
        ("Bye", "Good\n\nbye"),
    ]
    assert client.sessions.turn(name, 1)["tool_executions"][0]["result"] == "two switches"
    assert "rack 4" in str(client.sessions.prepare(name, "And rack 5?")["request"]["messages"])


def test_turns_that_came_another_way_are_messages(client, name):
    client.chat("Hello", session=name)
    said = client.sessions.turns(name)[0]
    history = ThroughlineHistory(name, client=client)
    history.add_messages([HumanMessage("And now?"), AIMessage("Now this.")])
    assert history.messages == [
        HumanMessage("Hello"), AIMessage(said["reply"]), HumanMessage("And now?"), AIMessage("Now this."),
    ]  # fmt: skip


@pytest.mark.parametrize("session", ["user@example.org/1", "ü", "a b", "x" * 300, ".hidden", "a.next"])
def test_any_text_can_name_a_history(client, session, name):
    history = ThroughlineHistory(session + name, client=client)
    history.add_messages([HumanMessage("Hello"), AIMessage("Hi")])
    assert len(ThroughlineHistory(session + name, client=client).messages) == 2
    assert ThroughlineHistory(session + name + "2", client=client).messages == []


def test_a_name_is_readable_in_the_id():
    assert session_id("user-1") == "user-1"
    assert session_id("user@example.org/1") == "user-example-org-1-" + hashlib.sha256(b"user@example.org/1").hexdigest()[:32]


def test_long_messages_are_kept(client, name):
    history = ThroughlineHistory(name, client=client)
    long = [HumanMessage("word " * 30_000), AIMessage("reply " * 30_000)]
    history.add_messages(long)
    assert history.messages == long


def test_a_runnable_with_history_goes_on_in_another_process(client, server, name):
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
    seen = []

    def chain(replies):
        model = FakeListChatModel(responses=replies)
        return RunnableWithMessageHistory(
            prompt | (lambda value: seen.append(len(value.messages)) or value) | model,
            lambda session: ThroughlineHistory(session),
            input_messages_key="question",
            history_messages_key="history",
        )

    config = {"configurable": {"session_id": name}}
    chain(["Rack 4."]).invoke({"question": "Where is it?"}, config)
    server.stop()
    server.start()
    asyncio.run(chain(["Yes."]).ainvoke({"question": "Still?"}, config))
    assert seen == [1, 3]
    assert [m.text for m in ThroughlineHistory(name).messages] == ["Where is it?", "Rack 4.", "Still?", "Yes."]


def test_many_writers_lose_nothing(connect, name):
    async def run() -> None:
        async def write(number: int) -> None:
            history = ThroughlineHistory(name, async_client=connect())
            await history.aadd_messages([HumanMessage(f"question {number}"), AIMessage(f"answer {number}")])

        await asyncio.gather(*(write(number) for number in range(6)))
        texts = [m.text for m in await ThroughlineHistory(name, async_client=connect()).aget_messages()]
        assert sorted(texts) == sorted(f"{kind} {n}" for n in range(6) for kind in ("question", "answer"))
        assert all(texts[i + 1] == texts[i].replace("question", "answer") for i in range(0, 12, 2))
        await ThroughlineHistory(name, async_client=connect()).aclear()

    asyncio.run(run())
