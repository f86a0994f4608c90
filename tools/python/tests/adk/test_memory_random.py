"""SesliteMemoryService beside google-adk's own memory in random calls: both find the same.

SESLITE_TEST_CALLS gives another number of calls, and SESLITE_TEST_SEED another seed.
"""

import asyncio
import os
import random

import pytest
from google.adk.events.event import Event
from google.adk.memory import in_memory_memory_service as theirs
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

import seslite
from seslite.adk import SesliteMemoryService, SesliteSessionService

WORDS = "tea coffee red green pot cup warm cold sweet bitter milk lemon morning evening train rain".split()


class Both:
    """The services, and what the calls need to know of the sessions."""

    def __init__(self, store, seed):
        self.random = random.Random(seed)
        self.sessions = SesliteSessionService(store)
        self.ours = SesliteMemoryService(store, limit=10_000)
        self.theirs = theirs.InMemoryMemoryService()
        self.made = []  # app, user and id
        self.events = 0
        self.found = 0

    def content(self):
        some = self.random.choices(WORDS, k=self.random.randint(1, 6))
        part = types.Part(text=" ".join(some).capitalize() + self.random.choice(["", ".", "!?"]))
        return types.Content(role="user", parts=[part])

    def event(self):
        self.events += 1
        return Event(
            id=f"e{self.events}",
            author=self.random.choice(["user", "agent"]),
            content=self.content(),
            timestamp=self.events,
        )

    def who(self):
        return {"app_name": self.random.choice("ab"), "user_id": self.random.choice("uvw")}

    async def session(self):
        app, user, name = self.random.choice(self.made)
        return await self.sessions.get_session(app_name=app, user_id=user, session_id=name)

    async def create(self):
        session = await self.sessions.create_session(**self.who())
        self.made.append((session.app_name, session.user_id, session.id))

    async def say(self):
        session = await self.session()
        for _ in range(self.random.randint(1, 4)):
            await self.sessions.append_event(session, self.event())

    async def add_session(self):
        session = await self.session()
        for each in (self.ours, self.theirs):
            await each.add_session_to_memory(session)

    async def add_events(self):
        session = await self.session()
        some = [each for each in session.events if self.random.random() < 0.5]
        for each in (self.ours, self.theirs):
            await each.add_events_to_memory(
                app_name=session.app_name, user_id=session.user_id, session_id=session.id, events=some
            )

    async def add_notes(self):
        who, some = self.who(), [self.event() for _ in range(self.random.randint(0, 3))]
        for each in (self.ours, self.theirs):
            await each.add_events_to_memory(events=some + some[:1], **who)

    async def add_entries(self):
        who, event = self.who(), self.event()
        entry = MemoryEntry(
            content=event.content, id=event.id, author=event.author, timestamp="2024-05-06T07:08:09"
        )
        await self.ours.add_memory(memories=[entry], **who)
        await self.theirs.add_events_to_memory(events=[event], **who)  # it has no add_memory

    async def search(self):
        query = " ".join(self.random.choices([*WORDS, "nothing", "?"], k=self.random.randint(0, 5)))
        who, found = self.who(), []
        for each in (self.ours, self.theirs):
            response = await each.search_memory(query=query, **who)
            found.append(
                sorted(
                    (memory.id, memory.author, memory.content.parts[0].text) for memory in response.memories
                )
            )
        assert found[0] == found[1]
        self.found += len(found[0])

    async def call(self):
        calls = (
            [self.say] * 6
            + [self.search] * 6
            + [self.add_session, self.add_events, self.add_notes, self.add_entries]
        )
        await (self.create if len(self.made) < 4 else self.random.choice([*calls, self.create]))()


@pytest.mark.parametrize("indexed", [False, True])
def test_random_calls(tmp_path, monkeypatch, indexed):
    monkeypatch.setattr(theirs, "_MAX_SEARCH_RESULTS", 10**6, raising=False)
    calls, seed = (
        int(os.environ.get(f"SESLITE_TEST_{name}", otherwise))
        for name, otherwise in (("CALLS", 400), ("SEED", 1))
    )

    async def run(store):
        both = Both(store, seed)
        for _ in range(calls):
            await both.call()
        assert both.found > calls

    with seslite.Store(tmp_path / "a.db", synchronous="normal") as store:
        if indexed:
            store.index()
        asyncio.run(run(store))
        assert store.check() == []
