"""The threads of a store, in which its calls for asyncio run."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, copy_context
from typing import Any, TypeVar

from . import _ffi

T = TypeVar("T")

IDLE_SECONDS = 10.0


def _run(future: Future[T], context: Context, function: Callable[..., T], arguments: tuple[Any, ...]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = context.run(function, *arguments)
    except BaseException as error:
        future.set_exception(error)
        del future  # the error refers to this frame
    else:
        future.set_result(result)


class Threads:
    """At most `limit` threads, which end when there was nothing to do for a while. Python's own executors are
    not for calls that may wait long: the interpreter's exit waits for their threads, and asyncio looks up
    hosts in those of its default executor."""

    def __init__(self, limit: int, name: str) -> None:
        self._limit, self._name = limit, name
        self._begin()

    def _begin(self) -> None:
        self._process = _ffi.process()
        self._jobs: deque[tuple[Any, ...]] = deque()
        self._changed = threading.Condition()
        self._count = self._idle = 0

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Runs a call in the context of the caller."""
        future: Future[T] = Future()
        if self._process != _ffi.process():
            self._begin()  # a fork has no threads
        with self._changed:
            self._jobs.append((future, copy_context(), function, arguments))
            if self._idle < len(self._jobs) and self._count < self._limit:
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
                self._count += 1
            self._changed.notify()
        return future

    def _work(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                self._changed.wait_for(lambda: self._jobs, IDLE_SECONDS)
                self._idle -= 1
                if not self._jobs:
                    self._count -= 1
                    return
                job = self._jobs.popleft()
            _run(*job)
            del job  # with its result, which only the caller needs


class StoreThreads:
    """Those of one store. Reads never wait for writes that wait for the lock of the file, nor for turns."""

    def __init__(self, limit: int = 8) -> None:
        self.writers = Threads(limit, "seslite")
        self.readers = Threads(limit, "seslite-read")
        self.waiters = Threads(64, "seslite-wait")


async def to_its_end(future: asyncio.Future[T]) -> T:
    """Awaits a write also after the task was cancelled, so that nothing is written later than the task
    ends."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        future.exception()  # it is known, and the cancellation goes before it
        raise cancelled
    return future.result()
