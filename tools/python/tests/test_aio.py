"""The store for asyncio."""

import asyncio
import threading
import time

import pytest
from common import KEY

import seslite
from seslite.aio import AsyncStore


def run(case, tmp_path):
    async def within():
        async with await AsyncStore.open(tmp_path / "a.db", synchronous="normal") as store:
            await store.create(KEY, {"k": 1})
            return await asyncio.wait_for(case(store), 60)

    return asyncio.run(within())


def test_calls_are_awaited(tmp_path):
    async def case(store):
        session = await store.get(KEY)
        await store.run(session.append, {"author": "x", "actions": {"stateDelta": {"k": 2}}})
        await store.append(KEY, {"author": "y"})
        assert [each.seq for each in await store.append_batch(KEY, [{}, {}])] == [3, 4]
        assert await store.event_count(KEY) == (4, 4) and (await store.event_get(KEY, session.events[0].id)).seq == 1
        assert [each.seq for each in (await store.pop(KEY, seslite.Point.seq(3))).events] == [4]
        assert await store.run(seslite.answer_pending_calls, (store.store, KEY)) == 0
        assert await store.state_json(KEY) == b'{"k":2}' and (await store.get_or_create(KEY))[1] is False
        assert len(await store.list("app")) == 1 and (await store.delete(KEY)).total == 1

    run(case, tmp_path)


def test_reads_do_not_wait_for_writes_that_wait(tmp_path):
    async def case(store):
        await store.run(store.store.append, KEY, {"author": "x"})
        session, held = await store.get(KEY), asyncio.Event()
        loop, release = asyncio.get_running_loop(), threading.Event()

        def hold():  # in the place of another process that has the file's lock
            loop.call_soon_threadsafe(held.set)
            assert release.wait(60)

        writing = [asyncio.ensure_future(store.run(hold)) for _ in range(8)]
        await held.wait()
        writing.append(asyncio.ensure_future(store.append(KEY, {"author": "y"})))
        for _ in range(3):
            assert (await store.get(KEY)).stored == 1 == len(await store.list("app")) and await store.state_json(KEY)
            assert await store.read(seslite.pending_calls, session) == []
        async with await store.follow(KEY) as follower:
            assert (await follower.__anext__()).seq == 1
        assert not any(each.done() for each in writing)
        release.set()
        assert (await asyncio.gather(*writing))[-1].seq == 2

    run(case, tmp_path)


def test_a_follower_needs_no_thread_of_its_own(tmp_path):
    async def case(store):
        followers = [await store.follow(KEY) for _ in range(50)]

        async def three(follower):
            return [(await follower.__anext__()).seq for _ in range(3)]

        waiting = [asyncio.ensure_future(three(follower)) for follower in followers]
        for _ in range(3):
            await asyncio.sleep(0.01)
            await store.append(KEY, {"author": "x"})
        assert await asyncio.gather(*waiting) == [[1, 2, 3]] * 50
        assert followers[0].session == "s" and followers[0].place
        for follower in followers:
            await follower.close()

    run(case, tmp_path)


def test_a_cancelled_wait_loses_no_event(tmp_path):
    async def case(store):
        async with await store.follow(KEY) as follower:
            for number in range(20):
                waiting = asyncio.ensure_future(follower.__anext__())
                await asyncio.sleep(0.001 * (number % 4))
                if number % 2:
                    await store.append(KEY, {"author": "x"})
                waiting.cancel()
                await asyncio.wait([waiting])
                if not waiting.cancelled():
                    await store.append(KEY, {"author": "made up for one that was given"})
            await store.run(time.sleep, 0.05)
            seen = []
            while len(seen) < 10:
                seen.append((await asyncio.wait_for(follower.__anext__(), 5)).seq)
            assert seen == sorted(set(seen))

    run(case, tmp_path)


def test_a_follower_that_is_closed_ends_its_loop(tmp_path):
    async def case(store):
        follower = await store.follow(KEY)

        async def loop():
            return [event async for event in follower]

        waiting = asyncio.ensure_future(loop())
        await asyncio.sleep(0.05)
        await follower.close()
        assert await waiting == []

    run(case, tmp_path)


def test_cuts_are_told_once(tmp_path):
    async def case(store):
        await store.append(KEY, {"author": "x"})
        async with await store.follow(KEY) as follower:
            assert (await follower.__anext__()).seq == 1
            await store.run(store.store.cut, KEY, seslite.Point.seq(0))
            with pytest.raises(seslite.ResetError):
                await follower.__anext__()
            await store.append(KEY, {"author": "x"})
            assert (await follower.__anext__()).seq == 2

    run(case, tmp_path)


def test_a_cancelled_task_stops_waiting_for_a_lease(tmp_path):
    async def case(store):
        lease = await store.lease_take(KEY, "one")
        waiting = [asyncio.ensure_future(store.lease_take(KEY, f"w{n}", wait_ms=30_000)) for n in range(4)]
        await asyncio.sleep(0.1)
        waiting[0].cancel()
        waiting[2].cancel()
        reading = [store.get(KEY) for _ in range(20)]  # may be interrupted with them, and are made again
        assert len(await asyncio.gather(*reading)) == 20
        await asyncio.wait([waiting[0], waiting[2]])
        assert waiting[0].cancelled() and waiting[2].cancelled()
        await store.run(store.store.lease_release, KEY, lease.token)
        left, tokens = {waiting[1], waiting[3]}, [lease.token]
        while left:  # those that went on waiting have it in some order
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            tokens.append(done.pop().result().token)
            await store.run(store.store.lease_release, KEY, tokens[-1])
        assert tokens == sorted(set(tokens)) and len(tokens) == 3
        async with store.lease(KEY, "last", wait_ms=1000):
            pass

    run(case, tmp_path)


def test_another_loop_and_a_closed_store_are_refused(tmp_path):
    async def case(store):
        follower = await store.follow(KEY)

        def elsewhere():
            return asyncio.run(follower.__anext__())

        with pytest.raises(seslite.MisuseError, match="another event loop"):
            await store.run(elsewhere)
        await follower.close()
        await store.close()
        with pytest.raises(seslite.MisuseError, match="closed"):
            await store.get(KEY)

    run(case, tmp_path)
