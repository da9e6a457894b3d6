"""The official OpenAI SDK as a client of Responses: only the base URL is ours.

Usage: responses_client.py ADDRESS. Prints what it saw as JSON.
"""

import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="sk-of-the-client", max_retries=0)
tools = [
    {
        "type": "function",
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
]
seen = {}


def ask(text, **more):
    return client.responses.create(model="some-model", input=text, **more)


def streamed(text, **more):
    """The deltas of a streamed response, and the response that the stream ends with."""
    words, last = [], None
    with client.responses.stream(model="some-model", input=text, **more) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                words.append(event.delta)
        last = stream.get_final_response()
    assert "".join(words) == last.output_text, (words, last)
    return last


def answered(response, output):
    call = next(item for item in response.output if item.type == "function_call")
    return call, [{"type": "function_call_output", "call_id": call.call_id, "output": output}]


# Two turns by previous_response_id.
first = ask("My name is Ada.")
seen["whole"] = first.output_text
second = streamed("Who am I?", previous_response_id=first.id)
seen["streamed"] = second.output_text
seen["previous"] = second.previous_response_id == first.id

# A round of tools; the client names the reply with the call and sends only the result.
for name, run in (("tools", ask), ("tools_streamed", streamed)):
    asked = run("The weather in Oslo?", tools=tools, previous_response_id=second.id)
    waiting = client.responses.retrieve(asked.id)
    assert [item.type for item in waiting.output] == [item.type for item in asked.output] and waiting.model, waiting
    call, result = answered(asked, '{"sky": "rain"}')
    last = run(result, tools=tools, previous_response_id=asked.id)
    seen[name] = {"name": call.name, "arguments": json.loads(call.arguments), "text": last.output_text}
    second = last

# Going on from the first reply again is a branch of its own.
branch = ask("And now?", previous_response_id=first.id)
seen["branch"] = branch.output_text

# A conversation by its name, and nothing kept.
seen["conversation"] = ask("One.", conversation="talk@home/1").output_text
seen["conversation_again"] = ask([{"role": "user", "content": "Two."}], conversation={"id": "talk@home/1"}).output_text
unstored = ask("Forget this.", store=False)
seen["unstored"] = unstored.output_text

# What is stored is read by its id, listed with its input, and deleted.
again = client.responses.retrieve(first.id)
seen["again"] = [again.id == first.id, again.output_text, again.status, again.model == first.model]
seen["input"] = [item.content[0].text for item in client.responses.input_items.list(first.id)]
items = client.responses.input_items.list(last.id, limit=1, order="asc")
seen["input_of_tools"] = [item.type for item in items if item.type != "reasoning"]
client.responses.delete(branch.id)
missing = {}
for name, id in (("deleted", branch.id), ("unstored", unstored.id), ("never", "resp_tl_x")):
    try:
        client.responses.retrieve(id)
    except openai.NotFoundError as error:
        missing[name] = error.code
seen["missing"] = missing

try:
    ask("Too much.", store=False)
except openai.BadRequestError as error:
    seen["refused"] = error.status_code
try:
    ask("Who?", previous_response_id="resp_tl_00000000000000000000000000000000_0_nobody")
except openai.BadRequestError as error:
    seen["unknown"] = error.code

print(json.dumps(seen))
