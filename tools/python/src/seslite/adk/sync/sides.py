"""The two sides of a copy: session services of google-adk, and what they need or lack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, cast

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.session import Session
from google.adk.sessions.state import State

from ... import REMOVED, Key, errors
from ...store import SERVERS
from .. import events as adk_events
from ..service import SesliteSessionService
from . import compare

STRAY = "seslite-sync-state"
"""The id of a session that exists for a moment, to set state of an app or a user where the ADK has no other
call for it."""


class Found(NamedTuple):
    """A session that was read, and what it has besides what the ADK knows."""

    session: Session
    extras: tuple[str, ...] = ()


class Side:
    """Any session service."""

    shares = True  # whether app: and user: keys are those of all sessions
    one_app = False  # whether it has the sessions of one app, whatever that is called
    removes = False  # whether REMOVED as a value removes the key

    def __init__(self, service: BaseSessionService) -> None:
        self.service = service

    async def apps(self) -> list[str]:
        raise errors.MisuseError("this service cannot list its apps: name them")

    async def sessions(self, app: str, user: Optional[str]) -> list[Session]:
        """Its sessions without their events, those first that were changed first."""
        return (await self.service.list_sessions(app_name=app, user_id=user)).sessions

    async def read(self, session: Session) -> Optional[Found]:
        found = await self.service.get_session(**_names(session))
        return None if found is None else Found(found)

    async def create(self, session: Session, state: dict[str, Any]) -> Session:
        """Creates a session of that name, without events."""
        return await self.service.create_session(state=state, **_names(session))

    async def append(self, session: Session, event: Event, *, removes: bool) -> None:
        """Appends to a session that `read` or `create` has given. `removes`: that of the side where the event
        comes from."""
        copy = event.model_copy(deep=True)
        if removes:  # the ADK has no way to remove a key; where it rewinds, it writes null
            copy.actions.state_delta = {
                name: None if isinstance(value, str) and value == REMOVED else value
                for name, value in copy.actions.state_delta.items()
            }
        await self.service.append_event(session, copy)

    async def delete(self, session: Session) -> None:
        await self.service.delete_session(**_names(session))

    async def set_shared(self, app: str, user: str, delta: dict[str, Any]) -> None:
        """Sets app: and user: keys."""
        name = {"app_name": app, "user_id": user, "session_id": STRAY}
        await self.service.delete_session(**name)  # that of an earlier try
        await self.service.create_session(state=delta, **name)
        await self.service.delete_session(**name)

    async def close(self) -> None:
        if hasattr(self.service, "close"):
            await self.service.close()


def _names(session: Session) -> dict[str, Any]:
    """A session as the calls of the ADK name it."""
    if session.id != session.id.strip():  # it would be another session
        raise errors.InvalidError(
            f"the services of the ADK take the spaces off the session's id {session.id!r}"
        )
    return {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}


# ------------------------------------------------------------------------------------------------ seslite


class StoreSide(Side):
    """A store of seslite. Events go in as they are; through the service a rewind would become the store's
    own."""

    removes = True
    service: SesliteSessionService

    @property
    def _store(self) -> Any:
        return self.service._store

    async def apps(self) -> list[str]:
        return cast("list[str]", await self._store.read(lambda: list(self.service.store.apps())))

    async def read(self, session: Session) -> Optional[Found]:
        return cast("Optional[Found]", await self._store.read(self._read, _key_of(session)))

    def _read(self, key: Key) -> Optional[Found]:
        try:
            stored = self.service.store.get(key)
        except errors.NotFoundError:
            return None
        with stored:
            events = [adk_events.event_of(text) for text in stored.events_json()]
            extras = {
                "the title": stored.title,
                "labels": stored.labels,
                "the expiry": stored.expires_us,
                "the session that it is a fork of": stored.parent,
                "pruned events": stored.base_seq,
                "artifacts": any(not each.name.startswith("user:") for each in stored.artifacts()),
            }
            return Found(
                adk_events.session_of(stored._summary(), events),
                tuple(name for name, value in extras.items() if value),
            )

    async def create(self, session: Session, state: dict[str, Any]) -> Session:
        text = _escaped(adk_events.state_text(state, "the state")) if state else None
        times = [session.last_update_time, *(event.timestamp for event in session.events)]
        return cast(
            Session, await self._store.run(self._create, _key_of(session), text, compare.time_us(min(times)))
        )

    def _create(self, key: Key, state: Optional[bytes], created_us: int) -> Session:
        try:
            with self.service.store.create(key, state, created_us=created_us) as made:
                return adk_events.session_of(made._summary(), [])
        except errors.ExistsError as error:
            raise AlreadyExistsError(str(error)) from error

    async def append(self, session: Session, event: Event, *, removes: bool) -> None:
        text, delta = adk_events.event_text(event)
        if delta and not removes:
            delta = _escaped(delta)
        version = adk_events.version_of(session)
        done = await self._store.append(_key_of(session), text, delta=delta, version=version)
        adk_events.set_version(session, done.version)

    async def set_shared(self, app: str, user: str, delta: dict[str, Any]) -> None:
        for prefix, owner in ((State.APP_PREFIX, None), (State.USER_PREFIX, user)):
            scope = {
                name.removeprefix(prefix): value for name, value in delta.items() if name.startswith(prefix)
            }
            if scope:
                text = _escaped(adk_events.state_text(scope, "the state"))
                await self._store.run(self.service.store.shared_state_change, app, owner, text)


def _key_of(session: Session) -> Key:
    return Key(session.app_name, session.user_id, session.id)


def _escaped(state: bytes) -> bytes:
    """State in which REMOVED is an ordinary text, as it is to the ADK. Within a text its quotes would have
    backslashes."""
    return state.replace(f'"{REMOVED}"'.encode(), f'"\\u005f{REMOVED[1:]}"'.encode())


# ------------------------------------------------------------------------------------------------- Vertex


class Refused(Exception):
    """An answer that says too many requests. google-adk does not know this class: otherwise it would ask once
    more after a second, however long it was sent away for."""

    code = 429

    def __init__(self, response: Any) -> None:
        super().__init__("429 Too Many Requests")
        self.response = response


async def _refuse(response: Any) -> None:
    if response.status_code == 429:
        raise Refused(response)


def _one_try(options: Any) -> Any:
    """One request, one try: an append that is sent again unseen could be stored twice. `attempts` is for the
    client aiohttp, which the SDK prefers where it is installed, and with which it would repeat what was
    cut."""
    from google.genai import types

    options = types.HttpOptions() if options is None else options
    options.retry_options = types.HttpRetryOptions(attempts=1)
    options.async_client_args = {"event_hooks": {"response": [_refuse]}, **(options.async_client_args or {})}
    return options


class VertexSide(Side):
    """Sessions of Vertex AI Agent Engine. There is no state of apps and users: such keys are each session's
    own."""

    shares = False
    one_app = True

    def __init__(self, service: BaseSessionService) -> None:
        super().__init__(service)
        given = service._api_client_http_options_override  # type: ignore[attr-defined]
        service._api_client_http_options_override = lambda: _one_try(given())  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------- by URI


def side_of(service: BaseSessionService) -> Side:
    """The side of a service that is open."""
    from google.adk.sessions.vertex_ai_session_service import VertexAiSessionService

    if isinstance(service, SesliteSessionService):
        return StoreSide(service)
    return VertexSide(service) if isinstance(service, VertexAiSessionService) else Side(service)


def opened(uri: str, *, agents_dir: Optional[str] = None, must_exist: bool = False) -> Side:
    """The side that a URI names: a store of seslite, or what google-adk's command line takes as
    --session_service_uri, also with the services.yaml and .env of a folder of agents. `must_exist`: a store
    is not created."""
    from google.adk.cli import service_registry
    from google.adk.sessions.database_session_service import DatabaseSessionService

    if uri.startswith(tuple(_schemes())):
        return StoreSide(SesliteSessionService(uri=uri, must_exist=must_exist))
    if agents_dir is not None:
        service_registry.load_services_module(agents_dir)
    service = service_registry.get_service_registry().create_session_service(
        uri, agents_dir=agents_dir or "."
    )
    return side_of(DatabaseSessionService(db_url=uri) if service is None else service)


def _schemes() -> Iterator[str]:
    yield "seslite:"
    for scheme in SERVERS:
        yield "seslite+" + scheme
