"""A session service of google-adk on a seslite store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, Optional

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.platform import time as platform_time
from google.adk.platform import uuid as platform_uuid
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.session import Session
from typing_extensions import Unpack, override

from .. import NO_EVENTS, Appended, Filter, Key, Point, Range, errors
from .._ffi import loads
from ..store import StoreOptions
from . import events as adk_events
from .on_store import OnStore

try:
    from google.adk.errors._stale_session_error import StaleSessionError as StaleSessionError
except ImportError:  # google-adk 1.39 raises a ValueError without a name of its own

    class StaleSessionError(ValueError):  # type: ignore[no-redef]
        """The session was changed since it was read: get it again."""


PAGE = 10_000  # sessions that are listed at a time
LISTED = Filter(kinds=("conversation", "child"))  # and not what is for memory alone


class Followed(NamedTuple):
    """An event that was appended, and where: `place` is where to go on from."""

    session_id: str
    event: Event
    place: str


class SesliteSessionService(OnStore, BaseSessionService):
    """Keeps the sessions of google-adk in a store. `path` is what seslite.Store takes, or `uri` names it as
    the ADK's command line does; the options are those of seslite.Store. Close it with close(); the end of the
    process closes it too.

    A session that was superseded raises StaleSessionError when it is appended to: read it again. Rewinds are
    exact: they restore what the session was created with, and remove the keys that did not exist.

    `threads` writes and as many reads are under way at a time. `agents_dir` is what the ADK's command line
    gives to every service: then the store is closed at SIGTERM, too. The ids and the time of new sessions are
    those of google.adk.platform, unless the options give `make_id` or `clock`.
    """

    def __init__(
        self,
        path: Optional[str] = None,
        *,
        uri: Optional[str] = None,
        agents_dir: Optional[str] = None,
        threads: int = 8,
        **options: Unpack[StoreOptions],
    ) -> None:
        super().__init__(path, uri, agents_dir, threads, options)
        self._own_ids = bool(options.get("make_id"))
        self._locks: dict[tuple[int, Key], tuple[asyncio.Lock, int]] = {}

    # ---------------------------------------------------------------------------------------- sessions

    @override
    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: Optional[dict[str, Any]] = None,
        session_id: Optional[str] = None,
    ) -> Session:
        # The ADK's clock and ids belong to the caller's context, so the threads do not have them.
        if session_id is None and not self._own_ids:
            session_id = platform_uuid.new_uuid()
        created_us = None if self._own_clock else round(platform_time.get_time() * 1e6)
        return await self._store.run(self._create, Key(app_name, user_id, session_id), state, created_us)

    def _create(self, key: Key, state: Optional[dict[str, Any]], created_us: Optional[int]) -> Session:
        text = adk_events.state_text(state, "the state") if state else None
        try:
            with self.store.create(key, text, created_us=created_us) as session:
                return adk_events.session_of(session._summary(), [])
        except errors.ExistsError as error:
            raise AlreadyExistsError(f"Session with id {key.session} already exists.") from error

    @override
    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: Optional[GetSessionConfig] = None
    ) -> Optional[Session]:
        return await self._store.read(self._get, Key(app_name, user_id, session_id), _range_of(config))

    def _get(self, key: Key, wanted: Optional[Range]) -> Optional[Session]:
        try:
            session = self.store.get(key, wanted)
        except errors.NotFoundError:
            return None
        with session:
            return adk_events.session_of(
                session._summary(), [adk_events.event_of(text) for text in session.events_json()]
            )

    @override
    async def list_sessions(self, *, app_name: str, user_id: Optional[str] = None) -> ListSessionsResponse:
        return await self._store.read(self._list, app_name, user_id)

    def _list(self, app: str, user: Optional[str]) -> ListSessionsResponse:
        found = [adk_events.session_of(each, []) for each in self.store._summaries(app, user, PAGE, LISTED)]
        found.sort(key=lambda session: (session.last_update_time, session.user_id, session.id))
        return ListSessionsResponse(sessions=found)

    @override
    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        await self._store.delete(Key(app_name, user_id, session_id))

    @override
    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        return loads(await self._store.read(self.store.shared_state_json, app_name, user_id))

    # ------------------------------------------------------------------------------------------ append

    @override
    async def append_event(self, session: Session, event: Event) -> Event:
        if event.partial:
            return event
        key = Key(session.app_name, session.user_id, session.id)
        # Branches of one invocation share the session, so its version is looked at in their turn.
        async with self._turn(key):
            with self.store.limits() as limits:
                appending = asyncio.ensure_future(self._store.run(self._append, key, session, event))
            try:
                appended = await asyncio.shield(appending)
            except asyncio.CancelledError:
                # A commit that has begun is not ended. The session must show what became of it.
                limits.cancel()
                await asyncio.wait([appending])
                if not appending.cancelled() and appending.exception() is None:
                    self._show(session, event, appending.result())
                raise
            except errors.NotFoundError as error:
                raise SessionNotFoundError(f"Session {session.id} not found.") from error
            except errors.StaleError as error:
                raise StaleSessionError(str(error)) from error
            except errors.ExistsError as error:
                raise AlreadyExistsError(str(error)) from error
            self._show(session, event, appended)
        return event

    def _show(self, session: Session, event: Event, appended: Appended) -> None:
        """Moves the session forward."""
        adk_events.set_version(session, appended.version)
        session.last_update_time = appended.updated_us / 1e6
        known = appended.duplicate and any(each.id == event.id for each in session.events)
        if not known and not appended.unchanged:
            adk_events.commit(session, event)

    def _append(self, key: Key, session: Session, event: Event) -> Appended:
        version = adk_events.version_of(session)
        if version is None:
            version = self._version_without_marker(key, session)
        if event.actions and event.actions.rewind_before_invocation_id:
            return self._rewind(key, event, version)
        text, delta = adk_events.event_text(event)
        return self.store.append(key, text, delta=delta, version=version)

    def _version_without_marker(self, key: Key, session: Session) -> int:
        """A session that another made, or that came over a wire, is current if it ends with the event that
        the stored one ends with, or is no older."""
        with self.store.get(key, Range(newest=1)) as stored:
            newest = stored.events[-1].id if stored.events else None
            if newest != (session.events[-1].id if session.events else None):
                if stored.updated_us > round(session.last_update_time * 1e6):
                    message = f"session {key.session}: another writer appended after this copy was made; get it again"
                    raise errors.StaleError(message, version=stored.version, key=key)
            return stored.version

    def _rewind(self, key: Key, event: Event, version: int) -> Appended:
        """The ADK's rewind event gives keys null that did not exist, or that the session was created with.
        The store's own is exact, and takes its place."""
        point = Point.invocation(event.actions.rewind_before_invocation_id or "")
        appended = self.store.rewind(
            key, point, version=version, artifact_delta=event.actions.artifact_delta or None
        )
        if not appended.unchanged:
            one = Range(first_seq=appended.seq, last_seq=appended.seq)
            with self.store.limits(shield=True), self.store.events(key, one) as cursor:
                stored = adk_events.event_of(next(cursor).json)
            for name in ("id", "invocation_id", "timestamp", "actions"):
                setattr(event, name, getattr(stored, name))
        return appended

    @asynccontextmanager
    async def _turn(self, key: Key) -> AsyncIterator[None]:
        """One append of a session at a time in this loop. Other loops and processes find out by the
        version."""
        name = (id(asyncio.get_running_loop()), key)
        lock, users = self._locks.get(name, (None, 0))
        lock = lock or asyncio.Lock()
        self._locks[name] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks[name]
            if users == 1:
                del self._locks[name]
            else:
                self._locks[name] = (lock, users - 1)

    # --------------------------------------------------------------------------------------- following

    async def follow(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: Optional[str] = None,
        new: bool = False,
        place: Optional[str] = None,
    ) -> AsyncIterator[Followed]:
        """The events of a session, or of all sessions of a user, as they are appended by any process. `place`
        goes on after an event that was given before. seslite.ResetError: events are gone; get the session
        again and follow on."""
        key = Key(app_name, user_id, session_id)
        async with await self._store.follow(key, new=new, place=place) as follower:
            async for event in follower:
                yield Followed(follower.session or "", adk_events.event_of(event.json), follower.place)


def _range_of(config: Optional[GetSessionConfig]) -> Optional[Range]:
    """The events that a configuration selects, or None for all."""
    if config is None or (config.num_recent_events is None and config.after_timestamp is None):
        return None
    if config.num_recent_events == 0:
        return NO_EVENTS
    since = config.after_timestamp
    return Range(newest=config.num_recent_events, since_us=None if since is None else round(since * 1e6))
