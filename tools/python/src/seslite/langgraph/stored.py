"""What is stored of a thread: the ids of events, checkpoints with the writes to them, and what a saver
remembers."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

INLINE_MAX = 512  # bytes of a value that a checkpoint's own event has
ID_MAX = 500  # bytes; a store takes 512
KNOWN_MAX = 1000  # checkpoints of which a saver remembers what the next call needs
VALUES_MAX = 4 << 20  # bytes of values that a saver remembers

Events = list[dict[str, Any]]
Dumped = list[str]  # a kind, and bytes in base 64
PendingWrites = list[tuple[str, str, Any]]


def id_of(*parts: str) -> str:
    """An event's id, or a state key. Namespaces of deeply nested graphs are long."""
    made = "|".join(parts)
    encoded = made.encode("utf-8", "surrogatepass")
    return made if len(encoded) <= ID_MAX else f"{parts[0]}|sha256:{hashlib.sha256(encoded).hexdigest()}"


def latest_key(namespace: str) -> str:
    return id_of("latest", namespace)


class Place(NamedTuple):
    """A checkpoint's name within a thread."""

    namespace: str
    id: str


class Found(NamedTuple):
    """A checkpoint, and the events of writes to it, oldest first."""

    place: Place
    put: dict[str, Any]
    writes: Events

    @property
    def event(self) -> dict[str, Any]:
        """The checkpoint as it was put last."""
        return next((each["checkpoint"] for each in reversed(self.writes) if "checkpoint" in each), self.put)


class Known:
    """What a saver remembers of checkpoints that it has read or written, to save reads. Nothing depends on it
    being true."""

    def __init__(self) -> None:
        self._of: OrderedDict[Any, dict[str, Any]] = OrderedDict()

    def of(self, *name: Any) -> dict[str, Any]:
        found = self._of.pop(name, None)
        if found is None:
            found = {}
        self._of[name] = found
        while len(self._of) > KNOWN_MAX:
            try:
                self._of.popitem(last=False)
            except KeyError:  # another thread did
                break
        return found


class Values:
    """The values that were read last, up to VALUES_MAX bytes, by the ids of their events: what an id stands
    for never changes."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, name: str) -> tuple[str, bytes] | None:
        with self._lock:
            found = self._of.get(name)
            if found is not None:
                self._of.move_to_end(name)
            return found

    def add(self, name: str, value: tuple[str, bytes]) -> None:
        if len(value[1]) > VALUES_MAX // 4:
            return
        with self._lock:
            if name not in self._of:
                self._of[name] = value
                self._bytes += len(value[1])
            while self._bytes > VALUES_MAX:
                self._bytes -= len(self._of.popitem(last=False)[1][1])


def config_of(thread: Any, place: Place) -> RunnableConfig:
    return {
        "configurable": {"thread_id": thread, "checkpoint_ns": place.namespace, "checkpoint_id": place.id}
    }
