"""`ThroughlineSession` in the Agents SDK's own runner, beside its `SQLiteSession`."""

from __future__ import annotations

import asyncio
import random

from agents import Agent, ModelResponse, Runner, SQLiteSession, Usage, function_tool
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from throughline.openai_agents import ThroughlineSession


class Scripted(Model):
    """A model that says what a test wrote, and notes what it was sent."""

    def __init__(self, *outputs) -> None:
        self.outputs = list(outputs)
        self.inputs = []

    async def get_response(self, system_instructions, input, *args, **kwargs):
        self.inputs.append(input if isinstance(input, str) else list(input))
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def says(text):
    content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
    return ResponseOutputMessage(id="m", content=content, role="assistant", status="completed", type="message")


def calls(tool, arguments):
    return ResponseFunctionToolCall(id="f", call_id="c1", name=tool, arguments=arguments, type="function_call")


@function_tool
def rack(number: int) -> str:
    """What is in a rack."""
    return f"two switches in rack {number}"


def script():
    return Scripted(calls("rack", '{"number": 4}'), says("Two switches."), says("Rack 4."))


def test_the_runner_goes_on_with_what_was_said(connect, client, name):
    async def run(session):
        model = script()
        agent = Agent(name="a", model=model, tools=[rack])
        await Runner.run(agent, "What is in rack 4?", session=session)
        result = await Runner.run(agent, "Which rack was it?", session=session)
        return result.final_output, model.inputs, await session.get_items()

    async def both():
        ours = await run(ThroughlineSession(name, client=connect()))
        assert ours == await run(SQLiteSession(name))

    asyncio.run(both())
    assert isinstance(ThroughlineSession(name), Session)
    turns = client.sessions.turns(name)
    assert [(turn["message"], turn["reply"]) for turn in turns] == [
        ("What is in rack 4?", "Two switches."),
        ("Which rack was it?", "Rack 4."),
    ]
    assert client.sessions.turn(name, 1)["tool_executions"][0]["result"] == "two switches in rack 4"


def test_it_answers_what_the_librarys_own_session_answers(connect, name):
    """A seeded run of operations on both."""

    async def run():
        ours, theirs = ThroughlineSession(name, client=connect()), SQLiteSession(name)
        chance = random.Random(7)
        for step in range(40):
            what = chance.random()
            if what < 0.6:
                kinds = [
                    {"role": "user", "content": f"question {step}"},
                    {"role": "user", "content": [{"type": "input_text", "text": f"q {step}"}]},
                    {"type": "message", "role": "assistant", "id": "m", "status": "completed",
                     "content": [{"type": "output_text", "text": f"answer {step}", "annotations": []}]},
                    {"type": "function_call", "call_id": f"c{step}", "name": "rack", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": f"c{step}", "output": "x"},
                    {"type": "reasoning", "id": "r", "summary": []},
                ]  # fmt: skip
                items = [chance.choice(kinds) for _ in range(chance.randint(0, 3))]
                await ours.add_items(items)
                await theirs.add_items(items)
            elif what < 0.95:
                assert await ours.pop_item() == await theirs.pop_item()
            else:
                await ours.clear_session()
                await theirs.clear_session()
            limit = chance.choice([None, 1, 3, 100])
            assert await ours.get_items(limit) == await theirs.get_items(limit), step

    asyncio.run(run())


def test_the_settings_of_a_session_limit_what_is_read(connect, name):
    async def run():
        session = ThroughlineSession(name, client=connect(), session_settings=SessionSettings(limit=1))
        await session.add_items([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
        assert await session.get_items() == [{"role": "user", "content": "b"}]
        assert len(await session.get_items(5)) == 2

    asyncio.run(run())
