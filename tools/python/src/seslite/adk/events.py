"""Events and state between the ADK's objects and the store's JSON."""

from __future__ import annotations

import json
import logging
from datetime import datetime, timezone
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions.session import Session
from google.adk.sessions.state import State
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from .. import REMOVED, errors
from .._ffi import loads
from ..session import Summary

logger = logging.getLogger(__name__)


def state_text(state: dict[str, Any], what: str) -> bytes:
    """State as JSON. As in the ADK's services, what JSON does not know is stored as its repr; NaN and
    infinity are refused, since no reader of strict JSON could take them."""
    try:
        try:
            text = to_json(state, inf_nan_mode="constants")
        except PydanticSerializationError as error:
            if "Unable to serialize unknown type" not in str(error):
                raise
            logger.warning("%s holds values that JSON does not know; their repr is stored: %s", what, error)
            text = to_json(state, inf_nan_mode="constants", serialize_unknown=True)
        if b"NaN" in text or b"Infinity" in text:
            json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise errors.InvalidError(f"{what} cannot be written as JSON: {error}") from error
    return text


def _refuse(constant: str) -> None:
    raise ValueError(f"it holds {constant}")


def event_text(event: Event) -> tuple[bytes, bytes | None]:
    """An event as JSON, and its state delta apart, which is written as state is."""
    try:
        text = event.model_dump_json(
            exclude_none=True, by_alias=True, exclude={"actions": {"state_delta"}}
        ).encode()
    except ValueError as error:
        raise errors.InvalidError(f"the event {event.id} cannot be written as JSON: {error}") from error
    delta = event.actions.state_delta if event.actions else None
    return text, state_text(delta, "the state delta") if delta else None


def event_of(text: bytes) -> Event:
    """The ADK's event of a stored one, whichever ADK wrote it."""
    try:
        event = Event.model_validate_json(text)
    except ValidationError:
        fields = json.loads(text)
        if not isinstance(fields.get("timestamp"), str):
            raise
        fields["timestamp"] = _seconds_of(fields["timestamp"])
        return Event.model_validate(fields)
    if event.timestamp >= 1e11:  # milliseconds, as the ADKs for Java and JavaScript write them
        event.timestamp /= 1000
    return event


def _seconds_of(text: str) -> float:
    """The seconds of an RFC 3339 time."""
    time = datetime.fromisoformat(text.strip().upper().replace("Z", "+00:00"))
    return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()


def session_of(stored: Summary, events: list[Event]) -> Session:
    """The ADK's session. Its marker holds the version, which shows whether it is stale."""
    made = Session(
        app_name=stored.app,
        user_id=stored.user,
        id=stored.id,
        state=loads(stored.state),
        events=events,
        last_update_time=stored.updated_us / 1e6,
    )
    set_version(made, stored.version)
    return made


MARKER = "seslite:"


def set_version(session: Session, version: int) -> None:
    session._storage_update_marker = f"{MARKER}{version}"


def version_of(session: Session) -> int | None:
    """The version of the session when it was last read or written. None if it is not from this service."""
    marker = getattr(session, "_storage_update_marker", None) or ""
    return int(marker[len(MARKER) :]) if marker.startswith(MARKER) else None


def commit(session: Session, event: Event) -> None:
    """Puts a stored event into the ADK's session: temp: keys are shown there, but are not in the event any
    more; a removed key goes."""
    delta = event.actions.state_delta if event.actions else {}
    for name, value in delta.items():
        if isinstance(value, str) and value == REMOVED:
            session.state.pop(name, None)
        else:
            session.state[name] = value
    if any(name.startswith(State.TEMP_PREFIX) for name in delta):
        event.actions.state_delta = {
            name: value for name, value in delta.items() if not name.startswith(State.TEMP_PREFIX)
        }
    session.events.append(event)
