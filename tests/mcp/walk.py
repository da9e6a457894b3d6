"""A walk through the MCP server with the official Python SDK.

    python tests/mcp/walk.py stdio PROGRAM ARGUMENT...   (the server is started for each era)
    python tests/mcp/walk.py http URL [KEY]

Goes through both eras of the protocol. Prints one line per step; ends with 1 at the first surprise.
"""

import asyncio
import json
import sys

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

ERAS = {"older": "legacy", "newer": "2026-07-28"}
sampled: list[types.CreateMessageRequestParams] = []
asked: list[types.ElicitRequestParams] = []
says = {"approve": True}


async def sample(_context, params):
    sampled.append(params)
    return types.CreateMessageResult(
        role="assistant",
        content=types.TextContent(type="text", text=f"sampled: {len(params.messages)} messages"),
        model="walk/model",
        stop_reason="endTurn",
    )


async def decide(_context, params):
    asked.append(params)
    return types.ElicitResult(action="accept", content=dict(says))


def check(step: str, actual, expected) -> None:
    if actual != expected:
        print(f"FAILED {step}: {actual!r} is not {expected!r}")
        raise SystemExit(1)
    print(f"ok {step}")


async def call(client, tool: str, **arguments):
    result = await client.call_tool(tool, arguments)
    return result


async def tools(client) -> None:
    listed = await client.list_tools()
    check("tools in order", [tool.name for tool in listed.tools], [
        "context-manage", "personality-preset-manage", "context-chat", "conversation-manage",
        "context-query", "memory-search", "remember", "recall", "forget", "list_memories",
        "tools-search", "tools-call",
    ])
    check("every tool has schemas and hints", all(
        tool.output_schema and tool.annotations and tool.input_schema["type"] == "object" for tool in listed.tools
    ), True)


async def presets(client) -> None:
    answer = (await call(client, "personality-preset-manage", action="list")).structured_content
    check("built-in presets", (answer["totalCount"], sum(p["experimental"] for p in answer["presets"])), (6, 2))
    made = (await call(client, "personality-preset-manage", action="create", name="Walker",
                       systemPrompt="Be brief.", idempotencyKey="walk-preset")).structured_content
    again = (await call(client, "personality-preset-manage", action="create", name="Walker",
                        systemPrompt="Be brief.", idempotencyKey="walk-preset")).structured_content
    check("a keyed preset is made once", made["preset"]["id"], again["preset"]["id"])
    check("a poor prompt gets advice", made["review"]["effective"], False)
    gone = (await call(client, "personality-preset-manage", action="delete", presetId=made["preset"]["id"]))
    check("a preset is deleted", gone.structured_content["success"], True)


async def contexts(client) -> str:
    made = await call(client, "context-manage", action="create_from_preset", presetId="preset-calm-counselor",
                      presetOverrides={"name": "Ada", "temperature": 0.2})
    context = made.structured_content["context"]
    check("a context from a preset", (context["name"], context["temperature"], context["expiryDays"]),
          ("Ada", 0.2, 14))
    wrong = await call(client, "context-manage", action="update", contextId=context["id"], maxTokens=0)
    check("a wrong value is named", (wrong.is_error, wrong.structured_content["message"]),
          (True, "maxTokens is not valid: 0 is outside 1-200000"))
    missing = await call(client, "context-manage", action="get", contextId="nobody")
    check("not found lists what there is", f"{context['id']} (Ada)" in missing.structured_content["hint"], True)
    unknown = await call(client, "context-manage", action="get", contextID="x")
    check("an unknown field is named", "contextID" in unknown.content[0].text, True)
    return context["id"]


async def chat(client, context: str, expected_by: str) -> None:
    before = len(sampled)
    answer = await call(client, "context-chat", contextId=context, message="THIS IS USELESS!! Help me.",
                        idempotencyKey="walk-chat")
    check("a reply", answer.is_error, False)
    metadata = answer.structured_content["metadata"]
    check("who answered", metadata["answeredBy"], expected_by)
    if expected_by == "sampling":
        check("the client's model was asked once", len(sampled) - before, 1)
        prompt = sampled[-1].system_prompt or ""
        check("the persona was sent", "counselor" in prompt, True)
        said = json.dumps([m.model_dump(mode="json") for m in sampled[-1].messages])
        check("the calm reminder was sent", "calm" in (said + prompt).lower(), True)
        check("the model is named", metadata["model"], "walk/model")
    check("metadata", sorted(k for k in metadata if k in (
        "tokensUsed", "historyTokens", "historyTruncated", "contextExpiry", "isExpired")), [
        "contextExpiry", "historyTokens", "historyTruncated", "isExpired", "tokensUsed"])
    asked = len(sampled)
    again = await call(client, "context-chat", contextId=context, message="THIS IS USELESS!! Help me.",
                       idempotencyKey="walk-chat")
    check("the same key answers the same turn", again.structured_content["metadata"]["turn"], metadata["turn"])
    check("and asks nobody", len(sampled), asked)
    await call(client, "context-chat", contextId=context, message="And tomorrow?")
    listed = (await call(client, "conversation-manage", action="list", contextId=context)).structured_content
    check("the conversation", [c["id"] for c in listed["conversations"]],
          ["2-assistant", "2-user", "1-assistant", "1-user"])
    deleted = (await call(client, "conversation-manage", action="delete", contextId=context,
                          conversationIds=["1-user"])).structured_content
    check("a pair is deleted", deleted["deletedCount"], 2)
    found = (await call(client, "memory-search", query="tomorrow")).structured_content
    check("memory", any(hit["sessionId"] == context for hit in found["hits"]), True)
    kept = (await call(client, "remember", text="The user's rack is R42", subject="user's rack")).structured_content
    recalled = (await call(client, "recall", query="which rack?")).structured_content
    check("a statement is recalled", [memory["id"] for memory in recalled["memories"]], [kept["id"]])
    await call(client, "forget", id=kept["id"])
    check("and forgotten", (await call(client, "list_memories")).structured_content["total"], 0)


async def rest(client, context: str) -> None:
    listed = await client.list_resources()
    uris = [str(resource.uri) for resource in listed.resources]
    check("resources", {"throughline://contexts", f"throughline://context/{context}"} <= set(uris), True)
    for scheme in ("throughline", "mcp-llm-generator"):
        read = await client.read_resource(f"{scheme}://context/{context}")
        check(f"{scheme}:// reads", json.loads(read.contents[0].text)["context"]["id"], context)
    try:
        await client.read_resource("throughline://context/nobody")
        check("a missing resource fails", False, True)
    except MCPError as error:
        check("a missing resource fails", context in error.error.message, True)
    prompt = await client.get_prompt("personality-creator", {"role": "tutor", "traits": "kind", "scenario": "school"})
    check("a prompt is filled in", "tutor" in prompt.messages[0].content.text, True)
    completed = await client.complete(
        types.ResourceTemplateReference(type="ref/resource", uri="throughline://context/{contextId}"),
        {"name": "contextId", "value": context[:4]},
    )
    check("ids are completed", context in completed.completion.values, True)


async def upstream(client, era: str, answers: bool) -> None:
    """Calls through the proxy: found, called, run once for each key, and approved by the person at the client."""
    while not (found := (await call(client, "tools-search", query="list all sites")).structured_content["tools"]):
        await asyncio.sleep(0.1)
    check("a tool is found by meaning", "list_sites" in [tool["name"] for tool in found], True)

    async def run(name: str, arguments: dict, **more):
        return await call(client, "tools-call", server="inventory", name=name, arguments=arguments, **more)

    async def workflows() -> int:
        return (await run("list_workflows", {})).structured_content["json"]["count"]

    count = await workflows()
    made = await run("create_workflow", {"name": f"walk {era}"}, idempotencyKey=f"make-{era}")
    check("a harmless call runs", (made.is_error, made.structured_content["success"]), (False, True))
    again = await run("create_workflow", {"name": f"walk {era}"}, idempotencyKey=f"make-{era}")
    check("the same key answers the same", again.structured_content, made.structured_content)
    check("and nothing ran again", await workflows(), count + 1)
    other = await run("create_workflow", {"name": "another"}, idempotencyKey=f"make-{era}")
    check("the same key for another call is refused",
          (other.is_error, "was used for another request" in other.content[0].text), (True, True))

    before, doomed = len(asked), {"device": "ams1-srv-03"}
    says["approve"] = False
    refused = await run("delete_device", doomed, idempotencyKey=f"drop-{era}")
    check("without a yes nothing runs", (refused.is_error, "may not run" in refused.content[0].text), (True, True))
    check("the device is still there", (await run("get_device", doomed)).is_error, False)
    says["approve"] = True
    gone = await run("delete_device", doomed, idempotencyKey=f"drop-{era}")
    if not answers:
        check("nobody could be asked", len(asked), before)
        check("and the refusal says how to approve", (gone.is_error, "elicitation" in gone.content[0].text), (True, True))
        return
    check("a person was asked each time", len(asked) - before, 2)
    check("with the tool and its arguments", "delete_device" in asked[-1].message and "ams1-srv-03" in asked[-1].message, True)
    check("an approved call runs", (gone.is_error, gone.structured_content["success"]), (False, True))
    again = await run("delete_device", doomed, idempotencyKey=f"drop-{era}")
    check("once for its key", again.structured_content, gone.structured_content)
    check("and nobody is asked again", len(asked) - before, 2)
    check("the device is gone", (await run("get_device", doomed)).is_error, True)


async def walk(connect, era: str, expected_by: str, answers: bool) -> None:
    print(f"-- {era} era")
    async with connect(ERAS[era]) as client:
        await tools(client)
        await presets(client)
        context = await contexts(client)
        await chat(client, context, expected_by)
        await rest(client, context)
        await upstream(client, era, answers)
        gone = await call(client, "context-manage", action="delete", contextId=context)
        check("a context is deleted", gone.structured_content["context"]["isActive"], False)


async def main() -> None:
    kind, *rest_of = sys.argv[1:]
    if kind == "stdio":
        server = StdioServerParameters(command=rest_of[0], args=rest_of[1:])
        for era in ERAS:
            await walk(lambda mode: Client(stdio_client(server), mode=mode, sampling_callback=sample,
                                           elicitation_callback=decide), era, "sampling", True)
    else:
        headers = {"authorization": f"Bearer {rest_of[1]}"} if len(rest_of) > 1 else {}
        for era in ERAS:
            def connect(mode):
                http = httpx2.AsyncClient(headers=headers, timeout=30)
                return Client(streamable_http_client(rest_of[0], http_client=http), mode=mode, sampling_callback=sample,
                              elicitation_callback=decide)
            # Without sessions nobody can be asked back in the older era, so that is answered offline.
            older = era == "older"
            await walk(connect, era, "offline" if older else "sampling", not older)


asyncio.run(main())
