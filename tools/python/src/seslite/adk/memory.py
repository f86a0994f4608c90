"""A memory service of google-adk on a seslite store. lib/memory/README.md says how it is kept there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Optional, Union

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.platform import time as platform_time
from google.adk.sessions.session import Session
from typing_extensions import Unpack, override

from .. import NO_EVENTS, Key, Store, errors
from ..store import StoreOptions
from . import memories as kept
from .on_store import OnStore

LIMIT_MAX = 10_000  # of a search


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
        self._limit = min(limit, LIMIT_MAX)

    # --------------------------------------------------------------------------------------------- adding

    @override
    async def add_session_to_memory(self, session: Session) -> None:
        await self._store.run(
            self._add_session, Key(session.app_name, session.user_id, session.id), [*session.events]
        )

    def _add_session(self, key: Key, events: list[Event]) -> None:
        if not self._is_stored(key):
            self._add_events(key, events, None)
            return
        with suppress(errors.NotFoundError):  # deleted meanwhile
            seqs = (found.seq for each in reversed(events) if (found := self.store.event_get(key, each.id)))
            last = next(seqs, 0)
            if last:
                self.store.memory_add_session(key, last)

    def _is_stored(self, key: Key) -> bool:
        try:
            self.store.get(key, NO_EVENTS).close()
        except errors.NotFoundError:
            return False
        return True

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
        await self._store.run(self._add_events, key, [*events], custom_metadata)

    def _add_events(self, key: Key, events: list[Event], metadata: Optional[Mapping[str, object]]) -> None:
        texts = [kept.text_of(each, metadata) for each in events]
        self.store.memory_add_events(key, texts, copy=bool(metadata))

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
        events = [kept.event_of(each, now) for each in memories]
        await self._store.run(self._add_events, Key(app_name, user_id), events, custom_metadata)

    # ------------------------------------------------------------------------------------------ searching

    @override
    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        return await self._store.read(self._search, app_name, user_id, query)

    def _search(self, app: str, user: str, query: str) -> SearchMemoryResponse:
        text = query.encode(errors="replace").decode()
        found = self.store.memory_search(text, app=app, user=user, limit=self._limit)
        return SearchMemoryResponse(memories=[entry for hit in found if (entry := kept.entry_of(hit))])

    # ----------------------------------------------------------------------------------------- forgetting

    async def forget(self, *, app_name: str, user_id: str, session_id: Optional[str] = None) -> None:
        """Forgets all that is remembered of a user, or of one session. The sessions themselves stay."""
        await self._store.run(self.store.memory_forget, Key(app_name, user_id, session_id))
