"""`throughline_tools` in a LlamaIndex agent, with the demo inventory behind the server."""

from __future__ import annotations

import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.llms import MockFunctionCallingLLM

from throughline import AsyncThroughline, Throughline
from throughline.llama_index import ThroughlineMemory, throughline_tools

SITE = {"tool": "inventory__get_site", "arguments": {"site": "ams1"}}
REMOVAL = {"tool": "inventory__delete_device", "arguments": {"device": "sin1-sw-01"}}


def test_an_agent_finds_a_tool_and_calls_it_and_the_turn_names_that_tool(demo, name):
    def answer(messages, **_):
        done = [message for message in messages if message.role == MessageRole.TOOL]
        calls = [("find_tools", {"query": "one site"}), ("call_tool", SITE)]
        if len(done) == len(calls):
            return ChatMessage(role="assistant", content=f"Found: {done[-1].content}")
        tool, arguments = calls[len(done)]
        block = ToolCallBlock(tool_call_id=f"c{len(done)}", tool_name=tool, tool_kwargs=arguments)
        return ChatMessage(role="assistant", blocks=[block])

    async def run():
        client, connection = Throughline(demo), AsyncThroughline(demo)
        given = {"client": client, "async_client": connection, "agent": "demo"}
        tools, memory = throughline_tools(name, **given), ThroughlineMemory(name, **given)
        agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=answer), tools=tools, streaming=False)
        return client, str(await agent.run("Where is ams1?", memory=memory))

    client, reply = asyncio.run(run())
    assert "Kabelweg 12" in reply
    executions = client.sessions.turn(name, 1)["tool_executions"]
    assert [(done["name"], done["arguments"]) for done in executions] == [
        ("find_tools", {"query": "one site"}),
        ("inventory__get_site", {"site": "ams1"}),
    ]


def test_a_call_that_needs_approval_is_made_only_if_the_program_approves_it(demo, name):
    asked: list[str] = []

    def asks(answer):
        return lambda tool, arguments: asked.append(tool) or answer

    def call(approve):
        tools = throughline_tools(name, client=Throughline(demo), agent="demo", approve=approve)
        return tools[1].call(**REMOVAL).content

    assert "was not called" in call(False) and "refused" not in call(False)
    assert "it was refused" in call(asks(False))
    assert "was not called" not in call(asks(True))
    assert asked == [REMOVAL["tool"]] * 2
    assert "was not called" not in call(True)
