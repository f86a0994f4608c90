"""The part of the saver that writes."""

from __future__ import annotations

import hashlib
import random
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import WRITES_IDX_MAP, get_checkpoint_metadata

from ..errors import ExistsError, NotFoundError
from ..values import NO_EVENTS, Key
from .reading import Reading
from .stored import INLINE_MAX, Dumped, Place, config_of, id_of, latest_key

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata


class Writing(Reading):
    """Part of SesliteSaver."""

    def get_next_version(self, current: str | int | float | None, channel: None) -> str:
        """A version that sorts after `current`, and that no other branch of the thread has."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.random():016}"

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Stores a checkpoint, with the values of its channels that are not stored yet, in one
        transaction."""
        named = config["configurable"]
        key, place = self._key(named["thread_id"]), Place(named.get("checkpoint_ns", ""), checkpoint["id"])
        dumped = self._dump({name: value for name, value in checkpoint.items() if name != "channel_values"})
        event: dict[str, Any] = {
            "place": place,
            "parent": named.get("checkpoint_id"),
            "checkpoint": dumped,
            "metadata": self._dump(get_checkpoint_metadata(config, metadata)),
        }
        parent = Place(place.namespace, event["parent"])

        def append(generation: str) -> None:
            made = {**event, "generation": generation}
            made["values"], blobs = self._dump_values(key, generation, parent, checkpoint, new_versions)
            delta = self._delta(key, place)
            self._append(key, generation, place, made, blobs, delta)
            known = self._known.of(key, generation, place)
            known["values"] = made["values"]
            known.setdefault("writes", 0)

        self._within_generation(key, append)
        return config_of(named["thread_id"], place)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Stores what a task has written for the step after a checkpoint, in one transaction."""
        named = config["configurable"]
        key, place = (
            self._key(named["thread_id"]),
            Place(named.get("checkpoint_ns", ""), named["checkpoint_id"]),
        )
        event = {
            "place": place,
            "task": task_id,
            "path": task_path,
            "replaces": all(channel in WRITES_IDX_MAP for channel, _ in writes),
            "writes": [
                [WRITES_IDX_MAP.get(channel, at), channel, self._dump(value)]
                for at, (channel, value) in enumerate(writes)
            ],
        }
        self._within_generation(
            key,
            lambda generation: self._append_writes(
                key, generation, place, {**event, "generation": generation}
            ),
        )

    def _within_generation(self, key: Key, append: Callable[[str], None]) -> None:
        """Appends to the thread's generation, which is looked at once more: if it has changed in between,
        what was appended may have been left behind."""
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

    def _delta(self, key: Key, place: Place) -> dict[str, Any]:
        """What a checkpoint changes of the state. Ids grow as a rule."""
        newest, latest = self._state(key, "newest"), latest_key(place.namespace)
        if newest is None or place.id > newest:
            return {"newest": place.id, latest: place.id}
        own = self._state(key, latest)
        changed = {latest: place.id} if own is None or place.id > own else {}
        return changed if place.id == newest else {**changed, "unordered": True}

    def _append(
        self,
        key: Key,
        generation: str,
        place: Place,
        made: dict[str, Any],
        blobs: dict[str, dict[str, Any]],
        delta: dict[str, Any],
    ) -> None:
        events = [{"id": name, "author": "langgraph", "langgraph": blob} for name, blob in blobs.items()]
        own = {"id": id_of("c", generation, *place), "author": "langgraph", "langgraph": made}
        try:
            self.store.append_batch(key, [*events, {**own, "actions": {"stateDelta": delta}}])
        except ExistsError:  # the checkpoint is there, with something else in it
            if events:
                self.store.append_batch(key, events)
            self._append_writes(
                key, generation, place, {"place": place, "generation": generation, "checkpoint": made}
            )

    def _append_writes(self, key: Key, generation: str, place: Place, made: dict[str, Any]) -> None:
        """The first number that is free is taken."""
        known = self._known.of(key, generation, place)
        number = known.get("writes", 0)
        while True:
            try:
                event = {
                    "id": id_of("w", generation, *place, str(number)),
                    "author": "langgraph",
                    "langgraph": made,
                }
                self.store.append(key, event)
                break
            except ExistsError:
                number += 1
        known["writes"] = number + 1

    def _dump(self, value: Any) -> Dumped:
        kind, data = self.serde.dumps_typed(value)
        return [kind, b64encode(data).decode()]

    def _dump_values(
        self, key: Key, generation: str, parent: Place, checkpoint: Checkpoint, new_versions: ChannelVersions
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """The values of the channels, and those that become events. One that has not changed is as the parent
        has it."""
        before = self._values_of(key, generation, parent)
        values: dict[str, Any] = {}
        blobs: dict[str, dict[str, Any]] = {}
        for channel, value in checkpoint["channel_values"].items():
            version = checkpoint["channel_versions"].get(channel)
            stored = before.get(channel)
            if (
                version is not None
                and stored is not None
                and stored[0] == version
                and channel not in new_versions
            ):
                values[channel] = stored
                continue
            dumped = self._dump(value)
            if len(dumped[1]) > INLINE_MAX:
                name = id_of("b", generation, hashlib.sha256("|".join(dumped).encode()).hexdigest())
                blobs[name] = {"value": dumped}
                values[channel] = [version, name]
            else:
                values[channel] = [version, dumped]
        return values, blobs

    def _values_of(self, key: Key, generation: str, place: Place) -> dict[str, Any]:
        if not place.id:
            return {}
        known = self._known.of(key, generation, place)
        if "values" not in known:
            event = self._event(key, id_of("c", generation, *place))
            known["values"] = {} if event is None else event["langgraph"]["values"]
        return known["values"]
