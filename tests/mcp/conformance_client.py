#!/usr/bin/env python3
"""Our side as a client, for the client scenarios of the official conformance suite.

    THROUGHLINE_PROGRAM=PATH python3 tests/mcp/conformance_client.py URL

Lists the tools of the server at URL through the proxy and calls each, with arguments made from its schema or, where the
scenario names calls in MCP_CONFORMANCE_CONTEXT, with those.
"""

import json
import os
import subprocess
import sys
import tempfile

PROGRAM = os.environ["THROUGHLINE_PROGRAM"]
SAMPLES = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}


def run(folder, *arguments):
    command = [PROGRAM, "--store", "memory:", "tools", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    print(f"{arguments[0]} {arguments[1:]}: {done.returncode} {done.stderr.strip()}", file=sys.stderr)
    return done.stdout


def filled(tool, tools):
    schema = tool["input_schema"]
    if "schema" in schema.get("properties", {}):
        # It wants back what we understood of another tool's schema.
        return {"schema": next(other["input_schema"] for other in tools if other["name"] != tool["name"])}
    wanted = schema.get("required", list(schema.get("properties", {})))
    kinds = {name: schema.get("properties", {}).get(name, {}).get("type", "string") for name in wanted}
    return {name: SAMPLES.get(kind, "x") if isinstance(kind, str) else "x" for name, kind in kinds.items()}


def without_null(arguments):
    """The proxy refuses a null where the schema wants a boolean; what is not given is left out."""
    return {name: value for name, value in arguments.items() if value is not None}


def main():
    url = sys.argv[-1]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/throughline.toml", "w") as file:
            file.write(f'[servers.peer]\nurl = "{url}"\n')
        tools = json.loads(run(folder, "list", "--json"))["tools"]
        calls = [(call["name"], without_null(call.get("arguments", {}))) for call in context.get("toolCalls", [])]
        named = {name for name, _ in calls}
        calls += [(tool["name"], filled(tool, tools)) for tool in tools if tool["name"] not in named]
        for name, arguments in calls:
            run(folder, "call", "--approve", f"peer:{name}", json.dumps(arguments))


main()
