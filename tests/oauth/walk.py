"""Authorization as the official Python SDK does it, from the first 401 to a call of a tool.

    python tests/oauth/walk.py URL

The SDK reads the challenge and the metadata of the server, finds the authorization server, registers, sends its user
there (who agrees to everything) and comes back with a code. Prints one line per step; ends with 1 at the first surprise.
"""

import asyncio
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

CALLBACK = "http://127.0.0.1:1/callback"


class Storage:
    """What the SDK keeps of one user."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


class User:
    """Follows the redirects of the authorization server as a browser does, up to the client's own address."""

    def __init__(self):
        self.answer = None
        self.asked = None

    async def visit(self, address: str) -> None:
        self.asked = parse_qs(urlsplit(address).query)
        async with httpx2.AsyncClient() as browser:
            while not address.startswith(CALLBACK):
                response = await browser.get(address)
                check(f"the user is sent on from {urlsplit(address).path.split('/')[1]}", response.is_redirect, True)
                address = str(response.next_request.url)
        self.answer = parse_qs(urlsplit(address).query)

    async def come_back(self) -> AuthorizationCodeResult:
        values = {name: self.answer[name][0] for name in ("code", "state", "iss") if name in self.answer}
        return AuthorizationCodeResult(**values)


def check(step: str, actual, expected) -> None:
    if actual != expected:
        print(f"FAILED {step}: {actual!r} is not {expected!r}")
        raise SystemExit(1)
    print(f"ok {step}")


async def main() -> None:
    url = sys.argv[1]
    storage, user = Storage(), User()
    metadata = OAuthClientMetadata(client_name="walk", redirect_uris=[CALLBACK], token_endpoint_auth_method="none")
    auth = OAuthClientProvider(url, metadata, storage, user.visit, user.come_back)
    http = httpx2.AsyncClient(auth=auth, timeout=30)
    async with Client(streamable_http_client(url, http_client=http), mode="2026-07-28") as client:
        listed = await client.list_tools()
        check("the tools are listed", "remember" in [tool.name for tool in listed.tools], True)
        check("the token was asked for this resource", user.asked["resource"], [url])
        scopes = user.asked["scope"][0].split()
        check("and for the scopes of the challenge", scopes[:2], ["throughline:read", "throughline:write"])
        called = await client.call_tool("remember", {"text": "My rack is R42"})
        check("a tool that writes runs", called.is_error, False)
        found = await client.call_tool("recall", {"query": "rack"})
        check("and what it wrote is found", "R42" in found.content[0].text, True)


asyncio.run(main())
