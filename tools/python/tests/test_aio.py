"""The store for asyncio."""

import asyncio
import gc
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
        assert (
            await store.event_count(KEY) == (4, 4)
            and (await store.event_get(KEY, session.events[0].id)).seq == 1
        )
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
            assert (await store.get(KEY)).stored == 1 == len(
                await store.list("app")
            ) and await store.state_json(KEY)
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


def test_a_cancelled_task_ends_its_call(tmp_path):
    async def case(store):
        lease, session, begun = await store.lease_take(KEY, "one"), await store.get(KEY), time.monotonic()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(store.run(store.store.lease_take, KEY, "two", wait_ms=60_000), 0.05)
        pieces = []

        def write(piece):
            pieces.append(piece)
            time.sleep(0.01)

        await store.run(store.store.load, ("app", "user", "long"), ({"id": f"e{n}"} for n in range(20_000)))
        exporting = asyncio.ensure_future(store.read(store.store.export, write))
        while not pieces:
            await asyncio.sleep(0.01)
        exporting.cancel()
        await asyncio.wait([exporting])
        assert exporting.cancelled() and time.monotonic() - begun < 20
        count = len(pieces)
        for number in range(60):  # a session is free again, and shows what became of the event
            appending = asyncio.ensure_future(store.run(session.append, {"id": f"e{number}"}))
            await asyncio.sleep(0.0002 * (number % 5))
            appending.cancel()
            await asyncio.wait([appending])
            stored = await store.event_get(KEY, f"e{number}")
            assert (session.event_by_id(f"e{number}") is None) == (stored is None)
            assert stored or appending.cancelled()
        assert len(pieces) == count
        await store.run(session.append, {"id": "last"}, lease=lease.token)

    run(case, tmp_path)


def test_a_call_that_has_not_begun_never_does(tmp_path):
    async def case(store):
        release, begun, ran = threading.Event(), threading.Barrier(9), []

        def hold():
            begun.wait(30)
            return release.wait(60)

        holding = [asyncio.ensure_future(store.run(hold)) for _ in range(8)]
        waiting = asyncio.ensure_future(store.run(ran.append, 1))
        await asyncio.to_thread(begun.wait, 30)
        waiting.cancel()
        await asyncio.wait([waiting])
        holding[0].cancel()
        await asyncio.sleep(0.05)
        assert not holding[0].done()  # it waits for its call
        holding[0].cancel()
        await asyncio.wait([holding[0]])  # and the second time it does not
        release.set()
        await asyncio.gather(*holding[1:])
        assert ran == [] and waiting.cancelled() and holding[0].cancelled()

    run(case, tmp_path)


def test_the_limits_of_a_task_hold_for_its_calls(tmp_path):
    async def case(store):
        lease = await store.lease_take(KEY, "one")

        async def limited(timeout):
            with store.limits(timeout):
                await store.get(KEY)
                await store.lease_take(KEY, "two", wait_ms=500)

        short, long = asyncio.ensure_future(limited(0.05)), asyncio.ensure_future(limited(60))
        with pytest.raises(seslite.BusyError):
            await short
        assert not long.done()
        with pytest.raises(seslite.BusyError):
            await long
        with store.limits() as limits:
            waiting = [
                asyncio.ensure_future(store.lease_take(KEY, f"w{n}", wait_ms=60_000)) for n in range(3)
            ]
            follower = await store.follow(KEY, new=True)
        await asyncio.sleep(0.05)
        limits.cancel()
        for each in waiting:
            with pytest.raises(seslite.CallInterruptedError):
                await each
        with pytest.raises(seslite.CallInterruptedError):
            await follower.__anext__()
        limits.reset()
        await store.run(store.store.lease_release, KEY, lease.token)
        with limits:
            async with store.lease(KEY, "three"):
                limits.cancel()
        limits.reset()
        await store.append(KEY, {"author": "x"})
        assert (await follower.__anext__()).author == "x"
        await follower.close()
        assert (await store.lease_take(KEY, "four", wait_ms=-1)).token

    run(case, tmp_path)


def test_nobody_hears_of_an_interrupted_call_whose_task_is_gone(tmp_path):
    async def case(store):
        told = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
        await store.lease_take(KEY, "one")
        for call in (
            store.lease_take(KEY, "two", wait_ms=60_000),
            store.run(store.store.lease_take, KEY, "two", wait_ms=60_000),
        ):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(call, 0.05)
        gc.collect()
        await asyncio.sleep(0.05)
        assert told == []

    run(case, tmp_path)


def test_pending_calls_are_answered_by_coroutines(tmp_path):
    async def case(store):
        session, asked = await store.get(KEY), []

        async def call(*ids, name="f", **args):
            builder = seslite.Builder(store.store, "agent", "i1")
            for each in ids:
                builder.call(name, args, id=each)
            await store.run(builder.append, (store.store, KEY))

        def answers():
            events = seslite.read_context((store.store, KEY))
            found = [
                each for read in events for each in seslite.read_event(store.store, read.event.json).responses
            ]
            return [(each.id, each.json) for each in found]

        async def answer(pending):
            asked.append(pending.call.id)
            await asyncio.sleep(0)
            if pending.call.id == "c1":
                await store.run(session.refresh)  # the session is free meanwhile
                await call("late")  # and changes
            return None if pending.call.id == "left" else {"id": pending.call.id}

        assert await store.answer_pending_calls(KEY, answer) == 0 == await store.answer_pending_calls(KEY)
        await call("c1", "given", "left")
        given = [seslite.Function("given", None, b'{"approved":true}')]
        assert await store.answer_pending_calls(session, answer, responses=given) == 3
        assert asked == ["c1", "left", "late"]
        assert answers() == [
            ("c1", b'{"id":"c1"}'),
            ("given", b'{"approved":true}'),
            ("late", b'{"id":"late"}'),
        ]
        assert await store.answer_pending_calls(KEY) == 1
        await call(None, None, name="g", n=1)  # they differ in nothing
        numbers = iter(range(9))

        async def count(pending):
            return {"number": next(numbers)}

        assert await store.answer_pending_calls(KEY, count) == 2
        assert answers()[-2:] == [(None, b'{"number":0}'), (None, b'{"number":1}')]
        await call("c5")

        async def fail(pending):
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await store.answer_pending_calls(KEY, fail)
        answering = asyncio.ensure_future(store.answer_pending_calls(KEY, lambda pending: asyncio.sleep(60)))
        await asyncio.sleep(0.05)
        answering.cancel()
        await asyncio.wait([answering])
        with pytest.raises(seslite.LeasedError):
            await store.answer_pending_calls(KEY, count, lease=77)
        assert len(await store.read(seslite.pending_calls, session)) == 1
        given = [seslite.Function("c5", None, b"{}")]
        assert await store.answer_pending_calls(KEY, fail, responses=given) == 1

    run(case, tmp_path)
