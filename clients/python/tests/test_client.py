"""The client itself: every operation against the real server, and what the server cannot be made to do against a small fake one."""

from __future__ import annotations

import asyncio
import json
import pathlib
import re
import threading
import typing
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

import throughline
from throughline import ApiError, AsyncThroughline, BusyError, ConflictError, ConnectionFailed, NotFoundError, Throughline, types

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_the_version_is_the_servers(client, server):
    workspace = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    package = re.search(r'^version = "(.+)"', (ROOT / "clients/python/pyproject.toml").read_text(), re.MULTILINE)
    document = httpx.get(f"{server.url}/api/openapi.json").json()
    assert throughline.__version__ == workspace[1] == package[1] == document["info"]["version"]


def test_every_field_of_the_types_is_in_the_reference(server):
    schemas = httpx.get(f"{server.url}/api/openapi.json").json()["components"]["schemas"]

    def fields(schema):
        found = dict(schema.get("properties", {}))
        for part in schema.get("allOf", []):
            found |= fields(schemas[part["$ref"].split("/")[-1]] if "$ref" in part else part)
        return found

    own = {"Settings": "SettingsBody", "Block": None, "Message": None, "SystemBlock": None, "ModelRequest": None}
    checked = 0
    for name, kind in vars(types).items():
        if typing.is_typeddict(kind) and kind.__module__ == "throughline.types":
            schema = own.get(name, name)
            if schema is not None:
                unknown = set(typing.get_type_hints(kind)) - set(fields(schemas[schema]))
                assert not unknown, f"{name} has {unknown}"
                checked += 1
    assert checked > 25


def test_a_session_from_its_creation_to_its_erasure(client, name):
    head = client.sessions.create(name, title="Racks", tags=["a"], settings={"timezone": "Europe/Berlin"})
    assert (head["id"], head["turns"], head["settings"]["timezone"]) == (name, 0, "Europe/Berlin")
    prepared = client.sessions.prepare(name, "Where is the rack?", budget_tokens=4000)
    assert prepared["request"]["messages"][-1]["content"][-1] == {"type": "text", "text": "Where is the rack?"}
    wire = client.sessions.prepare(name, "Where is the rack?", format="openai")["request"]
    last = wire["messages"][-1]
    assert (last["role"], last["content"].endswith("\n\nWhere is the rack?"), "system" in wire) == ("user", True, False)
    wire = client.sessions.prepare(name, "Where is the rack?", format="anthropic")["request"]
    assert {block["type"] for block in wire["system"]} == {"text"}
    recorded = client.sessions.record(name, "Where is the rack?", "In hall 3.", receipt=prepared, metadata={"k": [1]})
    assert (recorded["turn"], recorded["receipt"]) == (1, "kept")
    assert client.sessions.receipt(name, 1)["id"] == prepared["receipt"]["id"]
    client.sessions.record(name, "And the key?", "With Ada.", tool_executions=[{"name": "find", "arguments": {"a": 1}, "result": "Ada"}])
    assert [turn["message"] for turn in client.sessions.turns(name)] == ["Where is the rack?", "And the key?"]
    assert client.sessions.turn(name, 2)["tool_executions"][0]["result"] == "Ada"
    assert client.sessions.history(name, order="desc", limit=1)["turns"][0]["turn"] == 2
    assert client.sessions.fork(name, turn=1, id=f"{name}-fork")["turns"] == 1
    changed = client.sessions.change(name, title="Keys", version=client.sessions.get(name)["version"])
    assert changed["title"] == "Keys"
    exported = client.sessions.export(name)
    assert client.sessions.import_(exported, id=f"{name}-copy")["turns"] == 2
    assert "With Ada." in client.sessions.export(name, format="markdown")
    assert name in [head["id"] for head in client.sessions.all(tag="a")]
    assert client.sessions.archive(name)["active"] is False
    assert client.sessions.change(name, active=True)["active"] is True
    assert client.sessions.erase(name)["turns"] == 2
    with pytest.raises(NotFoundError):
        client.sessions.get(name)


def test_a_problem_has_the_servers_fields(client, name):
    with pytest.raises(NotFoundError) as missing:
        client.sessions.get(name)
    error = missing.value
    assert (error.status, error.code, error.title) == (404, "no_session", "Not Found")
    assert name in error.detail and error.hint and error.type == "urn:throughline:problem:no_session" and error.request_id
    client.sessions.create(name)
    with pytest.raises(ConflictError) as conflict:
        client.sessions.change(name, title="x", version=7)
    assert (conflict.value.code, conflict.value.current_version) == ("version_conflict", 1)
    with pytest.raises(ApiError) as invalid:
        client.sessions.record(name, "")
    assert (invalid.value.status, invalid.value.code) == (400, "invalid")


def test_a_failed_turn_keeps_how_the_model_failed(client, name):
    client.sessions.create(name)
    error = {"code": "model_failed", "message": "429 slow down", "cause": "rate_limited"}
    client.sessions.record(name, "Hello", error=error)
    assert client.sessions.turn(name, 1)["error"] == error
    with pytest.raises(ApiError) as invalid:
        client.sessions.record(name, "Hello", error={"code": "failed", "message": "x", "cause": "bad luck"})
    assert invalid.value.status == 400


def test_the_same_key_answers_the_same_turn(client, name):
    client.sessions.create(name)
    first = client.sessions.record(name, "Hello", "Hi", idempotency_key="k")
    assert client.sessions.record(name, "Hello", "Hi", idempotency_key="k") == first
    with pytest.raises(ApiError) as other:
        client.sessions.record(name, "Hello", "Good day", idempotency_key="k")
    assert other.value.status == 422
    assert client.sessions.get(name)["turns"] == 1


def test_chat_answers_at_once_or_in_events(client, name):
    reply = client.chat("Hello", session=name)
    assert (reply["status"], reply["turn"]) == ("complete", 1) and reply["reply"]
    events = list(client.chat_stream("Hello again", session=name))
    assert events[0].name == "context" and events[-1].name == "done" and events[-1].data["turn"] == 2
    assert "".join(event.text for event in events) == events[-1].data["reply"]
    assert client.query("what was said?", session=name)["session_id"] == name
    with pytest.raises(ApiError) as invalid:
        list(client.chat_stream("Hello", session="no such/id"))
    assert invalid.value.code == "invalid_name"


def test_memories_and_search(client, name):
    word = name.replace("-", "")
    kept = client.memories.add(f"My badge is {word}", subject="my badge")
    newer = client.memories.add(f"My badge is {word}b", subject="my badge")
    assert [memory["id"] for memory in newer["superseded"]] == [kept["id"]]
    assert client.memories.get(newer["id"])["text"].endswith("b")
    assert client.memories.change(newer["id"], text=f"My badge is {word}c", kind="profile")["kind"] == "profile"
    assert len(client.memories.history(newer["id"])) == 3
    assert newer["id"] in [memory["id"] for memory in client.memories.search("which badge")]
    assert newer["id"] in [memory["id"] for memory in client.memories.list(kind="profile")["memories"]]
    assert client.memories.import_(client.memories.export())["imported"] == 0
    assert client.memories.forget(newer["id"])["memories"] >= 1
    client.sessions.create(name)
    client.sessions.record(name, f"The {word} stands in hall 3", "Noted")
    assert client.search(word)["hits"][0]["session"] == name
    assert client.health()["status"]
    client.memories.add("x")
    assert client.memories.forget_all()["memories"] >= 1


def test_a_turn_and_a_user_are_erased(client, name):
    client.sessions.create(name)
    for message in ("I'm allergic to nuts.", "I live in Porto."):
        client.sessions.record(name, message, "Noted.")
    nuts = client.memories.search("nuts")[0]["id"]
    said_in = client.memories.forget(nuts, turns="erased")["said_in"]
    assert said_in == [{"session": name, "turn": 1, "became": "erased"}]
    assert client.sessions.erase_turn(name, 2)["turns"] == 1
    assert [turn["message"] for turn in client.sessions.turns(name)] == ["", ""]
    kinds = [value["kind"] for value in client.users.export("local")]
    assert kinds[0] == "user" and "session" in kinds
    assert client.users.erase("local")["sessions"] >= 1
    with pytest.raises(NotFoundError):
        client.sessions.get(name)


def test_a_link_is_made_listed_and_revoked(client, name):
    client.sessions.create(name)
    client.sessions.record(name, "Hello", "Hello to you")
    made = client.sessions.share(name, expires_in_days=2)
    assert made["token"].startswith("share_") and made["up_to_turn"] == 1
    assert [share["id"] for share in client.sessions.shares(name)["shares"]] == [made["id"]]
    assert client.sessions.unshare(name, made["id"]) == {"shares": []}


def test_the_asynchronous_client_does_the_same(server, name):
    async def run() -> None:
        async with AsyncThroughline(server.url) as client:
            await client.sessions.create(name)
            prepared = await client.sessions.prepare(name, "Hello")
            assert (await client.sessions.record(name, "Hello", "Hi", receipt=prepared))["receipt"] == "kept"
            events = [event async for event in client.chat_stream("And?", session=name)]
            assert events[-1].data["turn"] == 2
            both = await asyncio.gather(client.sessions.get(name), client.memories.list())
            assert both[0]["turns"] == 2
            kinds = [value["kind"] async for value in client.users.export("local")]
            assert kinds[0] == "user"
            with pytest.raises(NotFoundError):
                await client.sessions.get(f"{name}-none")

    asyncio.run(run())


@pytest.fixture
def fake():
    """A server that answers what a test says, in turn, and notes what it was asked."""

    class Handler(BaseHTTPRequestHandler):
        answers: typing.ClassVar = []
        asked: typing.ClassVar = []

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            self.asked.append((self.path, dict(self.headers.items()), body))
            answer = self.answers.pop(0)
            if answer is None:
                self.connection.close()
                return
            status, headers, text = answer
            self.send_response(status)
            for field, value in {"content-length": str(len(text)), **headers}.items():
                self.send_header(field, value)
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Handler.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Handler
    server.shutdown()
    server.server_close()


BUSY = (503, {"retry-after": "0", "content-type": "application/problem+json"}, b'{"code": "busy", "detail": "too many"}')
RECORDED = (201, {"content-type": "application/json"}, json.dumps({"turn": 1, "version": 2, "durability": "memory"}).encode())


def test_a_busy_server_is_asked_again_with_the_same_key(fake):
    fake.answers[:] = [BUSY, (429, BUSY[1], BUSY[2]), RECORDED]
    assert Throughline(fake.url).sessions.record("a", "Hello")["turn"] == 1
    keys = {headers["idempotency-key"] for _, headers, _ in fake.asked}
    assert len(fake.asked) == 3 and len(keys) == 1


def test_a_server_that_stays_busy_is_an_error(fake):
    fake.answers[:] = [BUSY, BUSY]
    with pytest.raises(BusyError) as busy:
        Throughline(fake.url, retries=1).sessions.create("a")
    assert busy.value.code == "busy" and len(fake.asked) == 2


def test_a_broken_connection_is_retried_only_where_nothing_can_happen_twice(fake):
    fake.answers[:] = [None, RECORDED]
    assert Throughline(fake.url).sessions.record("a", "Hello")["turn"] == 1
    assert len(fake.asked) == 2
    fake.answers[:] = [None, RECORDED]
    with pytest.raises(ConnectionFailed):
        Throughline(fake.url).sessions.create("a")
    assert len(fake.asked) == 3


def test_the_key_goes_with_each_request_and_a_plain_error_is_still_one(fake):
    fake.answers[:] = [(502, {"content-type": "text/plain"}, b"bad gateway")]
    with pytest.raises(ApiError) as error:
        Throughline(fake.url, api_key="tl_secret").sessions.get("a b/c")
    path, headers, _ = fake.asked[-1]
    assert headers["authorization"] == "Bearer tl_secret" and path == "/api/v1/conversations/a%20b%2Fc"
    assert (error.value.status, error.value.detail) == (502, "bad gateway")
    with pytest.raises(ConnectionFailed):
        Throughline("http://127.0.0.1:9", retries=0).health()
