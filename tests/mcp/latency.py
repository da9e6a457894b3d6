"""How long a tool call takes, ours beside the official servers, with the same client in the same run.

    python tests/mcp/latency.py PROGRAM NODE NPM_FOLDER

Starts each server itself, over stdio, and ours also over HTTP. Prints medians of three rounds. Over HTTP
much of the time is the client's own: what its HTTP library takes for a bare request is printed beside it.
"""

import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

CALLS, ROUNDS = 200, 3


async def measure(name, connect, mode, prepare, tool, arguments):
    async with Client(connect(), mode=mode, cache=None) as client:
        arguments = arguments(await prepare(client))
        for _ in range(20):
            await client.call_tool(tool, arguments)
        medians = []
        for _ in range(ROUNDS):
            times = []
            for _ in range(CALLS):
                begun = time.perf_counter()
                await client.call_tool(tool, arguments)
                times.append((time.perf_counter() - begun) * 1_000)
            medians.append(statistics.median(times))
    print(f"| {name} | {tool} | {statistics.median(medians):.2f} |", flush=True)


async def measure_floor(url):
    async with httpx2.AsyncClient() as http:
        medians = []
        for _ in range(ROUNDS):
            times = []
            for _ in range(CALLS):
                begun = time.perf_counter()
                await http.get(url)
                times.append((time.perf_counter() - begun) * 1_000)
            medians.append(statistics.median(times))
    print(f"| the same client's HTTP library alone | GET /health | {statistics.median(medians):.2f} |", flush=True)


async def new_context(client):
    made = await client.call_tool("context-manage", {"action": "create_from_preset", "presetId": "preset-calm-counselor"})
    return made.structured_content["context"]["id"]


async def nothing(_client):
    return None


def get(context):
    return {"action": "get", "contextId": context}


async def main():
    program, node, npm = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        store = ["--store", f"sqlite:{folder}/latency.db"]
        ours = StdioServerParameters(command=program, args=[*store, "mcp"])
        print("| server | tool | p50 ms |\n|---|---|---|")
        for era, mode in (("2025-11-25", "legacy"), ("2026-07-28", "2026-07-28")):
            await measure(f"ours, stdio, {era}", lambda: stdio_client(ours), mode, new_context, "context-manage", get)
        server = subprocess.Popen([program, "--store", f"sqlite:{folder}/http.db", "serve", "--bind", "127.0.0.1:0"],
                                  stderr=subprocess.PIPE, text=True)
        try:
            address = next(m[1] for line in server.stderr if (m := re.search(r"http://([\d.:]+)", line)))
            url = f"http://{address}/mcp"
            await measure("ours, HTTP, 2026-07-28", lambda: streamable_http_client(url), "2026-07-28", new_context,
                          "context-manage", get)
            await measure_floor(f"http://{address}/api/v1/health")
        finally:
            server.terminate()
            server.wait()
        for package, tool, arguments in (
            ("server-memory", "search_nodes", {"query": "ada"}),
            ("server-everything", "echo", {"message": "hello"}),
        ):
            entry = f"{npm}/node_modules/@modelcontextprotocol/{package}/dist/index.js"
            env = {**os.environ, "MEMORY_FILE_PATH": f"{folder}/memory.jsonl"}
            peer = StdioServerParameters(command=node, args=[entry], env=env)
            await measure(f"official {package}, stdio", lambda: stdio_client(peer), "legacy", nothing, tool,
                          lambda _: arguments)


asyncio.run(main())
