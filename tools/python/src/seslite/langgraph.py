"""The checkpointer of LangGraph in a store:

    from seslite.langgraph import SesliteSaver

    with SesliteSaver("agents.db") as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke(inputs, {"configurable": {"thread_id": "thread 1"}})

It needs the package langgraph-checkpoint: pip install seslite[langgraph].

A thread is a session. A checkpoint is an event that names the values of its channels: short ones are in it, others are events of
their own, which later checkpoints with the same value share. Each put_writes is one event. All are found by their ids, however
long the thread is:

    c|GENERATION|NAMESPACE|CHECKPOINT           a checkpoint
    w|GENERATION|NAMESPACE|CHECKPOINT|NUMBER    writes to it, numbered from 0 without a gap
    b|GENERATION|DIGEST                         a value

The state has the `generation`, which changes when checkpoints are deleted: those that stay are written again. It also has the
`newest` id of all, the `latest` of each namespace, and `unordered` if an older id came after a newer one.
"""

from __future__ import annotations

import hashlib
import os
import random
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from . import _ffi
from ._peers import Opened, in_thread, to_its_end
from .errors import ExistsError, NotFoundError, StaleError
from .store import Store, StoreOptions
from .values import NO_EVENTS, Key

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
    from langgraph.checkpoint.serde.base import SerializerProtocol
    from typing_extensions import Self, Unpack

INLINE_MAX = 512  # bytes of a value that a checkpoint's own event has
ID_MAX = 500  # bytes; a store takes 512
KNOWN_MAX = 1000  # checkpoints of which a saver remembers what the next call needs


Events = list[dict[str, Any]]
Dumped = list[str]  # a kind, and bytes in base 64
PendingWrites = list[tuple[str, str, Any]]


def _id(*parts: str) -> str:
    """An event's id, or a state key. Namespaces of deeply nested graphs are long."""
    made = "|".join(parts)
    encoded = made.encode("utf-8", "surrogatepass")
    return made if len(encoded) <= ID_MAX else f"{parts[0]}|sha256:{hashlib.sha256(encoded).hexdigest()}"


def _latest_key(namespace: str) -> str:
    return _id("latest", namespace)


class _Place(NamedTuple):
    """A checkpoint's name within a thread."""

    namespace: str
    id: str


class _Found(NamedTuple):
    """A checkpoint, and the events of writes to it, oldest first."""

    place: _Place
    put: dict[str, Any]
    writes: Events

    @property
    def event(self) -> dict[str, Any]:
        """The checkpoint as it was put last."""
        return next((each["checkpoint"] for each in reversed(self.writes) if "checkpoint" in each), self.put)


class _Known:
    """What a saver remembers of checkpoints that it has read or written, to save reads. Nothing depends on it being true."""

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


FoundList = list[_Found]


class SesliteSaver(BaseCheckpointSaver[str]):
    """Keeps the checkpoints of graphs in a store, for graphs that run with threads or with asyncio.

    `store` is a file, the address of a database, or a Store that is open, which stays open when the saver is closed. Any threads,
    tasks and processes may use the same threads of a graph. A thread is the session `thread_id` of an `app` and a `user`.
    """

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
        self._known = _Known()

    def close(self) -> None:
        """Ends the saver's use of its store."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await in_thread(self.close)

    def get_next_version(self, current: str | int | float | None, channel: None) -> str:
        """A version that sorts after `current`, and that no other branch of the thread has."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.random():016}"

    # ------------------------------------------------------------------------------------------- reading

    def _key(self, thread: Any) -> Key:
        return Key(self._app, self._user, str(thread))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the configuration names, or else the latest of its namespace."""
        named = config["configurable"]
        key, namespace = self._key(named["thread_id"]), named.get("checkpoint_ns", "")
        try:
            while True:
                generation = self._generation(key)
                name = get_checkpoint_id(config) or self._state(key, _latest_key(namespace))
                found = None if name is None else self._find(key, generation, _Place(namespace, name))
                made = None if found is None else self._tuple(key, named["thread_id"], found)
                if self._generation(key) == generation:  # otherwise it was written again meanwhile
                    return made
        except NotFoundError:
            return None

    def _state(self, key: Key, name: str) -> Any:
        text = self.store.state_get(key, name)
        return None if text is None else _ffi.loads(text)

    def _generation(self, key: Key) -> str:
        return self._state(key, "generation") or ""

    def _event(self, key: Key, name: str) -> Any:
        event = self.store.event_get(key, name)
        return None if event is None else event.load()

    def _find(self, key: Key, generation: str, place: _Place) -> _Found | None:
        event = self._event(key, _id("c", generation, *place))
        if event is None:
            return None
        writes: Events = []
        while (more := self._event(key, _id("w", generation, *place, str(len(writes))))) is not None:
            writes.append(more["langgraph"])
        self._known.of(key, generation, place)["writes"] = len(writes)
        return _Found(place, event["langgraph"], writes)

    def _load(self, pair: Sequence[str]) -> Any:
        return self.serde.loads_typed((pair[0], b64decode(pair[1])))

    def _values(self, key: Key, event: dict[str, Any]) -> dict[str, Any]:
        values = {}
        for channel, (_, value) in event["values"].items():
            if isinstance(value, str):
                blob = self._event(key, value)
                if blob is None:
                    continue  # the checkpoint is being deleted
                value = blob["langgraph"]["value"]
            values[channel] = self._load(value)
        return values

    def _tuple(self, key: Key, thread: Any, found: _Found) -> CheckpointTuple:
        event = found.event
        checkpoint = self._load(event["checkpoint"])
        checkpoint["channel_values"] = self._values(key, event)
        parent = event["parent"]
        place = found.place
        return CheckpointTuple(
            _config(thread, place),
            checkpoint,
            self._load(event["metadata"]),
            _config(thread, _Place(place.namespace, parent)) if parent else None,
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
        return [(task, channel, self._load(value)) for _, (task, channel, value) in sorted(pending.values(), key=_first)]

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

    def _newest_first(self, thread: Any) -> Iterator[tuple[Any, Key, _Found]]:
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

    def _backward(self, key: Key) -> Iterator[_Found]:
        """The checkpoints of a thread, those that were put last first. Writes come after their checkpoint, so they are met before."""
        try:
            generation = self._generation(key)
            writes: dict[_Place, Events] = {}
            with self.store.events(key, backward=True) as cursor:
                for event in cursor:
                    kind, _, rest = event.id.partition("|")
                    if kind == "b" or not rest.startswith((f"{generation}|", "sha256:")):
                        continue
                    loaded = event.load()["langgraph"]
                    if loaded["generation"] != generation:
                        continue
                    place = _Place(*loaded["place"])
                    if kind == "w":
                        writes.setdefault(place, []).append(loaded)
                    else:
                        yield _Found(place, loaded, writes.pop(place, [])[::-1])
        except NotFoundError:
            return

    # ------------------------------------------------------------------------------------------- writing

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """Stores a checkpoint, with the values of its channels that are not stored yet, in one transaction."""
        named = config["configurable"]
        key, place = self._key(named["thread_id"]), _Place(named.get("checkpoint_ns", ""), checkpoint["id"])
        dumped = self._dump({name: value for name, value in checkpoint.items() if name != "channel_values"})
        event: dict[str, Any] = {
            "place": place,
            "parent": named.get("checkpoint_id"),
            "checkpoint": dumped,
            "metadata": self._dump(get_checkpoint_metadata(config, metadata)),
        }
        parent = _Place(place.namespace, event["parent"])

        def append(generation: str) -> None:
            made = {**event, "generation": generation}
            made["values"], blobs = self._dump_values(key, generation, parent, checkpoint, new_versions)
            delta = self._delta(key, place)
            self._append(key, generation, place, made, blobs, delta)
            known = self._known.of(key, generation, place)
            known["values"] = made["values"]
            known.setdefault("writes", 0)

        self._within_generation(key, append)
        return _config(named["thread_id"], place)

    def put_writes(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Stores what a task has written for the step after a checkpoint, in one transaction."""
        named = config["configurable"]
        key, place = self._key(named["thread_id"]), _Place(named.get("checkpoint_ns", ""), named["checkpoint_id"])
        event = {
            "place": place,
            "task": task_id,
            "path": task_path,
            "replaces": all(channel in WRITES_IDX_MAP for channel, _ in writes),
            "writes": [[WRITES_IDX_MAP.get(channel, at), channel, self._dump(value)] for at, (channel, value) in enumerate(writes)],
        }
        self._within_generation(
            key, lambda generation: self._append_writes(key, generation, place, {**event, "generation": generation})
        )

    def _within_generation(self, key: Key, append: Callable[[str], None]) -> None:
        """Appends to the thread's generation, which is looked at once more: if it has changed in between, what was appended
        may have been left behind."""
        known = self._known.of(key)
        while True:
            generation = known.get("generation")
            try:
                if generation is None:
                    generation = known["generation"] = self._generation(key)
                append(generation)
                known["generation"] = self._generation(key)
            except NotFoundError:
                known.pop("generation", None)
                self.store.get_or_create(key, {"generation": self.store.make_id()}, events=NO_EVENTS)
                continue
            if known["generation"] == generation:
                return

    def _delta(self, key: Key, place: _Place) -> dict[str, Any]:
        """What a checkpoint changes of the state. Ids grow as a rule."""
        newest, latest = self._state(key, "newest"), _latest_key(place.namespace)
        if newest is None or place.id > newest:
            return {"newest": place.id, latest: place.id}
        own = self._state(key, latest)
        changed = {latest: place.id} if own is None or place.id > own else {}
        return changed if place.id == newest else {**changed, "unordered": True}

    def _append(
        self,
        key: Key,
        generation: str,
        place: _Place,
        made: dict[str, Any],
        blobs: dict[str, dict[str, Any]],
        delta: dict[str, Any],
    ) -> None:
        events = [{"id": name, "author": "langgraph", "langgraph": blob} for name, blob in blobs.items()]
        own = {"id": _id("c", generation, *place), "author": "langgraph", "langgraph": made}
        try:
            self.store.append_batch(key, [*events, {**own, "actions": {"stateDelta": delta}}])
        except ExistsError:  # the checkpoint is there, with something else in it
            if events:
                self.store.append_batch(key, events)
            self._append_writes(
                key, generation, place, {"place": place, "generation": generation, "checkpoint": made}
            )

    def _append_writes(self, key: Key, generation: str, place: _Place, made: dict[str, Any]) -> None:
        """The first number that is free is taken."""
        known = self._known.of(key, generation, place)
        number = known.get("writes", 0)
        while True:
            try:
                event = {"id": _id("w", generation, *place, str(number)), "author": "langgraph", "langgraph": made}
                self.store.append(key, event)
                break
            except ExistsError:
                number += 1
        known["writes"] = number + 1

    def _dump(self, value: Any) -> Dumped:
        kind, data = self.serde.dumps_typed(value)
        return [kind, b64encode(data).decode()]

    def _dump_values(
        self, key: Key, generation: str, parent: _Place, checkpoint: Checkpoint, new_versions: ChannelVersions
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """The values of the channels, and those that become events. One that has not changed is as the parent has it."""
        before = self._values_of(key, generation, parent)
        values: dict[str, Any] = {}
        blobs: dict[str, dict[str, Any]] = {}
        for channel, value in checkpoint["channel_values"].items():
            version = checkpoint["channel_versions"].get(channel)
            stored = before.get(channel)
            if version is not None and stored is not None and stored[0] == version and channel not in new_versions:
                values[channel] = stored
                continue
            dumped = self._dump(value)
            if len(dumped[1]) > INLINE_MAX:
                name = _id("b", generation, hashlib.sha256("|".join(dumped).encode()).hexdigest())
                blobs[name] = {"value": dumped}
                values[channel] = [version, name]
            else:
                values[channel] = [version, dumped]
        return values, blobs

    def _values_of(self, key: Key, generation: str, place: _Place) -> dict[str, Any]:
        if not place.id:
            return {}
        known = self._known.of(key, generation, place)
        if "values" not in known:
            event = self._event(key, _id("c", generation, *place))
            known["values"] = {} if event is None else event["langgraph"]["values"]
        return known["values"]

    # ------------------------------------------------------------------------------------------ deleting

    def delete_thread(self, thread_id: str) -> None:
        """Deletes a thread."""
        self.store.delete(self._key(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints of these runs, in all threads. Every thread is read."""
        gone = set(run_ids)
        for session in self.store.sessions(self._app, self._user, state=False):
            self._keep(self._key(session.id), lambda found: self._load(found.event["metadata"]).get("run_id") not in gone)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies a thread, in one transaction. ExistsError: there is a thread of that name."""
        self.store.fork(self._key(source_thread_id), self._key(target_thread_id), events=NO_EVENTS).close()

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """With "keep_latest" deletes all checkpoints of the threads but the latest of each namespace, and those from which its
        delta channels are computed. With "delete" deletes the threads."""
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f'strategy is "keep_latest" or "delete", not {strategy!r}')
        for thread in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread)
            else:
                needed = self._needed(thread)
                self._keep(self._key(thread), lambda found, needed=needed: found.place in needed)  # type: ignore[misc]

    def _needed(self, thread: str) -> set[_Place]:
        needed: set[_Place] = set()
        latest: dict[str, str] = {}
        for found in self._backward(self._key(thread)):
            latest[found.place.namespace] = max(found.place.id, latest.get(found.place.namespace, ""))
        for namespace, name in latest.items():
            place: _Place | None = _Place(namespace, name)
            channels: set[str] | None = None
            while place is not None and place not in needed:
                made = self.get_tuple(_config(thread, place))
                if made is None:
                    break
                needed.add(place)
                if channels is None:
                    channels = set(made.metadata.get("counters_since_delta_snapshot") or ())
                channels -= made.checkpoint["channel_values"].keys()
                parent = made.parent_config if channels else None
                place = None if parent is None else _Place(namespace, parent["configurable"]["checkpoint_id"])
        return needed

    def _keep(self, key: Key, wanted: Callable[[_Found], bool]) -> None:
        """Deletes the other checkpoints of a thread: those that stay are written again, in one transaction with the change of the
        generation, and all that was before is pruned."""
        while True:
            try:
                with self.store.get(key, NO_EVENTS) as session:
                    version, last = session.version, session.last_seq
                found = list(self._backward(key))
                kept = [each for each in found if wanted(each)][::-1]
                if len(kept) == len(found):
                    return
                if not kept:
                    self.store.delete(key)
                    return
                self.store.append_batch(key, self._written_again(key, kept), version=version)
                while self.store.prune(key, last_seq=last).more:
                    pass
                return
            except StaleError:
                continue
            except NotFoundError:
                return

    def _written_again(self, key: Key, kept: FoundList) -> Events:
        generation = self.store.make_id()
        events: dict[str, dict[str, Any]] = {}
        state: dict[str, Any] = {"generation": generation, "newest": max(each.place.id for each in kept)}

        def add(name: str, made: dict[str, Any]) -> None:
            events[name] = {"id": name, "author": "langgraph", "langgraph": made}

        def again(made: dict[str, Any]) -> dict[str, Any]:
            values = {}
            for channel, (version, value) in made["values"].items():
                if isinstance(value, str):
                    blob, value = self._event(key, value), _id("b", generation, value.rpartition("|")[2])
                    add(value, blob["langgraph"])
                values[channel] = [version, value]
            return {**made, "generation": generation, "values": values}

        for each in kept:
            add(_id("c", generation, *each.place), again(each.put))
            latest = _latest_key(each.place.namespace)
            state[latest] = max(each.place.id, state.get(latest, ""))
            for number, writes in enumerate(each.writes):
                made = {**writes, "generation": generation}
                if "checkpoint" in writes:
                    made["checkpoint"] = again(writes["checkpoint"])
                add(_id("w", generation, *each.place, str(number)), made)
        return [*events.values(), {"author": "langgraph", "actions": {"stateDelta": state}}]

    # ------------------------------------------------------------------------------------------- asyncio

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As get_tuple."""
        return await in_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As list."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (each := await in_thread(next, found, None)) is not None:
            yield each

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """As put."""
        return await to_its_end(in_thread(self.put, config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As put_writes."""
        await to_its_end(in_thread(self.put_writes, config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """As delete_thread."""
        await to_its_end(in_thread(self.delete_thread, thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """As delete_for_runs."""
        await to_its_end(in_thread(self.delete_for_runs, run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """As copy_thread."""
        await to_its_end(in_thread(self.copy_thread, source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """As prune."""
        await to_its_end(in_thread(lambda: self.prune(thread_ids, strategy=strategy)))


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _config(thread: Any, place: _Place) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": place.namespace, "checkpoint_id": place.id}}
