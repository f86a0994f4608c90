"""What is remembered, between the ADK's objects and the store's events."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Optional

from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.platform import uuid as platform_uuid
from google.genai import types

from .. import Hit, errors
from .._ffi import loads

logger = logging.getLogger(__name__)


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


def entry_of(hit: Hit) -> Optional[MemoryEntry]:
    """What is given of a hit, or None if the ADK cannot read it."""
    text = hit.json or b"{}"
    content = content_of(text)
    if content is None:
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
