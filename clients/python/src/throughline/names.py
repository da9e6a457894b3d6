"""Session ids for names that other libraries allow, and the swap of one session's content for another's."""

from __future__ import annotations

import hashlib
import re

from . import operations as op, types
from .errors import ConflictError, NotFoundError
from .transport import Steps

_VALID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,111}")


def session_id(name: str, prefix: str = "") -> str:
    """The name itself where it can be an id; otherwise a readable id that no other name has."""
    if _VALID.fullmatch(prefix + name) and not name.endswith(_SPARE):
        return prefix + name
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:48].strip("-")
    digest = hashlib.sha256(name.encode()).hexdigest()[:32]
    return f"{prefix}{readable}-{digest}" if readable else f"{prefix}{digest}"


# A session's content is replaced in steps that each leave one whole copy: the new content is made as the spare and marked ready,
# the old is erased, the spare is forked into its place. Whoever finds the session missing and a spare that is ready goes on from
# there. The mark is the spare's own time of creation, so that a copy of the settings elsewhere is no mark.
_SPARE = ".next"
_READY = "throughline.ready"


def spare_of(session: str) -> str:
    """The id under which the next content of a session is made."""
    return session + _SPARE


def ready(head: types.Conversation, settings: types.Settings) -> types.Settings:
    """The settings of a spare whose content is complete."""
    return {**settings, "preferences": {**settings.get("preferences", {}), _READY: head["created_at"]}}


def find(session: str) -> Steps[types.Conversation | None]:
    """The session, or `None`. Finishes a swap that was interrupted."""
    try:
        return (yield from op.get_session(session))
    except NotFoundError:
        pass
    try:
        spare = yield from op.get_session(spare_of(session))
    except NotFoundError:
        return None
    if spare["settings"].get("preferences", {}).get(_READY) != spare["created_at"]:
        return None
    return (yield from _move(session))


def swap(session: str) -> Steps[types.Conversation]:
    """Puts the spare, which is ready, in the session's place. What was only in the session is erased."""
    yield from erase(session)
    return (yield from _move(session))


def _move(session: str) -> Steps[types.Conversation]:
    try:
        head = yield from op.fork_session(spare_of(session), id=session)
    except (ConflictError, NotFoundError):
        head = yield from op.get_session(session)  # Another process has done it.
    yield from erase(spare_of(session))
    return head


def erase(session: str) -> Steps[bool]:
    """Erases a session if there is one."""
    try:
        yield from op.erase_session(session)
        return True
    except NotFoundError:
        return False
