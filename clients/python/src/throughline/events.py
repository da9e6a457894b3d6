"""The events of a chat while it is answered (`text/event-stream`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, cast

from .errors import from_response

EventName = Literal["context", "tool_call", "tool_result", "approval", "delta", "usage", "done"]


@dataclass(frozen=True)
class ChatEvent:
    """`delta` has `text`; `done` has what `chat` answers. The server's `error` event is raised as an `ApiError`."""

    name: EventName
    data: dict[str, Any]

    @property
    def text(self) -> str:
        """The next words of the reply, or nothing."""
        return str(self.data.get("text", "")) if self.name == "delta" else ""


class EventParser:
    """Puts events together from lines."""

    def __init__(self) -> None:
        self._name = ""
        self._data: list[str] = []

    def line(self, line: str) -> ChatEvent | None:
        """Takes a line; answers the event that it completes."""
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                self._name = value
            elif name == "data":
                self._data.append(value)
            return None
        if not self._data:
            self._name = ""
            return None
        name, data = self._name, json.loads("\n".join(self._data))
        self._name, self._data = "", []
        if name == "error":
            raise from_response(int(data.get("status", 500)), data)
        return ChatEvent(cast(EventName, name), data)
