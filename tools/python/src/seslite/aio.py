"""The store for asyncio: calls run in threads, and followers wake the loop without a thread each."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from . import _ffi, errors
from .follow import Follower
from .lists import Page
from .session import Session
from .store import Store, StoreOptions
from .values import Appended, Deleted, Event, EventCount, EventJson, KeyLike, Lease, Point, Popped

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


class AsyncStore:
    """A store whose calls are awaited. `store` is the one beneath; `run` awaits any call on it, or on a session, and `read`
    one that only reads:

    await store.run(session.append, event)
    events = await store.read(pending_calls, session)

    `threads` calls of `run` and as many of `read` are under way at a time, so reads never wait for writes that wait for the
    file's lock. Calls that wait for leases have threads of their own; a task that is cancelled meanwhile stops waiting. Any
    other call goes on when its task is cancelled: an append may still be stored.
    """

    def __init__(self, store: Store, *, threads: int = 8) -> None:
        self.store = store
        self._pool = ThreadPoolExecutor(threads, "seslite")
        self._readers = ThreadPoolExecutor(threads, "seslite-read")
        self._waiters = ThreadPoolExecutor(64, "seslite-wait")
        self._cancelled = 0  # the number of cancelled waits; each also interrupts the others
        self._interrupting = 0  # of these, those that are under way
        self._process = _ffi.process()

    @classmethod
    async def open(cls, path: str | os.PathLike[str], *, threads: int = 8, **options: Unpack[StoreOptions]) -> AsyncStore:
        """Opens a store, with the options of Store."""
        return cls(await asyncio.to_thread(Store, path, **options), threads=threads)

    async def run(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Runs a call in a thread and awaits it. A call that was interrupted for another's cancelled wait is made again."""
        return await self._again(lambda: self._start(self._pool, lambda: function(*arguments, **named)))

    async def read(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """As `run`, for a call that writes nothing."""
        return await self._again(lambda: self._start(self._readers, lambda: function(*arguments, **named)))

    def _start(self, pool: ThreadPoolExecutor, function: Callable[[], T]) -> asyncio.Future[T]:
        _ffi.check_process(self._process)
        if self.store.closed:
            raise errors.MisuseError("this store is closed")
        return asyncio.wrap_future(pool.submit(function))

    async def _again(self, start: Callable[[], asyncio.Future[T]]) -> T:
        while True:
            cancelled = self._cancelled
            try:
                return await start()
            except errors.CallInterruptedError:
                ours = self._interrupting or self._cancelled != cancelled
                if not ours or self.store.closed:
                    raise

    async def create(self, key: KeyLike, state: Any = None, **options: Any) -> Session:
        """As Store.create."""
        return await self.run(self.store.create, key, state, **options)

    async def get(self, key: KeyLike, events: Any = None) -> Session:
        """As Store.get."""
        return await self.read(self.store.get, key, events)

    async def get_or_create(self, key: KeyLike, state: Any = None, **options: Any) -> tuple[Session, bool]:
        """As Store.get_or_create."""
        return await self.run(self.store.get_or_create, key, state, **options)

    async def append(self, key: KeyLike, event: Any, **options: Any) -> Appended:
        """As Store.append."""
        return await self.run(self.store.append, key, event, **options)

    async def append_batch(self, key: KeyLike, events: Any, **options: Any) -> list[Appended]:
        """As Store.append_batch."""
        return await self.run(self.store.append_batch, key, events, **options)

    async def pop(self, key: KeyLike, point: Point | None = None, **options: Any) -> Popped:
        """As Store.pop."""
        return await self.run(self.store.pop, key, point, **options)

    async def event_get(self, key: KeyLike, name: str) -> EventJson | None:
        """As Store.event_get."""
        return await self.read(self.store.event_get, key, name)

    async def event_count(self, key: KeyLike) -> EventCount:
        """As Store.event_count."""
        return await self.read(self.store.event_count, key)

    async def list(self, app: str, user: str | None = None, **options: Any) -> Page:
        """As Store.list."""
        return await self.read(self.store.list, app, user, **options)

    async def delete(self, key: KeyLike, **options: Any) -> Deleted:
        """As Store.delete."""
        return await self.run(self.store.delete, key, **options)

    async def state_json(self, key: KeyLike) -> bytes:
        """As Store.state_json."""
        return await self.read(self.store.state_json, key)

    async def lease_take(self, key: KeyLike, owner: str, *, duration_us: int = 0, wait_ms: int = 0) -> Lease:
        """Takes a session's turn. If the task is cancelled, the wait ends, and a lease granted too late is released."""

        taking: asyncio.Future[Lease] | None = None

        def take() -> Lease:
            return self.store.lease_take(key, owner, duration_us=duration_us, wait_ms=wait_ms)

        def start() -> asyncio.Future[Lease]:
            nonlocal taking
            taking = self._start(self._waiters, take)
            return asyncio.shield(taking)

        try:
            return await self._again(start)
        except asyncio.CancelledError:
            if taking is not None:
                await asyncio.shield(self._give_up(key, taking))
            raise

    async def _give_up(self, key: KeyLike, taking: asyncio.Future[Lease]) -> None:
        """Ends a wait for a lease. Others that are interrupted with it begin again."""
        while not taking.done() and not self.store.closed:
            self._interrupting += 1
            try:
                await asyncio.to_thread(self.store.interrupt)
            finally:
                self._interrupting -= 1
                self._cancelled += 1
            await asyncio.wait([taking], timeout=0.01)
        if taking.done() and not taking.cancelled() and taking.exception() is None:
            await self.run(self.store.lease_release, key, taking.result().token)

    @asynccontextmanager
    async def lease(self, key: KeyLike, owner: str, *, duration_us: int = 0, wait_ms: int = 0) -> AsyncIterator[Lease]:
        """Holds a session's turn for an `async with` block."""
        taken = await self.lease_take(key, owner, duration_us=duration_us, wait_ms=wait_ms)
        try:
            yield taken
        finally:
            await asyncio.shield(self.run(self.store.lease_release, key, taken.token))

    async def follow(
        self, key: KeyLike, *, new: bool = False, after_seq: int | None = None, place: str | None = None
    ) -> AsyncFollower:
        """Follows the events of a session, or of all sessions of a user."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        try:
            follower = await self.read(self.store.follow, key, new=new, after_seq=after_seq, place=place, notify_fd=writing)
        except BaseException:
            os.close(reading)
            os.close(writing)
            raise
        return AsyncFollower(self, follower, reading, writing)

    async def close(self) -> None:
        """Closes the store."""
        await asyncio.to_thread(self.store.close)
        for pool in (self._pool, self._readers, self._waiters):
            pool.shutdown(wait=False)

    async def __aenter__(self) -> AsyncStore:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncFollower:
    """Gives events as they are appended: `async for event in follower`. It belongs to the loop that it was opened in."""

    def __init__(self, store: AsyncStore, follower: Follower, reading: int, writing: int) -> None:
        self._store = store
        self._follower = follower
        self._pipe = (reading, writing)
        self._loop = asyncio.get_running_loop()
        self._looking: asyncio.Future[Event | None] | None = None
        self._stopped = False
        self._woken = asyncio.Event()
        self._loop.add_reader(reading, self._wake)

    def _wake(self) -> None:
        try:
            os.read(self._pipe[0], 64)
        except BlockingIOError:
            pass
        self._woken.set()

    def __aiter__(self) -> AsyncFollower:
        return self

    async def __anext__(self) -> Event:
        """The next event. If a task is cancelled, the next one gets its event."""
        if asyncio.get_running_loop() is not self._loop:
            raise errors.MisuseError("this follower belongs to another event loop: open one in this loop")
        while True:
            if self._looking is None:
                if self._stopped:
                    raise StopAsyncIteration
                self._woken.clear()
                self._looking = asyncio.ensure_future(self._store.read(self._follower.next, 0))
            looking = self._looking
            try:
                event = await asyncio.shield(looking)
            except asyncio.CancelledError:
                if looking.cancelled():
                    self._looking = None
                raise  # this task was cancelled: what is found, also at this moment, is kept for the next
            except BaseException:
                self._looking = None
                raise
            self._looking = None
            if event is not None:
                return event
            await self._woken.wait()

    @property
    def session(self) -> str | None:
        """The session of the event that was given last."""
        return self._follower.session

    @property
    def place(self) -> str:
        """The place after the event that was given last, to go on from in any process."""
        return self._follower.place

    async def close(self) -> None:
        """Ends the following; a task that waits in `async for` ends its loop."""
        if self._stopped:
            return
        self._stopped = True
        self._loop.remove_reader(self._pipe[0])
        if self._looking is not None:
            await asyncio.wait([self._looking])
        self._follower.close()
        self._woken.set()
        for end in self._pipe:
            os.close(end)

    async def __aenter__(self) -> AsyncFollower:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
