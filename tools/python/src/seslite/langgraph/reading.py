"""The part of the saver that reads."""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, get_checkpoint_id

from .. import _ffi
from .._peers import Opened
from ..errors import NotFoundError
from ..store import Store, StoreOptions
from ..values import Event, EventJson, Key, Range
from .stored import (
    KNOWN_MAX,
    Events,
    Found,
    Known,
    PendingWrites,
    Place,
    Values,
    config_of,
    id_of,
    latest_key,
)

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.serde.base import SerializerProtocol
    from typing_extensions import Unpack

NEWEST = Range(newest=8)
"""These events are read together with the state. As a rule they hold the latest checkpoint and the writes to
it."""


def _parsed(text: bytes | None) -> Any:
    return None if text is None else _ffi.loads(text)


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


class Reading(BaseCheckpointSaver[str]):
    """The base of SesliteSaver."""

    def __init__(
        self,
        store: str | os.PathLike[str] | Store = ":memory:",
        *,
        app: str = "langgraph",
        user: str = "user",
        serde: SerializerProtocol | None = None,
        **options: Unpack[StoreOptions],
    ) -> None:
        super().__init__(serde=serde)
        self._opened = Opened(store, options)
        self.store = self._opened.store
        self._app, self._user = app, user
        self._key_of = lru_cache(KNOWN_MAX)(partial(Key, app, user))
        self._known = Known()
        self._known_values = Values()

    def close(self) -> None:
        """Ends the saver's use of its store."""
        self._opened.close()

    def _key(self, thread: Any) -> Key:
        return self._key_of(str(thread))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the configuration names, or else the latest of its namespace."""
        named = config["configurable"]
        key, namespace = self._key(named["thread_id"]), named.get("checkpoint_ns", "")
        try:
            while True:
                with self.store.get(key, NEWEST) as session:
                    generation = _parsed(session.state_get("generation")) or ""
                    name = get_checkpoint_id(config) or _parsed(session.state_get(latest_key(namespace)))
                    if name is None:
                        return None
                    place = Place(namespace, name)
                    # As a rule all that was written to it comes after it, so that this is of one moment.
                    found = self._find(session.event_by_id, key, generation, place)
                    holds_all = session.stored <= NEWEST.newest
                if found is not None and (holds_all or not self._has_more(key, generation, found)):
                    made = self._tuple(key, named["thread_id"], found)
                    if len(made.checkpoint["channel_values"]) == len(found.event["values"]):
                        return made
                found = self._find(partial(self.store.event_get, key), key, generation, place)
                older = None if found is None else self._tuple(key, named["thread_id"], found)
                if self._generation(key) == generation:  # otherwise it was written again meanwhile
                    return older
        except NotFoundError:
            return None

    def _state(self, key: Key, name: str) -> Any:
        return _parsed(self.store.state_get(key, name))

    def _generation(self, key: Key) -> str:
        return self._state(key, "generation") or ""

    def _event(self, key: Key, name: str) -> Any:
        event = self.store.event_get(key, name)
        return None if event is None else event.load()

    def _find(
        self, look_up: Callable[[str], Event | EventJson | None], key: Key, generation: str, place: Place
    ) -> Found | None:
        """The checkpoint, from the events that `look_up` gives by their ids."""
        event = look_up(id_of("c", generation, *place))
        if event is None:
            return None
        writes: Events = []
        while (more := look_up(id_of("w", generation, *place, str(len(writes))))) is not None:
            writes.append(more.load()["langgraph"])
        self._known.of(key, generation, place)["writes"] = len(writes)
        return Found(place, event.load()["langgraph"], writes)

    def _has_more(self, key: Key, generation: str, found: Found) -> bool:
        """Whether there are writes that come before their checkpoint: LangGraph stores both in the
        background."""
        name = id_of("w", generation, *found.place, str(len(found.writes)))
        return self.store.event_get(key, name) is not None

    def _load(self, pair: Sequence[str]) -> Any:
        return self.serde.loads_typed((pair[0], b64decode(pair[1])))

    def _values(self, key: Key, event: dict[str, Any]) -> dict[str, Any]:
        values = {}
        for channel, (_, value) in event["values"].items():
            if not isinstance(value, str):
                values[channel] = self._load(value)
            elif (stored := self._value(key, value)) is not None:  # otherwise the checkpoint is being deleted
                values[channel] = self.serde.loads_typed(stored)
        return values

    def _value(self, key: Key, name: str) -> tuple[str, bytes] | None:
        """The value that is an event of its own."""
        stored = self._known_values.get(name)
        if stored is None and (event := self._event(key, name)) is not None:
            kind, data = event["langgraph"]["value"]
            stored = kind, b64decode(data)
            self._known_values.add(name, stored)
        return stored

    def _tuple(self, key: Key, thread: Any, found: Found) -> CheckpointTuple:
        event = found.event
        checkpoint = self._load(event["checkpoint"])
        checkpoint["channel_values"] = self._values(key, event)
        parent = event["parent"]
        place = found.place
        return CheckpointTuple(
            config_of(thread, place),
            checkpoint,
            self._load(event["metadata"]),
            config_of(thread, Place(place.namespace, parent)) if parent else None,
            self._pending(found.writes),
        )

    def _pending(self, events: Events) -> PendingWrites:
        """The first write of a task's number counts, or, of errors, interrupts and the like, the last."""
        pending: dict[tuple[str, int], tuple[Any, tuple[str, str, Any]]] = {}
        for event in events:
            for index, channel, value in event.get("writes", ()):
                name = (event["task"], index)
                if event["replaces"] or name not in pending:
                    pending[name] = ((event["path"], *name), (event["task"], channel, value))
        return [
            (task, channel, self._load(value))
            for _, (task, channel, value) in sorted(pending.values(), key=_first)
        ]

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """The checkpoints of a thread, or without a configuration of all threads, the newest first."""
        named = config["configurable"] if config else {}
        namespace, wanted = named.get("checkpoint_ns"), get_checkpoint_id(config) if config else None
        end = get_checkpoint_id(before) if before else None
        left = -1 if limit is None else limit
        if left == 0:
            return
        for thread, key, found in self._newest_first(named["thread_id"] if config else None):
            place = found.place
            if (namespace is not None and place.namespace != namespace) or (wanted and place.id != wanted):
                continue
            if end and place.id >= end:
                continue
            if filter:
                metadata = self._load(found.event["metadata"])
                if any(metadata.get(name) != value for name, value in filter.items()):
                    continue
            yield self._tuple(key, thread, found)
            left -= 1
            if left == 0:
                return

    def _newest_first(self, thread: Any) -> Iterator[tuple[Any, Key, Found]]:
        """The checkpoints of a thread, or of all, by their ids."""
        if thread is None:
            threads = [session.id for session in self.store.sessions(self._app, self._user, state=False)]
        else:
            threads = [thread]
        found = ((each, self._key(each), one) for each in threads for one in self._backward(self._key(each)))
        if len(threads) > 1 or self._is_unordered(threads):
            return iter(sorted(found, key=lambda each: each[2].place.id, reverse=True))
        return found

    def _is_unordered(self, threads: Sequence[Any]) -> bool:
        try:
            return bool(threads and self._state(self._key(threads[0]), "unordered"))
        except NotFoundError:
            return False

    def _backward(self, key: Key) -> Iterator[Found]:
        """The checkpoints of a thread, those that were put last first. Most writes come after their
        checkpoint, so they are met before."""
        try:
            generation = self._generation(key)
            writes: dict[Place, Events] = {}
            with self.store.events(key, backward=True) as cursor:
                for event in cursor:
                    kind, _, rest = event.id.partition("|")
                    if kind == "b" or not rest.startswith((f"{generation}|", "sha256:")):
                        continue
                    loaded = event.load()["langgraph"]
                    if loaded["generation"] != generation:
                        continue
                    place = Place(*loaded["place"])
                    if kind == "w":
                        writes.setdefault(place, []).append(loaded)
                    else:
                        found = Found(place, loaded, writes.pop(place, [])[::-1])
                        more = self._has_more(key, generation, found)
                        yield (
                            self._find(partial(self.store.event_get, key), key, generation, place) or found
                            if more
                            else found
                        )
        except NotFoundError:
            return
