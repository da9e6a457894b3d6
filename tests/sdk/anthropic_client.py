"""The official Anthropic SDK as a client: only the base URL and one header are ours.

Usage: anthropic_client.py ADDRESS. Prints what it saw as JSON.
"""

import json
import sys

import anthropic

client = anthropic.Anthropic(
    base_url=sys.argv[1],
    api_key="sk-of-the-client",
    default_headers={"x-session-id": "sdk"},
    max_retries=0,
)
tools = [
    {
        "name": "weather",
        "description": "The weather of a city.",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
]
seen = {}


def user(content):
    return {"role": "user", "content": content}


def ask(messages, **more):
    return client.messages.create(model="some-model", max_tokens=100, messages=messages, **more)


seen["whole"] = ask([user("My name is Ada.")]).content[0].text

with client.messages.stream(
    model="some-model", max_tokens=100, messages=[user("Who am I?")]
) as stream:
    seen["streamed"] = "".join(stream.text_stream)

question = user("The weather in Oslo?")
call = next(block for block in ask([question], tools=tools).content if block.type == "tool_use")
seen["call"] = {"name": call.name, "arguments": call.input}
asked = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}],
}
answer = user([{"type": "tool_result", "tool_use_id": call.id, "content": '{"sky": "rain"}'}])
seen["after_the_call"] = ask([question, asked, answer], tools=tools).content[0].text

try:
    ask([user("Too much.")])
except anthropic.BadRequestError as error:
    seen["refused"] = error.status_code

seen["models"] = [model.id for model in client.models.list()]
counted = client.messages.count_tokens(model="some-model", messages=[user("Hello.")])
seen["tokens"] = counted.input_tokens

print(json.dumps(seen))
