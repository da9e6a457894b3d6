"""`ThroughlineHistory` around runs of a pydantic-ai agent."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel

from throughline.pydantic_ai import AsyncThroughlineHistory, ThroughlineHistory


def agent_that(answer, **kwargs):
    return Agent(FunctionModel(answer), **kwargs)


def looks_then_says(messages, info):
    if isinstance(messages[-1].parts[-1], UserPromptPart):
        return ModelResponse(parts=[ToolCallPart("rack", {"number": 4})])
    return ModelResponse(parts=[TextPart(f"After {len(messages)} messages: two switches.")])


def racks():
    agent = agent_that(looks_then_says)

    @agent.tool_plain
    def rack(number: int) -> str:
        return f"rack {number} has two switches"

    return agent


def test_a_run_goes_on_with_the_runs_before(client, name):
    agent = racks()
    history = ThroughlineHistory(name, client=client)
    assert history.load() == []
    first = agent.run_sync("What is in rack 4?", message_history=history.load())
    history.save(first)
    history.save(first)
    assert history.load() == first.all_messages()
    second = agent.run_sync("And now?", message_history=ThroughlineHistory(name, client=client).load())
    history.save(second)
    assert history.load() == second.all_messages()
    turns = client.sessions.turns(name)
    assert [turn["message"] for turn in turns] == ["What is in rack 4?", "And now?"]
    assert turns[1]["reply"] == second.output
    assert client.sessions.turn(name, 1)["tool_executions"][0]["result"] == "rack 4 has two switches"
    history.clear()
    assert history.load() == []


def test_an_answer_with_a_schema_is_a_turn_too(client, name):
    class Rack(BaseModel):
        number: int

    def answer(messages, info):
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"number": 4})])

    history = ThroughlineHistory(name, client=client)
    result = agent_that(answer, output_type=Rack).run_sync("Which rack?")
    history.save(result)
    assert history.load() == result.all_messages()
    assert [(turn["message"], turn["reply"]) for turn in client.sessions.turns(name)] == [("Which rack?", '{"number":4}')]


def test_turns_that_came_another_way_are_messages(client, name):
    client.sessions.create(name)
    client.sessions.record(name, "Hello", "Hi")
    loaded = ThroughlineHistory(name, client=client).load()
    assert [type(message) for message in loaded] == [ModelRequest, ModelResponse]
    assert racks().run_sync("And?", message_history=loaded).output.startswith("After 5 messages")


def test_the_asynchronous_form_does_the_same(connect, name):
    async def run():
        history = AsyncThroughlineHistory(name, client=connect())
        result = await racks().run("What is in rack 4?", message_history=await history.load())
        await history.save(result)
        assert await history.load() == result.all_messages()
        await history.clear()
        assert await history.load() == []

    asyncio.run(run())
