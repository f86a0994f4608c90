"""The store for asyncio: calls run in threads, and followers wake the loop without a thread each."""

from __future__ import annotations

import asyncio
import os
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from . import errors
from ._ffi import JsonIn
from ._threads import StoreThreads, Threads
from .agent import Function, PendingCall, answer_pending_calls, pending_calls
from .artifacts import Artifact, ArtifactData, ArtifactInfo
from .erase import Finding
from .follow import Follower
from .limits import Limits
from .lists import Page
from .search import Hit, HitPage, SearchOptions
from .session import Session
from .store import Store, StoreOptions
from .usage import UsageOptions, UsageRow
from .values import Appended, Deleted, Event, EventCount, EventJson, Key, KeyLike, Lease, Point, Popped

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
ArtifactInfos = list[ArtifactInfo]


async def _alone(function: Callable[[], T]) -> T:
    """Runs a call that may wait for others in a thread of its own."""
    return await asyncio.wrap_future(Threads(1, "seslite-alone").submit(function))


class AsyncStore:
    """A store whose calls are awaited. `store` is the one beneath; `run` awaits any call on it, or on a
    session, and `read` one that only reads:

    await store.run(session.append, event)
    events = await store.read(pending_calls, session)

    `threads` calls of `run` and as many of `read` are under way at a time, so reads never wait for writes
    that wait for the file's lock. Calls that wait for leases have threads of their own.

    When a task is cancelled, its call ends within some milliseconds, and then the task does. The result of
    the call is lost, so a write may have happened or not. A second cancellation does not wait for the call. A
    task's limits() count for its calls.
    """

    def __init__(self, store: Store, *, threads: int = 8) -> None:
        self.store = store
        self._threads = StoreThreads(threads)

    @classmethod
    async def open(
        cls, path: str | os.PathLike[str], *, threads: int = 8, **options: Unpack[StoreOptions]
    ) -> AsyncStore:
        """Opens a store, with the options of Store."""
        return cls(await _alone(lambda: Store(path, **options)), threads=threads)

    async def run(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Runs a call in a thread and awaits it."""
        return await self._call(self._threads.writers, lambda: function(*arguments, **named))

    async def read(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """As `run`, for a call that writes nothing."""
        return await self._call(self._threads.readers, lambda: function(*arguments, **named))

    def limits(self, timeout: float | None = None, *, shield: bool = False) -> Limits:
        """As Store.limits, for the calls of a task: `with store.limits(timeout=2.0)`, without async."""
        return self.store.limits(timeout, shield=shield)

    async def _call(
        self, pool: Threads, function: Callable[[], T], undo: Callable[[T], Awaitable[None]] | None = None
    ) -> T:
        """`undo` is for a result that comes after the task was cancelled."""
        with self.limits() as limits:  # of this call alone
            job = pool.submit(function)
        ended = asyncio.wrap_future(job)
        try:
            await asyncio.wait([ended])
        except asyncio.CancelledError:
            limits.cancel()
            job.cancel()  # if it has not begun
            await asyncio.shield(_end(ended, undo))
            raise
        return ended.result()

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

    def search(self, words: str, *, app: str, **options: Unpack[SearchOptions]) -> AsyncHits:
        """As Store.search, for `async for`."""
        return AsyncHits(self, self.store._hit_pages(words, app, **options))

    async def find(self, wanted: str | re.Pattern[str], **options: Any) -> Sequence[Finding]:
        """As Store.find, all of them."""
        return await self.read(lambda: list(self.store.find(wanted, **options)))

    async def index(self, **options: Any) -> int:
        """As Store.index. `progress` is called in the thread of the call."""
        return await self.run(self.store.index, **options)

    async def usage(self, *by: str, **options: Unpack[UsageOptions]) -> AsyncIterator[UsageRow]:
        """As Store.usage, for `async for`."""
        pages = self.store._usage_pages(by, **options)
        while (page := await self.read(next, pages, None)) is not None:
            for row in page:
                yield row

    async def usage_sum(self, **options: Unpack[UsageOptions]) -> UsageRow:
        """As Store.usage_sum."""
        return await self.read(self.store.usage_sum, **options)

    async def tally(self, **options: Any) -> int:
        """As Store.tally."""
        return await self.run(self.store.tally, **options)

    async def delete(self, key: KeyLike, **options: Any) -> Deleted:
        """As Store.delete."""
        return await self.run(self.store.delete, key, **options)

    async def state_json(self, key: KeyLike) -> bytes:
        """As Store.state_json."""
        return await self.read(self.store.state_json, key)

    async def artifact_save(self, key: KeyLike, name: str, data: ArtifactData, **options: Any) -> int:
        """As Store.artifact_save. A file, or an iterator, is read in the thread of the call."""
        return await self.run(self.store.artifact_save, key, name, data, **options)

    async def artifact_open(self, key: KeyLike, name: str, **options: Any) -> Artifact:
        """As Store.artifact_open. Read it with `await store.read(artifact.read, size)`."""
        return await self.read(self.store.artifact_open, key, name, **options)

    async def artifact_read(self, key: KeyLike, name: str, **options: Any) -> bytes:
        """As Store.artifact_read."""
        return await self.read(self.store.artifact_read, key, name, **options)

    async def artifact_info(self, key: KeyLike, name: str, **options: Any) -> ArtifactInfo:
        """As Store.artifact_info."""
        return await self.read(self.store.artifact_info, key, name, **options)

    async def artifacts(self, key: KeyLike) -> ArtifactInfos:
        """As Store.artifacts."""
        return await self.read(lambda: [*self.store.artifacts(key)])

    async def artifact_versions(self, key: KeyLike, name: str) -> ArtifactInfos:
        """As Store.artifact_versions."""
        return await self.read(lambda: [*self.store.artifact_versions(key, name)])

    async def artifact_inline(self, key: KeyLike, event: JsonIn, **options: Any) -> bytes | None:
        """As Store.artifact_inline."""
        return await self.read(self.store.artifact_inline, key, event, **options)

    async def artifact_delete(self, key: KeyLike, name: str, **options: Any) -> Deleted:
        """As Store.artifact_delete."""
        return await self.run(self.store.artifact_delete, key, name, **options)

    async def lease_take(self, key: KeyLike, owner: str, *, duration_us: int = 0, wait_ms: int = 0) -> Lease:
        """Takes a session's turn. If the task is cancelled, the wait ends, and a lease granted too late is
        released."""

        def take() -> Lease:
            return self.store.lease_take(key, owner, duration_us=duration_us, wait_ms=wait_ms)

        async def release(taken: Lease) -> None:
            await self._release(key, taken)

        return await self._call(self._threads.waiters, take, release)

    async def _release(self, key: KeyLike, taken: Lease) -> None:
        with self.limits(shield=True):
            await self.run(self.store.lease_release, key, taken.token)

    @asynccontextmanager
    async def lease(
        self, key: KeyLike, owner: str, *, duration_us: int = 0, wait_ms: int = 0
    ) -> AsyncIterator[Lease]:
        """Holds a session's turn for an `async with` block."""
        taken = await self.lease_take(key, owner, duration_us=duration_us, wait_ms=wait_ms)
        try:
            yield taken
        finally:
            await asyncio.shield(self._release(key, taken))

    async def answer_pending_calls(
        self,
        source: Session | KeyLike,
        answer: Callable[[PendingCall], Awaitable[JsonIn]] | None = None,
        *,
        responses: Iterable[Function] | None = None,
        lease: int = 0,
    ) -> int:
        """As answer_pending_calls, with a coroutine that runs the tools. It is awaited for one call after
        another, without a thread, and may use the session. Then all answers are stored at once. Calls that
        were added meanwhile come after them."""
        given = None if responses is None else list(responses)
        of = source if isinstance(source, Session) else (self.store, source)
        if answer is None:
            return await self.run(answer_pending_calls, of, responses=given, lease=lease)
        unasked = [
            each
            for each in await self.read(pending_calls, of)
            if not any(_answers(one, each) for one in given or ())
        ]
        answers: defaultdict[Any, list[JsonIn]] = defaultdict(list)
        answered = 0

        def known(pending: PendingCall) -> JsonIn:
            found = answers[_name_of(pending)]
            if not found:
                unasked.append(pending)
            return (
                found.pop(0) if found and found[0] is not None else None
            )  # one that is left pending stays known

        while True:
            for each in unasked:
                answers[_name_of(each)].append(await answer(each))
            unasked.clear()
            answered += await self.run(answer_pending_calls, of, known, responses=given, lease=lease)
            if not unasked:
                return answered

    async def follow(
        self, key: KeyLike, *, new: bool = False, after_seq: int | None = None, place: str | None = None
    ) -> AsyncFollower:
        """Follows the events of a session, or of all sessions of a user."""
        return await self._follow(partial(self.store.follow, key, new=new, after_seq=after_seq, place=place))

    async def follow_all(self, app: str | None = None) -> AsyncFollower:
        """Follows the new events of all sessions of an app, or without one of the store."""
        return await self._follow(partial(self.store.follow_all, app))

    async def _follow(self, opening: Callable[..., Follower]) -> AsyncFollower:
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)

        def begin() -> Follower:
            return opening(notify_fd=writing)

        async def end(follower: Follower) -> None:
            follower.close()

        try:
            follower = await self._call(self._threads.readers, begin, end)
        except BaseException:
            os.close(reading)
            os.close(writing)
            raise
        return AsyncFollower(self, follower, reading, writing)

    async def close(self) -> None:
        """Closes the store."""
        await _alone(self.store.close)

    async def __aenter__(self) -> AsyncStore:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncHits(AsyncIterator[Hit]):
    """The hits of a search, for `async for`."""

    indexed: bool | None = None
    """As of Hits."""

    def __init__(self, store: AsyncStore, pages: Iterator[HitPage]) -> None:
        self._store = store
        self._pages = pages
        self._page: Iterator[Hit] = iter(())

    async def __anext__(self) -> Hit:
        while (hit := next(self._page, None)) is None:
            page = await self._store.read(next, self._pages, None)
            if page is None:
                raise StopAsyncIteration
            self.indexed, self._page = page.indexed, iter(page)
        return hit


async def _end(ended: asyncio.Future[T], undo: Callable[[T], Awaitable[None]] | None) -> None:
    await asyncio.wait([ended])
    if not ended.cancelled() and ended.exception() is None and undo is not None:
        await undo(ended.result())


def _name_of(pending: PendingCall) -> tuple[Any, ...]:
    """The same for no other pending call, except that calls without an id may be alike in everything."""
    return pending.event.seq, *pending.call


def _answers(response: Function, pending: PendingCall) -> bool:
    """Whether the library takes a response that the caller has for that call."""
    call = pending.call
    return response.id == call.id if response.id else not call.id and response.name == call.name


class AsyncFollower:
    """Gives events as they are appended: `async for event in follower`. It belongs to the loop that it was
    opened in. A task that waits ends when it is cancelled; it hears of Limits.cancel() only with the next
    event."""

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
    def key(self) -> Key | None:
        """The names of the session of the event that was given last."""
        return self._follower.key

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
