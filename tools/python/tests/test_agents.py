"""The session of the OpenAI Agents SDK."""

import asyncio
import gc
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import threading

import pytest

import seslite

pytest.importorskip("agents", reason="openai-agents is not installed")

from agents import Agent, Runner, SessionSettings  # noqa: E402
from agents.memory import OpenAIResponsesCompactionSession, is_openai_responses_compaction_aware_session  # noqa: E402
from agents.memory.session import Session  # noqa: E402

from seslite import _peers  # noqa: E402
from seslite.agents import HERE_MAX, SesliteSession  # noqa: E402

ITEMS = [
    {"role": "user", "content": 'Grüße 写 \ud800 \0 \\ " \U0001f600'},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "To Paris", "annotations": []}],
    },
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"n":[1.0,9007199254740993]}'},
    {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"a": None, "b": 1e300, "c": 2**70, "": True}],
    },
    {
        "item": {"item": [[]]},
        "compaction": {"items": []},
        "content": {"parts": "none"},
        "id": "e1",
        "partial": True,
    },
]


def messages(*numbers):
    return [{"role": "user", "content": f"message {number}"} for number in numbers]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "agents.db"


def test_items_come_back_exactly(path):
    async def case():
        session = SesliteSession("s", path, synchronous="normal")
        assert isinstance(session, Session) and not is_openai_responses_compaction_aware_session(session)
        assert await session.get_items() == [] and await session.pop_item() is None
        await session.clear_session()
        await session.add_items([])
        for _ in range(2):
            await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS * 2
        for limit in range(1, 12):
            assert await session.get_items(limit) == (ITEMS * 2)[-limit:]
        assert await session.get_items(0) == [] and await session.get_items(-1) == ITEMS * 2
        for item in (ITEMS * 2)[:2:-1]:
            assert await session.pop_item() == item
        assert await session.get_items() == ITEMS[:3]
        assert await SesliteSession("other", path, synchronous="normal").get_items() == []
        await session.clear_session()
        assert await session.get_items() == []
        session.close()
        for call in (session.get_items(), session.add_items([]), session.pop_item(), session.clear_session()):
            with pytest.raises(RuntimeError, match="SesliteSession is closed"):
                await call

    asyncio.run(case())


def test_limits_are_those_of_the_settings(path):
    async def case():
        session = SesliteSession("s", path, session_settings={"limit": 2})
        assert session.session_settings == SessionSettings(limit=2)
        await session.add_items(messages(*range(HERE_MAX + 10)))
        assert await session.get_items() == messages(HERE_MAX + 8, HERE_MAX + 9)
        assert await session.get_items(HERE_MAX + 1) == messages(*range(9, HERE_MAX + 10))
        assert SesliteSession("s", path).session_settings == SessionSettings()

    asyncio.run(case())


def test_what_is_not_json_adds_nothing(path):
    async def case():
        session = SesliteSession("s", path)
        for wrong, error in ((object(), TypeError), (float("nan"), ValueError)):
            with pytest.raises(error):
                await session.add_items([*messages(1), {"x": wrong}])
        assert await session.get_items() == []

    asyncio.run(case())


def test_sessions_of_a_file_share_its_store(path, store):
    first, second = SesliteSession("a", path), SesliteSession("b", os.fspath(path))
    other, memory = SesliteSession("a", path, synchronous="normal"), SesliteSession("a")
    assert first.store is second.store and len({id(each.store) for each in (first, other, memory)}) == 3
    first.close()
    first.close()
    assert not second.store.closed
    kept = second.store
    del second
    gc.collect()
    assert kept.closed and not other.store.closed
    given = SesliteSession("a", store, app="app", user="anna")
    assert given.key == seslite.Key("app", "anna", "a") and given.store is store
    given.close()
    assert not store.closed
    with pytest.raises(TypeError, match="timeout"):
        SesliteSession("a", store, timeout=1)
    other.close()
    assert all(each.store is not kept for each in _peers._Shared._by_name.values())


def test_other_uses_of_the_session_leave_it_be(store):
    async def case():
        session = SesliteSession("s", store)
        await session.add_items(ITEMS)
        (hit,) = store.search("paris", app="openai-agents", user="user")
        assert (hit.session, hit.author) == ("s", "assistant")
        store.append_batch(session.key, [{"author": "agent", "x": n} for n in range(7)])
        await session.add_items(messages(1))
        store.append(session.key, {"author": "agent"})
        for limit in range(1, 8):
            assert await session.get_items(limit) == [*ITEMS, *messages(1)][-limit:]
        assert await session.pop_item() == messages(1)[0]
        assert await session.get_items() == ITEMS

    asyncio.run(case())


def test_the_newest_items_are_replaced(store):
    """Against a list, with pops, compactions and additions in every order."""

    async def case():
        session, model = SesliteSession("s", store), []
        for number in range(120):
            step = (number * 7 + number // 5) % 6
            if step < 2:
                await session.add_items(messages(number, -number))
                model += messages(number, -number)
            elif step < 4:
                assert await session.pop_item() == (model.pop() if model else None)
            else:
                limit = number % 9 + 1
                snapshot = await session._get_compaction_snapshot(limit)
                assert (snapshot.items, snapshot.complete) == (
                    model[-limit:],
                    limit > len(model) or limit == len(model),
                )
                if model:
                    start = number % len(snapshot.items)
                    output = messages(*range(number, number + number % 3))
                    assert await snapshot.replace_suffix(start, output)
                    model[len(model) - len(snapshot.items) + start :] = output
                    assert not await snapshot.replace_suffix(start, output)
                assert not await snapshot.replace_suffix(len(snapshot.items), [])
            assert await session.get_items() == model and await session.get_items(3) == model[-3:]
        assert len(model) > 3 and store.check() == []

    asyncio.run(case())


def test_what_was_written_meanwhile_is_not_replaced(store):
    async def case():
        session, other = SesliteSession("s", store), SesliteSession("s", store)
        await session.add_items(messages(1, 2))
        snapshot = await session._get_compaction_snapshot(5)
        await other.add_items(messages(3))
        assert not await snapshot.replace_suffix(0, []) and await session.get_items() == messages(1, 2, 3)
        snapshot = await session._get_compaction_snapshot(2)
        await other.clear_session()
        assert not await snapshot.replace_suffix(0, []) and await session.get_items() == []

    asyncio.run(case())


def test_expired_items_are_deleted_for_good(store):
    async def case():
        session = SesliteSession("s", store)

        def expired(item):
            return int(item["content"].split()[1]) < 10

        for _ in range(2):
            await session.add_items(messages(*range(1, 15)))
            snapshot = await session._get_compaction_snapshot(2, prune_prefix=expired)
            assert await snapshot.replace_suffix(1, messages(3))
        assert await session.get_items() == [*messages(*range(10, 14), 3), *messages(*range(1, 14), 3)]
        assert b"message 9" not in store.get(session.key, seslite.Range(last_seq=12)).json()

    asyncio.run(case())


def test_a_subclass_that_changes_items_is_not_compacted_past_it(store):
    class Upper(SesliteSession):
        async def get_items(self, limit=None):
            return [{"upper": each} for each in await super().get_items(limit)]

    assert asyncio.run(Upper("s", store)._get_compaction_snapshot(5)) is None
    OpenAIResponsesCompactionSession("s", SesliteSession("s", store), client=object())


def test_tasks_and_threads_share_a_session(path):
    async def task(session, number):
        for each in range(10):
            await session.add_items(messages(number * 100 + each, number * 100 + each))
        return [await session.pop_item() for _ in range(10)]

    async def tasks(session, first):
        return await asyncio.gather(*(task(session, first + number) for number in range(4)))

    session, popped = SesliteSession("s", path, synchronous="normal"), []
    threads = [
        threading.Thread(target=lambda n=n: popped.extend(asyncio.run(tasks(session, n * 10))))
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    left = asyncio.run(session.get_items())
    assert len(left) == 12 * 10
    both = sorted(each["content"] for each in [*left, *(item for some in popped for item in some)])
    assert both == sorted(each["content"] for n in range(3) for t in range(4) for i in range(10) for each in messages(
        (n * 10 + t) * 100 + i, (n * 10 + t) * 100 + i))  # fmt: skip


def _write(path, number):
    async def case():
        session = SesliteSession("s", path, synchronous="normal")
        for each in range(20):
            await session.add_items(messages(number * 100 + each))
        for _ in range(5):
            assert await session.pop_item() is not None

    asyncio.run(case())


def test_processes_share_a_session(path):
    processes = [
        multiprocessing.get_context("spawn").Process(target=_write, args=(path, number))
        for number in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(180)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert len(asyncio.run(SesliteSession("s", path).get_items())) == 3 * 15


def test_a_write_ends_before_its_cancelled_task(store):
    async def case():
        session = SesliteSession("s", store)
        for _ in range(20):
            task = asyncio.ensure_future(session.add_items(messages(1)))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            before = await session.get_items()
            await asyncio.sleep(0.002)
            assert await session.get_items() == before

    asyncio.run(case())


def test_a_read_that_has_to_wait_goes_on_in_a_thread(store, monkeypatch):
    from seslite import agents

    async def case():
        session = SesliteSession("s", store)
        await session.add_items(messages(1))
        monkeypatch.setattr(agents, "HERE_SECONDS", 1e-9)
        assert await session.get_items(5) == messages(1)

    asyncio.run(case())


def test_a_conversation_goes_on(path):
    testing = pytest.importorskip("agents.testing", reason="an openai-agents without agents.testing")
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    def answer(text):
        parts = [ResponseOutputText(text=text, type="output_text", annotations=[], logprobs=[])]
        return [
            ResponseOutputMessage(id="1", type="message", role="assistant", content=parts, status="completed")
        ]

    agent = Agent(
        "Helper", model=testing.ScriptedModel(steps=[answer("San Francisco"), answer("California")])
    )

    async def case():
        await Runner.run(agent, "Where is the bridge?", session=SesliteSession("s", path))
        result = await Runner.run(agent, "In which state?", session=SesliteSession("s", path))
        assert [item.get("role") for item in result.to_input_list()] == [
            "user",
            "assistant",
            "user",
            "assistant",
        ]
        assert len(await SesliteSession("s", path).get_items()) == 4

    asyncio.run(case())


# ---------------------------------------------------------------------------------------- the SDK's own tests

SDK = os.environ.get("SESLITE_AGENTS_SDK")
SUITES = ("session", "session_limit", "session_context_wrapper", "session_persistence_sanitize", "compaction_suffix",
          "compaction_model_visibility", "openai_responses_compaction_session")  # fmt: skip

INSIDE = """
_connections _connections_lock _lock _locked_connection _insert_items agent_sessions agent_messages
""".split()
"""What only a session with connections to those tables has."""


@pytest.mark.skipif(
    not SDK, reason="SESLITE_AGENTS_SDK does not name a folder with the sources of openai-agents"
)
def test_the_sdk_s_own_tests_pass():
    """All but those that look into SQLiteSession's tables and connections."""
    tests = [f"tests/memory/test_{suite}.py" for suite in SUITES]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([os.fspath(pathlib.Path(__file__).parent / "peers"), SDK]),
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "sqlite_session",
        "--tb=line",
        *tests,
    ]
    ran = subprocess.run(command, cwd=SDK, env=environment, capture_output=True, text=True)
    passed, failed = (
        re.search(rf"(\d+) {what}", ran.stdout.splitlines()[-1]) for what in ("passed", "failed")
    )
    reasons = re.findall(r"^(/\S+: .*)$", ran.stdout, re.M)
    print(ran.stdout)
    assert int(passed[1]) > 300 and len(reasons) == int(failed[1])
    assert [each for each in reasons if not any(re.search(rf"\b{name}\b", each) for name in INSIDE)] == []
