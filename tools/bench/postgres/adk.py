"""google-adk's DatabaseSessionService, asked for what the benchmark asks of the others.

    python tools/bench/postgres/adk.py PLACE      a connection string of libpq, with host (a folder) and port; or a URL

Reads lines "append COUNT" and "get COUNT", and prints "done" after each. Needs google-adk, sqlalchemy, asyncpg and
greenlet. Makes google-adk's own tables in the database, and a session with the rows that the others read.
"""

import asyncio
import sys
import uuid

from google.adk.events import Event, EventActions
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

GET_EVENTS = 20
GET_KEYS = 10
EVENT_TEXT = "x" * 100
NAMES = {"app_name": "app", "user_id": "user"}


def url_of(place):
    if "://" in place:
        return place
    words = dict(word.split("=", 1) for word in place.split())
    return (f"postgresql+asyncpg://{words['user']}@/{words['dbname']}"
            f"?host={words['host'].strip(chr(39))}&port={words['port']}")


def event_of(number):
    return Event(
        id=str(uuid.uuid4()),
        invocation_id="e-1",
        author="agent",
        timestamp=1700000000.25 + number / 1000,
        actions=EventActions(state_delta={"counter": number, "topic": "orders", "user:seen": number}),
        content=types.Content(role="model", parts=[types.Part(text=EVENT_TEXT)]),
    )


async def serve(service):
    state = {"app:theme": "dark", "user:name": "Ada"}
    state.update({f"key {n}": "its value" for n in range(2, GET_KEYS)})
    session = await service.create_session(**NAMES, session_id=str(uuid.uuid4()), state=state)
    number = 0
    for number in range(1, GET_EVENTS + 1):
        await service.append_event(session, event_of(number))
    config = GetSessionConfig(num_recent_events=GET_EVENTS)
    print("ready", flush=True)
    for line in sys.stdin:
        what, count = line.split()
        for _ in range(int(count)):
            if what == "append":
                number += 1
                await service.append_event(session, event_of(number))
            else:
                read = await service.get_session(**NAMES, session_id=session.id, config=config)
                assert len(read.events) == GET_EVENTS
        print("done", flush=True)


async def main():
    service = DatabaseSessionService(url_of(sys.argv[1]))
    await serve(service)


asyncio.run(main())
