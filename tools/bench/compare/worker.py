"""A store that is used from Python, as a worker of `make compare`: it does and times what the lines of its standard input ask
for (README.md).

    python worker.py STORE FILE
"""

import asyncio
import contextlib
import logging
import sys
import time

TEXT = "what a user may say in a turn " * 10


class Sessions:
    """A session service of google-adk."""

    def __init__(self, service):
        self.service = service
        self.sessions = {}
        self.number = 0

    def next(self):
        from google.adk.events.event import Event
        from google.adk.events.event_actions import EventActions

        self.number += 1
        actions = EventActions(state_delta={"n": self.number, "user:count": self.number})
        content = {"role": "user", "parts": [{"text": TEXT}]}
        return Event(author="user", invocation_id=f"i{self.number // 4}", content=content, actions=actions)

    async def turn_to(self, session):
        """Keeps the session, as a runner does."""
        if session not in self.sessions:
            self.sessions[session] = await self.service.get_session(app_name="app", user_id="u", session_id=session)
        return self.sessions[session]

    async def create(self, session):
        await self.service.create_session(app_name="app", user_id="u", session_id=session)

    async def append(self, session, event):
        await self.service.append_event(session, event)

    async def get(self, session, newest):
        from google.adk.sessions.base_session_service import GetSessionConfig

        config = GetSessionConfig(num_recent_events=newest) if newest else None
        found = await self.service.get_session(app_name="app", user_id="u", session_id=session, config=config)
        return len(found.events)

    async def list(self):
        return len((await self.service.list_sessions(app_name="app", user_id="u")).sessions)

    async def close(self):
        if hasattr(self.service, "close"):
            await self.service.close()


class Items:
    """Sessions of the OpenAI Agents SDK, which have messages alone, and no lists."""

    def __init__(self, kind, path):
        self.kind, self.path = kind, path
        self.sessions = {}
        self.number = 0

    def next(self):
        self.number += 1
        return {"role": "user", "content": TEXT}

    async def turn_to(self, session):
        if session not in self.sessions:
            self.sessions[session] = self.kind(session, self.path)
        return self.sessions[session]

    async def create(self, session):
        await self.turn_to(session)

    async def append(self, session, item):
        await session.add_items([item])

    async def get(self, session, newest):
        return len(await (await self.turn_to(session)).get_items(newest or None))

    async def close(self):
        for session in self.sessions.values():
            session.close()


def opened(name, path):
    if name == "seslite-adk":
        from seslite.adk import SesliteSessionService

        return Sessions(SesliteSessionService(path))
    if name == "adk-sqlite":
        from google.adk.sessions.sqlite_session_service import SqliteSessionService

        return Sessions(SqliteSessionService(path))
    if name == "adk-database":
        from google.adk.sessions.database_session_service import DatabaseSessionService

        return Sessions(DatabaseSessionService(f"sqlite+aiosqlite:///{path}"))
    if name == "seslite-agents":
        from seslite.agents import SesliteSession

        return Items(SesliteSession, path)
    from agents import SQLiteSession

    return Items(SQLiteSession, path)


async def append_many(store, name, count):
    session = await store.turn_to(name)
    events = [store.next() for _ in range(count)]
    begun = time.perf_counter()
    for event in events:
        await store.append(session, event)
    return f"{time.perf_counter() - begun} {count}"


async def timed(what):
    begun = time.perf_counter()
    count = await what
    return f"{time.perf_counter() - begun} {count}"


async def write(store, name, seconds):
    """Reads the session again where the service says that it is out of date."""
    end = time.monotonic() + seconds
    stored = failed = 0
    while time.monotonic() < end:
        try:
            await store.append(await store.turn_to(name), store.next())
            stored += 1
        except Exception:
            failed += 1
            store.sessions.pop(name, None)
    return f"{stored} {failed}"


async def acknowledge(store, name):
    session = await store.turn_to(name)
    while True:
        await store.append(session, store.next())
        print("ack", flush=True)


async def obey(store, what, *words):
    if what == "create":
        await store.create(*words)
        return "0 1"
    if what == "append":
        return await append_many(store, words[0], int(words[1]))
    if what == "get":
        return await timed(store.get(words[0], int(words[1])))
    if what == "list":
        return await timed(store.list())
    if what == "write":
        return await write(store, words[0], float(words[1]))
    if what == "acknowledge":
        await acknowledge(store, words[0])
    raise SystemExit(f"not known: {what}")


async def main():
    logging.disable(logging.CRITICAL)
    store = opened(*sys.argv[1:])
    with contextlib.suppress(KeyboardInterrupt):
        for line in sys.stdin:
            print(await obey(store, *line.split()), flush=True)
    await store.close()


asyncio.run(main())
