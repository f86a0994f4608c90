"""What two services have of one session: which events are on both sides, and what differs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions.state import State

from ... import REMOVED
from ..._ffi import loads
from .. import events as adk_events

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

# Members whose own members are the user's. They are compared whole.
OPEN = {
    "agentState",
    "args",
    "artifactDelta",
    "customMetadata",
    "metadata",
    "partMetadata",
    "response",
    "stateDelta",
}


def is_kept(name: str) -> bool:
    """Whether a state key is stored. A service may hand out temp: keys that another program has sent it."""
    return not name.startswith(State.TEMP_PREFIX)


def is_shared(name: str) -> bool:
    """Whether a state key belongs to the app or the user."""
    return name.startswith((State.APP_PREFIX, State.USER_PREFIX))


def delta_of(event: Event) -> dict[str, Any]:
    """The state changes of an event."""
    delta = event.actions.state_delta if event.actions else None
    return {name: value for name, value in (delta or {}).items() if is_kept(name)}


def initial_state(state: dict[str, Any], events: Iterable[Event], *, shared: bool) -> dict[str, Any]:
    """What a session was created with: its state, less what its events have written. The services do not tell
    it. With `shared`, app: and user: keys are part of it."""
    written = {name for event in events for name in delta_of(event)}
    return {
        name: value
        for name, value in state.items()
        if name not in written and is_kept(name) and (shared or not is_shared(name))
    }


# ------------------------------------------------------------------------------------------------ events


def stored_events(events: Iterable[Event]) -> tuple[list[Event], int, int]:
    """The events that a service stores; how many are partial, as Vertex keeps them; and how many have an id
    that one before them has."""
    kept: list[Event] = []
    seen: set[str] = set()
    partial = doubled = 0
    for event in events:
        if event.partial:
            partial += 1
        elif event.id in seen:
            doubled += 1
        else:
            seen.add(event.id)
            kept.append(event)
    return kept, partial, doubled


def time_us(seconds: float) -> int:
    """A time in microseconds, rounded as the services do."""
    try:
        return (datetime.fromtimestamp(seconds, timezone.utc) - EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError, OSError):  # Python has no such year
        return round(seconds * 1e6)


def _signature(event: Event) -> Hashable:
    """What of an event survives in every service, other than its id."""
    said = []
    for part in (event.content.parts if event.content else None) or ():
        called = part.function_call or part.function_response
        said.append(part.text or (called.name if called else None))
    delta = tuple(sorted((name, _plain(value)) for name, value in delta_of(event).items()))
    return event.author, event.invocation_id, time_us(event.timestamp), tuple(said), delta


def _plain(value: Any) -> str:
    """A value of state, whatever a service makes of it: Vertex has no integers, and a key that is removed may
    become null."""
    if value == REMOVED:
        value = None
    text = adk_events.state_text({"value": value}, "the state delta")
    return json.dumps(json.loads(text, parse_int=float), sort_keys=True)


class Match:
    """Which events of one service are those of another: by id, and the rest by what they say, since Vertex
    gives events ids of its own if google-adk or its SDK is too old to keep theirs. Nothing needs to be
    remembered of what was copied."""

    def __init__(self, source: Sequence[Event], target: Sequence[Event]) -> None:
        self.pairs: list[tuple[int, int]] = []
        self._pair(source, target, range(len(source)), range(len(target)), lambda event: event.id)
        self._pair(source, target, *self._alone(source, target), _signature)
        self.pairs.sort()
        self.missing, self.extra = self._alone(source, target)

    def _pair(self, source: Any, target: Any, left: Iterable[int], right: Iterable[int], name: Any) -> None:
        """Those of one name are paired in their order."""
        places: dict[Hashable, list[int]] = defaultdict(list)
        for at in reversed(list(right)):
            places[name(target[at])].append(at)
        for at in left:
            found = places.get(name(source[at]))
            if found:
                self.pairs.append((at, found.pop()))

    def _alone(self, source: Sequence[Event], target: Sequence[Event]) -> tuple[list[int], list[int]]:
        left, right = {pair[0] for pair in self.pairs}, {pair[1] for pair in self.pairs}
        return (
            [at for at in range(len(source)) if at not in left],
            [at for at in range(len(target)) if at not in right],
        )

    @property
    def added(self) -> bool:
        """Whether the target has events of its own, other than some from before the first event that both
        have: these the source had, too, before it was pruned."""
        first = min((pair[1] for pair in self.pairs), default=-1)
        return any(at > first for at in self.extra)

    @property
    def in_order(self) -> bool:
        places = [pair[1] for pair in self.pairs]
        return places == sorted(places)


# ------------------------------------------------------------------------------------------- differences


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal. 1 and 1.0 are, since Vertex has no integers; 1 and true are not."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[name]) for name, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def fields_of(event: Event) -> dict[str, Any]:
    """An event as JSON that can be compared."""
    text, _ = adk_events.event_text(event)
    fields: dict[str, Any] = loads(text)
    fields["timestamp"] = time_us(event.timestamp)
    delta = delta_of(event)
    if delta:
        fields.setdefault("actions", {})["stateDelta"] = loads(
            adk_events.state_text(delta, "the state delta")
        )
    if event.long_running_tool_ids:  # a set
        fields["longRunningToolIds"] = sorted(event.long_running_tool_ids)
    return fields


def differences(left: Any, right: Any, path: str = "") -> Iterator[str]:
    """The names of what differs: content.parts.partMetadata."""
    if isinstance(left, dict) and isinstance(right, dict) and path.rpartition(".")[2] not in OPEN:
        for name in {**left, **right}:
            yield from differences(left.get(name), right.get(name), f"{path}.{name}" if path else name)
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for one, other in zip(left, right):
            yield from differences(one, other, path)
    elif not same(left, right) and not (_is_empty(left) and _is_empty(right)):
        yield path


def _is_empty(value: Any) -> bool:
    return value is None or value == {} or value == []
