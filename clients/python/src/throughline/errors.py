"""What can go wrong, with the server's own words."""

from __future__ import annotations

from typing import Any, Mapping


class ThroughlineError(Exception):
    """The base of every error of this package."""


class ConnectionFailed(ThroughlineError):
    """The server could not be reached, or the connection broke."""


class ApiError(ThroughlineError):
    """The server's answer was an error (`application/problem+json`).

    `code` is stable and meant for programs; `detail` says what failed, `hint` what to try.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], request_id: str | None = None) -> None:
        self.status = status
        self.type: str = str(problem.get("type", "about:blank"))
        self.title: str = str(problem.get("title", ""))
        self.detail: str = str(problem.get("detail", ""))
        self.code: str = str(problem.get("code", "unknown"))
        self.hint: str = str(problem.get("hint", ""))
        self.current_version: int | None = problem.get("current_version")
        self.request_id = request_id
        text = f"{self.detail or self.title} ({status} {self.code})"
        super().__init__(f"{text}\nhint: {self.hint}" if self.hint else text)


class NotFoundError(ApiError):
    """There is no such thing, or it belongs to somebody else (404)."""


class ConflictError(ApiError):
    """It exists already, or has changed since it was read (409). `current_version` says where it is."""


class BusyError(ApiError):
    """The server takes no more at the moment, also after the retries (429 or 503)."""


def from_response(status: int, problem: Any, request_id: str | None = None) -> ApiError:
    """The error for an answer; a body that is no problem document is its detail."""
    fields = problem if isinstance(problem, dict) else {"detail": str(problem)}
    kind = {404: NotFoundError, 409: ConflictError, 429: BusyError, 503: BusyError}.get(status, ApiError)
    return kind(status, fields, request_id)
