"""SesliteMemoryService: what is remembered, found and forgotten."""

import asyncio
import inspect
import logging
import math
import threading

import postgres
import pytest
from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.platform import time as platform_time
from google.adk.platform import uuid as platform_uuid
from google.adk.runners import Runner
from google.adk.sessions.session import Session
from google.adk.tools import load_memory, preload_memory
from google.genai import types
from services import WHO

import seslite
from seslite.adk import SesliteMemoryService, SesliteSessionService


def content(*texts, role="user"):
    return types.Content(role=role, parts=[types.Part(text=text) for text in texts])


def said(text, name=None, **fields):
    return Event(id=name or "", author="user", content=content(text), invocation_id="i", **fields)


def note(text, **fields):
    return MemoryEntry(content=content(text), **fields)


class Memory:
    """The services on one store, and what the cases do with them."""

    def __init__(self, store):
        self.store = store
        self.service = SesliteMemoryService(store)
        self.sessions = SesliteSessionService(store)

    async def conversation(self, name, *texts):
        """A session with an event for each text, whose ids are the texts."""
        session = await self.sessions.create_session(session_id=name, **WHO)
        for text in texts:
            await self.sessions.append_event(session, said(text, text))
        return session

    async def found(self, query, user_id="user"):
        response = await self.service.search_memory(app_name="app", user_id=user_id, query=query)
        return [memory.content.parts[0].text for memory in response.memories]

    def number(self, name):
        return self.store.get(("app", "user", name)).remembered_seq

    def kept(self):
        """The sessions that are there for memory alone, and the ids of their events."""
        filter = seslite.Filter(kinds=("memory",))
        return {
            each.id: [event.id for event in self.store.events(each.key)]
            for each in self.store.sessions("app", filter=filter)
        }

    async def listed(self):
        return sorted(each.id for each in (await self.sessions.list_sessions(**WHO)).sessions)


@pytest.fixture(params=["file", "server"])
def remember(request, tmp_path):
    """Runs a case on a store."""

    def run(case):
        async def within():
            with seslite.Store(postgres.fresh() if request.param == "server" else tmp_path / "a.db") as store:
                await asyncio.wait_for(case(Memory(store)), 60)
                assert store.check() == []

        asyncio.run(within())

    return run


def test_all_methods_of_a_memory_service_are_there():
    wanted = {
        name
        for name, member in vars(BaseMemoryService).items()
        if callable(member) and not name.startswith("_")
    }
    assert wanted - set(vars(SesliteMemoryService)) <= {"delete_memory"}  # an event is not deleted alone
    for name in wanted & set(vars(SesliteMemoryService)):
        ours, theirs = (
            inspect.signature(getattr(each, name)).parameters
            for each in (SesliteMemoryService, BaseMemoryService)
        )
        assert list(ours) == list(theirs)


# -------------------------------------------------------------------------------------------- sessions


def test_a_session_is_remembered_up_to_where_it_was_added(remember):
    async def case(memory):
        session = await memory.conversation("s", "red tea", "green tea")
        assert await memory.found("tea") == [] and memory.number("s") == 0
        await memory.service.add_session_to_memory(session)
        assert await memory.found("TEA") == ["green tea", "red tea"] and memory.number("s") == 2
        old = session.model_copy(deep=True)
        await memory.sessions.append_event(session, said("black tea", "black tea"))
        assert await memory.found("tea") == ["green tea", "red tea"]
        await memory.service.add_session_to_memory(old)
        assert memory.number("s") == 2
        await memory.service.add_session_to_memory(session)
        await memory.service.add_session_to_memory(old)  # what is remembered stays so
        assert await memory.found("tea") == ["black tea", "green tea", "red tea"] and memory.number("s") == 3
        assert memory.kept() == {} and await memory.listed() == ["s"]
        await memory.sessions.delete_session(session_id="s", **WHO)
        assert await memory.found("tea") == []

    remember(case)


def test_what_a_rewind_took_back_is_not_found(remember):
    async def case(memory):
        session = await memory.sessions.create_session(session_id="s", **WHO)
        for number in range(3):
            event = said(f"tea {number}")
            event.invocation_id = f"i{number}"
            await memory.sessions.append_event(session, event)
        await memory.service.add_session_to_memory(session)
        memory.store.rewind(("app", "user", "s"), seslite.Point.invocation("i1"))
        assert await memory.found("tea") == ["tea 0"]

    remember(case)


def test_a_session_of_another_service_is_copied_once(remember):
    async def case(memory):
        events = [
            said("red tea", "e1", timestamp=1),
            Event(id="e2", author="user"),
            said("green tea", "e3", timestamp=3),
        ]
        session = Session(app_name="app", user_id="user", id="else", events=events)
        for _ in range(2):
            await memory.service.add_session_to_memory(session)
        session.events.append(said("black tea", "e4", timestamp=4))
        session.events[0].content = content("blue tea")  # of an id, the first stays
        await memory.service.add_session_to_memory(session)
        assert await memory.found("tea") == ["black tea", "green tea", "red tea"]
        assert memory.kept() == {"memory:else": ["e1", "e3", "e4"]} and await memory.listed() == []
        await memory.service.add_session_to_memory(Session(app_name="app", user_id="user", id="empty"))
        assert list(memory.kept()) == ["memory:else"]

    remember(case)


def test_of_a_session_of_the_store_only_the_store_s_events_count(remember):
    async def case(memory):
        session = await memory.conversation("s", "red tea")
        session.events.append(said("never appended tea"))
        await memory.service.add_session_to_memory(session)
        assert await memory.found("tea") == ["red tea"] and memory.kept() == {}
        empty = await memory.conversation("t")
        await memory.service.add_session_to_memory(empty)
        assert memory.number("t") == 0

    remember(case)


# ---------------------------------------------------------------------------------------------- events


def test_added_events_are_copied_only_if_a_number_cannot_say_it(remember):
    async def case(memory):
        def add(*events, **named):
            return memory.service.add_events_to_memory(session_id="s", events=events, **WHO, **named)

        session = await memory.conversation("s", "tea 1", "tea 2", "tea 3", "tea 4")
        one, two, three, four = session.events
        await add(one, two)
        assert memory.number("s") == 2 and memory.kept() == {}
        await add(four)  # but not the third
        assert memory.number("s") == 2 and memory.kept() == {"memory:s": ["tea 4"]}
        assert await memory.found("tea") == ["tea 4", "tea 2", "tea 1"]
        await add(one, four, said("tea 5", "tea 5"), Event(author="user"))
        assert memory.kept() == {"memory:s": ["tea 4", "tea 5"]}
        await memory.service.add_session_to_memory(session)
        assert memory.number("s") == 4
        assert await memory.found("tea") == ["tea 5", "tea 4", "tea 3", "tea 2", "tea 1"]  # the fourth once
        await memory.sessions.append_event(
            session, Event(id="call", author="a", content=types.Content(parts=[_call()]))
        )
        await memory.sessions.append_event(session, said("tea 6", "tea 6"))
        await add(session.events[-1], custom_metadata={"topic": "tea"})
        assert memory.kept() == {"memory:s": ["tea 4", "tea 5", "tea 6"]}  # for the sake of its metadata
        await add(session.events[-1])
        assert memory.number("s") == 6

    remember(case)


def _call():
    return types.Part(function_call=types.FunctionCall(name="brew", args={"what": "tea"}))


def test_events_without_a_session_are_notes(remember):
    async def case(memory):
        for session in (None, ""):
            await memory.service.add_events_to_memory(events=[said("tea", "e1")], session_id=session, **WHO)
        await memory.service.add_events_to_memory(events=[said("tea", "e2")], session_id="unknown", **WHO)
        await memory.service.add_events_to_memory(events=[], session_id="nothing", **WHO)
        assert memory.kept() == {"memory:notes": ["e1"], "memory:unknown": ["e2"]}

    remember(case)


# --------------------------------------------------------------------------------------------- entries


def test_an_entry_comes_back_as_it_was_added(remember):
    async def case(memory):
        parts = [
            types.Part(text="picture"),
            types.Part(inline_data=types.Blob(data=b"\xff\0", mime_type="image/png")),
        ]
        entry = MemoryEntry(
            content=types.Content(role="model", parts=parts),
            custom_metadata={"k": [1, "ä"]},
            id="my id",
            author="a",
            timestamp="2024-05-06T07:08:09.123456",
        )
        await memory.service.add_memory(memories=[entry], custom_metadata={"k": 0, "source": "import"}, **WHO)
        response = await memory.service.search_memory(query="picture", **WHO)
        assert response.memories == [
            entry.model_copy(update={"custom_metadata": {"k": [1, "ä"], "source": "import"}})
        ]
        assert memory.kept() == {"memory:notes": ["my id"]} and await memory.listed() == []
        again = entry.model_copy(update={"content": content("another picture")})
        await memory.service.add_memory(memories=[again, note("plain"), again], **WHO)
        assert await memory.found("another") == [] and await memory.found("plain") == ["plain"]

    remember(case)


def test_ids_and_the_time_of_entries_are_those_of_the_adk(remember):
    async def case(memory):
        platform_time.set_time_provider(lambda: 1_000_000.25)  # for this task only
        platform_uuid.set_id_provider(lambda: "from the ADK")
        await memory.service.add_memory(memories=[note("tea")], **WHO)
        (found,) = (await memory.service.search_memory(query="tea", **WHO)).memories
        assert (found.id, found.author, found.custom_metadata) == ("from the ADK", None, {})
        assert found.timestamp.startswith("1970-01-12T") and found.timestamp.endswith(":40.250000")

    remember(case)


@pytest.mark.parametrize("written", ["2024-05-06T07:08:09Z", "2024-05-06T09:08:09+02:00", "1924-05-06"])
def test_times_are_those_of_iso_8601(remember, written):
    async def case(memory):
        await memory.service.add_memory(memories=[note("tea", timestamp=written)], **WHO)
        (found,) = (await memory.service.search_memory(query="tea", **WHO)).memories
        await memory.service.add_memory(memories=[note("coffee", timestamp=found.timestamp)], **WHO)
        (again,) = (await memory.service.search_memory(query="coffee", **WHO)).memories
        assert again.timestamp == found.timestamp and found.timestamp[:4] == written[:4]

    remember(case)


@pytest.mark.parametrize(
    "entry",
    [
        note("tea", timestamp="soon"), note("tea", timestamp="9999-12-31"), note("tea \ud800"), note("tea", id="i" * 513),
        note("tea", id="a\0b"), note("tea", custom_metadata={"k": object()}),
    ],
)  # fmt: skip
def test_an_entry_that_cannot_be_kept_is_refused_with_all(remember, entry):
    async def case(memory):
        with pytest.raises(ValueError):
            await memory.service.add_memory(memories=[note("good"), entry], **WHO)
        assert await memory.found("good tea") == []

    remember(case)


def test_nothing_is_kept_of_entries_without_text(remember):
    async def case(memory):
        thought = types.Part(text="tea", thought=True)
        entries = [
            MemoryEntry(content=types.Content(parts=parts)) for parts in (None, [], [_call()], [thought])
        ]
        await memory.service.add_memory(memories=[*entries, note("")], **WHO)
        await memory.service.add_memory(memories=[], **WHO)
        assert memory.kept() == {}
        await memory.service.add_memory(
            memories=[note("a NUL: \0 tea"), note("NaN", custom_metadata={"k": math.nan})], **WHO
        )
        assert await memory.found("tea") == ["a NUL: \0 tea"] and await memory.found("nan") == ["NaN"]

    remember(case)


# ---------------------------------------------------------------------------------------------- search


def test_what_fits_best_comes_first(remember):
    async def case(memory):
        texts = ["the deploy is ready", "ready", "DÉPLOY: status ready!", "nothing of that", "ready again"]
        await memory.service.add_memory(
            memories=[note(text, timestamp=f"2024-05-0{at + 1}") for at, text in enumerate(texts)], **WHO
        )
        found = ["DÉPLOY: status ready!", "the deploy is ready", "ready again", "ready"]
        assert await memory.found("deploy status ready") == found
        assert await memory.found("ready deploy ready ready") == found
        for limit in (1, 3):
            few = SesliteMemoryService(memory.store, limit=limit)
            response = await few.search_memory(query="deploy status ready", **WHO)
            assert [each.content.parts[0].text for each in response.memories] == found[:limit]

    remember(case)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_above_0(limit):
    with pytest.raises(seslite.InvalidError):
        SesliteMemoryService(":memory:", limit=limit)


def test_any_text_can_be_a_query(remember):
    async def case(memory):
        await memory.service.add_memory(memories=[note("I wrote tea"), note("我喜欢茉莉花茶")], **WHO)
        for query in ("", " \n", "...", "\ud800", "\0", "x" * 100_000, "teapot"):
            assert await memory.found(query) == []
        for query in (
            "tea",
            "\ud800 tea\0",
            "tea " * 100_000,
            f"tea {'x' * 100_000}",
            " ".join(["tea", *map(str, range(200))]),
        ):
            assert await memory.found(query) == ["I wrote tea"]
        assert await memory.found("茉莉花") == ["我喜欢茉莉花茶"]

    remember(case)


def test_each_user_has_a_memory(remember):
    async def case(memory):
        await memory.service.add_memory(memories=[note("tea")], **WHO)
        assert await memory.found("tea", "other") == []
        assert (
            await memory.service.search_memory(app_name="other", user_id="user", query="tea")
        ).memories == []
        for user, query in (("", "tea"), ("u" * 513, "..."), ("a\0b", "tea"), ("\ud800", "")):
            with pytest.raises(seslite.InvalidError):
                await memory.found(query, user)

    remember(case)


def test_calls_and_their_responses_are_not_found(remember):
    async def case(memory):
        session = await memory.conversation("s")
        response = types.Part(function_response=types.FunctionResponse(name="brew", response={"text": "tea"}))
        thought = types.Part(text="tea?", thought=True)
        for parts in ([_call()], [response], [thought], [thought, types.Part(text="tea")]):
            await memory.sessions.append_event(session, Event(author="a", content=types.Content(parts=parts)))
        await memory.service.add_session_to_memory(session)
        assert await memory.found("tea brew") == ["tea?"]

    remember(case)


def test_an_event_that_the_adk_cannot_read_is_left_out(remember, caplog):
    async def case(memory):
        key = ("app", "user", "s")
        memory.store.create(key)
        memory.store.memory_add_session(key, 2**32 - 1)
        for text in (
            '{"parts":[{"text":"tea","unknown":1}]}',
            '{"parts":["tea"]}',
            '["tea"]',
            '{"parts":[{"text":"tea"}]}',
        ):
            memory.store.append(
                key, f'{{"timestamp":"0000-06-01T00:00:00Z","customMetadata":1,"content":{text}}}'
            )
        (found,) = (await memory.service.search_memory(query="tea", **WHO)).memories
        assert (found.timestamp, found.author, found.custom_metadata) == (None, None, {})

    with caplog.at_level(logging.WARNING):
        remember(case)
    assert "cannot be remembered" in caplog.text


# ------------------------------------------------------------------------------------------ forgetting


async def filled(memory):
    session = await memory.conversation("s", "tea of s", "more tea")
    await memory.service.add_session_to_memory(session)
    await memory.service.add_events_to_memory(session_id="s", events=[said("tea besides s", "e")], **WHO)
    await memory.service.add_session_to_memory(await memory.conversation("t", "tea of t"))
    await memory.service.add_memory(memories=[note("tea of none")], **WHO)
    await memory.service.add_memory(memories=[note("tea")], app_name="app", user_id="other")
    for session in ("s", None):  # as adk-memory keeps entries of a project
        memory.store.memory_add(("app", "user", session), "tea of a project", project="x")
    assert len(await memory.found("tea")) == 5 and await memory.listed() == ["s", "t"]


def ids(memory):
    found = (each.id for each in memory.store.sessions("app", "user"))
    return sorted("memory-project" if each.startswith("memory-project:") else each for each in found)


def test_a_session_is_forgotten(remember):
    async def case(memory):
        await filled(memory)
        for _ in range(2):
            await memory.service.forget(session_id="s", **WHO)
            assert sorted(await memory.found("tea")) == ["tea of none", "tea of t"]
            assert ids(memory) == ["memory-project", "memory:notes", "s", "t"] and memory.number("s") == 0
        await memory.service.forget(session_id="unknown", **WHO)
        session = await memory.sessions.get_session(session_id="s", **WHO)
        await memory.service.add_session_to_memory(session)
        assert len(await memory.found("tea")) == 4

    remember(case)


def test_all_of_a_user_is_forgotten(remember):
    async def case(memory):
        await filled(memory)
        await memory.service.forget(**WHO)
        assert await memory.found("tea") == [] and ids(memory) == ["s", "t"] and memory.number("t") == 0
        assert await memory.found("tea", "other") == ["tea"]

    remember(case)


# ---------------------------------------------------------------------------------------------- erasing


def test_copies_are_redacted_with_their_session(remember):
    async def case(memory):
        session = await memory.conversation("s", "hello", "my password is hunter2")
        await memory.service.add_events_to_memory(
            events=[session.events[1]], session_id="s", custom_metadata={"topic": "x"}, **WHO
        )
        assert await memory.found("hunter2") == ["my password is hunter2"]
        assert memory.store.redact(("app", "user", "s"), find="hunter2").forks_left == 1
        assert await memory.found("hunter2") == ["my password is hunter2"]
        erased = memory.store.redact(("app", "user", "s"), find="password", forks=True)
        assert (erased.sessions, erased.events, erased.forks_left) == (1, 2, 0)
        assert await memory.found("my") == ["my [redacted] is hunter2"]
        deleted = memory.store.delete(("app", "user", "s"), receipt=True)
        assert deleted.erased.forks_left == 1
        assert await memory.found("hunter2") == ["my [redacted] is hunter2"]

    remember(case)


def test_copies_that_are_not_linked_are_counted(remember):
    async def case(memory):
        event = said("my password is hunter2", "e", timestamp=1700000000.25)
        await memory.service.add_events_to_memory(events=[event], session_id="s", **WHO)
        session = await memory.conversation("s")
        await memory.sessions.append_event(session, event)
        erased = memory.store.redact(("app", "user", "s"), find="hunter2", forks=True)
        assert (erased.sessions, erased.events, erased.forks_left) == (0, 1, 1)
        assert await memory.found("hunter2") == ["my password is hunter2"]

    remember(case)


# ------------------------------------------------------------------------------------------------- ids


def test_no_two_sessions_share_a_memory(remember):
    async def case(memory):
        of_notes = "sha256:ab5aa97074c454a0632057e704220d9a6678fbf773a0a5806fc09b8173b07309"
        odd = [
            "notes",
            "ä" * 256,
            "x" * 505,
            "x" * 506,
            "x" * 512,
            "memory:notes",
            "memory:x",
            "../a b\n",
            of_notes,
        ]
        for name in odd:
            await memory.service.add_events_to_memory(
                events=[said(f"tea {len(name)}", "e")], session_id=name, **WHO
            )
        await memory.service.add_memory(memories=[note("tea", id="e")], **WHO)
        kept = memory.kept()
        assert len(kept) == len(odd) + 1 and set(map(len, kept.values())) == {1}
        assert {"memory:notes", "memory:" + "x" * 505, "memory:memory:notes"} < set(kept)
        assert f"memory:{of_notes}" in kept and sum(name.startswith("memory:sha256:") for name in kept) == 5
        for name in odd:
            await memory.service.forget(session_id=name, **WHO)
        assert list(memory.kept()) == ["memory:notes"]
        for wrong in ("x" * 513, "a\0b", "\ud800"):
            with pytest.raises(seslite.InvalidError):
                await memory.service.add_events_to_memory(events=[said("tea")], session_id=wrong, **WHO)

    remember(case)


def test_somebody_s_own_session_is_left_alone(remember):
    async def case(memory):
        session = await memory.conversation("memory:notes", "tea")
        with pytest.raises(seslite.ExistsError, match="memory:notes"):
            await memory.service.add_memory(memories=[note("tea")], **WHO)
        assert await memory.listed() == ["memory:notes"] and await memory.found("tea") == []
        await memory.service.add_session_to_memory(session)
        assert await memory.found("tea") == ["tea"] and memory.number("memory:notes") == 1
        await memory.service.forget(**WHO)
        assert await memory.listed() == ["memory:notes"]

    remember(case)


# ---------------------------------------------------------------------------------------------- many


def test_ten_thousand_entries(remember):
    async def case(memory):
        entries = [note(f"fact {at} of work", id=f"n{at}") for at in range(10_000)]
        await memory.service.add_memory(memories=entries, **WHO)
        changed = [note(f"changed {at}", id=f"n{at}") for at in range(9_990, 10_010)]
        await memory.service.add_memory(memories=changed, **WHO)
        assert (await memory.found("which fact was of work 7"))[0] == "fact 7 of work"
        assert len(await memory.found("changed")) == 10 and len(await memory.found("fact")) == 10
        assert len(memory.kept()["memory:notes"]) == 10_010

    remember(case)


def test_what_goes_on_does_not_hide_what_is_remembered(remember):
    async def case(memory):
        session = await memory.conversation("s", "old tea")
        await memory.service.add_session_to_memory(session)
        key = ("app", "user", "s")
        memory.store.append_batch(
            key, [{"author": "user", "content": {"parts": [{"text": "new tea"}]}}] * 2_500
        )
        assert await memory.found("tea") == ["old tea"]

    remember(case)


def test_concurrent_adds_lose_nothing(remember):
    async def case(memory):
        session = await memory.conversation("s", *(f"tea {at}" for at in range(20)))
        sessions = [session.model_copy(update={"events": session.events[:at]}) for at in range(1, 21)]
        adds = [memory.service.add_session_to_memory(each) for each in reversed(sessions)]
        adds += [
            memory.service.add_memory(memories=[note("coffee", id=f"n{at % 10}")], **WHO) for at in range(40)
        ]
        adds += [memory.found("tea coffee") for _ in range(10)]
        await asyncio.gather(*adds)
        assert memory.number("s") == 20 and sorted(memory.kept()["memory:notes"]) == [
            f"n{at}" for at in range(10)
        ]

    remember(case)


def test_adding_and_forgetting_at_once(remember):
    async def case(memory):
        failed = []

        def forgetting():
            async def forget():
                for _ in range(30):
                    await memory.service.forget(**WHO)

            try:
                asyncio.run(forget())
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=forgetting)
        thread.start()
        for at in range(60):
            await memory.service.add_memory(memories=[note("tea", id=str(at))], **WHO)
        thread.join()
        await memory.service.add_memory(memories=[note("tea", id="last")], **WHO)
        assert failed == [] and memory.kept()["memory:notes"][-1] == "last"

    remember(case)


# ------------------------------------------------------------------------------------------ the Runner


class Reader(BaseLlm):
    """Asks load_memory what it is told to, and says what came back; keeps what it was given."""

    given: list = []

    async def generate_content_async(self, llm_request, stream=False):
        parts = [part for each in llm_request.contents for part in each.parts]
        said = [part.text for part in parts if part.text]
        self.given.append(
            "\n".join([*said, str(llm_request.config.system_instruction)])
        )  # where google-adk 1.39 has it
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            memories = last.function_response.response["result"].memories
            yield LlmResponse(
                content=content(
                    f"I recall: {[each.content.parts[0].text for each in memories]}", role="model"
                )
            )
        elif any(text.startswith("recall") for text in said):
            call = types.FunctionCall(name="load_memory", args={"query": "jasmine"})
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]))
        else:
            yield LlmResponse(content=content("noted", role="model"))


@pytest.mark.parametrize("tool", [load_memory, preload_memory])
def test_an_agent_recalls_another_conversation(remember, tool):
    async def case(memory):
        async def add(callback_context):
            invocation = callback_context._invocation_context
            await invocation.memory_service.add_session_to_memory(invocation.session)

        model = Reader(model="reader", given=[])
        agent = LlmAgent(name="agent", model=model, tools=[tool], after_agent_callback=add)
        services = {"session_service": memory.sessions, "memory_service": memory.service}
        runner = Runner(app=App(name="app", root_agent=agent), **services)

        async def turn(session, text):
            await memory.sessions.create_session(session_id=session, **WHO)
            events = runner.run_async(user_id="user", session_id=session, new_message=content(text))
            return [event async for event in events][-1].content.parts[0].text

        await turn("first", "I like jasmine tea.")
        assert memory.number("first") == 2  # what the model answered, too
        if tool is load_memory:
            for session in ("second", "third"):  # where nothing of the second's call and response is found
                assert await turn(session, "recall it") == "I recall: ['I like jasmine tea.']"
                await memory.service.forget(session_id=session, **WHO)
        else:
            await turn("second", "Which jasmine was it?")
            assert (
                "<PAST_CONVERSATIONS>" in model.given[-1] and "user: I like jasmine tea." in model.given[-1]
            )
        await runner.close()

    remember(case)
