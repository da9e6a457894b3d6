"""The official OpenAI SDK as a client: only the base URL and one header are ours.

Usage: openai_client.py ADDRESS. Prints what it saw as JSON.
"""

import json
import sys

import openai

client = openai.OpenAI(
    base_url=sys.argv[1] + "/v1",
    api_key="sk-of-the-client",
    default_headers={"x-session-id": "sdk"},
    max_retries=0,
)
tools = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather of a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]
seen = {}


def ask(messages, **more):
    return client.chat.completions.create(model="some-model", messages=messages, **more)


def user(text):
    return {"role": "user", "content": text}


seen["whole"] = ask([user("My name is Ada.")]).choices[0].message.content

stream = ask([user("Who am I?")], stream=True, stream_options={"include_usage": True})
words = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
seen["streamed"] = "".join(words)

question = user("The weather in Oslo?")
message = ask([question], tools=tools).choices[0].message
call = message.tool_calls[0]
seen["call"] = {"name": call.function.name, "arguments": json.loads(call.function.arguments)}
answer = {"role": "tool", "tool_call_id": call.id, "content": '{"sky": "rain"}'}
asked = {
    "role": "assistant",
    "content": None,
    "tool_calls": [call.model_dump(include={"id", "type", "function"})],
}
seen["after_the_call"] = ask([question, asked, answer], tools=tools).choices[0].message.content

try:
    ask([user("Too much.")])
except openai.BadRequestError as error:
    seen["refused"] = error.status_code

seen["models"] = [model.id for model in client.models.list()]

print(json.dumps(seen))
