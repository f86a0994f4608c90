"""Stores that are shared by their names."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import wait

import pytest

import seslite
from seslite import _peers
from seslite._peers import Opened
from seslite._threads import Threads


class Cycle:
    """Garbage that only a collection finds."""

    def __init__(self, opened):
        self.opened, self.itself = opened, self


def test_the_last_user_closes_the_store(tmp_path):
    first, second = Opened(tmp_path / "a.db", {}), Opened(tmp_path / "a.db", {})
    assert first.store is second.store
    first.close()
    first.close()
    list(second.store.apps())
    store = second.store
    second.close()
    with pytest.raises(seslite.MisuseError):
        list(store.apps())
    assert Opened(tmp_path / "a.db", {}).store is not store
    gc.collect()
    assert not _peers._Shared._by_name


def test_users_may_end_while_another_is_opened(tmp_path, monkeypatch):
    def open_and_collect(path, **options):
        gc.collect()
        return seslite.Store(path, **options)

    gc.disable()
    try:
        garbage = Cycle(Opened(tmp_path / "a.db", {}))
        store = garbage.opened.store
        del garbage
        monkeypatch.setattr(_peers, "Store", open_and_collect)
        opened = []
        thread = threading.Thread(
            target=lambda: opened.append(_peers._Shared.open(tmp_path / "b.db", {})), daemon=True
        )
        thread.start()
        thread.join(20)
        assert opened, "it waits for itself"
        with pytest.raises(seslite.MisuseError):
            list(store.apps())
        opened[0].close()
    finally:
        gc.enable()


def test_threads_share_and_end(tmp_path):
    def use():
        for _ in range(50):
            opened = Opened(tmp_path / "a.db", {})
            list(opened.store.apps())
            opened.close()

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not _peers._Shared._by_name and not _peers._Shared._ended


# ---------------------------------------------------------------------------------------------------- threads


async def use_everything(folder):
    from seslite import agents, aio, langgraph

    session = agents.SesliteSession("s", folder / "a.db")
    await session.add_items([{"role": "user", "content": "x"}, {"n": 1}])
    assert len(await session.get_items()) == 2
    await session.pop_item()
    await session.clear_session()
    session.close()
    async with langgraph.SesliteSaver(folder / "a.db") as saver:
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        checkpoint = {
            "v": 4,
            "id": "1",
            "ts": "",
            "channel_values": {},
            "channel_versions": {},
            "versions_seen": {},
        }
        put = await saver.aput(config, checkpoint, {}, {})
        await saver.aput_writes(put, [("c", 1)], "task")
        assert await saver.aget_tuple(config) is not None
        assert [each async for each in saver.alist(config)]
        await saver.adelete_thread("t")
    async with await aio.AsyncStore.open(folder / "a.db") as store:
        await store.create(("a", "u", "s"))


def test_no_call_runs_in_the_default_executor(tmp_path, monkeypatch):
    """In it asyncio looks up hosts, for which a call that waits for a lock must leave it room."""
    pytest.importorskip("agents")
    pytest.importorskip("langgraph.checkpoint.base")
    plain = asyncio.base_events.BaseEventLoop.run_in_executor

    def run_in_executor(loop, executor, *arguments):
        assert executor is not None
        return plain(loop, executor, *arguments)

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "run_in_executor", run_in_executor)
    asyncio.run(use_everything(tmp_path))


WAITS = """
import asyncio, sys
from seslite.aio import AsyncStore

async def begin():
    store = await AsyncStore.open(sys.argv[1])
    await store.create(("a", "u", "s"))
    await store.lease_take(("a", "u", "s"), "one", duration_us=600_000_000)
    task = asyncio.ensure_future(store.lease_take(("a", "u", "s"), "two", wait_ms=60_000))
    await asyncio.sleep(0.2)
    return store, task

loop = asyncio.new_event_loop()
kept = loop.run_until_complete(begin())
print("waits")
"""


def test_a_call_that_waits_does_not_hold_up_the_end_of_the_program(tmp_path):
    begun = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", WAITS, tmp_path / "a.db"], capture_output=True, text=True, timeout=50
    )
    assert ended.stdout == "waits\n" and ended.returncode == 0, ended.stderr
    assert time.monotonic() - begun < 20


def test_so_many_calls_run_at_a_time_and_idle_threads_end(monkeypatch):
    monkeypatch.setattr("seslite._threads.IDLE_SECONDS", 0.2)
    threads, gate, running = Threads(3, "tested"), threading.Event(), []

    def call(number):
        running.append(number)
        gate.wait()
        return number

    calls = [threads.submit(call, number) for number in range(10)]
    while len(running) < 3:
        time.sleep(0.01)
    time.sleep(0.05)
    assert sorted(running) == [0, 1, 2]
    assert calls[9].cancel()
    gate.set()
    wait(calls)
    assert [each.result() for each in calls[:9]] == list(range(9)) and sorted(running) == list(range(9))
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 / 0).result()
    while any(each.name == "tested" for each in threading.enumerate()):
        time.sleep(0.05)
    assert threads.submit(lambda: 1).result() == 1


def test_a_fork_has_threads_of_its_own():
    threads = Threads(1, "tested")
    threads.submit(lambda: None).result()
    child = os.fork()
    if child == 0:
        os._exit(threads.submit(lambda: 7).result(10))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
