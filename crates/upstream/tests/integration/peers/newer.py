"""A server of the newer era, written with the official Python SDK: `newer.py stdio` or `newer.py http`.

Over HTTP it listens on a free port of the loopback interface and prints the port.
"""

import socket
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("newer")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("it did not work")


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # before the port is told, so that nobody comes too early
    print(listener.getsockname()[1], flush=True)
    app = server.streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
