"""The session services that the same cases run over: the ADK's, ours, and ours on a server."""

import asyncio
import contextlib
import importlib.metadata
import pathlib

import postgres
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.database_session_service import DatabaseSessionService
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService

from seslite.adk import SesliteSessionService, StaleSessionError

# The cases say what the services do of the google-adk that is pinned. Ours does the same with every one.
PINNED = (pathlib.Path(__file__).parents[1] / "requirements.txt").read_text("utf-8")
IS_PINNED = f"google-adk=={importlib.metadata.version('google-adk')}\n" in PINNED
NAMES = ("memory", "sqlite", "database", "seslite", "server") if IS_PINNED else ("seslite", "server")
WHO = {"app_name": "app", "user_id": "user"}


@contextlib.asynccontextmanager
async def opened(name, folder):
    """One of the services, on a file or a database of its own."""
    service = {
        "memory": lambda: InMemorySessionService(),
        "sqlite": lambda: SqliteSessionService(str(folder / "sqlite.db")),
        "database": lambda: DatabaseSessionService(f"sqlite+aiosqlite:///{folder}/database.db"),
        "seslite": lambda: SesliteSessionService(str(folder / "seslite.db")),
        "server": lambda: SesliteSessionService(postgres.fresh()),
    }[name]()
    try:
        yield service
    finally:
        if hasattr(service, "close"):
            await service.close()


def run(name, folder, case):
    """Runs a case over a service, and returns what it saw. What it raised is seen too."""

    async def within():
        async with opened(name, folder) as service:
            return await case(service)

    return asyncio.run(within())


def event(delta=None, *, invocation="i1", author="user", text=None, **fields):
    """An event with a state delta."""
    if text:
        fields["content"] = {"role": "user", "parts": [{"text": text}]}
    return Event(
        author=author, invocation_id=invocation, actions=EventActions(state_delta=delta or {}), **fields
    )


async def raised(awaitable):
    """The name of what an awaitable raises; "nothing"."""
    try:
        await awaitable
    except (AlreadyExistsError, SessionNotFoundError, StaleSessionError) as error:
        return type(error).__name__
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:60]
    return "nothing"


def when(result):
    return {"state": result.state, "events": [each.id for each in result.events]}
