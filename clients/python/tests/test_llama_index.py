"""`ThroughlineMemory` in LlamaIndex's chat engine, beside the library's own buffer."""

from __future__ import annotations

import asyncio

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer

from throughline.llama_index import ThroughlineMemory

MESSAGES = [
    ChatMessage(role=MessageRole.SYSTEM, content="Be brief."),
    ChatMessage(role=MessageRole.USER, content="What is in rack 4?"),
    ChatMessage(
        role=MessageRole.ASSISTANT,
        blocks=[TextBlock(text="Let me see."), ToolCallBlock(tool_call_id="c1", tool_name="rack", tool_kwargs={"n": 4})],
    ),
    ChatMessage(role=MessageRole.TOOL, content="two switches", additional_kwargs={"tool_call_id": "c1"}),
    ChatMessage(role=MessageRole.ASSISTANT, content="Two switches."),
    ChatMessage(role=MessageRole.USER, content="Thanks"),
]


def buffer():
    return ChatMemoryBuffer.from_defaults(token_limit=100_000, tokenizer_fn=str.split)


def test_messages_come_back_as_they_were_put(client, name):
    ours, theirs = ThroughlineMemory.from_defaults(session_id=name, client=client), buffer()
    for message in MESSAGES:
        ours.put(message)
        theirs.put(message)
        assert ours.get() == ours.get_all() == theirs.get()
    assert client.sessions.turn(name, 1)["tool_executions"][0]["result"] == "two switches"
    ours.set(MESSAGES[:2])
    assert ours.get_all() == MESSAGES[:2]
    ours.set(MESSAGES)
    assert ThroughlineMemory(name, client=client).get_all() == MESSAGES
    ours.reset()
    assert ours.get_all() == []


def test_the_asynchronous_forms_do_the_same(client, connect, name):
    async def run():
        memory = ThroughlineMemory(name, client=client, async_client=connect())
        await memory.aput(MESSAGES[1])
        await memory.aput_messages(MESSAGES[2:5])
        assert await memory.aget() == await memory.aget_all() == MESSAGES[1:5]
        await memory.aset(MESSAGES)
        assert await memory.aget_all() == MESSAGES
        await memory.areset()
        assert await memory.aget_all() == []

    asyncio.run(run())


def test_a_chat_engine_talks_with_it(client, name):
    def talk(memory):
        engine = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=20), memory=memory)
        return [engine.chat("What is in rack 4?").response, engine.chat("And in rack 5?").response, engine.chat_history]

    assert talk(ThroughlineMemory(name, client=client)) == talk(buffer())
    assert [turn["message"] for turn in client.sessions.turns(name)] == ["What is in rack 4?", "And in rack 5?"]


def test_with_a_budget_the_server_prepares_the_context(client, name):
    word = name.replace("-", "")
    client.sessions.create(f"{name}-other")
    client.sessions.record(f"{name}-other", f"The {word} cabinet is painted green.", "Noted.")
    question = ChatMessage(role="user", content=f"Which colour has the {word} cabinet?")
    memory = ThroughlineMemory(name, client=client, budget_tokens=2000)
    memory.put(question)
    context = memory.get()
    assert context[-1] == question and "painted green" in str(context[:-1])
    memory.put(ChatMessage(role="assistant", content="Green."))
    turn = client.sessions.history(name)["turns"][0]
    assert (turn["message"], turn["reply"]) == (question.content, "Green.")
    assert any(piece["source"]["kind"] == "message" for piece in client.sessions.receipt(name, 1)["pieces"])
    fresh = ThroughlineMemory(f"{name}-2", client=client, budget_tokens=2000)
    assert fresh.get(question.content) == []
    fresh.put_messages([ChatMessage(role="user", content="Hello"), ChatMessage(role="assistant", content="Hi")])
    before = fresh.get(question.content)
    assert "Hello" in str(before) and question not in before
    fresh.put_messages([question, ChatMessage(role="assistant", content="Green.")])
    assert client.sessions.receipt(f"{name}-2", 2)["id"]
    for number in range(4):
        memory.put_messages([
            ChatMessage(role="user", content=f"Question {number} " + "about cables " * 200),
            ChatMessage(role="assistant", content=f"Answer {number} " + "about cables " * 200),
        ])  # fmt: skip
    memory.put(question)
    assert memory.get()[-1] == question
    assert len(str(memory.get())) < len(str(memory.get_all())) / 2
