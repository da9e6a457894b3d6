"""openai-agents with its default model class: only the base URL is ours.

Usage: agents_client.py ADDRESS. Prints what it saw as JSON.
"""

import asyncio
import json
import sys

from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)
set_default_openai_client(
    AsyncOpenAI(base_url=sys.argv[1] + "/v1", api_key="sk-of-the-client", max_retries=0)
)
cities = []


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    cities.append(city)
    return "rain"


agent = Agent(name="Ada", instructions="Be brief.", model="some-model", tools=[weather])


async def main():
    seen = {}
    first = await Runner.run(agent, "My name is Ada. How is the weather in Oslo?")
    seen["first"] = first.final_output
    second = Runner.run_streamed(
        agent, "And in Bergen, do you remember?", previous_response_id=first.last_response_id
    )
    words = []
    async for event in second.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            words.append(event.data.delta)
    seen["second"] = second.final_output
    seen["streamed"] = "".join(words)
    seen["cities"] = cities
    print(json.dumps(seen))


asyncio.run(main())
