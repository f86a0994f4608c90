"""What is remembered, between the ADK's objects and the store's events."""

from __future__ import annotations

import hashlib
import logging
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Optional

from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.platform import uuid as platform_uuid
from google.genai import types

from .. import Hit, Key, errors
from .._ffi import lib, loads
from ..values import INT64_MAX

logger = logging.getLogger(__name__)

LABEL = "memory"
"""The label of a session that is remembered. Its value is the number of the last event that is, or ALL."""
ALL = "all"
PROJECT = "memory-project"
"""The label of sessions of adk-memory, which can divide what it remembers of a user by projects."""
SOURCE = "memory-session"
"""The label of those that has the id of the session that they come from."""
PREFIX = "memory:"
NOTES = "notes"
HASHED = "sha256:"
MAX_WORDS = 100  # that a search takes
MAX_WORD_LENGTH = 128  # so that they are less than the 64 KiB that it takes
ACCENTS = re.compile("[\u0300-\u036f]+")


# ---------------------------------------------------------------------------------------------- sessions


def kept_in(session: Optional[str]) -> str:
    """The id of the session that keeps copies of another one's events, or entries that come from none."""
    if session is None:
        return PREFIX + NOTES
    encoded = session.encode()
    if session == NOTES or session.startswith(HASHED) or len(PREFIX) + len(encoded) > lib.SES_ID_MAX:
        return PREFIX + HASHED + hashlib.sha256(encoded).hexdigest()
    return PREFIX + session


def is_kept(key: Key, label: Optional[str]) -> bool:
    """Whether a session is for memory alone."""
    return label == ALL and key.session is not None and key.session.startswith(PREFIX)


def number_of(label: str) -> int:
    """The number of the last event that is remembered."""
    if label == ALL:
        return INT64_MAX
    return int(label) if re.fullmatch("[0-9]{1,18}", label) else 0


# ---------------------------------------------------------------------------------------- events, entries


def is_said(content: Optional[types.Content]) -> bool:
    """Whether it has text that somebody said. Calls and their responses are not remembered: one of them is
    that of load_memory, which would have all that it found before in each later result."""
    return any(part.text and not part.thought for part in (content.parts if content else None) or ())


def content_of(text: bytes) -> Optional[types.Content]:
    """The content of a stored event, if the ADK can read it."""
    try:
        content = loads(text).get("content")
        return None if content is None else types.Content.model_validate(content)
    except ValueError as error:
        logger.warning("an event cannot be remembered: %s", error)
        return None


def text_of(event: Event, metadata: Optional[Mapping[str, object]]) -> bytes:
    """What is copied of an event."""
    merged = {**(metadata or {}), **(event.custom_metadata or {})}
    kept = {"id", "author", "timestamp", "content", "custom_metadata"}
    try:
        copy = event.model_copy(update={"custom_metadata": merged or None})
        return copy.model_dump_json(exclude_none=True, by_alias=True, include=kept).encode()
    except ValueError as error:
        raise errors.InvalidError(f"the event {event.id!r} cannot be written as JSON: {error}") from error


def event_of(entry: MemoryEntry, now: float) -> Event:
    """The event as which an entry is kept."""
    return Event(
        id=entry.id or platform_uuid.new_uuid(),
        author=entry.author or "",
        timestamp=_seconds_of(entry.timestamp) if entry.timestamp else now,
        content=entry.content,
        custom_metadata=entry.custom_metadata,
    )


def _seconds_of(time: str) -> float:
    """As the ADK writes them, times without a zone are local."""
    try:
        seconds = datetime.fromisoformat(time.strip().upper().replace("Z", "+00:00")).timestamp()
        if seconds < 1e11:  # from there on, events have milliseconds
            return seconds
    except (ValueError, OverflowError, OSError):
        pass
    raise errors.InvalidError(
        f"the timestamp of a memory is a time of ISO 8601 before the year 5000, not {time!r}"
    )


def entry_of(hit: Hit, text: bytes) -> Optional[MemoryEntry]:
    """What is given of a hit, or None if it is nothing that somebody said."""
    content = content_of(text)
    if content is None or not is_said(content):
        return None
    fields = loads(text)
    metadata = fields.get("customMetadata") or fields.get("custom_metadata")
    return MemoryEntry(
        id=hit.id,
        author=hit.author or None,
        timestamp=_time_of(hit.time_us),
        content=content,
        custom_metadata=metadata if isinstance(metadata, dict) else {},
    )


def _time_of(time_us: int) -> Optional[str]:
    """A time as the ADK writes it, local and without its zone."""
    try:
        return datetime.fromtimestamp(time_us / 1e6).isoformat()
    except (ValueError, OverflowError, OSError):
        return None  # Python has no such year


# ------------------------------------------------------------------------------------------------- words


def words_of(query: str) -> list[str]:
    """The words to search for, of a query that a model has made, or that is a whole message."""
    words = dict.fromkeys(query.encode(errors="replace").decode().split())
    return [each for each in words if len(each) <= MAX_WORD_LENGTH][:MAX_WORDS]


def counter_of(words: Iterable[str]) -> Callable[[str], int]:
    """A function that says how many of the words a text has. The search has found it: this only says how well
    it fits."""
    wanted = [parts for each in words if (parts := re.findall(r"\w+", _folded(each)))]

    def count(text: str) -> int:
        folded = _folded(text)
        found = set(re.findall(r"\w+", folded))
        return sum(
            all(part in found or (not part.isascii() and part in folded) for part in parts)
            for parts in wanted
        )

    return count


def _folded(text: str) -> str:
    """Without case, accents and width."""
    if not text.isascii():
        text = ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return text.casefold()
