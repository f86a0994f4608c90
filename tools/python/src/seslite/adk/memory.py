"""A memory service of google-adk on a seslite store. lib/memory/README.md says how it is kept there."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Optional, Union

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.platform import time as platform_time
from google.adk.sessions.session import Session
from typing_extensions import Unpack, override

from .. import NO_EVENTS, Filter, Hit, Key, Range, Store, errors
from ..session import Session as StoredSession
from ..store import StoreOptions
from . import memories as kept
from .memories import ALL, LABEL, PROJECT, SOURCE
from .on_store import OnStore

CANDIDATES = 10_000  # hits of which the best are given
HITS_READ = 10 * CANDIDATES  # some of which may be of events that are not remembered
SNIPPET_BYTES = 4096  # of each, in which the words are counted


class SesliteMemoryService(OnStore, BaseMemoryService):
    """Keeps the memory of google-adk in a store. `path` is what seslite.Store takes, or better a store that
    is open: that of a SesliteSessionService. Then adding a session copies nothing, and deleting the session
    forgets it.

    The other parameters are those of SesliteSessionService. A search gives at most `limit` entries: those
    that have most of the words of the query, among equals the newest.
    """

    def __init__(
        self,
        path: Union[str, Store, None] = None,
        *,
        uri: Optional[str] = None,
        agents_dir: Optional[str] = None,
        threads: int = 8,
        limit: int = 10,
        **options: Unpack[StoreOptions],
    ) -> None:
        if limit < 1:
            raise errors.InvalidError(f"limit is a number of entries above 0, not {limit}")
        super().__init__(path, uri, agents_dir, threads, options)
        self._limit = limit
        self._marking = threading.Lock()

    # --------------------------------------------------------------------------------------------- adding

    @override
    async def add_session_to_memory(self, session: Session) -> None:
        await self._store.run(
            self._add_session, Key(session.app_name, session.user_id, session.id), [*session.events]
        )

    def _add_session(self, key: Key, events: list[Event]) -> None:
        if self._remembered(key) is None:
            self._keep(key, _said(events))
            return
        with suppress(errors.NotFoundError):  # deleted meanwhile
            seqs = (found.seq for each in reversed(events) if (found := self.store.event_get(key, each.id)))
            self._remember(key, next(seqs, 0))

    @override
    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: Optional[str] = None,
        custom_metadata: Optional[Mapping[str, object]] = None,
    ) -> None:
        key = Key(app_name, user_id, session_id or None)
        await self._store.run(self._add_events, key, _said(events), custom_metadata)

    def _add_events(self, key: Key, events: list[Event], metadata: Optional[Mapping[str, object]]) -> None:
        remembered = self._remembered(key) if key.session is not None else None
        if remembered is not None:
            with suppress(errors.NotFoundError):  # deleted meanwhile
                events = self._not_remembered(key, events, remembered, not metadata)
        self._keep(key, events, metadata)

    def _not_remembered(self, key: Key, events: list[Event], remembered: int, may_raise: bool) -> list[Event]:
        """Those that have to be copied. Those that the session has need not, if its number can be raised and
        says the same."""
        seqs = {each.id: found.seq for each in events if (found := self.store.event_get(key, each.id))}
        later = {seq for seq in seqs.values() if seq > remembered}
        if later and may_raise and self._are_all(key, remembered, later):
            remembered = max(later)
            self._remember(key, remembered)
        return [each for each in events if each.id not in seqs or seqs[each.id] > remembered]

    def _are_all(self, key: Key, after: int, seqs: set[int]) -> bool:
        """Whether nothing else was said between that number and the last of these."""
        between = Range(first_seq=after + 1, last_seq=max(seqs), live=True)
        with self.store.events(key, between, backward=True) as stored:
            return all(each.seq in seqs or not kept.is_said(kept.content_of(each.json)) for each in stored)

    @override
    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Optional[Mapping[str, object]] = None,
    ) -> None:
        # The ADK's clock and ids belong to the caller's context, so the threads do not have them.
        now = platform_time.get_time()
        events = [kept.event_of(each, now) for each in memories if kept.is_said(each.content)]
        await self._store.run(self._keep, Key(app_name, user_id), events, custom_metadata)

    def _label(self, key: Key) -> Optional[str]:
        """What the label says, or "" if there is none. None: there is no such session."""
        try:
            with self.store.get(key, NO_EVENTS) as session:
                return session.label(LABEL) or ""
        except errors.NotFoundError:
            return None

    def _remembered(self, key: Key) -> Optional[int]:
        """The number of the last event of a session that is remembered, or 0. None: there is no such
        session."""
        label = self._label(key)
        return None if label is None else kept.number_of(label)

    def _remember(self, key: Key, seq: int) -> None:
        """The number is never lowered, but if two processes set it at the same time."""
        with self._marking:
            remembered = self._remembered(key)
            if remembered is not None and remembered < seq:
                self.store.set_labels(key, {LABEL: str(seq)})

    def _keep(self, key: Key, events: list[Event], metadata: Optional[Mapping[str, object]] = None) -> None:
        """Stores copies. Of several events with one id the first counts."""
        place = Key(key.app, key.user, kept.kept_in(key.session))
        texts = {each.id: kept.text_of(each, metadata) for each in reversed(events)}
        while texts:
            label = self._label(place)
            if label is None:
                self._make_place(place, key)
                continue
            if not kept.is_kept(place, label):
                raise errors.ExistsError(
                    f"session {place.session} exists, but without the label {LABEL}={ALL}", key=place
                )
            try:
                self.store.append_batch(place, reversed(texts.values()))
                return
            except errors.ExistsError:
                texts = {
                    name: text for name, text in texts.items() if self.store.event_get(place, name) is None
                }
            except errors.NotFoundError:
                pass  # another forgot it just now

    def _make_place(self, place: Key, source: Key) -> None:
        """Makes a session for copies. It is linked to the one that they come from, so that a redaction of
        that one finds them."""
        is_stored = source.session is not None and self._label(source) is not None
        with suppress(errors.ExistsError):  # another made it just now
            self.store.load(place, labels={LABEL: ALL}, parent=(source, 0) if is_stored else None)

    # ------------------------------------------------------------------------------------------ searching

    @override
    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        return await self._store.read(self._search, Key(app_name, user_id), query)

    def _search(self, whose: Key, query: str) -> SearchMemoryResponse:
        words = kept.words_of(query)
        count = kept.counter_of(words)
        hits = self._hits(whose, " ".join(words))
        try:
            found = [
                (-count(hit.snippet or ""), hit._replace(snippet=None)) for hit in islice(hits, CANDIDATES)
            ]
        except errors.InvalidError:
            self.store.list(whose.app, whose.user, limit=1, state=False)  # which refuses wrong ids
            return SearchMemoryResponse()  # there was no word in the query
        found.sort(key=lambda each: (each[0], -each[1].time_us, each[1].seq))
        entries: dict[str, MemoryEntry] = {}  # without those that are equal
        for _, hit in found:
            entry = self._entry(whose, hit)
            if entry is not None:
                entries.setdefault(entry.model_dump_json(exclude={"custom_metadata"}), entry)
            if len(entries) == self._limit:
                break
        return SearchMemoryResponse(memories=[*entries.values()])

    def _hits(self, whose: Key, words: str) -> Iterator[Hit]:
        """Of a session that goes on after it was added, those up to the number in its label."""
        numbers: dict[str, int] = {}
        options: Any = {
            "any": True,
            "live": True,
            "filter": Filter(label=LABEL),
            "snippet_bytes": SNIPPET_BYTES,
        }
        for hit in self.store.search(words, app=whose.app, user=whose.user, limit=HITS_READ, **options):
            if hit.session not in numbers:
                numbers[hit.session] = self._remembered(Key(whose.app, hit.user, hit.session)) or 0
            if hit.seq <= numbers[hit.session]:
                yield hit

    def _entry(self, whose: Key, hit: Hit) -> Optional[MemoryEntry]:
        """None: it was deleted meanwhile, or is nothing that somebody said."""
        try:
            found = self.store.event_get(Key(whose.app, hit.user, hit.session), hit.id)
        except errors.NotFoundError:
            return None
        return kept.entry_of(hit, found.json) if found and found.seq == hit.seq else None

    # ----------------------------------------------------------------------------------------- forgetting

    async def forget(self, *, app_name: str, user_id: str, session_id: Optional[str] = None) -> None:
        """Forgets all that is remembered of a user, or of one session. The sessions themselves stay."""
        await self._store.run(self._forget, Key(app_name, user_id, session_id))

    def _forget(self, key: Key) -> None:
        if key.session is None:
            for session in self._labelled(key, LABEL):
                self._forget_session(session.key)
                self._delete_kept(session.key)
            of_projects = self._labelled(key, PROJECT)
        else:
            self._forget_session(key)
            self._delete_kept(Key(key.app, key.user, kept.kept_in(key.session)))
            of_projects = self._labelled(key, SOURCE, key.session)
        for session in of_projects:
            self.store.delete(session.key)

    def _labelled(self, whose: Key, label: str, value: Optional[str] = None) -> Iterator[StoredSession]:
        return self.store.sessions(
            whose.app, whose.user, state=False, filter=Filter(label=label, label_value=value)
        )

    def _forget_session(self, key: Key) -> None:
        """Removes the label of a conversation."""
        with self._marking:
            label = self._label(key)
            if label and not kept.is_kept(key, label):
                with suppress(errors.NotFoundError):
                    self.store.set_labels(key, {LABEL: None})

    def _delete_kept(self, key: Key) -> None:
        """Deletes a session that is for memory alone."""
        if kept.is_kept(key, self._label(key)):
            self.store.delete(key)


def _said(events: Iterable[Event]) -> list[Event]:
    return [each for each in events if kept.is_said(each.content)]
