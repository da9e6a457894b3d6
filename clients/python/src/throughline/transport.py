"""How requests are sent: one description of an operation, run with a blocking or an asynchronous connection.

An operation is a generator that yields requests and is given their answers. It knows no socket, so each exists once. An
error answer is raised inside the operation, which may catch it. Retries happen here, and only where a request cannot take effect twice.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx

from . import errors

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_URL = "http://127.0.0.1:7400"
RETRY_SECONDS_MAX = 30.0


@dataclass(frozen=True)
class Request:
    """One request to the server."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def can_repeat(self) -> bool:
        """Whether sending it twice is the same as sending it once."""
        return self.method == "GET" or "idempotency-key" in self.headers


Steps = Generator[Request, Any, T]


def _arguments(request: Request) -> dict[str, Any]:
    query = {name: _word(value) for name, value in request.query.items() if value is not None}
    arguments: dict[str, Any] = {"params": query, "headers": dict(request.headers)}
    if request.body is not None:
        arguments["content"] = json.dumps(request.body, ensure_ascii=False, separators=(",", ":")).encode()
        arguments["headers"]["content-type"] = "application/json"
    return arguments


def _word(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _answer(response: httpx.Response) -> Any:
    kind = response.headers.get("content-type", "")
    value: Any = response.text
    if "json" in kind:
        try:
            value = response.json()
        except ValueError:
            pass
    if response.is_error:
        raise errors.from_response(response.status_code, value, response.headers.get("x-request-id"))
    return value


def _settings(base_url: str | None, api_key: str | None, timeout: float) -> dict[str, Any]:
    url = base_url or os.environ.get("THROUGHLINE_URL") or DEFAULT_URL
    key = api_key or os.environ.get("THROUGHLINE_API_KEY")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return {
        "base_url": url.rstrip("/") + "/api/v1/",
        "headers": headers,
        "timeout": httpx.Timeout(timeout, connect=10.0),
    }


def _pause(attempt: int, response: httpx.Response | None) -> float:
    """Seconds until the next attempt: what the server asked for, otherwise growing with some chance."""
    if response is not None:
        try:
            return min(float(response.headers["retry-after"]), RETRY_SECONDS_MAX)
        except (KeyError, ValueError):
            pass
    return min(0.25 * 2.0**attempt, RETRY_SECONDS_MAX) * random.uniform(0.5, 1.0)


def _is_busy(response: httpx.Response) -> bool:
    # Answered before anything was done, so that every request may be sent again.
    return response.status_code in (429, 503)


def _may_retry(request: Request, error: httpx.TransportError) -> bool:
    # Without a connection nothing was sent.
    return isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)) or request.can_repeat()


class Connection:
    """A blocking connection."""

    def __init__(self, base_url: str | None = None, api_key: str | None = None, *, retries: int = 3, timeout: float = 330.0) -> None:
        self.retries = retries
        self._http = httpx.Client(**_settings(base_url, api_key, timeout))

    def run(self, steps: Steps[T]) -> T:
        """Carries out an operation."""
        try:
            request = next(steps)
            while True:
                try:
                    answer = self._send(request)
                except errors.ThroughlineError as error:
                    request = steps.throw(error)
                else:
                    request = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    def _send(self, request: Request) -> Any:
        arguments = _arguments(request)
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            response = None
            try:
                response = self._http.request(request.method, request.path, **arguments)
            except httpx.TransportError as error:
                if last or not _may_retry(request, error):
                    raise errors.ConnectionFailed(f"{request.method} {request.path}: {error!r}") from error
            else:
                if last or not _is_busy(response):
                    return _answer(response)
            time.sleep(_pause(attempt, response))
        raise AssertionError("the last attempt returns or raises")

    def lines(self, request: Request) -> Iterator[str]:
        """The lines of an answer while it arrives. Leaving the loop closes the connection."""
        for attempt in range(self.retries + 1):
            with self._http.stream(request.method, request.path, **_arguments(request)) as response:
                if not _is_busy(response) or attempt == self.retries:
                    if response.is_error:
                        response.read()
                        _answer(response)
                    yield from response.iter_lines()
                    return
                pause = _pause(attempt, response)
            time.sleep(pause)

    def close(self) -> None:
        """Closes the connections that are kept open."""
        self._http.close()


class AsyncConnection:
    """The same for asyncio."""

    def __init__(self, base_url: str | None = None, api_key: str | None = None, *, retries: int = 3, timeout: float = 330.0) -> None:
        self.retries = retries
        self._http = httpx.AsyncClient(**_settings(base_url, api_key, timeout))

    async def run(self, steps: Steps[T]) -> T:
        """Carries out an operation."""
        try:
            request = next(steps)
            while True:
                try:
                    answer = await self._send(request)
                except errors.ThroughlineError as error:
                    request = steps.throw(error)
                else:
                    request = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _send(self, request: Request) -> Any:
        arguments = _arguments(request)
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            response = None
            try:
                response = await self._http.request(request.method, request.path, **arguments)
            except httpx.TransportError as error:
                if last or not _may_retry(request, error):
                    raise errors.ConnectionFailed(f"{request.method} {request.path}: {error!r}") from error
            else:
                if last or not _is_busy(response):
                    return _answer(response)
            await asyncio.sleep(_pause(attempt, response))
        raise AssertionError("the last attempt returns or raises")

    async def lines(self, request: Request) -> AsyncIterator[str]:
        """The lines of an answer while it arrives. Leaving the loop closes the connection."""
        for attempt in range(self.retries + 1):
            async with self._http.stream(request.method, request.path, **_arguments(request)) as response:
                if not _is_busy(response) or attempt == self.retries:
                    if response.is_error:
                        await response.aread()
                        _answer(response)
                    async for line in response.aiter_lines():
                        yield line
                    return
                pause = _pause(attempt, response)
            await asyncio.sleep(pause)

    async def close(self) -> None:
        """Closes the connections that are kept open."""
        await self._http.aclose()


class HasConnection:
    """A part of the blocking client."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection


class HasAsyncConnection:
    """A part of the asynchronous client."""

    def __init__(self, connection: AsyncConnection) -> None:
        self.connection = connection


def blocking(operation: Callable[P, Steps[T]]) -> Callable[Concatenate[HasConnection, P], T]:
    """The operation as a method of the blocking client."""

    @wraps(operation)
    def method(self: HasConnection, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.connection.run(operation(*args, **kwargs))

    return method


def asynchronous(operation: Callable[P, Steps[T]]) -> Callable[Concatenate[HasAsyncConnection, P], Coroutine[Any, Any, T]]:
    """The operation as a method of the asynchronous client."""

    @wraps(operation)
    async def method(self: HasAsyncConnection, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connection.run(operation(*args, **kwargs))

    return method
