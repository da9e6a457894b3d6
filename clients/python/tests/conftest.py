"""A real server for the tests: `THROUGHLINE_BINARY` on a free port, with its store in a temporary folder."""

from __future__ import annotations

import os
import pathlib
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator

import httpx
import pytest

from throughline import AsyncThroughline, Throughline


class Server:
    """A server process that a test may end and start again."""

    def __init__(self, folder: pathlib.Path, *flags: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder, self.flags = folder, flags
        self.start()

    def start(self) -> None:
        binary = os.environ["THROUGHLINE_BINARY"]
        store = f"sqlite:{self.folder / 'throughline.db'}"
        log = (self.folder / "log").open("ab")
        command = [binary, "serve", "--bind", f"127.0.0.1:{self.port}", "--store", store, *self.flags]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)
        for _ in range(600):
            try:
                if httpx.get(f"{self.url}/health/ready").is_success:
                    return
            except httpx.TransportError:
                pass
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"the server does not start: {(self.folder / 'log').read_text()}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("server"))
    os.environ["THROUGHLINE_URL"] = server.url
    yield server
    server.stop()


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[Throughline]:
    with Throughline(server.url) as client:
        yield client


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with the demo inventory."""
    server = Server(tmp_path_factory.mktemp("demo"), "--demo")
    yield server.url
    server.stop()


@pytest.fixture
def connect(server: Server) -> Callable[[], AsyncThroughline]:
    """Makes asynchronous clients; one is for one event loop."""
    return lambda: AsyncThroughline(server.url)


@pytest.fixture
def name() -> str:
    """An id that no other test uses."""
    return f"test-{uuid.uuid4()}"


def run_until(client, steps, requests: int) -> bool:
    """Sends so many requests and no more; answers whether the operation was complete."""
    try:
        request = next(steps)
        for _ in range(requests):
            try:
                answer = client.connection._send(request)
            except Exception as error:
                request = steps.throw(error)
            else:
                request = steps.send(answer)
    except StopIteration:
        return True
    return False
