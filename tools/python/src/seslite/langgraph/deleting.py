"""The part of the saver that deletes and copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import NotFoundError, StaleError
from ..values import NO_EVENTS, Key
from .stored import Events, Found, Place, config_of, id_of, latest_key
from .writing import Writing


class Deleting(Writing):
    """Part of SesliteSaver."""

    def delete_thread(self, thread_id: str) -> None:
        """Deletes a thread."""
        self.store.delete(self._key(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints of these runs, in all threads. Every thread is read."""
        gone = set(run_ids)
        for session in self.store.sessions(self._app, self._user, state=False):
            self._keep(
                self._key(session.id),
                lambda found: self._load(found.event["metadata"]).get("run_id") not in gone,
            )

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies a thread, in one transaction. ExistsError: there is a thread of that name."""
        self.store.fork(self._key(source_thread_id), self._key(target_thread_id), events=NO_EVENTS).close()

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """With "keep_latest" deletes all checkpoints of the threads but the latest of each namespace, and
        those from which its delta channels are computed. With "delete" deletes the threads."""
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f'strategy is "keep_latest" or "delete", not {strategy!r}')
        for thread in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread)
            else:
                needed = self._needed(thread)
                self._keep(self._key(thread), lambda found, needed=needed: found.place in needed)  # type: ignore[misc]

    def _needed(self, thread: str) -> set[Place]:
        needed: set[Place] = set()
        latest: dict[str, str] = {}
        for found in self._backward(self._key(thread)):
            latest[found.place.namespace] = max(found.place.id, latest.get(found.place.namespace, ""))
        for namespace, name in latest.items():
            place: Place | None = Place(namespace, name)
            channels: set[str] | None = None
            while place is not None and place not in needed:
                made = self.get_tuple(config_of(thread, place))
                if made is None:
                    break
                needed.add(place)
                if channels is None:
                    channels = set(made.metadata.get("counters_since_delta_snapshot") or ())
                channels -= made.checkpoint["channel_values"].keys()
                parent = made.parent_config if channels else None
                place = None if parent is None else Place(namespace, parent["configurable"]["checkpoint_id"])
        return needed

    def _keep(self, key: Key, wanted: Callable[[Found], bool]) -> None:
        """Deletes the other checkpoints of a thread: those that stay are written again, in one transaction
        with the change of the generation, and all that was before is pruned."""
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

    def _written_again(self, key: Key, kept: list[Found]) -> Events:
        generation = self.store.make_id()
        events: dict[str, dict[str, Any]] = {}
        state: dict[str, Any] = {"generation": generation, "newest": max(each.place.id for each in kept)}

        def add(name: str, made: dict[str, Any]) -> None:
            events[name] = {"id": name, "author": "langgraph", "langgraph": made}

        def again(made: dict[str, Any]) -> dict[str, Any]:
            values = {}
            for channel, (version, value) in made["values"].items():
                if isinstance(value, str):
                    blob, value = self._event(key, value), id_of("b", generation, value.rpartition("|")[2])
                    add(value, blob["langgraph"])
                values[channel] = [version, value]
            return {**made, "generation": generation, "values": values}

        for each in kept:
            add(id_of("c", generation, *each.place), again(each.put))
            latest = latest_key(each.place.namespace)
            state[latest] = max(each.place.id, state.get(latest, ""))
            for number, writes in enumerate(each.writes):
                made = {**writes, "generation": generation}
                if "checkpoint" in writes:
                    made["checkpoint"] = again(writes["checkpoint"])
                add(id_of("w", generation, *each.place, str(number)), made)
        return [*events.values(), {"author": "langgraph", "actions": {"stateDelta": state}}]
